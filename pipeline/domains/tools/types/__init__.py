"""Types of the data that tools take and return, which of them fit, and the flows of data between tools."""
