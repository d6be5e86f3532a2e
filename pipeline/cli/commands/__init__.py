"""Commands, by subject: they parse arguments, call a flow and show a view."""
