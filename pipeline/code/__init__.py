"""Source code: the definitions, imports and calls of a file, and the manifests of packages."""
