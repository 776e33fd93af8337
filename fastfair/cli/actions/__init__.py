"""What verbs do: read, call the library, and hand over results. A verb `group-test` is the function
`group_test` of the chapter that its entry in `verbs.py` names; no other chapter is imported.
"""
