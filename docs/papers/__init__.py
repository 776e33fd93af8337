"""The five papers made anew with fastfair: their tables and figures, the printed ones beside
them.
"""
