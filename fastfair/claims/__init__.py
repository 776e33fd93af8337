"""Whether data support what is claimed of a system's error rates, and meet what is required of it."""
