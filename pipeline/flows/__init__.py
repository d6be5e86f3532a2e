"""The map of the program: each module reads as one flow, from its input to its result."""
