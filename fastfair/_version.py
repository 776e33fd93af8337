"""The version, on its own so that a build can read it without importing anything."""

__version__ = "0.1.0"
