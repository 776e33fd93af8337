"""Whether the error rates of groups differ by more than chance: tests, margins of error, failure counts."""
