"""What all analyses return: results with sentences, a table, JSON that is read back, a plot and a
chapter of a page.
"""
