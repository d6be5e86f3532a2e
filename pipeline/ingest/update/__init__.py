"""Update: the stored state, the changes against it, and the staged writes of the next generation."""
