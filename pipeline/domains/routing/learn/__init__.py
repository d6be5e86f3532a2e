"""Learning of routing: edges that the projects' own files propose, and weights that follow the answers in use."""
