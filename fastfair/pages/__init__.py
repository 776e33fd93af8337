"""Pages that show results, made from plain records that modules of results fill in."""
