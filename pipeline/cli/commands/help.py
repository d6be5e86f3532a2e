"""``hoprank help``: the pages of the documentation."""

from typing import Annotated

from typer import Argument

from pipeline.cli.views.pages import show_page, show_topics
from pipeline.docs import read_page, read_pages, topics


def _completed(incomplete: str) -> list[str]:
    return [topic for topic in topics() if topic.startswith(incomplete)]


def help_(
    topic: Annotated[
        str | None, Argument(metavar="TOPIC", help="A topic; all are listed without one.", autocompletion=_completed)
    ] = None,
) -> None:
    """Show a page of the documentation, or list the topics."""
    if topic is None:
        show_topics(read_pages())
    else:
        show_page(read_page(topic))
