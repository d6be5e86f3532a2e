"""Commands, a file a command or group: they parse arguments, call a flow and show a view."""
