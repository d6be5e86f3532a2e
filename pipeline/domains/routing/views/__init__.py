"""Project graphs, for people.

May import: cli, domains.routing.evaluate, domains.routing.index, domains.routing.learn, domains.routing.records,
domains.routing.sync.
"""
