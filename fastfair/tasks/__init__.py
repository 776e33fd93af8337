"""Long work in parts: in threads, by workers of an executor, and with checkpoints from which it goes on."""
