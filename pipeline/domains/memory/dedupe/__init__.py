"""De-duplication: find entities that are the same thing, and merge them reversibly."""
