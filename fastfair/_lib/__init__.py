"""What all other folders use: argument checks, threads, random seeds, progress, data frames, axes of plots."""
