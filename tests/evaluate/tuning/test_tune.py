"""Tuning: it judges on sets and kinds left out, calibrates names, drops what doesn't help, and writes settings."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import MEASURES, mean_measures
from pipeline.evaluate.tuning.learn import Learned, fit_scorer
from pipeline.evaluate.tuning.lessons import Example, Lesson, Lessons, NameLesson, remembering
from pipeline.evaluate.tuning.lessons import name_lessons as lessons_of_names
from pipeline.evaluate.tuning.tune import LEAST, check_sets, learnable, select_features, tune
from pipeline.json_values import plain
from pipeline.progress import Progress
from pipeline.retrieve.candidates import Candidates
from pipeline.retrieve.expansion import Mentions, Neighbourhood
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import NamedEntity
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import NameSettings, ScorerSettings, Settings, load_settings

from .test_learn import questions

SETTINGS = load_settings()


def lessons(queryset: str, kind: str = "made", count: int = 12) -> Lessons:
    """Questions that name what their relevant passage is about, which vector and full text rank last."""
    asked, passages = [], {}
    for number in range(count):
        ids = [f"{queryset}-{number}-{place}" for place in range(6)]
        for place, id_ in enumerate(ids):
            passages[id_] = Passage(f"Passage {place} of many.", f"Title {id_}", "", f"document-{id_}")
        order = {id_: 1.0 - place / 10 for place, id_ in enumerate(ids)}
        name = NamedEntity("ada", "ada", "Ada", 2, None, titled=True, capitalised=True)
        around = Neighbourhood(100, {"ada": Mentions(2, {ids[5]: True, ids[4]: False})}, ())
        vector, fulltext, hybrid = (Ranked(leg, order) for leg in ("vector", "fulltext", "hybrid"))
        candidates = Candidates(1, 100, 120, vector, fulltext, hybrid, (name,), around)
        query = Query(str(number), "Who is Ada?", {f"document-{ids[5]}": 1.0})
        asked.append(Lesson(query, RankingTrace(query.text, candidates=candidates)))
    return Lessons(queryset, kind, tuple(asked), passages)


def misled(one: Lessons) -> Lessons:
    """The same questions about names that lead nowhere: the relevant passage is the first of vector and full text."""
    asked = []
    for lesson in one.lessons:
        first = lesson.found.candidates.hybrid.ids[0]
        names = tuple(replace(name, capitalised=False, frequency=90) for name in lesson.found.candidates.names)
        query = Query(lesson.query.id, lesson.query.text, {one.passages[first].document: 1.0})
        found = replace(lesson.found, candidates=replace(lesson.found.candidates, names=names))
        asked.append(Lesson(query, found))
    return replace(one, lessons=tuple(asked))


def recall(measures: tuple[Mapping[str, float], ...]) -> float:
    return mean_measures(measures)["recall@2"]


def test_sets_left_out_gain_what_the_others_teach() -> None:
    tuned = tune([lessons(name) for name in "abc"], SETTINGS, Progress(), anew=True)

    assert all(recall(one.hybrid) == 0 for one in tuned.judged)
    assert not any(one.other_questions for one in tuned.judged)
    assert all(recall(one.left_out) == 1 for one in tuned.judged)
    assert tuned.gain("recall@2").low > 0


RERANKED = SETTINGS.model_copy(update={"retrieve": SETTINGS.retrieve.model_copy(update={"reranker": "an oracle"})})


def by_reranker(one: Lessons, right: bool) -> Lessons:
    """The same questions about a passage that a reranker alone tells: it scores that highest, or else lowest."""
    asked = []
    for number, lesson in enumerate(one.lessons):
        gold = one.passages[lesson.found.candidates.hybrid.ids[number % 6]]
        query = Query(lesson.query.id, f"Who is Ada, number {number}?", {gold.document: 1.0})
        candidates = replace(lesson.found.candidates, names=())
        asked.append(Lesson(query, RankingTrace(query.text, candidates=candidates)))
    relevant = {lesson.query.text: next(iter(lesson.query.relevant)) for lesson in asked}

    def read(question: str, texts: Sequence[str]) -> list[float]:
        title = f"Title {relevant[question].removeprefix('document-')}\n"
        return [float(text.startswith(title) == right) for text in texts]

    return replace(one, lessons=tuple(asked), read=remembering(read))


def test_the_weight_of_a_reranker_that_is_right_is_learned() -> None:
    tuned = tune([by_reranker(lessons(name), right=True) for name in "abc"], RERANKED, Progress())

    assert tuned.learned.scorer.unnamed["reranker"] > 0
    assert all(mean_measures(one.left_out)["recall@2"] == 1 for one in tuned.judged)
    assert all(mean_measures(one.hybrid)["recall@2"] < 0.5 for one in tuned.judged)


def test_a_reranker_that_is_wrong_learns_to_weigh_nothing() -> None:
    tuned = tune([by_reranker(lessons(name), right=False) for name in "abc"], RERANKED, Progress())

    assert tuned.learned.scorer.unnamed["reranker"] == 0


def test_without_a_reranker_its_weights_stay_and_the_others_are_the_same() -> None:
    sets = [lessons(name) for name in "abc"]
    without = tune(sets, SETTINGS, Progress()).learned.scorer
    other = SETTINGS.weights.scorer.model_copy(update={"unnamed": {**SETTINGS.weights.scorer.unnamed, "reranker": 3.5}})

    changed = tune(
        sets, SETTINGS.model_copy(update={"weights": replace(SETTINGS.weights, scorer=other)}), Progress()
    ).learned.scorer

    assert without.unnamed["reranker"] == SETTINGS.weights.scorer.unnamed["reranker"]
    assert without.named["reranker"] == changed.named["reranker"] == SETTINGS.weights.scorer.named["reranker"]
    assert changed == without.model_copy(update={"unnamed": {**without.unnamed, "reranker": 3.5}})


def test_a_reranker_reads_each_passage_once_for_all_that_is_learned() -> None:
    read: list[str] = []

    def score(_: str, texts: Sequence[str]) -> list[float]:
        read.extend(texts)
        return [float(len(text)) for text in texts]

    scores = remembering(score)

    assert scores("?", ["a", "bb", "a"]) == [1.0, 2.0, 1.0]
    assert scores("?", ["ccc", "bb"]) == [3.0, 2.0]
    assert read == ["a", "bb", "ccc"]
    assert scores("who?", ["a"]) == [1.0]
    assert read[3:] == ["a"]


def test_a_set_is_judged_by_what_other_kinds_teach_too() -> None:
    several = [lessons("a", "wiki"), lessons("b", "wiki"), lessons("c", "docs")]

    judged = tune(several, SETTINGS, Progress(), anew=True).judged

    assert [(one.kind, bool(one.of_other_kinds)) for one in judged] == [("wiki", True), ("wiki", True), ("docs", True)]
    assert not any(one.of_other_kinds for one in tune(several[:2], SETTINGS, Progress(), anew=True).judged)


def dataset_of(given: Iterable[Example]) -> str:
    """The dataset that these examples are of, by its documents' names."""
    (name,) = {key.split("-")[1] for example in given for key in example.query.relevant}
    return name


