"""Tuning: it learns what tells relevant passages apart, judges on sets left out, and writes settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.errors import QuerySetError
from pipeline.evaluate.measures import mean_measures
from pipeline.evaluate.querysets import Query
from pipeline.evaluate.tune import Lesson, check_sets, learn, learn_from
from pipeline.retrieve.features import FEATURES
from pipeline.retrieve.fuse import Ranked
from pipeline.retrieve.retriever import Examined
from pipeline.retrieve.seeds import Strength
from pipeline.settings import load_settings

EVIDENCE = load_settings().evidence
IDS = tuple(f"c{number}" for number in range(30))


def lessons(seed: int, feature: str | None) -> list[Lesson]:
    """Questions whose relevant passages one feature tells apart; their other rankings are wrong."""
    draw = np.random.default_rng(seed)
    made = []
    for number in range(20):
        matrix = draw.normal(size=(len(IDS), len(FEATURES)))
        gold = draw.choice(len(IDS), 2, replace=False)
        if feature:
            matrix[gold, FEATURES.index(feature)] += 6
        order = [IDS[i] for i in draw.permutation(len(IDS))]
        others = ((Ranked("hybrid", {id_: 1 / place for place, id_ in enumerate(order, 1)}), 1.0),)
        query = Query(str(number), "?", {IDS[i]: 1.0 for i in gold.tolist()})
        strength = Strength.TITLED if number % 2 else Strength.WEAK
        made.append(Lesson(query, Examined(IDS, matrix, strength), others, 5.0, {id_: id_ for id_ in IDS}))
    return made


def recall(measures: tuple[Mapping[str, float], ...]) -> float:
    return mean_measures(measures)["recall@5"]


def test_what_tells_passages_apart_weighs_most_and_helps_sets_that_it_was_not_learned_from() -> None:
    tuned = learn_from({name: lessons(seed, "about_linked") for seed, name in enumerate("abc")}, EVIDENCE)

    for weights in (tuned.learned.scorer.titled, tuned.learned.scorer.untitled):
        assert max(weights, key=lambda name: weights[name]) == "about_linked"
    assert tuned.learned.factor > 0
    assert all(recall(one.left_out) > recall(one.without) + 0.3 for one in tuned.judged)
    assert not tuned.gain("recall@5").is_noise


def test_where_nothing_can_be_learned_sets_left_out_gain_nothing() -> None:
    tuned = learn_from({name: lessons(seed, None) for seed, name in enumerate("abc")}, EVIDENCE)

    assert tuned.gain("recall@5").low < 0.05


def test_a_kind_of_question_that_no_set_has_is_learned_from_the_others() -> None:
    titled = [one for one in lessons(1, "words_rank") if one.examined.strength is Strength.TITLED]

    assert learn([titled], EVIDENCE).scorer.untitled["words_rank"] > 0


def test_what_is_written_can_be_read_as_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = learn_from({name: lessons(seed, "words_rank") for seed, name in enumerate("ab")}, EVIDENCE)
    (tmp_path / "tuned.toml").write_text(tuned.to_toml(), encoding="utf-8")
    monkeypatch.setenv("HOPRANK_CONFIG", str(tmp_path / "tuned.toml"))

    settings = load_settings()

    assert settings.scorer == tuned.learned.scorer
    assert settings.evidence.scorer_titled == tuned.learned.factor * EVIDENCE.graph_titled
    assert tomllib.loads(tuned.to_toml()).keys() == {"evidence", "scorer"}


@pytest.mark.parametrize("names", [[], ["one"], ["one", "one"]])
def test_one_set_or_two_of_one_name_are_refused(names: list[str]) -> None:
    with pytest.raises(QuerySetError, match="Nothing can be judged"):
        check_sets(names)


def test_the_command_learns_from_folders_and_writes_a_file(tmp_path: Path, server_environment: dict[str, str]) -> None:
    words = ["otter", "beaver", "badger", "heron"]
    for name in ("north", "south"):
        folder = tmp_path / name
        folder.mkdir()
        documents = [
            {"id": word, "title": word.title(), "text": f"The {word} of the {name} eats fish."} for word in words
        ]
        queries = [{"id": word, "query": f"What does the {word} eat?"} for word in words]
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
        (folder / "qrels.tsv").write_text("q\td\tr\n" + "".join(f"{word}\t{word}\t1\n" for word in words))

    output = tmp_path / "tuned.toml"
    result = CliRunner().invoke(
        app, ["tune", str(tmp_path / "north"), str(tmp_path / "south"), "--output", str(output)], env=server_environment
    )

    assert result.exit_code == 0, result.output
    assert "left out" in result.output
    assert set(tomllib.loads(output.read_text())["scorer"]["titled"]) == set(FEATURES)


def test_the_command_wants_two_querysets(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["tune", str(tmp_path)])

    assert result.exit_code == 2
