"""Score files, embeddings, tables of subjects and of failures: reading and writing."""