def test_nothing_is_learned_from_what_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learned carries the names of the datasets that taught it, and what is judged tells by what."""
    names_given: dict[int, str] = {}
    judged: list[tuple[str, set[str], set[str]]] = []
    bits = {name: 2**number for number, name in enumerate("abcd")}

    def name_lessons(one: Lessons) -> Sequence[NameLesson]:
        given = list(lessons_of_names(one))
        names_given[id(given)] = one.dataset
        return given

    def fit_names(given: Sequence[Sequence[NameLesson]]) -> NameSettings:
        taught = float(sum(bits[names_given[id(of_one)]] for of_one in given))
        return SETTINGS.weights.names.model_copy(update={"intercept": taught})

    def fit_scorer(shown: Sequence[Sequence[Example]], features: Sequence[str]) -> ScorerSettings:
        taught = {dataset_of(given): 1.0 for given in shown}
        return SETTINGS.weights.scorer.model_copy(update={"unnamed": taught})

    def judge(one: Lessons, learned: Learned | None, _: Settings) -> tuple[Mapping[str, float], ...]:
        assert learned
        by_names = {name for name, bit in bits.items() if int(learned.names.intercept) & bit}
        judged.append((one.dataset, set(learned.scorer.unnamed), by_names))
        return ()

    for name, spy in (("name_lessons", name_lessons), ("fit_names", fit_names), ("fit_scorer", fit_scorer)):
        monkeypatch.setattr(f"pipeline.evaluate.tuning.tune.{name}", spy)
    monkeypatch.setattr("pipeline.evaluate.tuning.tune._judge", judge)

    tune([lessons(name, "wiki" if name in "ab" else "docs") for name in bits], SETTINGS, Progress(), anew=True)

    judged = [one for one in judged if one[1] <= bits.keys()]  # the rest is by the weights in use
    assert len(judged) == 3 * len(bits)
    for name in bits:
        kind = {"a", "b"} if name in "ab" else {"c", "d"}
        ways = [(by_scorer, by_names) for one, by_scorer, by_names in judged if one == name]
        expected: list[set[str]] = [bits.keys() - kind, bits.keys() - {name}, set(bits)]
        assert ways == [(taught, taught) for taught in expected]


def test_features_are_chosen_by_what_the_others_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [questions(seed, "covers_together") for seed in range(3)]
    taught: list[set[int]] = []

    def fit(shown: Sequence[Sequence[Example]], features: Sequence[str]) -> ScorerSettings:
        taught.append({seed for seed, examples in enumerate(sets) if any(one[0] is examples[0] for one in shown)})
        return fit_scorer(shown, features)

    monkeypatch.setattr("pipeline.evaluate.tuning.tune.fit_scorer", fit)
    select_features(sets, SETTINGS.retrieve)

    assert len(taught) == 3 * (1 + len(learnable(SETTINGS.retrieve)))
    assert taught == [{1, 2}, {0, 2}, {0, 1}] * (1 + len(learnable(SETTINGS.retrieve)))


def test_names_that_mislead_learn_to_be_doubted_and_the_order_stays_that_of_the_text() -> None:
    sets = [lessons("a"), misled(lessons("b")), lessons("c"), misled(lessons("d"))]

    tuned = tune(sets, SETTINGS, Progress(), anew=True)

    assert [recall(one.left_out) for one in tuned.judged] == [1, 1, 1, 1]
    sure = {row.low: row.leads for row in tuned.calibration if row.count}
    assert max(sure.values()) == 1 == sure[max(sure)]
    assert min(sure.values()) == 0 == sure[min(sure)]


def test_features_stay_while_nothing_but_chance_speaks_against_them() -> None:
    sets = [questions(seed, "covers_together") for seed in range(3)]

    assert select_features(sets, SETTINGS.retrieve) == learnable(SETTINGS.retrieve)


def test_a_feature_that_misleads_where_it_was_not_learned_is_dropped() -> None:
    sets = [questions(seed, "covers_together") for seed in range(4)]
    place = FEATURES.index("walk")
    for number, examples in enumerate(sets):
        for example in examples:
            # It leads to the relevant passages in all datasets but the first, and there away from them.
            example.features.matrix[:, place] += 12 * example.relevant * (1 if number else -2)

    chosen = select_features(sets, SETTINGS.retrieve)

    assert "covers_together" in chosen
    assert "walk" not in chosen


def test_what_is_written_can_be_used_as_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = tune([lessons(name, count=5) for name in "ab"], SETTINGS, Progress())
    (tmp_path / "tuned.toml").write_text(tuned.to_toml(), encoding="utf-8")
    monkeypatch.setenv("HOPRANK_WEIGHTS", str(tmp_path / "tuned.toml"))

    settings = load_settings()

    assert (settings.weights.names, settings.weights.scorer) == (tuned.learned.names, tuned.learned.scorer)
    assert tomllib.loads(tuned.to_toml()).keys() == {"names", "scorer"}
    assert f"# {tuned.verdict.sentence}\n" in tuned.to_toml()


@pytest.mark.parametrize(("names", "anew"), [([], False), (["one", "one"], False), ([], True), (["one"], True)])
def test_too_few_sets_or_two_of_one_name_are_refused(names: list[str], anew: bool) -> None:
    with pytest.raises(QuerySetError, match="Nothing can be judged"):
        check_sets([(name, 50) for name in names], anew=anew)


def test_to_learn_anew_without_scikit_learn_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)

    check_sets([("one", 50), ("two", 50)])
    with pytest.raises(ConfigurationError, match=r"(?s)sklearn.*\.\[tune\]"):
        check_sets([("one", 50), ("two", 50)], anew=True)


def test_fewer_than_ten_questions_are_refused_with_what_to_do() -> None:
    with pytest.raises(QuerySetError, match=r"one, two: 9 judged questions, .* 10 or more\.\s+Judge 1 more\."):
        check_sets([("one", 4), ("two", LEAST - 5)])
    check_sets([("one", 4), ("two", LEAST - 4)])
    check_sets([("one", LEAST)])


def test_several_sets_are_judged_by_other_questions_other_sets_and_other_kinds() -> None:
    several = [lessons("a", "wiki", 5), lessons("b", "wiki", 5), lessons("c", "docs", 5)]

    tuned = tune(several, SETTINGS, Progress())

    for one, given in zip(tuned.judged, several, strict=True):
        ways = (one.hybrid, one.in_use, one.of_other_kinds, one.left_out, one.other_questions, one.shipped)
        assert [len(way) for way in ways] == [5] * 6
        assert one.queries == tuple(lesson.query.id for lesson in given.lessons)
    assert sum(row.count for row in tuned.calibration) == 15
    assert tuned.verdict.questions == 15


def test_the_json_holds_the_verdict_and_each_question_before_and_after() -> None:
    tuned = tune([lessons("a")], SETTINGS, Progress())

    document = json.loads(json.dumps(plain(tuned)))

    assert document["verdict"]["answer"] == "unknown"
    assert document["verdict"]["sentence"] == tuned.verdict.sentence
    (queryset,) = document["querysets"]
    assert queryset["metrics"].keys() == {"hybrid", "in_use", "other_questions", "all_sets"}
    assert [row["query"] for row in queryset["per_query"]] == [str(number) for number in range(12)]
    assert queryset["per_query"][0]["in_use"].keys() == queryset["per_query"][0]["left_out"].keys() == set(MEASURES)
    assert document["learned"] == {
        "names": tuned.learned.names.model_dump(),
        "scorer": tuned.learned.scorer.model_dump(),
    }


def write_queryset(folder: Path, count: int) -> Path:
    """Animals, of which a word that only the question has in common with the right document tells which is meant."""
    animals = "otter beaver badger heron marten weasel polecat stoat lynx hare vole shrew dormouse hedgehog".split()
    folder.mkdir()
    documents = [
        {"id": word, "title": word.title(), "text": f"The {word} of the {folder.name} eats fish by night."}
        for word in animals
    ]
    queries = [{"id": word, "query": f"What does the {word} eat?"} for word in animals[:count]]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("q\td\tr\n" + "".join(f"{word}\t{word}\t1\n" for word in animals[:count]))
    return folder


@pytest.mark.slow
def test_the_command_learns_from_one_folder_says_its_verdict_first_and_writes_files(
    tmp_path: Path, server_environment: dict[str, str]
) -> None:
    folder, output, report = write_queryset(tmp_path / "north", 12), tmp_path / "tuned.toml", tmp_path / "tuned.json"

    result = CliRunner().invoke(
        app, ["tune", str(folder), "--output", str(output), "--json", str(report)], env=server_environment
    )

    assert result.exit_code == 0, result.output
    verdict = json.loads(report.read_text())["verdict"]
    assert (verdict["questions"], verdict["answer"]) == (12, "unknown")  # all are found first already
    shown = " ".join(result.stdout.split())
    assert shown.startswith(verdict["sentence"])
    assert "holds what was learned all the same" in shown
    assert "other questions" in shown
    assert f"# {verdict['sentence']}" in output.read_text()
    assert tomllib.loads(output.read_text()).keys() == {"names", "scorer"}


def test_the_command_wants_ten_questions(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["tune", str(write_queryset(tmp_path / "north", 9))])

    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert "north: 9 judged questions, and tune learns from 10 or more" in shown
