"""The retriever and the document store for Haystack; needs the extra ``haystack``."""

import functools
import re
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from pipeline.addresses import check_has_no_login
from pipeline.api import HopRank
from pipeline.errors import ExtraMissing, FilterError
from pipeline.files import well_formed
from pipeline.records import METADATA
from pipeline.retrieve.filters.parse import LONGEST
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.awaited import awaited
from pipeline.serve.adapters.filters import COMPARISONS, Conditions, compare, join
from pipeline.serve.adapters.originals import Found, Originals, Stored, Written
from pipeline.serve.adapters.passages import Passage, passages_of

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.utils import Secret
    from haystack.utils.filters import document_matches_filter
except ImportError as error:
    raise ExtraMissing.of("haystack", error) from error

_OPERATORS = {**COMPARISONS, "not in": "$nin"}
_META = "meta."
_EXAMPLE = 'Write it as {"field": "meta.year", "operator": ">=", "value": 1990}, or join such by AND, OR or NOT.'
_NOTHING = Document(id="nothing")
_MAY_BE_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PASSWORD = Secret.from_env_var("NEO4J_PASSWORD", strict=False)


class Connection:
    """Connects when it is first used, by an address and a password; or is one that was given, and leaves it open."""

    def __init__(self, address: dict[str, str | None], password: Secret, hoprank: HopRank | None) -> None:
        check_has_no_login(address["uri"] or "")  # it is saved with the component
        self._address = address if hoprank is None else hoprank.settings.neo4j.model_dump(include={*address})
        self._password = password
        self._hoprank = hoprank
        self._own = hoprank is None
        self._connecting = threading.Lock()

    def open(self) -> HopRank:
        """Return the connection; raises the errors of :meth:`pipeline.HopRank.connect`."""
        with self._connecting:
            if self._hoprank is None:
                address = self._address
                self._hoprank = HopRank.connect(
                    address["uri"], address["username"], self._password.resolve_value(), address["database"]
                )
            return self._hoprank

    def close(self) -> None:
        """Close the connection that was made here; a later use connects again."""
        with self._connecting:
            if self._own and self._hoprank is not None:
                self._hoprank.close()
                self._hoprank = None

    def to_dict(self) -> dict[str, Any]:
        """Return the address and the name of the variable that holds the password."""
        return {**self._address, "password": self._password.to_dict()}


