"""The sections of the settings: their values, and which ones are allowed."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError

from pipeline.files.limits import MEGABYTE, Limits


class Section(BaseModel):
    """Base of the sections, those of domains too: frozen values, without unknown ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _check_uri(uri: str) -> str:
    # Addresses are logged, shown and stored beside what they name: a password in one would be, too.
    if "@" in uri:
        problem = "an address holds no user and no password: set NEO4J_USERNAME and NEO4J_PASSWORD"
        raise PydanticCustomError("login", problem)
    if not re.match(r"(bolt|neo4j)(\+s|\+ssc)?://.", uri):
        problem = "an address of Neo4j's own protocol is expected, such as bolt://localhost:7687 or neo4j+s://NAME"
        raise PydanticCustomError("bolt_uri", problem)
    return uri


class Neo4jSettings(Section):
    """The server to use; without ``uri`` the embedded server."""

    uri: Annotated[str, AfterValidator(_check_uri)] | None = None
    username: str
    password: SecretStr | None = None
    database: str
    connection_timeout: float = Field(gt=0)
    retry_time: float = Field(ge=0)
    read_timeout: float = Field(ge=0)
    write_timeout: float = Field(ge=0)


class ServerSettings(Section):
    """The embedded server's limits, and its Java."""

    idle_minutes: float = Field(ge=0)
    start_timeout: float = Field(gt=0)
    heap_mb: int | None = Field(default=None, ge=256)
    page_cache_mb: int | None = Field(default=None, ge=8)
    java_home: Path | None = None


class EmbedSettings(Section):
    """The embedding model: on this machine, or behind an ``endpoint``, for which the last five are.

    ``query_prefix`` and ``passage_prefix`` are put before texts; empty, the prompts of the model's own files are.
    """

    model: str = Field(min_length=1)
    revision: str
    device: str
    precision: Literal["auto", "float32", "bfloat16"]
    batch_tokens: int = Field(ge=1)
    query_prefix: str
    passage_prefix: str
    endpoint: str = Field(pattern=r"^(https?://\S+)?$")
    api_key: SecretStr | None = None
    tokenizer: str
    max_tokens: int = Field(ge=32)
    timeout: float = Field(gt=0)


class ChunkSettings(Section):
    """Length of chunks in the embedder's tokens; ``max_tokens`` 0 means the most that the embedder reads."""

    max_tokens: int = Field(ge=0)
    overlap: int = Field(ge=0)


class SourceSettings(Section):
    """Limits of the sources; a megabyte is a million bytes. ``code``: read source code below folders, too."""

    code: bool
    max_megabytes: float = Field(gt=0)
    max_unpacked_megabytes: float = Field(gt=0)
    max_pages: int = Field(gt=0)
    max_seconds: float = Field(gt=0)
    max_memory_megabytes: float = Field(gt=0)
    _within: tuple[Path, ...] | None = None

    def below(self, folders: Iterable[Path]) -> Self:
        """Return these settings for files that are below ``folders`` when they are opened; no others can be read."""
        bounded = self.model_copy()
        bounded._within = tuple(folder.expanduser().resolve() for folder in folders)
        return bounded

    @property
    def limits(self) -> Limits:
        """The limits as the readers take them."""
        return Limits(
            bytes_read=int(self.max_megabytes * MEGABYTE),
            bytes_unpacked=int(self.max_unpacked_megabytes * MEGABYTE),
            pages=self.max_pages,
            seconds=self.max_seconds,
            bytes_of_memory=int(self.max_memory_megabytes * MEGABYTE),
            within=self._within,
        )


class IngestSettings(Section):
    """Waiting for another writer, in seconds, and what reads, chunks and embeds: this process, or Ray."""

    wait: float = Field(ge=0)
    engine: Literal["local", "ray"]


class RaySettings(Section):
    """Ray: where it is, where its shards are, and how it works; see ``hoprank help scale``.

    Without ``address`` it is started on this machine. ``workers`` 0: as many as there are processors.
    """

    address: str
    shards: str
    workers: int = Field(ge=0)
    shard_documents: int = Field(ge=1)
    retries: int = Field(ge=0)
    start_timeout: float = Field(gt=0)


