"""Run every measurement that the pages state, and write the page and the README's table that state them.

    uv run python tests/benchmarks/measured.py DATA_DIR                # everything: hours
    uv run python tests/benchmarks/measured.py DATA_DIR quality tune   # some of the steps
    uv run python tests/benchmarks/measured.py DATA_DIR models --model FOLDER   # by another model, too

DATA_DIR holds querysets as ``multihop/2wiki-dev146``. Corpora are kept in a home of their own. What a step found is
kept in measured.json with its date, machine and commit, so that the page holds the newest run of each step; a step that
never ran has no figures there. Its ``shipped`` is the run of ``tune`` that taught the shipped weights: whoever ships
others replaces it. Run it on a quiet machine: searches are timed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

import platformdirs

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.evaluate.datasets import read_dataset
from pipeline.evaluate.measures import QueryMeasures
from pipeline.evaluate.report import Report
from pipeline.evaluate.tuning.learn import Learned
from pipeline.flows.maintain import drop
from pipeline.retrieve.legs import Leg
from pipeline.settings import Settings, load_settings
from tests.benchmarks.measured_page import BY_HOPS, LANGUAGES, LEGS, MEASURES, PUBLISHED, SETS, Facts, page, with_table

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("measured.json")
PAGE = ROOT / "pipeline" / "docs" / "measured.md"
README = ROOT / "README.md"

_TABLES = ("unnamed", "confident", "named")


def main() -> None:
    """Run the steps that are asked for, each in turn, and write what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument(
        "steps", nargs="*", choices=[[], *STEPS, "models"], metavar="STEP", help=f"of {', '.join(STEPS)}, models"
    )
    parser.add_argument("--model", help="a sentence-transformers name or folder, for the step models")
    parser.add_argument("--home", type=Path, default=platformdirs.user_cache_path("hoprank") / "measured")
    arguments = parser.parse_args()
    os.environ["HOPRANK_HOME"] = str(arguments.home)
    if "models" in arguments.steps and not arguments.model:
        parser.error("the step models takes --model")
    run = _run()  # before a step's results change the tree
    steps: dict[str, Callable[[Path], Facts]] = {**STEPS, "models": partial(_models, model=arguments.model, run=run)}
    for step in arguments.steps or STEPS:
        _write(step, run, steps[step](arguments.data))


def _write(step: str, run: Mapping[str, str], found: Facts) -> None:
    """Write what a step found, and the pages anew."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results[step] = {"run": run, **found}
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), results), encoding="utf-8")


def _run() -> dict[str, str]:
    git = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return {"date": today, "commit": git.stdout.strip(), "machine": _machine()}


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()
    )
    openvino = ", questions by OpenVINO" if find_spec("openvino") else ""
    return f"{os.cpu_count()} cores of {model}{openvino}"


def _quality(data: Path) -> Facts:
    """Measure vector, hybrid and the whole on each set; of those that DATA_DIR lacks the figures stay.

    Printed are the whole's figures, and those that the page had.
    """
    before: dict[str, Facts] = _known("quality").get("sets", {})
    sets = dict(before)
    with HopRank.connect() as hoprank:
        for one in SETS:
            if not (data / one.folder).is_dir():
                print(one.key, "isn't in DATA_DIR: fetch_sets.py builds what can be built", flush=True)
                continue
            report = hoprank.evaluate(data / one.folder, corpus=f"measured/{one.key}", legs=LEGS)
            legs = _legs(report)
            whole = next(leg for leg in report.legs if leg.leg == Leg.WHOLE)
            sets[one.key] = {
                "hops": _by_hops(data / one.folder, whole.detail) if one.folder.startswith("multihop/") else {},
                "questions": len(whole.detail),
                "documents": report.run.documents,
                "precision": report.run.settings["precision"],
                "legs": legs,
                "p50_ms": whole.p50_ms,
            }
            told = before[one.key]["legs"][Leg.WHOLE] if one.key in before else {}
            now, page_has = (
                "/".join(f"{100 * of[name]:.1f}" for name in MEASURES if name in of) for of in (legs[Leg.WHOLE], told)
            )
            print(one.key, "/".join(MEASURES), now, f"(the page has {page_has or 'nothing'})", flush=True)
    return {"sets": sets}


def _known(step: str) -> Facts:
    """Return the results of a step that are on the page; empty without any."""
    results: dict[str, Facts] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return results.get(step, {})


def _legs(report: Report) -> dict[str, dict[str, float]]:
    """Return the mean measures of each leg."""
    return {leg.leg: {name: leg.measures[name] for name in MEASURES} for leg in report.legs}


def _by_hops(folder: Path, detail: Sequence[QueryMeasures]) -> Facts:
    """Return the mean measures of a set's questions by how many passages each takes."""
    by_hops: dict[int, list[QueryMeasures]] = defaultdict(list)
    for query, row in zip(read_dataset(folder).queries, detail, strict=True):
        by_hops[len(query.relevant)].append(row)
    return {
        str(hops): {"questions": len(rows), **{name: fmean(row.measures[name] for row in rows) for name in BY_HOPS}}
        for hops, rows in by_hops.items()
    }


def _languages(_data: Path) -> Facts:
    """Measure hybrid and the whole on the sets of the tests in other languages."""
    sets: dict[str, Facts] = {}
    folder = ROOT / "tests" / "flows" / "languages"
    with HopRank.connect() as hoprank:
        for one in LANGUAGES:
            report = hoprank.evaluate(folder / one, corpus=f"measured/{one}", legs=LEGS)
            sets[one] = {"questions": report.queries, "documents": report.run.documents, "legs": _legs(report)}
    return {"sets": sets}


