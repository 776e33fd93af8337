"""Error rates of small groups that borrow from the others."""
