"""Sessions that run a model's graph on the processor: ONNX Runtime's in float32, and OpenVINO's in bfloat16.

OpenVINO, the extra ``openvino``, encodes questions where it was measured to take less time, which depends on the
processor: on an AMD EPYC with AVX-512 BF16 18 tokens take 3.8 to 4.2 ms after 10 ms of rest, by ONNX
Runtime 6.2 to 7.1.
"""

import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.bounded import BoundedProcess, Bounds, Ended
from pipeline.embedding.cpu import boot, processors
from pipeline.errors import Fault
from pipeline.records import Vector
from pipeline.temporary import replacing

_log = logging.getLogger(__name__)

Tokens: TypeAlias = Mapping[str, npt.NDArray[np.int64]]
"""Inputs of a graph for texts: ``input_ids``, ``attention_mask``, ``token_type_ids``, shape ``(texts, tokens)``."""

_QUESTION_THREADS = 2
"""Threads of a question. Of about 15 tokens, one after the other, two take 60% of a single thread's time; more gain
little."""

_CLOSE = 0.999
"""Least cosine of a question's vector to that of float32: vectors of passages in bfloat16 have 0.99."""
_GAIN = 0.9
"""Part of ONNX Runtime's time that OpenVINO may take, so that chance doesn't choose. Chosen by hand, not measured."""
_ROUNDS = 30  # questions by each; chosen by hand, not measured
_REST_SECONDS = 0.01  # about as long as Neo4j searches between two questions
_MEASURE = f"{__name__}:measure"
_BOUNDS = Bounds(seconds=120, memory=2**36)
"""Bounds of a measurement, which takes two seconds and 0.4 GB; chosen by hand, not measured."""


class Session(Protocol):
    """Runs a graph; thread-safe. ``batched``: it takes several texts at once."""

    batched: bool

    def run(self, tokens: Tokens) -> list[Vector]:
        """Return the graph's outputs for texts, of whose tokens it reads those that it has inputs for."""


class OnnxSession:
    """A graph by ONNX Runtime, in float32, with so many threads for a text or batch."""

    def __init__(self, graph: Path | bytes, threads: int = _QUESTION_THREADS) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(threads, processors())
        # Threads that spin, between questions or while one waits for another, take processor time from Neo4j
        # and from other questions: on two busy cores a question took 14 ms of it, and takes 8.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._inputs = [node.name for node in self._session.get_inputs()]
        self.batched = not isinstance(self._session.get_inputs()[0].shape[0], int)

    def run(self, tokens: Tokens) -> list[Vector]:
        """Return the outputs, as :meth:`Session.run` says."""
        outputs: list[Vector] = self._session.run(None, {name: tokens[name] for name in self._inputs})
        return outputs


class OpenVinoSession:
    """A graph by OpenVINO, in bfloat16, with two threads for a text; several texts go side by side on more processors.

    It opens in half a second, ONNX Runtime in a sixth. OpenVINO could keep what it compiles, but doesn't say what that
    does to another process that reads meanwhile.
    """

    def __init__(self, graph: Path) -> None:
        openvino = _openvino()
        streams = max(1, processors() // _QUESTION_THREADS)
        self._model = openvino.Core().compile_model(
            str(graph),
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": "bf16",
                "INFERENCE_NUM_THREADS": min(processors(), streams * _QUESTION_THREADS),
                "NUM_STREAMS": streams,
                "ENABLE_CPU_PINNING": False,  # Neo4j and other questions run on the same processors
            },
        )
        self._inputs = [one.any_name for one in self._model.inputs]
        self.batched = bool(self._model.inputs[0].partial_shape[0].is_dynamic)
        self._requests = threading.local()  # a request serves a thread at a time

    def run(self, tokens: Tokens) -> list[Vector]:
        """Return the outputs, as :meth:`Session.run` says."""
        request: Any = getattr(self._requests, "mine", None)
        if request is None:
            request = self._requests.mine = self._model.create_infer_request()
        request.infer({name: tokens[name] for name in self._inputs}, share_inputs=True)
        return [request.get_output_tensor(place).data.copy() for place in range(len(self._model.outputs))]


