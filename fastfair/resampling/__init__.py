"""Bootstrap replicates: draw units, weigh comparisons or pairs of vectors, compute the rates of
every replicate.
"""
