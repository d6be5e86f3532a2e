"""Requests and responses of the service, as OpenAPI describes them."""

from typing import Annotated, Any, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, JsonValue
from pydantic.json_schema import SkipJsonSchema

from pipeline.flows.documents import DocumentEntry
from pipeline.records import LegRank, Reasons
from pipeline.retrieve.context import Passage
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.window import Expand
from pipeline.serve.jobs.records import Advance, Kind, State

CorpusName = Annotated[str, Field(min_length=1, max_length=200, description="Name of a corpus.", examples=["docs"])]
Question = Annotated[str, Field(min_length=1, description="The question.", examples=["Who founded the yard?"])]
Filters = Annotated[
    dict[str, JsonValue] | None,
    Field(description="Conditions on the metadata; see `hoprank help search`.", examples=[{"year": {"$gte": 2020}}]),
]

MinRelevance = Annotated[
    float | None,
    Field(ge=0, le=1, description="Leave out passages of a lower relevance; by default those below the setting."),
]


_STEP = r"\.{0,2}[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*"
"""A step of a relative path, neither ``.`` nor ``..``, without backslashes and characters that don't show."""

FileKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        pattern=rf"^{_STEP}(/{_STEP})*$",
        examples=["guide/start.pdf"],
        description="Its name, which becomes the key of its document.",
    ),
]


class Body(BaseModel):
    """Base of the requests, which refuse unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Asked(Body):
    """A question, and which passages of a corpus may answer it."""

    query: Question
    corpus: CorpusName = "default"
    top_k: int = Field(default=10, ge=1, description="Number of passages.")
    filters: Filters = None
    min_relevance: MinRelevance = None


class SearchRequest(Asked):
    """A question, and how to search for it. ``leg`` ranks instead of the fused whole, ``hoprank``."""

    leg: Leg = Leg.WHOLE
    explain: bool = Field(default=False, description="Add the path that led to each passage.")
    excerpts: bool = Field(default=False, description="Add the sentences of each passage that answer best.")


class _OfContext(Asked):
    """A question, and which passages make its context."""

    top_k: int = Field(default=20, ge=1)
    expand: Expand = Field(
        default=Expand.NONE, description="What stands around the best passages, in half of the tokens."
    )


class ContextRequest(_OfContext):
    """A question, and the size of the context for a language model."""

    tokens: int = Field(default=2000, ge=1, le=100_000, description="The most tokens of the context.")


class AskRequest(_OfContext):
    """A question, and the size of the context that the language model answers from.

    Without a passage of the relevance ``min_relevance``, by default `retrieve.known_relevance`, it isn't asked.
    """

    tokens: int | None = Field(
        default=None, ge=1, le=100_000, description="The most tokens of the context; null: those of `ask.tokens`."
    )


class Asking(BaseModel):
    """The language model that answers questions; null if none is set up."""

    model: str | None


class HitMetadata(BaseModel):
    """Source and rank of a passage. ``start`` and ``end`` count characters, lines count from 1."""

    id: str
    document: str
    title: str
    heading: str
    path: str
    ordinal: int
    start: int
    end: int
    line_start: int
    line_end: int
    rank: int
    score: float
    relevance: float | None = Field(description="Probability that the passage is relevant; null if it can't be told.")
    document_metadata: dict[str, Any]
    chunk_metadata: dict[str, Any]
    legs: dict[str, LegRank]
    evidence: list[dict[str, Any]] | None = Field(default=None, description="With `explain`: the path to the passage.")
    features: dict[str, float] | None = Field(default=None, description="With `explain`: what each adds to the score.")
    reasons: Reasons | None = Field(default=None, description="With `explain`: what speaks for the passage.")
    excerpt: str | None = Field(default=None, description="With `excerpts`: the sentences that answer, without markup.")


class HitItem(BaseModel):
    """A passage and its metadata."""

    content: str
    metadata: HitMetadata


class SearchResponse(BaseModel):
    """The passages, best first; ``metadata`` has the names in the question, and the ``relevance`` of the best passage.

    ``warnings`` in it say that the corpus seems to know nothing about the question.
    """

    items: list[HitItem]
    metadata: dict[str, Any]


class ContextResponse(BaseModel):
    """Passages in reading order, and the same as Markdown with numbered sources."""

    question: str
    passages: list[Passage]
    tokens: int
    budget: int
    left_out: int
    metadata: dict[str, Any]
    markdown: str


class CorpusModel(BaseModel):
    """A corpus: what it holds, and the model that embedded it."""

    name: str
    documents: int
    chunks: int
    entities: int
    edges: dict[str, int]
    generation: int
    fingerprint: str
    filterable: list[str] = Field(default=[], description="Fields of the metadata that its indexes filter by.")
    writing: bool = Field(description="A writer has staged a generation that isn't visible yet.")


class Mentioned(BaseModel):
    """An entity and the number of chunks that mention it."""

    name: str
    mentions: int


class CorpusStats(CorpusModel):
    """A corpus with its most mentioned entities."""

    created_at: str
    writer: str | None
    writer_since: str | None
    top: list[Mentioned]


class DegreeCount(BaseModel):
    """The number of chunks that have a degree."""

    degree: int
    chunks: int


class DegreePlot(BaseModel):
    """Distribution of degrees by type of edge, in the order of degrees; chunks without an edge are left out."""

    degrees: dict[str, list[DegreeCount]]


class DocumentPage(BaseModel):
    """A page of documents; ``next`` is the value of ``after`` for the following page, null on the last."""

    documents: list[DocumentEntry]
    next: str | None


class DocumentModel(BaseModel):
    """A document with its text, the ids of its chunks, and the metadata of those that have any."""

    key: str
    title: str
    path: str
    metadata: dict[str, Any]
    text: str
    chunks: list[str]
    chunk_metadata: dict[str, dict[str, Any]] = Field(default_factory=dict)


class DocumentBody(Body):
    """A document to add or update."""

    title: str = Field(default="", max_length=10_000)
    text: str = Field(examples=["Ada Lovelace met Charles Babbage in 1833."])
    metadata: dict[str, JsonValue] = Field(default_factory=dict, examples=[{"year": 1833}])


class IngestedDocument(DocumentBody):
    """A document of an ingest, with the key that identifies it in its corpus."""

    id: str = Field(min_length=1, max_length=1000, examples=["ada"])


class IngestSummaryModel(BaseModel):
    """The outcome of an ingest; see `hoprank ingest --json`."""

    model_config = ConfigDict(extra="allow")

    corpus: str
    changed: int
    unchanged: int
    documents: int
    chunks: int
    entities: int


class _Documents(Body):
    corpus: CorpusName = "default"
    documents: Annotated[list[IngestedDocument], Field(min_length=1)] | SkipJsonSchema[None] = None
    paths: Annotated[list[str], Field(min_length=1, examples=[["docs/"]])] | SkipJsonSchema[None] = None
    filterable: (
        Annotated[
            list[Annotated[str, Field(min_length=1, max_length=200)]],
            Field(
                max_length=8,
                examples=[["year", "lang"]],
                description="Fields of the metadata that a new corpus declares to filter by, inside its indexes.",
            ),
        ]
        | SkipJsonSchema[None]
    ) = None


class IngestedFile(Body):
    """A file of an ingest: its key, whose suffix names its format (.md, .pdf, .docx, ...), and its content."""

    key: FileKey
    content: Base64Bytes = Field(examples=["IyBUaWRlcwo="], description="The bytes of the file, in base64.")


class IngestRequest(_Documents):
    """Documents to add and update: in the request, as files, or at paths below the folders in ``serve.folders``."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [name]} for name in ("documents", "paths", "files")]}
    )

    files: Annotated[list[IngestedFile], Field(min_length=1)] | SkipJsonSchema[None] = None