_FIRST_THRESHOLD = 0.6  # of corpora that don't say theirs


class LinkSettings(Section):
    """Links of chunks: similarity, titles, and the extractor of names.

    ``similar_threshold`` "auto" becomes a number for the model of a corpus when this is made.
    """

    similar_top_k: int = Field(ge=0)
    similar_threshold: Literal["auto"] | Annotated[float, Field(ge=-1, le=1)]
    similar_hub_cap: int = Field(ge=1)
    exact_up_to: int = Field(ge=0)
    title_shared_by: int = Field(ge=1)
    extractor: Literal["builtin", "spacy"]
    spacy_model: str = Field(min_length=1)

    @property
    def of_edges(self) -> dict[str, Any]:
        """The values that decide on edges, by name; a corpus keeps those that it was linked with."""
        return self.model_dump(exclude={"extractor", "spacy_model"})

    @property
    def threshold(self) -> float:
        """The least cosine of neighbours; for "auto", which no corpus has, that of the first versions."""
        return _FIRST_THRESHOLD if self.similar_threshold == "auto" else self.similar_threshold

    def kept_by(self, corpus: Mapping[str, Any]) -> Self:
        """Return these settings with the values of edges that a corpus was linked with."""
        return self.model_validate({**self.model_dump(), "similar_threshold": self.threshold, **corpus})

    def differences(self, corpus: Mapping[str, Any]) -> tuple[str, ...]:
        """Describe each setting whose value isn't the one that a corpus was linked with."""
        return tuple(
            f"link.{name} is {corpus[name]} in the corpus and {value} in the settings"
            for name, value in self.of_edges.items()
            if name in corpus and corpus[name] != value
        )


class FulltextSettings(Section):
    """The full-text index; ``analyzer`` is fixed with the first documents of a corpus, "auto" by their language."""

    analyzer: str = Field(pattern=r"^[A-Za-z0-9_-]+$")

    @property
    def of_graphs(self) -> str:
        """The analyser of knowledge graphs, whose index is made before their texts are known."""
        return "english" if self.analyzer == "auto" else self.analyzer


class RetrieveSettings(Section):
    """Numbers of candidates and of scored chunks, the limit of hop expansion, the fusion of rankings, open corpora.

    ``reranker`` reads the ``reranked`` first candidates; "" is none. Hits below ``min_relevance`` are dropped; a corpus
    whose best hit is below ``known_relevance`` seems to know nothing about the question.
    """

    candidates: int = Field(ge=1)
    scored: int = Field(ge=1)
    hop_hub: int = Field(ge=1)
    fuse_k: float = Field(gt=0)
    fuse_scorer: float = Field(ge=0)
    reranker: str
    reranked: int = Field(ge=1, le=100)
    min_relevance: float = Field(ge=0, le=1)
    known_relevance: float = Field(ge=0, le=1)
    open_corpora: int = Field(ge=1)


class WalkSettings(Section):
    """The walk: its engine, and the weights of its edges.

    The class's own values were chosen on the smaller multi-hop sets, SciFact and Cranfield.
    """

    engine: Literal["auto", "gds", "local"]
    gds_up_to: int = Field(ge=0)
    damping: float = Field(gt=0, lt=1)
    link: float = Field(ge=0)
    projection_megabytes: int = Field(ge=1)

    # Five lose half a point of recall@5 to ten; twenty take more than twice as long with GDS.
    iterations: ClassVar[int] = 10
    # GDS stops where scores change by less (4 to 10 iterations rank as well as 10); the local engine takes them all.
    gds_tolerance: ClassVar[float] = 1e-3
    # The first chunks of the hybrid ranking, seeds of walk and hops. Seven instead of ten leave a third less to expand
    # for about the same quality.
    chunk_seeds: ClassVar[int] = 7
    # Their weights are 1 / rank ** steepness, scaled to a sum of 1. Steep ones gain 0.5 points of nDCG@10.
    steepness: ClassVar[float] = 2.0
    # Sum of the weights of the question's names, times the highest confidence among them; 1 to 10 do alike.
    names: ClassVar[float] = 5.0
    # Weight of an edge to a document whose title is named. This and those below: chosen by hand, not measured.
    title: ClassVar[float] = 2.0
    # How far the sentence around a link counts: a link whose sentence has a cosine to the question of 0.1 above the
    # others' mean weighs exp(0.1 * meaning) as much; GDS walks all links alike.
    meaning: ClassVar[float] = 4.0
    # Weight of a similarity edge, times its cosine, and of an edge to the next chunk.
    similar: ClassVar[float] = 0.5
    next: ClassVar[float] = 0.5


