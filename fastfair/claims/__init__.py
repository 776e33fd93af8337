"""Whether data support what is claimed of a system's error rates."""
