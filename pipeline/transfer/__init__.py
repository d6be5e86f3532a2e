"""Transfer: export corpora to files, and restore them."""
