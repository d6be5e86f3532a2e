"""Scoring: the confidence in names, the features of candidates, and the weighted sum that ranks them."""
