"""Thresholds from elsewhere: found on development data, of each group its own, or many at once."""
