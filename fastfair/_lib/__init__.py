"""What every other folder uses: argument checks, threads, random seeds, progress, data frames, axes of plots."""
