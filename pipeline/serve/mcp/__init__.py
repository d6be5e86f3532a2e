"""The MCP server: tools and resources for agents, over standard streams or streamable HTTP."""