class HopRankDocumentStore:
    """A corpus as Haystack's document store: each document is one of the corpus, and its id the key.

    Documents come back as they went in, with their embeddings, which search doesn't use: HopRank embeds the texts
    itself. Those that came otherwise are documents too, of their text and metadata. The first documents make the
    corpus; one that isn't there is an empty store. Filters mean what they do in Haystack's own store: they are
    evaluated here, over all documents.

    The store connects when it is first used, as :class:`HopRankRetriever` does. ``hoprank`` is a connection of yours.
    Raises the errors of :class:`pipeline.HopRank`. Thread-safe.

    Example::

        store = HopRankDocumentStore("docs")
        store.write_documents(documents)
        retriever = HopRankRetriever(document_store=store, top_k=5)
    """

    def __init__(
        self,
        corpus: str = "default",
        uri: str | None = None,
        username: str | None = None,
        password: Secret = _PASSWORD,
        database: str | None = None,
        hoprank: HopRank | None = None,
    ) -> None:
        self.corpus = corpus
        self.connection = Connection({"uri": uri, "username": username, "database": database}, password, hoprank)

    def close(self) -> None:
        """Close the connection that the store made; a later use connects again."""
        self.connection.close()

    def to_dict(self) -> dict[str, Any]:
        """Return the store as plain values: of the password, the variable of the environment that holds it."""
        return default_to_dict(self, corpus=self.corpus, **self.connection.to_dict())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the store that :meth:`to_dict` described."""
        return default_from_dict(cls, data)

    def count_documents(self) -> int:
        """Return the number of documents."""
        return self._originals().count()

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that match Haystack's filters, in the order of their ids.

        Raises haystack.errors.FilterError for malformed ones.
        """
        if filters:
            _check(filters)
        documents = [self._document(stored) for stored in self._originals().read().values()]
        return (
            [document for document in documents if document_matches_filter(filters, document)] if filters else documents
        )

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write documents in one generation, and return how many were.

        By default, as by ``FAIL``, an id that is there, or twice in the list, raises DuplicateDocumentError, and
        nothing is written. Of several with one id ``SKIP`` writes the first, and ``OVERWRITE`` the last. Documents
        without content are stored and never found. The ``title`` in the metadata, if it is a text, is the document's.
        """
        if isinstance(documents, str) or not isinstance(documents, Iterable):
            # As in Haystack's own store, whose tests ask for it.
            raise ValueError(f"Give a list of documents, not {type(documents).__name__}.")  # noqa: TRY004
        written: dict[str, Written] = {}
        twice: set[str] = set()
        documents = list(documents)
        for document in documents:
            if not isinstance(document, Document):
                raise ValueError(f"Give a list of documents; one is {type(document).__name__}.")  # noqa: TRY004
            if document.id in written:
                twice.add(document.id)
            if document.id not in written or policy is not DuplicatePolicy.SKIP:
                written[document.id] = Written(document.content or "", document.meta, document.to_dict(flatten=False))

        def left_out(stored: set[str]) -> Collection[str]:
            if policy in (DuplicatePolicy.SKIP, DuplicatePolicy.OVERWRITE):
                return stored if policy is DuplicatePolicy.SKIP else ()
            if again := stored | twice:
                raise DuplicateDocumentError(f"The id {min(again)!r} is there already, or twice in the list.")
            return ()

        keys = self._originals().write(written, left_out)
        return len(documents) if policy is DuplicatePolicy.OVERWRITE else len(keys)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents by id; those that aren't there are passed over."""
        self._originals().remove(document_ids)

    def delete_all_documents(self) -> None:
        """Delete all documents of the corpus."""
        self._originals().remove(None)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Delete the documents that match filters, and return how many do."""
        matching = self.filter_documents(filters)
        self.delete_documents([document.id for document in matching])
        return len(matching)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Add fields to the metadata of the documents that match filters, or replace them; return how many do."""
        matching = [replace(one, meta={**one.meta, **meta}) for one in self.filter_documents(filters)]
        return self.write_documents(matching, DuplicatePolicy.OVERWRITE)

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """Return the number of documents that match filters."""
        return len(self.filter_documents(filters))

    def count_unique_metadata_by_filter(self, filters: dict[str, Any], metadata_fields: list[str]) -> dict[str, int]:
        """Return the number of different values of each field in the documents that match filters."""
        return self._metadata(filters).count_unique_metadata_by_filter({}, metadata_fields)

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Return the type of each field of the metadata: keyword, int, float or boolean, as ``{"type": ...}``."""
        return self._metadata().get_metadata_fields_info()

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """Return the lowest and highest value of a field as ``min`` and ``max``, which are None if it has none."""
        return self._metadata().get_metadata_field_min_max(metadata_field)

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> tuple[list[Any], int]:
        """Return ``size`` of the different values of a field that hold a text, in order, and the number of all."""
        documents = self._metadata(filters)
        return documents.get_metadata_field_unique_values(metadata_field, search_term, from_, size)

    count_documents_async = awaited(count_documents)
    filter_documents_async = awaited(filter_documents)
    write_documents_async = awaited(write_documents)
    delete_documents_async = awaited(delete_documents)
    delete_all_documents_async = awaited(delete_all_documents)
    delete_by_filter_async = awaited(delete_by_filter)
    update_by_filter_async = awaited(update_by_filter)
    count_documents_by_filter_async = awaited(count_documents_by_filter)
    count_unique_metadata_by_filter_async = awaited(count_unique_metadata_by_filter)
    get_metadata_fields_info_async = awaited(get_metadata_fields_info)
    get_metadata_field_min_max_async = awaited(get_metadata_field_min_max)
    get_metadata_field_unique_values_async = awaited(get_metadata_field_unique_values)

    def search(self, query: str, top_k: int, filters: Mapping[str, Any] | None, leg: str) -> list[Document]:
        """Return the ``top_k`` best documents for a query that match Haystack's filters, with their scores.

        Of documents that came otherwise it returns passages. Raises FilterError, Haystack's or HopRank's, for malformed
        filters; and for those that HopRank can't evaluate, if more than 10,000 documents match.
        """
        search = functools.partial(self._originals().search, top_k, query, leg=leg)
        if not filters:
            return [_found_document(found) for found in search()]
        _check(filters)
        # Haystack's evaluator checks the rest, which HopRank's filters can't express.
        found = search(conditions=_loosened(filters) or None)
        if not all(document_matches_filter(dict(filters), _as_filtered(one)) for one in found):
            ids = [document.id for document in self.filter_documents(dict(filters))]
            found = search(conditions={"document": {"$in": ids}}) if ids else []
        return [_found_document(one) for one in found]

    def _originals(self) -> Originals:
        return Originals(self.connection.open(), self.corpus, "haystack")

    def _document(self, stored: Stored) -> Document:
        if stored.original is not None:
            return Document.from_dict(stored.original)
        entry = stored.entry
        text = self.connection.open().document(entry.key, self.corpus).text
        return Document(id=entry.key, content=text, meta=dict(entry.metadata))

    def _metadata(self, filters: dict[str, Any] | None = None) -> InMemoryDocumentStore:
        """Return the metadata of documents in Haystack's own store, which summarises it."""
        documents = InMemoryDocumentStore()
        documents.write_documents([Document(id=one.id, meta=one.meta) for one in self.filter_documents(filters)])
        return documents


