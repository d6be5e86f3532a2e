"""Ablation: the shipped variants, what a part is worth, and the corpus and projections afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.errors import ConfigurationError
from pipeline.evaluate.ablation import (
    Measured,
    Variant,
    build_ablation,
    measured,
    read_variants,
    settings_without,
)
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import MEASURES, QueryResult
from pipeline.evaluate.significance import pooled_interval
from pipeline.settings import load_settings

WALK = Variant("walk", "leg", {"walk.title": 0.0})
QUERIES = [{"id": "q1", "query": "Where does the river of the otter rise?"}, {"id": "q2", "query": "Who builds dams?"}]
DOCUMENTS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn all day, and eats trout."},
    {"id": "severn", "title": "Severn", "text": "The Severn rises on Plynlimon in Wales."},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams on the Severn."},
]
QRELS = "query\tdocument\trelevance\nq1\totter\t1\nq1\tsevern\t1\nq2\tbeaver\t1\n"


@pytest.fixture
def querysets(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / name for name in ("animals", "rivers")]
    for folder in folders:
        folder.mkdir()
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)))
        (folder / "qrels.tsv").write_text(QRELS)
    return folders


def answers(*found: bool) -> list[QueryResult]:
    return [QueryResult(f"q{place}", "hoprank", ("good",) if one else ("bad",), 1.0) for place, one in enumerate(found)]


def a_set(name: str, whole: tuple[bool, ...], without: tuple[bool, ...]) -> Measured:
    queryset = Dataset(name, tuple(Query(f"q{place}", "?", {"good": 1.0}) for place in range(len(whole))))
    return measured(queryset, answers(*whole), {"walk": answers(*without)})


def test_the_shipped_variants_change_something_that_can_be_set() -> None:
    settings = load_settings()
    variants = read_variants()

    assert len({variant.name for variant in variants}) == len(variants) > 5
    assert {variant.kind for variant in variants} == {"leg", "edge", "feature", "seed"}
    for variant in variants:
        assert settings_without(settings, variant) != settings


def test_other_settings_stay_as_they_were() -> None:
    settings = load_settings()

    changed = settings_without(settings, Variant("v", "edge", {"walk.title": 0.0, "walk.next": 0.25}))

    assert (changed.walk.title, changed.walk.next) == (0.0, 0.25)
    assert changed.walk.model_copy(update={"title": settings.walk.title, "next": settings.walk.next}) == settings.walk
    assert changed.retrieve == settings.retrieve


def test_one_of_a_table_of_settings_can_be_set_and_the_others_stay() -> None:
    settings = load_settings()

    changed = settings_without(settings, Variant("v", "feature", {"scorer.named.walk": 0.5}))

    assert changed.scorer.named == {**settings.scorer.named, "walk": 0.5}
    assert changed.scorer.unnamed == settings.scorer.unnamed


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"walk.titel": 0.0}, r"'v' sets walk\.titel, which is no setting"),
        ({"wlak.title": 0.0}, r"wlak\.title"),
        ({"title": 0.0}, "title"),
        ({"walk.title.far": 0.0}, r"walk\.title\.far"),
        ({"scorer.named.wlak": 0.0}, r"scorer\.named\.wlak, which is no setting"),
        ({"walk.title": -1.0}, r"walk\.title to -1\.0"),
        ({"walk.title": "much"}, "'much'"),
    ],
)
def test_a_setting_that_there_is_not_is_named(given_: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        settings_without(load_settings(), Variant("v", "edge", given_))


@pytest.mark.parametrize("content", ["", "variants = 3", "[[variants]]\nname = 'v'\n", "[[variants"])
def test_a_file_of_variants_that_is_none_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "mine.toml").write_text(content)

    with pytest.raises(ConfigurationError, match=r"mine\.toml"):
        read_variants(tmp_path / "mine.toml")


def test_a_part_is_worth_what_is_lost_without_it() -> None:
    ablation = build_ablation([a_set("songs", (True,) * 30 + (False,) * 10, (True,) * 10 + (False,) * 30)], [WALK])

    (walk,) = ablation.parts
    assert (ablation.querysets, ablation.queries, ablation.whole["mrr"]) == (("songs",), 40, 0.75)
    assert (walk.part, walk.kind, walk.gains, walk.losses) == ("walk", "leg", 20, 0)
    assert walk.adds.keys() == set(MEASURES)
    assert walk.adds["recall@5"].mean == 0.5
    assert not walk.adds["recall@5"].is_noise


def test_every_queryset_weighs_the_same() -> None:
    helped = a_set("few", (True, True), (False, False))
    harmed = a_set("many", (False,) * 50, (True,) * 25 + (False,) * 25)

    (walk,) = build_ablation([helped, harmed], [WALK]).parts

    assert walk.adds["recall@5"].mean == 0.25
    assert (walk.gains, walk.losses) == (2, 25)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.integers(1, 3))
def test_pooling_narrows_and_one_set_is_its_own_pool(values: list[float], sets: int) -> None:
    alone, pooled = pooled_interval([values]), pooled_interval([values] * sets)

    assert sets > 1 or pooled == alone
    assert pooled.mean == pytest.approx(alone.mean)
    assert min(values) - 1e-9 <= pooled.low <= pooled.high <= max(values) + 1e-9


@pytest.mark.slow
@pytest.mark.usefixtures("left_as_it_was")
def test_querysets_are_ablated_and_nothing_is_left_behind(hoprank: HopRank, querysets: list[Path]) -> None:
    variants = (WALK, Variant("all", "leg", {"retrieve.candidates": 1, "retrieve.fuse_scorer": 0.0}))

    ablation = hoprank.ablate(*querysets, variants=variants)

    assert ablation.querysets == ("animals", "rivers")
    assert ablation.queries == 4
    assert ablation.whole["recall@5"] == 1.0
    assert [worth.part for worth in ablation.parts] == ["walk", "all"]
    assert ablation.parts[1].adds["recall@5"].mean > 0


@pytest.mark.slow
@pytest.mark.usefixtures("left_as_it_was")
def test_the_command_shows_every_shipped_part(
    server_environment: dict[str, str], querysets: list[Path], tmp_path: Path
) -> None:
    written = tmp_path / "ablation.json"
    # Walked here, for a projection for each part would take most of the time.
    local = ["--set", "walk.engine=local"]
    arguments = ["evaluate", *map(str, querysets), "--ablate", "--json", str(written), *local]

    shown = CliRunner().invoke(app, arguments, env=server_environment)

    assert shown.exit_code == 0, shown.output
    assert "each set weighing the same" in " ".join(shown.stdout.split())
    names = [variant.name for variant in read_variants()]
    assert all(name in shown.stdout for name in names)
    assert [part["part"] for part in json.loads(written.read_text())["parts"]] == names


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "2 querysets were given"),
        (["--compare", "--leg", "graph"], "--compare measures the fused whole"),
        (["--compare", "--ablate"], "--ablate and --compare contradict"),
        (["--compare", "--suggest", "3"], "--suggest and --compare contradict"),
        (["--ablate", "--leg", "graph"], "fused whole"),
        (["--ablate", "--per-query"], "fused"),
    ],
)
def test_what_does_not_go_together_is_refused(querysets: list[Path], options: list[str], says: str) -> None:
    refused = CliRunner().invoke(app, ["evaluate", *map(str, querysets), *options])

    assert refused.exit_code == 2
    assert says in refused.stderr
