"""Error rates of comparisons of the better samples: what is gained by discarding those of low quality."""