def _found_document(found: Found) -> Document:
    if found.original is None:
        return _passage_document(found.passage)
    return replace(Document.from_dict(found.original), score=found.passage.score)


def _as_filtered(found: Found) -> Document:
    """Return what a filter sees of a document."""
    if found.original is None:
        return Document(id=found.passage.metadata["document"], content=found.passage.content, meta=dict(found.metadata))
    return Document.from_dict(found.original)


def _passage_document(passage: Passage) -> Document:
    return Document(id=passage.metadata["id"], content=passage.content, meta=passage.metadata, score=passage.score)


@component
class HopRankRetriever:
    """Retrieves the ``top_k`` best passages of a corpus, which match ``filters``, as Haystack's documents.

    With a ``document_store`` it retrieves the documents of that store as they were written, and uses its connection
    and corpus. ``filters`` are Haystack's; those of a run replace those of the component. The component connects when
    it warms up, as :meth:`pipeline.HopRank.connect` does by ``uri``, ``username``, ``password`` and ``database``; or it
    uses the connection ``hoprank``, whose address it is serialised with, and which it doesn't close. Raises the errors
    of :meth:`pipeline.HopRank.search`.

    Example::

        pipeline.add_component("retriever", HopRankRetriever("docs", top_k=5))
        pipeline.run({"retriever": {"query": "Who founded the yard?"}})
    """

    def __init__(
        self,
        corpus: str = "default",
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        leg: str = Leg.WHOLE,
        uri: str | None = None,
        username: str | None = None,
        password: Secret = _PASSWORD,
        database: str | None = None,
        hoprank: HopRank | None = None,
        document_store: HopRankDocumentStore | None = None,
    ) -> None:
        self.corpus = corpus if document_store is None else document_store.corpus
        self.top_k = top_k
        self.filters = filters
        self.leg = leg
        self.document_store = document_store
        address = {"uri": uri, "username": username, "database": database}
        self.connection = document_store.connection if document_store else Connection(address, password, hoprank)

    def warm_up(self) -> None:
        """Connect, unless that is done."""
        self.connection.open()

    def close(self) -> None:
        """Close the connection that the component made; a later run connects again."""
        self.connection.close()

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values: of the password, the variable of the environment that holds it."""
        store = self.document_store
        source = {"document_store": store} if store else {"corpus": self.corpus, **self.connection.to_dict()}
        return default_to_dict(self, top_k=self.top_k, filters=self.filters, leg=str(self.leg), **source)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the component that :meth:`to_dict` described."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the best passages for a query as ``documents``; Haystack's filters and ``top_k`` are of this run."""
        filters = self.filters if filters is None else filters
        top_k = self.top_k if top_k is None else top_k
        if self.document_store:
            return {"documents": self.document_store.search(query, top_k, filters, self.leg)}
        result = self.connection.open().search(
            query,
            top_k=top_k,
            filters=translate(filters) if filters else None,
            corpus=self.corpus,
            leg=self.leg,
        )
        return {"documents": [_passage_document(passage) for passage in passages_of(result)]}

    run_async = awaited(run)


