"""The same work done by fastfair and by other tools, side by side: `python -m
benchmarks.versus`."""
