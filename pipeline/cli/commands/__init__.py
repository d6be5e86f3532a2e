"""Commands: one file a command or group; they parse, call a flow and show a view.

May import all of the package.
"""
