"""The command line: a table of verbs, the options that signatures give them, and what each verb
does.
"""
