"""Chats and notes in JSON: messages that become memories, and the entities and facts given with them."""