_OWN_PARAMETERS = {"messages", "model", "n", "stream"}


def _check_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = not url or (parts.hostname and parts.port != 0 and not parts.query and not parts.fragment)
    except ValueError:  # as of a port that is no number
        is_address = False
    if not is_address:
        raise PydanticCustomError("no_address", "that is no address of an endpoint, such as http://localhost:11434/v1")
    return url


def _check_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    if own := sorted(parameters.keys() & _OWN_PARAMETERS):
        raise PydanticCustomError("own_parameter", f"HopRank itself sets {', '.join(own)}")
    return parameters


class AskSettings(Section):
    """The language model that answers, at an endpoint; none without ``base_url`` and ``model``.

    ``tokens`` are those of the passages, ``parameters`` further fields of the request, ``timeout`` seconds.
    """

    base_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$"), AfterValidator(_check_address)]
    model: str
    api_key: SecretStr | None = None
    tokens: int = Field(ge=1)
    timeout: float = Field(gt=0)
    parameters: Annotated[dict[str, Any], AfterValidator(_check_parameters)]


class ObserveSettings(Section):
    """Traces, and the format of logs: for those who run HopRank; see ``hoprank help serve``."""

    traces: Annotated[str, Field(pattern=r"^(https?://\S+)?$"), AfterValidator(_check_address)]
    logs: Literal["text", "json"]


_SHORTEST_TOKEN = 16  # characters; chosen by hand: random ones of that length can't be guessed


def _check_length(token: SecretStr) -> SecretStr:
    if len(token) < _SHORTEST_TOKEN:
        raise PydanticCustomError("short_token", f"a token has at least {_SHORTEST_TOKEN} characters, not {len(token)}")
    return token


Token = Annotated[SecretStr, AfterValidator(_check_length)]
"""A secret of at least 16 characters."""


_OWN_PATHS = ("v1", "page", "mcp")


def _check_root(path: str) -> str:
    if (first := path.split("/")[1:2]) and first[0] in _OWN_PATHS:
        raise PydanticCustomError("own_path", f"/{first[0]} is a path of the service itself")
    return path


def _check_network(network: str) -> str:
    try:
        ipaddress.ip_network(network)
    except ValueError:
        raise PydanticCustomError("no_network", "that is no address or network, such as 10.0.0.0/8") from None
    return network


class TokenSettings(Section):
    """A token of the service: what it opens, and whether it may write. Without ``corpora`` it opens all."""

    token: Token
    corpora: tuple[str, ...] | None = None
    write: bool = False


class ServeSettings(Section):
    """The service: its tokens, what it reads from this machine, and its limits; see ``hoprank help serve``.

    ``token`` opens everything. ``folders`` are those below which ``ingest`` and ``sync`` may name paths. Times are in
    seconds, ``rate`` is requests a minute for each client. A proxy shows the service below ``root_path``; from
    ``proxies`` it is told the client's address.
    """

    token: Token | None = None
    tokens: tuple[TokenSettings, ...] = ()
    folders: tuple[Path, ...] = ()
    origins: tuple[str, ...] = ()
    root_path: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._~-]+)*$"), AfterValidator(_check_root)]
    proxies: tuple[Annotated[str, AfterValidator(_check_network)], ...] = ()
    max_megabytes: float = Field(gt=0)
    max_top_k: int = Field(ge=1)
    max_question: int = Field(ge=1)
    max_searches: int = Field(ge=1)
    max_answers: int = Field(ge=1)
    rate: int = Field(ge=0)
    queue_timeout: float = Field(gt=0)
    receive_timeout: float = Field(gt=0)
    request_timeout: float = Field(gt=0)
    shutdown_timeout: float = Field(ge=0)
    keep_jobs_days: float = Field(gt=0)
