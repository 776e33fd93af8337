"""Read score files, embeddings and tables of subjects and failures, and write score files."""
