"""Code in a memory: a repository's entities, facts and the periods in which they held, read and stored."""