def _openvino() -> Any:
    """Import OpenVINO without its telemetry, which tells Google Analytics of each import unless it isn't installed."""
    hidden = "openvino_telemetry"
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == hidden}
    sys.modules[hidden] = None  # type: ignore[assignment] # so it can't be imported
    try:
        import openvino
    finally:
        del sys.modules[hidden]
        sys.modules.update(before)
    return openvino


def question_session(graph: Path | bytes, samples: Callable[[], Sequence[Tokens]], *, may_round: bool) -> Session:
    """Return the session for questions: OpenVINO's if they ``may_round`` to bfloat16 and it is installed and quicker.

    Which is quicker is measured once for each start of the machine, on the ``samples``, in a process of its own: a
    processor may end one that uses what it announces. A graph in memory, or whose folder can't be written, is run by
    ONNX Runtime.
    """
    if may_round and isinstance(graph, Path) and find_spec("openvino"):
        try:
            if _prefers_openvino(graph, samples):
                return OpenVinoSession(graph)
        except Exception as error:
            _log.warning("OpenVINO can't run %s, so ONNX Runtime does: %s", graph, error)
    return OnnxSession(graph)


def _prefers_openvino(graph: Path, samples: Callable[[], Sequence[Tokens]]) -> bool:
    """Return what was measured of a graph, after measuring it if that is of another boot or version."""
    file = graph.with_name("questions.json")
    key = [boot(), version("openvino"), version("onnxruntime")]
    with suppress(OSError, ValueError, LookupError, TypeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["key"] == key:
            return bool(kept["quicker"])
    found = _measured_apart(graph, samples())
    quicker = bool(found) and found["openvino_ms"] <= _GAIN * found["onnxruntime_ms"] and found["cosine"] >= _CLOSE
    _log.info("Questions are encoded by %s: %s", "OpenVINO" if quicker else "ONNX Runtime", found)
    try:
        with replacing(file) as partial:
            partial.write_text(json.dumps({"key": key, "quicker": quicker, **found}), encoding="utf-8")
    except OSError:
        return False
    return quicker


def _measured_apart(graph: Path, samples: Sequence[Tokens]) -> dict[str, float]:
    """Return what :func:`measure` finds in a process of its own; nothing if that fails."""
    try:
        with BoundedProcess(_MEASURE) as process:
            found: dict[str, float] = json.loads(process.call((graph, samples), _BOUNDS))
    except (Ended, Fault, OSError) as error:
        _log.info("OpenVINO can't be measured on %s: %r", graph, error)
        return {}
    return found


def measure(request: tuple[Path, Sequence[Tokens]]) -> bytes:
    """Return, as JSON, the median milliseconds of the first text by either, in turns, and the texts' least cosine.

    Before each turn the threads rest, as while Neo4j searches: waking takes ONNX Runtime's two as long as they gain.
    """
    graph, samples = request
    exact: Session = OnnxSession(graph)
    rounded: Session = OpenVinoSession(graph)
    cosines = [_cosine(exact.run(one)[0], rounded.run(one)[0]) for one in samples]
    times: list[list[float]] = [[], []]
    for _ in range(_ROUNDS):
        for session, taken in ((exact, times[0]), (rounded, times[1])):
            time.sleep(_REST_SECONDS)
            start = time.perf_counter()
            session.run(samples[0])
            taken.append(1000 * (time.perf_counter() - start))
    found = {"onnxruntime_ms": median(times[0]), "openvino_ms": median(times[1]), "cosine": min(cosines)}
    return json.dumps(found).encode()


def _cosine(one: Vector, other: Vector) -> float:
    one, other = one.ravel(), other.ravel()
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