def translate(filters: Mapping[str, Any]) -> Conditions:
    """Return Haystack's filters as HopRank's; raises FilterError if they are malformed, or HopRank lacks an operator.

    ``meta.year`` is the field ``year``.
    """
    match filters:
        case {"operator": str(operator), "conditions": [*parts]}:
            return join(operator, [translate(part) for part in parts])
        case {"operator": str(operator), "field": str(field), "value": value}:
            return compare(field.removeprefix(_META), operator, value, _OPERATORS)
    raise FilterError(
        f"The filter has the part {str(filters)[:60]}.",
        _EXAMPLE,
    )


def _check(filters: Mapping[str, Any]) -> None:
    """Raise FilterError for malformed filters, also where no document is compared with them."""
    document_matches_filter(dict(filters), _NOTHING)
    for part in filters.get("conditions", ()):
        if not isinstance(part, Mapping):
            raise FilterError(f"The filter has the part {str(part)[:60]}.", _EXAMPLE)
        _check(part)


def _loosened(filters: Mapping[str, Any]) -> Conditions:
    """Return conditions that all documents meet which match Haystack's filters; others may, too. {} is none.

    In Haystack texts that are dates compare as such, true is 1, a list equals a list alone, and a document without a
    field has None there.
    """
    match filters:
        case {"operator": "AND", "conditions": [*parts]}:
            return join("and", [loose for part in parts if (loose := _loosened(part))])
        case {"operator": "OR", "conditions": [_, *_] as parts}:
            choices = [_loosened(part) for part in parts]
            return join("or", choices) if all(choices) else {}
        case {"operator": "==" | "in" | "<" | "<=" | ">" | ">=" as operator, "field": str(field), "value": value}:
            return _loose_comparison(field, operator, value)
    return {}


def _loose_comparison(field: str, operator: str, value: object) -> Conditions:
    name = field.removeprefix(_META)
    # In the graph the field "a" of a mapping "b" is "b.a", which may be a field's own name.
    if not field.startswith(_META) or "." in name or not (name.strip() and name.isprintable() and len(name) < LONGEST):
        return {}
    values = value if operator == "in" and isinstance(value, list) else [value]
    if not values or not all(map(_is_plain if operator in ("==", "in") else _is_number, values)):
        return {}
    exact = compare(f"{METADATA}{name}", operator, value, _OPERATORS)
    if not any(map(_is_number, values)):
        return exact
    return join("or", [exact, compare(f"{METADATA}{name}", "in", [True, False])])


def _is_plain(value: object) -> bool:
    """Return whether a value equals in Haystack what it equals in HopRank, but for true and false, and lists."""
    if isinstance(value, str):
        return len(value) <= LONGEST and well_formed(value) == value and not _MAY_BE_DATE.match(value)
    return _is_number(value)


def _is_number(value: object) -> bool:
    # Neo4j holds whole numbers of 64 bits.
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < 2**53