class SyncRequest(_Documents):
    """All documents that the corpus shall hold; others are removed. ``dry_run`` plans and writes nothing."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["documents"]}, {"required": ["paths"]}]})

    dry_run: bool = False


class ExampleQuestions(BaseModel):
    """Questions to ask a corpus, made of its names and titles."""

    questions: list[str]


class JudgementBody(Body):
    """A judgement of a hit: 1 if its document answers the question, 0 if it doesn't, null to take that back."""

    question: Question
    document: str = Field(min_length=1, max_length=10_000, description="Key of the document.", examples=["ada"])
    relevance: float | None = Field(ge=0, le=100, allow_inf_nan=False, examples=[1])


class JudgementModel(BaseModel):
    """A judgement of a hit: above 0 its document answers the question."""

    question: str
    document: str
    relevance: float


class JobProblem(BaseModel):
    """The error that ended a job, or for which it waits."""

    type: str
    message: str
    fix: str


class JobModel(BaseModel):
    """A job. ``attempt`` counts its runs; ``result`` is the summary of the ingest or sync.

    ``host`` is the machine that its paths are on: a service there runs it. Null if any may.
    """

    id: str
    kind: Kind
    corpus: str
    state: State
    created_at: str
    attempt: int
    started_at: str | None
    finished_at: str | None
    cancelling: bool
    host: str | None
    progress: Advance | None
    result: dict[str, Any] | None
    problem: JobProblem | None


class JobPage(BaseModel):
    """Jobs, the latest first; ``next`` is the value of ``before`` for the following page, null on the last."""

    jobs: list[JobModel]
    next: str | None


class VerbModel(BaseModel):
    """A question that a domain answers, or an action of it; ``arguments`` is the JSON schema of what it takes.

    What isn't ``read_only`` needs a token that writes; what is ``destructive`` may delete or replace something; the
    same call again of what is ``idempotent`` changes nothing more.
    """

    name: str
    help: str
    arguments: dict[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool


class DomainModel(BaseModel):
    """A domain: a kind of knowledge graph, and the verbs that a client may call."""

    name: str
    help: str
    verbs: list[VerbModel]


class Health(BaseModel):
    """The service answers."""

    status: Literal["ok"] = "ok"
    version: str


class Readiness(BaseModel):
    """The service can answer questions: the server is reachable and the model is loaded."""

    status: Literal["ready"] = "ready"
    server: str
    model: str
