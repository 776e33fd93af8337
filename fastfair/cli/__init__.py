"""The command line: one file a verb, and what the verbs share."""
