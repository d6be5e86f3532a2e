"""The text of an office document or a page: raised text, tables, and boxes and notes that hang from a block."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from pipeline.ingest.sources.parsers.scripts import script_letters
from pipeline.ingest.sources.source import TextBuilder
from pipeline.records import BlockKind

Write = Callable[[], None]
"""Writes the content of a cell, a box or a note."""


class Flow(TextBuilder):
    """A builder of blocks, tables and what follows them. Within a table, ``in_table``, no block may be closed.

    What is written next stands ``apart`` from what is there, unless it begins with a sign.
    """

    def __init__(self) -> None:
        super().__init__()
        self.in_table = self.apart = False
        self._letters: Mapping[int, int] = {}
        self._hanging: deque[Write] = deque()
        self._writes_hanging = False

    def write(self, words: str) -> None:
        """Add words to the open block; collapse white space."""
        if self.apart and words:
            self.apart = False
            super().write(" " if words[0].isalnum() else "")  # a comma follows it at once
        super().write(words.translate(self._letters))

    def script(self, text: str, write: Write, *, raised: bool) -> None:
        """Write a raised or lowered text, kept apart from its word."""
        is_script = self.begin_script(text, raised=raised)
        write()
        if is_script:
            self.end_script()

    def begin_script(self, text: str, *, raised: bool) -> bool:
        """Begin a raised or lowered text in letters of its own, else after a space; return whether it needs either."""
        letters = script_letters(text, self.last, raised=raised)
        super().write(" " if letters == {} else "")
        self._letters = letters or {}
        return letters is not None

    def end_script(self) -> None:
        """End a raised or lowered text."""
        self._letters, self.apart = {}, not self._letters

    def lines(self, texts: Iterable[str]) -> None:
        """Write each text on a line of its own."""
        for text in texts:
            self.new_line()
            self.write(text)

    def hang(self, write: Write) -> None:
        """Have something written once the open block is closed."""
        self._hanging.append(write)

    def close(self, kind: BlockKind, level: int = 0) -> None:
        """End the open block; write what hangs from it, from which more may hang."""
        super().close(kind, level)
        self.apart = False
        if self._writes_hanging:
            return
        self._writes_hanging = True
        while self._hanging:
            self._hanging.popleft()()
            super().close(BlockKind.PARAGRAPH)
        self._writes_hanging = False

    def table(self, rows: Sequence[Sequence[Write]]) -> None:
        """Write a table, each row on a line; one of a single column is a frame around its blocks."""
        if self.in_table:
            self._rows(rows)
            return
        super().close(BlockKind.PARAGRAPH)
        if all(len(row) == 1 for row in rows):
            for (write,) in rows:
                write()
            return
        self.in_table = True
        self._rows(rows)
        self.in_table = False
        self.close(BlockKind.TABLE)

    def _rows(self, rows: Sequence[Sequence[Write]]) -> None:
        for row in rows:
            self.new_line()
            for number, write in enumerate(row):
                self.write(" | " if number else "")
                write()
        self.new_line()
