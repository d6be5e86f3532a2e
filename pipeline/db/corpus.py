"""The handle of a corpus: connection and record, by which queries read and write it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self, TypeVar

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.db.catalogue import Corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.queries import load_queries
from pipeline.db.slots import TextSlot
from pipeline.errors import Superseded

_Result = TypeVar("_Result")

NO_NAMES: Mapping[str, str] = MappingProxyType({})
"""No identifiers of a query besides those of the corpus."""

_READINGS = 20
"""Times that a read is begun, at most. Chosen by hand: a publication takes ten times as long as a search."""


@dataclass(frozen=True, slots=True)
class CorpusHandle:
    """A corpus on a server, at one generation.

    It fills in what a query declares of the corpus: the params ``corpus`` (the id), ``label``, ``texts`` (the label of
    its full-text index) and ``generation``, and the name ``vector_index``. Arguments that are given take precedence.
    The Lucene queries of one that declares ``texts`` name properties of chunks; they are asked of the corpus's slot.
    ``record`` is the corpus as it was looked up. While it is ``leased`` by its holder nobody else publishes or drops
    it.
    """

    client: Client
    record: Corpus
    leased: bool = field(default=False, compare=False)

    @property
    def id(self) -> str:
        """Id of the corpus, which never changes."""
        return self.record.id

    @property
    def name(self) -> str:
        """Name of the corpus when it was looked up."""
        return self.record.name

    @property
    def generation(self) -> int:
        """The generation that queries see."""
        return self.record.generation

    @property
    def label(self) -> str:
        """Label of the corpus's chunks."""
        return self.record.label

    @property
    def vector_index(self) -> str:
        """Name of the model's vector index, and label of the chunks in it."""
        return self.record.vector_index

    def at(self, generation: int) -> Self:
        """Return the handle of another generation, such as the one that a search found visible."""
        return replace(self, record=replace(self.record, generation=generation))

    def read(self, name: str, identifiers: Mapping[str, str] = NO_NAMES, /, **params: Any) -> list[Record]:
        """Run the read query ``name``; see :meth:`pipeline.db.client.Client.read`. ``identifiers`` fill other names."""
        return self.client.read(name, {**self._names(name), **identifiers}, **self.params(name, params))

    def read_visible(
        self,
        name: str,
        unpublished: Mapping[str, Any] | None = None,
        identifiers: Mapping[str, str] = NO_NAMES,
        /,
        **params: Any,
    ) -> Mapping[str, Any]:
        """Run the read query ``name`` and return its row, which has the corpus's ``name`` and ``generation``.

        ``identifiers`` are the names of the query besides the corpus's. ``unpublished`` is the row of a corpus whose
        indexes aren't made yet. Raises Superseded if the corpus was dropped or renamed, or if another generation is
        visible ``now``, after the reads of the query.
        """
        try:
            rows = self.read(name, identifiers, **params)
        except ClientError as error:
            if name == "corpus_size":
                raise
            # A dropped corpus has no indexes any more either; that raises Superseded here.
            if not self.read_visible("corpus_size")["generation"] and unpublished is not None:
                return unpublished
            if self.record.slot is None:  # it was looked up before its first texts were written
                raise self.superseded() from error
            raise
        if (
            not rows
            or rows[0]["name"] != self.name
            or rows[0].get("now", rows[0]["generation"]) != rows[0]["generation"]
        ):
            raise self.superseded()
        return rows[0]

    def check_visible(self) -> Mapping[str, Any]:
        """Return the row of ``corpus_size``; raises Superseded unless it has this handle's name and generation.

        What was read of the generation before lacked nothing then: garbage is collected after the next publication.
        """
        size = self.read_visible("corpus_size")
        if size["generation"] != self.generation:
            raise self.superseded()
        return size

    def superseded(self) -> Superseded:
        """Return the error that says that another generation, or another corpus, took this one's place."""
        return Superseded(f"The corpus {self.name!r} was replaced while it was read.", "Ask again.")

    def stream(self, name: str, /, **params: Any) -> Iterator[Record]:
        """Run the read query ``name`` and yield its rows; see :meth:`pipeline.db.client.Client.stream`.

        After the last it raises Superseded if the corpus was dropped or if a later generation is visible: the rows may
        lack what was deleted meanwhile. It raises the same instead of yielding none. A leased one needs no such check.
        """
        yield from self.client.stream(name, self._names(name), **self.params(name, params))
        if not self.leased and self.newest().generation > self.generation:
            raise self.superseded()

    def newest(self) -> Self:
        """Return the handle of the generation that is visible now; raises Superseded if the corpus was dropped."""
        if rows := self.read("corpus_size"):
            return self.at(rows[0]["generation"])
        raise self.superseded()

    def write(self, name: str, /, **params: Any) -> list[Record]:
        """Run the write query ``name``; see :meth:`pipeline.db.client.Client.write`."""
        return self.client.write(name, self._names(name), **self.params(name, params))

    def params(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ``given`` params of the query ``name``, and those that it declares of the corpus."""
        declared, slot = load_queries()[name].params, self.record.slot
        own = {"corpus": self.id, "label": self.label, "generation": self.generation, "texts": slot and slot.texts}
        asked = {}
        if slot and "texts" in declared:
            asked = {param: _asked(slot, given[param]) for param in ("text", "terms") if param in given}
        return {**{param: value for param, value in own.items() if param in declared}, **given, **asked}

    def _names(self, name: str) -> dict[str, str]:
        return {"vector_index": self.vector_index} if "vector_index" in load_queries()[name].names else {}


def _asked(slot: TextSlot, queries: str | Sequence[str]) -> str | list[str]:
    return slot.asked(queries) if isinstance(queries, str) else list(map(slot.asked, queries))


def open_corpus(client: Client, name: str) -> CorpusHandle:
    """Return the corpus with this name, at its visible generation; raises CorpusError if there is none."""
    return CorpusHandle(client, get_corpus(client, name))


def read_whole(read: Callable[[], _Result]) -> _Result:
    """Return what ``read`` returns, which is called again while it raises Superseded, up to 20 times in all."""
    for _ in range(_READINGS - 1):
        with suppress(Superseded):
            return read()
    return read()
