"""A question in, ranked and explained passages out."""
