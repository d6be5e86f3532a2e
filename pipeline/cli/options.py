"""Options that several commands share, and how they become filters and settings."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from typer import Argument, Option

import pipeline
from pipeline.cli import completion
from pipeline.cli.connection import connected, corpus_or_only
from pipeline.cli.deferred import catalogue, parse
from pipeline.cli.deferred import settings as all_settings
from pipeline.edges import MOST_HOPS
from pipeline.errors import ConfigurationError, FilterError, InputError
from pipeline.files import Unreadable, parse_json
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.window import Expand

Corpus = Annotated[str, Option("--corpus", "-c", metavar="NAME", help="The corpus.", autocompletion=completion.corpora)]
AnyCorpus = Annotated[
    str | None,
    Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="The corpus.",
        show_default="default, or the only one there is",
        autocompletion=completion.corpora,
    ),
]
KeptCorpus = Annotated[
    str | None,
    Option(
        "--corpus",
        "-c",
        "--keep",
        metavar="NAME",
        help="Keep and reuse the corpus; of several, as NAME/queryset.",
        autocompletion=completion.corpora,
    ),
]
Keep = Annotated[str | None, Option("--keep", metavar="NAME", help="Keep what is made under this name, and reuse it.")]
Paths = Annotated[
    list[str],
    Argument(metavar="PATH", help="Files, folders, globs, URLs; .jsonl or .parquet of {id, title, text, metadata}."),
]
Strict = Annotated[bool, Option("--strict", help="Stop at what can't be read instead of skipping it.")]
Filterable = Annotated[
    str | None,
    Option(
        "--filterable",
        metavar="NAME,...",
        help="Fields of the metadata that the corpus declares: filters on them are evaluated inside its indexes."
        " `none`: no field.",
    ),
]
Split = Annotated[
    str | None, Option("--split", metavar="NAME", help="Of a BEIR folder: test (the default), dev or train.")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document instead.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Don't ask.")]
Model = Annotated[
    str | None,
    Option("--model", metavar="NAME", help="The embedding model: a sentence-transformers name, or a folder."),
]
Set = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any setting of `hoprank config show`; repeatable.")
]
Filters = Annotated[
    str | None,
    Option(
        "--filter",
        metavar="JSON",
        help='Only chunks that meet this, by metadata: \'{"year": {"$gte": 1990}}\'. Operators: $eq $ne $lt $lte $gt'
        " $gte $between $in $nin $like $ilike $and $or.",
    ),
]
MinRelevance = Annotated[
    str | None,
    Option(
        "--min-relevance",
        metavar="VALUE",
        help="Leave out hits of a lower relevance, from 0 to 1; `auto`: those that a corpus without an answer gives.",
        show_default="retrieve.min_relevance",
    ),
]
Legs = Annotated[list[Leg] | None, Option("--leg", help="Only this leg; repeatable.", show_default="all")]
EdgeTypes = Annotated[
    list[str] | None,
    Option("--type", "-t", metavar="TYPE", help="Only edges of this type; repeatable.", show_default="all"),
]
Way = Annotated[str, Option("--direction", metavar="WAY", help="Which directed edges to follow: out, in or both.")]
Depth = Annotated[int, Option("--depth", min=1, max=MOST_HOPS, help="How many edges at most.")]
Limit = Annotated[int, Option("--limit", "-n", min=1, max=10_000, help="How many at most.")]
TopK = Annotated[int, Option("--top-k", "-k", "--limit", "-n", min=1, help="How many at most.")]
AsOf = Annotated[
    str | None,
    Option(
        "--as-of", "--at", metavar="TIME", help="What held at this time of the world; ISO 8601.", show_default="now"
    ),
]
KnownAt = Annotated[
    str | None, Option("--known-at", metavar="TIME", help="As far as it was known at this time.", show_default="now")
]
Wait = Annotated[
    float | None,
    Option("--wait", metavar="SECONDS", min=0, help="How long to wait while somebody else writes to the corpus."),
]


EngineName = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="NAME",
        help="What reads, chunks and embeds: local, or ray, on many processors or machines.",
        show_default="ingest.engine",
    ),
]
Address = Annotated[
    str | None,
    Option("--address", metavar="ADDRESS", help="The Ray cluster to use, with --engine ray.", show_default="here"),
]


@dataclass(frozen=True)
class Run:
    """Options on how a command connects, and prints what it finds; each takes those that it can use."""

    as_json: Json = False
    model: Model = None
    settings: Set = None
    wait: Wait = None

    def read(self) -> all_settings.Settings:
        """Return the settings that the options override; raises ConfigurationError."""
        return read_settings(self.model, self.settings, self.wait)

    def by(self, engine: str | None, address: str | None) -> Run:
        """Return the options with those of an engine; an address alone means Ray. Raises ConfigurationError."""
        if address and engine == "local":
            raise ConfigurationError("--address is of Ray, and --engine is local.", "Leave one of them out.")
        named = {"ingest.engine": engine or ("ray" if address else None), "ray.address": address}
        return self.setting(*(f"{name}={value}" for name, value in named.items() if value is not None))

    def setting(self, *assignments: str) -> Run:
        """Return the options with further values for --set, which come last."""
        return replace(self, settings=[*(self.settings or ()), *assignments])

    def connect(self) -> pipeline.HopRank:
        """Return a connection by these settings."""
        return connected(self.read())


@dataclass(frozen=True)
class Passages:
    """Options on the passages of a corpus that make a context."""

    corpus: AnyCorpus = None
    top_k: Annotated[int, Option("--top-k", "-k", "--limit", "-n", min=1, help="How many hits they are from.")] = 20
    filters: Filters = None
    expand: Annotated[
        Expand,
        Option(
            "--expand",
            help="Add to the best hits what stands around them, in half of the tokens: the chunks before and after, or"
            " the rest of the section.",
        ),
    ] = Expand.NONE
    min_relevance: MinRelevance = None

    def asked(self, hoprank: pipeline.HopRank, conditions: Any) -> dict[str, Any]:
        """Return the arguments of ``hoprank.context``; ``conditions`` is the filter. Raises InputError."""
        least = read_relevance(self.min_relevance, hoprank.settings.retrieve.known_relevance)
        corpus = corpus_or_only(hoprank.client, self.corpus)
        more = {"top_k": self.top_k, "expand": self.expand, "min_relevance": least}
        return {"corpus": corpus, "filters": conditions, **more}


Reading = Annotated[Run, "as_json", "settings"]
Embedding = Annotated[Run, "as_json", "model", "settings"]
Measuring = Annotated[Run, "model", "settings"]
Rebuilding = Annotated[Run, "settings", "wait"]


def fields_of(filterable: str | None) -> list[str] | None:
    """Return the fields that ``--filterable`` names; None if it wasn't given."""
    if filterable is None:
        return None
    return [] if filterable.strip() == catalogue.NO_FIELDS else filterable.split(",")


