"""Documents in, graph out: sources -> chunk -> embed -> extract -> link -> load."""
