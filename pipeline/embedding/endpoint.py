"""The embedder behind an address: any endpoint that answers ``POST /v1/embeddings`` as OpenAI's does."""

from __future__ import annotations

import base64
import binascii
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field, ValidationError

from pipeline.addresses import is_loopback, without_password
from pipeline.embedding.embedder import Embedder, knows, prefixed
from pipeline.embedding.model_files import BUNDLED_MODEL, ModelFiles
from pipeline.errors import ConfigurationError, EmbeddingFailed
from pipeline.records import Fingerprint, Precision, Vector
from pipeline.telemetry import leaf, of_model, place_of

if TYPE_CHECKING:
    import requests

_BATCH_TEXTS = 32
"""Texts of a request: text-embeddings-inference refuses more by default; OpenAI's own limit is 2,048."""

_ATTEMPTS = 5
_FIRST_PAUSE = 0.5
"""Seconds; doubled after each attempt: 7.5 s in all, about what a server takes to restart. Not measured."""
_LONGEST_PAUSE = 60.0  # seconds that a server's own Retry-After is followed

_RETRIED = {408, 425, 429, 500, 502, 503, 504}  # those that may pass: slow, busy, restarting
_LARGEST_ANSWER = 100_000_000  # bytes: 32 vectors of 16,000 numbers, written out, take a tenth of it
_SHOWN = 200  # characters of an answer in an error; chosen by hand


class _Item(BaseModel, strict=True):
    index: int = Field(ge=0)
    embedding: list[float] | str


class _Answer(BaseModel):
    data: list[_Item]


