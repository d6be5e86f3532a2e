"""Commands, a file a command or group: they parse arguments, call a flow and show a view.

May import: cli.confirm, cli.connection, cli.deferred, cli.deliver, cli.options, cli.syncing, cli.views, db, docs,
errors, evaluate, examples, ingest, registry, retrieve, serve, settings, transfer.
"""
