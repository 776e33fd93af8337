"""Workers are run in environments of other tools."""

collect_ignore = ["workers"]
