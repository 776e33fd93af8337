"""Bootstrap replicates: units drawn, weights of comparisons and pairs, rates of every replicate."""
