"""What all other folders use: argument checks, threads, tasks, random seeds, progress, data frames,
axes of plots.
"""
