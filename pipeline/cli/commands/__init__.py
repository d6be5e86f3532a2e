"""Commands, a file a command or group: they parse arguments, call a flow and show a view.

May import all of the package; whatever needs the driver, numpy or the settings comes from
:mod:`pipeline.cli.deferred`. ``COMMANDS`` in :mod:`pipeline.cli.app` lists them.
"""
