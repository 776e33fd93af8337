"""One to many: searches of a gallery, and the rates of their errors."""