def _models(data: Path, model: str, run: Mapping[str, str]) -> Facts:
    """Measure vector, hybrid and the whole on each set by another model; those that were measured are kept.

    The smallest comes first, and each is written when it is done: a larger model takes hours for all of them.
    """
    known = _known("models")
    name = Path(model).name
    sets = known.get("sets", {}) if known.get("model") == name else {}
    with HopRank.connect(settings=load_settings({"embed": {"model": model}})) as hoprank:
        for one in sorted(SETS, key=lambda one: (data / one.folder / "corpus.jsonl").stat().st_size):
            if one.key in sets:
                continue
            report = hoprank.evaluate(data / one.folder, corpus=f"{name}/{one.key}", legs=LEGS)
            sets[one.key] = _legs(report)
            print(one.key, sets[one.key], flush=True)
            _write("models", run, {"model": name, "sets": sets})
    return {"model": name, "sets": sets}


def _published(data: Path) -> Facts:
    """Index and measure the set that papers report, anew."""
    name = f"measured/{PUBLISHED.key}"
    with HopRank.connect() as hoprank:
        if find_corpus(hoprank.client, name):
            drop(hoprank.client, name)
        hoprank.embedder.embed_query("the model is loaded before the clock starts")
        start = time.perf_counter()
        hoprank.ingest(data / PUBLISHED.folder / "corpus.jsonl", corpus=name)
        minutes = (time.perf_counter() - start) / 60
        corpus = get_corpus(hoprank.client, name)
        texts = hoprank.client.read("chunk_texts", label=corpus.label, generation=corpus.generation)
        tokens = sum(hoprank.embedder.count_tokens(f"{row['title']}\n{row['text']}") for row in texts)
        report = hoprank.evaluate(data / PUBLISHED.folder, corpus=name, legs=LEGS)
        legs = {leg.leg: {name: leg.measures[name] for name in ("recall@2", *MEASURES)} for leg in report.legs}
    whole = next(leg for leg in report.legs if leg.leg == Leg.WHOLE)
    print(json.dumps(legs, indent=1), flush=True)
    return {
        "documents": report.run.documents,
        "questions": report.queries,
        "tokens": tokens,
        "minutes": minutes,
        "p50_ms": whole.p50_ms,
        "legs": legs,
    }


def _tune(data: Path) -> Facts:
    """Learn from all sets, and judge each by what the others teach."""
    with HopRank.connect() as hoprank:
        tuned = hoprank.tune(*(data / one.folder for one in SETS), corpus="measured", anew=True)
        shipped = hoprank.settings
        (shipped.data_home / "learned.toml").write_text(tuned.to_toml(), encoding="utf-8")
    judged = {
        one.dataset: {name: fmean(row[name] for row in one.left_out) for name in MEASURES} for one in tuned.judged
    }
    gains = {name: tuned.gain(name) for name in MEASURES}
    return {
        "left_out": judged,
        "gains": {name: asdict(gain) for name, gain in gains.items()},
        "names": [asdict(row) for row in tuned.calibration],
        "learned": {
            "names": tuned.learned.names.model_dump(),
            "scorer": {table: dict(getattr(tuned.learned.scorer, table)) for table in _TABLES},
        },
        "shipped_differs": shipped_differs(tuned.learned, shipped),
    }


def shipped_differs(learned: Learned, shipped: Settings) -> float:
    """Return the largest difference between a weight that was learned and the shipped one, relative to that."""
    weights = shipped.weights
    pairs = [
        *_pairs(learned.names.model_dump(), weights.names.model_dump()),
        *(pair for table in _TABLES for pair in _pairs(getattr(learned.scorer, table), getattr(weights.scorer, table))),
    ]
    return max(abs(one - other) / abs(other) for one, other in pairs)


def _pairs(learned: Mapping[str, float], shipped: Mapping[str, float]) -> list[tuple[float, float]]:
    return [(value, shipped[name]) for name, value in learned.items()]


def _bench(script: str, *folders: str, options: Sequence[str] = ()) -> Callable[[Path], Facts]:
    """Return the step that runs a script on folders below DATA_DIR, with options, and keeps what it prints."""

    def run(data: Path) -> Facts:
        given = [*(str(data / one) for one in folders), *options]
        command = [sys.executable, str(ROOT / "tests" / "benchmarks" / script), *given]
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"COLUMNS": "140"}, stdout=subprocess.PIPE, text=True, check=False
        )
        print(done.stdout, flush=True)
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        said = "".join(f" {one}" for one in (*(f"DATA_DIR/{folder}" for folder in folders), *options))
        return {"command": f"python tests/benchmarks/{script}{said}", "printed": lines, "exit_code": done.returncode}

    return run


STEPS: Mapping[str, Callable[[Path], Facts]] = {
    "quality": _quality,
    "languages": _languages,
    "published": _published,
    "tune": _tune,
    "search": _bench("bench_search.py", "multihop/2wiki-dev146", "ir/scifact-train"),
    "many": _bench("bench_search.py", options=("--passages", "5000", "50000", "200000")),
    "ingest": _bench("bench_ingest.py", "multihop/2wiki-dev146", "ir/scifact-train", options=("--peer",)),
    "startup": _bench("bench_startup.py"),
    "walk": _bench("bench_walk.py", "multihop/2wiki-dev146", "multihop/hotpotqa-train100"),
    "graph": _bench("bench_graph.py"),
    "scale": _bench("bench_scale.py", options=("--documents", "5000", "100000")),
}

if __name__ == "__main__":
    main()
