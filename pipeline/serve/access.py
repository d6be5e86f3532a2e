"""Tokens: which corpora and graphs a request may read, and whether it may write."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.addresses import is_loopback
from pipeline.errors import ConfigurationError, Forbidden, HopRankError, Unauthenticated, UnknownCorpus, UnknownGraph
from pipeline.registry import Verb
from pipeline.settings import ServeSettings


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of a token. ``names`` are the corpora and knowledge graphs that it opens, None all of them."""

    names: frozenset[str] | None = None
    write: bool = True

    def opens(self, name: str) -> bool:
        """Return whether the token opens the corpus or graph with this name."""
        return self.names is None or name in self.names

    def check(self, name: str, *, write: bool = False) -> None:
        """Raise Forbidden unless the token opens ``name``, for writing with ``write``.

        The message is the same whether or not there is such a corpus.
        """
        if not self.opens(name):
            raise Forbidden(f"The token doesn't open {name[:80]!r}.", "Use a token that lists it in serve.tokens.")
        self._check_write(write)

    def check_all(self, *, write: bool = False) -> None:
        """Raise Forbidden unless the token opens everything, for writing with ``write``."""
        if self.names is not None:
            raise Forbidden("The token opens some corpora only.", "Use a token without corpora in serve.tokens.")
        self._check_write(write)

    def check_verb(self, verb: Verb, arguments: Mapping[str, Any]) -> None:
        """Raise Forbidden unless the token opens what a call of a verb of a domain reads and writes."""
        if (name := verb.opened_by(arguments)) is None:
            self.check_all(write=not verb.read_only)
        else:
            self.check(name, write=not verb.read_only)

    def worded(self, error: HopRankError) -> HopRankError:
        """Return an error as the token may read it: its fix lists no names that the token doesn't open."""
        if self.names is None or not isinstance(error, UnknownCorpus | UnknownGraph):
            return error
        return type(error)(error.message, "The list of corpora has those that the token opens.")

    def _check_write(self, write: bool) -> None:
        if write and not self.write:
            raise Forbidden("The token permits reading only.", "Use a token with write = true in serve.tokens.")


class Access:
    """The tokens of a service. Without any, every request may do everything: the service is then on loopback alone."""

    def __init__(self, settings: ServeSettings) -> None:
        self._grants = [(settings.token.get_secret_value().encode(), Grant())] if settings.token else []
        for one in settings.tokens:
            names = None if one.corpora is None else frozenset(one.corpora)
            self._grants.append((one.token.get_secret_value().encode(), Grant(names, one.write)))

    @property
    def is_open(self) -> bool:
        """True if there is no token."""
        return not self._grants

    def grant(self, authorization: str | None) -> Grant:
        """Return the rights of a request by its header ``Authorization``; raises Unauthenticated."""
        place = self.token(authorization)
        return Grant() if place is None else self._grants[place][1]

    def token(self, authorization: str | None) -> int | None:
        """Return the place of a request's token among all, None if there are none; raises Unauthenticated.

        Every token is compared, in constant time, so that the time of the answer tells nothing about them.
        """
        if self.is_open:
            return None
        scheme, _, given = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            raise Unauthenticated("The request has no token.", "Send the header Authorization: Bearer TOKEN.")
        sent = given.strip().encode()
        matching = [place for place, (token, _) in enumerate(self._grants) if hmac.compare_digest(token, sent)]
        if not matching:
            raise Unauthenticated("The token is unknown.", "Send one of those in serve.token and serve.tokens.")
        return matching[0]


def check_exposure(host: str, access: Access) -> None:
    """Raise ConfigurationError if a service without a token would listen off loopback."""
    if access.is_open and not is_loopback(host):
        raise ConfigurationError(
            f"Without a token nothing but this machine may use the service, and {host!r} is open to others.",
            "Set HOPRANK_SERVE__TOKEN to a secret of at least 16 characters, or serve on 127.0.0.1.",
        )


def url_of(host: str, port: int) -> str:
    """Return the URL of a service; an IPv6 address stands in brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
