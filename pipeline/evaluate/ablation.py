"""Ablation: what each part of the retrieval adds, by a comparison query by query with a run without it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.errors import ConfigurationError
from pipeline.evaluate.datasets import Dataset
from pipeline.evaluate.measures import MEASURES, Measures, QueryResult, mean_measures, measure_results
from pipeline.evaluate.significance import TIE, Interval, pooled_interval
from pipeline.json_values import JsonRecord
from pipeline.resources import resource_folder
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Variant:
    """The retrieval without a part: its name and kind (leg, edge, feature, seed), and settings by dotted name."""

    name: str
    kind: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of each query of a dataset, with all parts and without each, in the same order."""

    dataset: str
    whole: tuple[Measures, ...]
    without: Mapping[str, tuple[Measures, ...]]


@dataclass(frozen=True, slots=True)
class Worth:
    """The contribution of a part to each measure, and the numbers of queries that gain and lose by it in any measure.

    The interval is that of the mean over datasets, which weigh the same.
    """

    part: str
    kind: str
    adds: Mapping[str, Interval]
    gains: int
    losses: int


@dataclass(frozen=True, slots=True)
class Ablation(JsonRecord):
    """The outcome: the datasets, the measures with all parts, and the contribution of each part."""

    querysets: tuple[str, ...]
    queries: int
    whole: Measures
    parts: tuple[Worth, ...]


def read_variants(path: Path | None = None) -> tuple[Variant, ...]:
    """Read the variants of a TOML file, by default the shipped ``ablation.toml``.

    Raises ConfigurationError, naming the file, if it has another form.
    """
    path = path or resource_folder("configs") / "ablation.toml"
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["variants"]
        return tuple(Variant(str(row["name"]), str(row["kind"]), dict(row["set"])) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} can't be read as variants ({error!r}).", "Write [[variants]] with name, kind and set."
        ) from error


def settings_without(settings: Settings, variant: Variant) -> Settings:
    """Return settings with those of a variant; raises ConfigurationError naming an unknown setting or a wrong value."""
    changed: dict[str, BaseModel] = {}
    for dotted, value in variant.settings.items():
        section, _, path = dotted.partition(".")
        *tables, name = path.split(".")
        before = changed.get(section, getattr(settings, section, None))
        values = before.model_dump() if isinstance(before, BaseModel) else {}
        table: Any = values
        for key in tables:
            table = table.get(key) if isinstance(table, dict) else None
        if not (isinstance(before, BaseModel) and isinstance(table, dict) and name in table):
            raise ConfigurationError(
                f"The variant {variant.name!r} sets {dotted}, which is no setting.", "`hoprank config show` lists them."
            )
        table[name] = value
        try:
            changed[section] = type(before).model_validate(values)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise ConfigurationError(
                f"The variant {variant.name!r} sets {dotted} to {value!r}: {problem}.", "Give it another value."
            ) from error
    return settings.model_copy(update=changed)


def measured(dataset: Dataset, whole: Sequence[QueryResult], without: Mapping[str, Sequence[QueryResult]]) -> Measured:
    """Measure a dataset's results with all parts and, by the name of the part, without each."""
    with_all, *others = (
        tuple(row.measures for row in measure_results(dataset.queries, answers))
        for answers in (whole, *without.values())
    )
    return Measured(dataset.name, with_all, dict(zip(without, others, strict=True)))


def build_ablation(sets: Sequence[Measured], variants: Sequence[Variant]) -> Ablation:
    """Return the contribution of each variant's part over datasets, at least one."""
    means = [mean_measures(measured.whole) for measured in sets]
    parts = []
    for variant in variants:
        differences = [
            [
                {name: whole[name] - less[name] for name in MEASURES}
                for whole, less in zip(measured.whole, measured.without[variant.name], strict=True)
            ]
            for measured in sets
        ]
        adds = {name: pooled_interval([[row[name] for row in rows] for rows in differences]) for name in MEASURES}
        gains = sum(max(row.values()) > TIE for rows in differences for row in rows)
        losses = sum(min(row.values()) < -TIE for rows in differences for row in rows)
        parts.append(Worth(variant.name, variant.kind, adds, gains, losses))
    return Ablation(
        querysets=tuple(measured.dataset for measured in sets),
        queries=sum(len(measured.whole) for measured in sets),
        whole={name: sum(mean[name] for mean in means) / len(means) for name in MEASURES},
        parts=tuple(parts),
    )
