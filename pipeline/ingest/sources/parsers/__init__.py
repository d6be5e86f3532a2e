"""Parsers: from the bytes of a file to a document. Each format has a module, and the modules that several share."""
