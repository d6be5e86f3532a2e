"""Routing: a graph of projects, by which a question searches the few corpora that matter."""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "routing",
    "Projects: relate them, and search the few that a question is about.",
    group="route",
    settings="settings:RoutingSettings",
    router="router:search_routed",
    verbs="verbs:VERBS",
)
