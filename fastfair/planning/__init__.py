"""How many subjects and attempts a study needs."""
