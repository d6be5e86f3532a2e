"""Loading a model of sentence-transformers by its class, from a folder or a hub, with errors that name it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipeline.embedding.cpu import has_crippled_amx
from pipeline.embedding.model_files import ModelFiles
from pipeline.errors import ConfigurationError, ExtraMissing


def load_model(kind: str, files: ModelFiles, device: str, home: Path | None, instead: str) -> Any:
    """Load the model of ``files`` by the class ``kind`` of sentence-transformers, ready to encode.

    ``device`` is one of PyTorch's, or "auto"; ``home`` keeps what is known of the processor. Raises OSError, ValueError
    or RuntimeError if the model can't be loaded (:func:`named_errors`), and ExtraMissing if sentence-transformers isn't
    installed, with ``instead`` as another way out.
    """
    if files.folder is None and find_spec("sentence_transformers"):
        files.check_on_hub()  # before the imports, which take seconds
    # By default idle OpenMP workers spin, which takes processor time from Neo4j on the same machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if has_crippled_amx(home):
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    try:
        import sentence_transformers
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise ExtraMissing.of("sentence-transformers", error, instead) from error
    transformers_logging.disable_progress_bar()

    def load(*, download: bool) -> Any:
        model = getattr(sentence_transformers, kind)(
            files.location,
            device=None if device == "auto" else device,
            revision=files.commit or files.pinned or None,
            local_files_only=not download,
        )
        return model.eval()

    # A model that is there is loaded without asking the hub for each file: out of reach, it is asked for over a minute.
    if files.folder:
        with suppress(OSError):  # some of its files are missing
            return load(download=False)
        files.check_on_hub()
    return load(download=True)


@contextmanager
def named_errors(model: str, fix: str) -> Iterator[None]:
    """Turn what says that a model can't be loaded into a ConfigurationError that names it, as ``model`` says."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise ConfigurationError(f"{model} can't be loaded: {reason}", fix) from error
