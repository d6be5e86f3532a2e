"""Jobs: ingests and syncs that a service runs one after the other, kept in the graph so that they survive a restart."""
