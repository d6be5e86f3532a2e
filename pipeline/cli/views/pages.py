"""Pages of the documentation: the list of topics, and one page."""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.output import show
from pipeline.docs import Page

_LOCAL_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def show_topics(pages: Sequence[Page]) -> None:
    """Print each topic with the first line of its page."""
    table = Table.grid(padding=(0, 3))
    for page in pages:
        table.add_row(Text(page.topic, style="bold"), Text(page.summary))
    show(table, "", Text("hoprank help TOPIC shows a page; hoprank COMMAND --help lists the options of a command."))


def show_page(page: Page) -> None:
    """Print a page: drawn on a terminal, as the Markdown that it is when piped."""
    if not Console().is_terminal:
        print(page.text, end="")
        return
    # A terminal can't follow a link from page to page: its text, a topic or a file, is what a reader can use.
    show(Markdown(_LOCAL_LINK.sub(r"\1", page.text), code_theme="ansi_dark"))
