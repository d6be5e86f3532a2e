"""Sources of tools: lists of MCP tools, folders of server descriptors, .jsonl corpora, and live servers."""