def confirm(question: str, yes: bool) -> None:
    """Ask on stderr unless ``yes``; abort at any other answer, and raise InputError without a terminal to ask on."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"Nobody is there to be asked: {question}", "Give --yes to do it without a question.")
    if not yes:
        typer.confirm(question, abort=True, err=True)


def read_relevance(text: str | None, auto: float) -> float | None:
    """Return the value of --min-relevance, ``auto`` for that word; raises InputError if it isn't from 0 to 1."""
    if text is None or text == "auto":
        return auto if text else None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"--min-relevance is {text[:80]!r}.", "Give a number from 0 to 1, or auto.")
    return value


def read_filter(text: str | None) -> Any:
    """Return the value of --filter as JSON values; raises FilterError if it isn't JSON or no filter."""
    if text is None:
        return None
    try:
        conditions = parse_json(text)
    except Unreadable as error:
        raise FilterError(
            f"--filter {text[:80]!r} {error.message}.", "In a shell, put it in single quotes: '{\"year\": 1990}'."
        ) from None
    parse.parse_filter(conditions)
    return conditions


def read_settings(
    model: str | None = None, assignments: list[str] | None = None, wait: float | None = None
) -> all_settings.Settings:
    """Return the settings, overridden by --model, --set and --wait; raises ConfigurationError."""
    return all_settings.load_settings(flags(model, assignments, wait))


def flags(model: str | None = None, assignments: list[str] | None = None, wait: float | None = None) -> dict[str, Any]:
    """Return the options as :func:`pipeline.settings.load_settings` takes them: nested, by the names of settings.

    ``assignments`` are ``name=value`` with dotted names; a value is TOML, or a text without quotes. Raises
    ConfigurationError for any other text.
    """
    given = list(assignments or ())
    if wait is not None:
        given.append(f"ingest.wait={wait}")
    if model is not None:
        given.append(f"embed.model={model}")
    tree: dict[str, Any] = {}
    for assignment in given:
        name, equals, value = assignment.partition("=")
        *sections, last = name.split(".")
        if not equals or not all((*sections, last)):
            raise ConfigurationError(f"--set {assignment!r} isn't NAME=VALUE.", "For example --set walk.damping=0.9.")
        section: Any = tree
        for key in sections:
            section = section.setdefault(key, {}) if isinstance(section, dict) else section
        if not isinstance(section, dict) or isinstance(section.get(last), dict):
            raise ConfigurationError(f"--set {assignment} contradicts another --set.", "Set each name once.")
        section[last] = _without_quotes(value)
    return tree


def _without_quotes(value: str) -> str:
    """Return the text of a TOML string in quotes; any other value as it is, lists and tables, too."""
    with suppress(ValueError):
        if isinstance(text := all_settings.toml_value(value), str):
            return text
    return value