class _Retry(Exception):
    """An attempt failed in a way that may pass: the reason, and the seconds that the server asks to wait."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


class EndpointEmbedder(Embedder):
    """Encodes texts by the model that ``endpoint``, a URL, serves under the name ``model``.

    ``tokenizer`` counts tokens and cuts chunks: a folder or a tokenizer.json, a name on the model hub, or "" for the
    bundled model's. ``max_tokens`` is the longest text that the model reads, in its tokens. ``timeout`` limits each
    attempt of a request, in seconds. The length of the vectors is learned from an answer.

    Raises ConfigurationError if the endpoint refuses a request, EmbeddingFailed if it fails or answers with what
    are no vectors.
    """

    def __init__(
        self,
        model: str,
        endpoint: str,
        *,
        api_key: str = "",
        tokenizer: str = "",
        max_tokens: int = 512,
        batch_tokens: int = 4096,
        timeout: float = 60.0,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self.name = model
        self.query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._url = endpoint if endpoint.rstrip("/").endswith("/embeddings") else f"{endpoint.rstrip('/')}/embeddings"
        self._shown = without_password(self._url)
        self._api_key = api_key
        self._tokenizer_name = tokenizer
        self._max_tokens, self._batch_tokens, self._timeout = max_tokens, batch_tokens, timeout
        self._sessions = threading.local()
        self._dimension = 0

    @property
    def max_tokens(self) -> int:
        """Longest text that the model reads after its prefix, by the settings."""
        return self._max_tokens - (self.count_tokens(self._passage_prefix) if self._passage_prefix else 0)

    @property
    def dimension(self) -> int:
        """Length of a vector: of the first one that the endpoint returns."""
        return self._dimension or int(self._embed(["dimension"]).shape[1])

    @property
    def identity(self) -> Fingerprint:
        """Identity of the vectors: the model as any such endpoint names it, apart from models of this machine."""
        identity = Fingerprint(f"{self.name.replace('/', '--')}@openai/{self.dimension}", "endpoint")
        return prefixed(identity, self._passage_prefix)

    def encode(
        self,
        texts: Sequence[str],
        done: Callable[[int], None] | None = None,
        *,
        precision: Precision | None = None,  # noqa: ARG002 - there is one
    ) -> Vector:
        """Encode passages, some in each request; their numbers are taken as they come, in float32."""
        return self._encoded(texts, self._passage_prefix, done)

    def embed_query(self, text: str) -> list[float]:
        """Encode a question; the protocol knows no difference to a passage, but the settings may, by a prefix."""
        vector: list[float] = self._embed([self.query_prefix + text])[0].tolist()
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Encode questions, many in a request."""
        return self._encoded(texts, self.query_prefix)

    def _encoded(self, texts: Sequence[str], prefix: str, done: Callable[[int], None] | None = None) -> Vector:
        parts = []
        for start, end in self._batches(texts):
            parts.append(self._embed([prefix + text for text in texts[start:end]]))
            if done:
                done(end - start)
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), dtype=np.float32)

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the offsets of its tokens, by the tokenizer of the settings."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.offsets for encoding in encodings]

    def reads(self, text: str) -> bool:
        """Return whether the tokenizer knows more than half of a text's tokens; True if the settings name none."""
        return text.isascii() or not self._tokenizer_name or knows(self._tokenizer, text)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield ranges of at most 32 texts, of about ``batch_tokens`` tokens."""
        start = tokens = 0
        for place, text in enumerate(texts):
            size = len(text) // 4  # characters of a token, about: what matters is the order of magnitude
            if place > start and (place - start == _BATCH_TEXTS or tokens + size > self._batch_tokens):
                yield start, place
                start, tokens = place, 0
            tokens += size
        if texts:
            yield start, len(texts)

    def _embed(self, texts: Sequence[str]) -> Vector:
        """Return the unit vectors of texts; tries again after a failure that may pass."""
        # OpenAI refuses an empty text.
        body = {"model": self.name, "input": [text or " " for text in texts], "encoding_format": "float"}
        told = {**of_model("embeddings", self.name, "openai"), **place_of(self._url)}
        for attempt in itertools.count(1):
            try:
                with leaf(f"embeddings {self.name}", told):
                    content = self._post(body)
                break
            except _Retry as error:
                if attempt == _ATTEMPTS:
                    raise self._failed(f"{error} ({_ATTEMPTS} attempts)") from error
                time.sleep(min(max(error.pause, _FIRST_PAUSE * 2 ** (attempt - 1)), _LONGEST_PAUSE))
        vectors = self._vectors(content, len(texts))
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise self._failed(f"returned a vector of {vectors.shape[1]} numbers after one of {self._dimension}")
        return vectors

    def _post(self, body: dict[str, Any]) -> bytes:
        """Return the bytes of the answer to one attempt; raises _Retry, or ConfigurationError for a refusal."""
        import requests

        deadline = time.monotonic() + self._timeout
        try:
            with self._session.post(
                self._url,
                json=body,
                auth=self._authorized if self._api_key else None,
                timeout=self._timeout,
                stream=True,
                allow_redirects=False,
            ) as response:
                content = bytearray()
                # No socket's timeout ends an answer that trickles.
                for part in response.iter_content(65_536):
                    content += part
                    if time.monotonic() > deadline:
                        raise _Retry(f"took longer than embed.timeout, {self._timeout:g} s")
                    if len(content) > _LARGEST_ANSWER:
                        raise self._failed(f"returned more than {_LARGEST_ANSWER // 1_000_000} MB")
        except requests.Timeout:
            raise _Retry(f"took longer than embed.timeout, {self._timeout:g} s") from None
        except ValueError as error:  # requests' own, whose words may quote the key
            raise ConfigurationError(
                f"No request can be sent to {self._shown}: {type(error).__name__}.",
                "Check the address in embed.endpoint, and that the key in HOPRANK_EMBED__API_KEY is ASCII.",
            ) from None
        except requests.RequestException as error:
            reason = str(error).rpartition(": ")[2].strip("\"')")
            raise _Retry(f"can't be reached, or broke off: {reason}") from None
        return self._checked(response, bytes(content))

    def _authorized(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # Not a header of the call: a .netrc, or a user's name in the address, would replace it.
        request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request

    def _checked(self, response: requests.Response, content: bytes) -> bytes:
        """Return the content of a successful answer; raises _Retry or ConfigurationError for another."""
        status, said = response.status_code, " ".join(content.decode(errors="replace").split())[:_SHOWN]
        if status == 200:
            return content
        reason = f"answered with status {status}: {said}"
        if status in _RETRIED:
            pause = response.headers.get("Retry-After", "")
            raise _Retry(reason, float(pause) if pause.isdigit() else 0.0)
        fixes = {
            401: "Set HOPRANK_EMBED__API_KEY to a key that it takes.",
            403: "Set HOPRANK_EMBED__API_KEY to a key that may use the model.",
            404: "Check embed.endpoint, which ends in /v1 mostly, and embed.model.",
        }
        fix = "Check embed.endpoint and embed.model, and that embed.max_tokens isn't above what the model reads."
        raise ConfigurationError(f"The embedding endpoint {self._shown} {reason}", fixes.get(status, fix))

    def _vectors(self, content: bytes, count: int) -> Vector:
        """Return the unit vectors of an answer in the order of the texts."""
        try:
            items = sorted(_Answer.model_validate_json(content).data, key=lambda item: item.index)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"])) or "the whole"
            raise self._failed(f"returned no list of embeddings: {place}: {problem['msg']}") from None
        if [item.index for item in items] != list(range(count)):
            raise self._failed(f"returned {len(items)} embeddings for {count} texts, or some twice")
        rows = [self._row(item.embedding) for item in items]
        if len({len(row) for row in rows}) != 1:
            raise self._failed("returned vectors of several lengths")
        vectors = np.stack(rows)
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._failed("returned a vector that has no direction: all zero, or with numbers that aren't finite")
        unit: Vector = (vectors / lengths).astype(np.float32)
        return unit

    def _row(self, embedding: list[float] | str) -> npt.NDArray[np.float64]:
        """Return the numbers of a vector, which are a list, or float32 in base64."""
        try:
            if isinstance(embedding, str):
                return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
            return np.asarray(embedding, dtype=np.float64)
        except (binascii.Error, ValueError) as error:
            raise self._failed(f"returned an embedding that is neither numbers nor base64: {error}") from None

    def _failed(self, reason: str) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"The embedding endpoint {self._shown} {reason}.",
            f"Check that it runs and serves {self.name} as OpenAI's /v1/embeddings does; see embed.endpoint.",
        )

    @property
    def _session(self) -> requests.Session:
        """The connection of this thread, kept open between requests."""
        import requests

        if not hasattr(self._sessions, "session"):
            self._sessions.session = requests.Session()
            # A proxy of the environment can't reach this machine.
            self._sessions.session.trust_env = not is_loopback(urlsplit(self._url).hostname or "")
        session: requests.Session = self._sessions.session
        return session

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        name = self._tokenizer_name or ModelFiles(BUNDLED_MODEL).location
        path = Path(name)
        file = path / "tokenizer.json" if path.is_dir() else path
        try:
            tokenizer = Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(name)
        except Exception as error:  # the library raises no narrower class
            raise ConfigurationError(
                f"The tokenizer {name!r} can't be loaded: {str(error).strip().splitlines()[0]}",
                "Set embed.tokenizer to a tokenizer.json, its folder, or a model's name on a hub in reach.",
            ) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
