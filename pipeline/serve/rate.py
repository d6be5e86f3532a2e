"""The rate limit: requests a minute for each client."""

from collections.abc import Callable, Collection
from contextlib import suppress

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.errors import TooManyRequests, Unauthenticated
from pipeline.serve.access import Access
from pipeline.serve.listening import own_path

RETRY_SECONDS = 10
"""Header ``Retry-After`` of a refusal. Chosen by hand."""

_ADDRESSES = 4096
"""Groups of addresses that are counted, so that their number is bounded: those of one group share its rate, which only
requests without a token do. Chosen by hand: a table of some megabytes."""


class LimitRate:
    """Refuses requests of a client beyond ``rate`` a minute; a client is its known token, or else its address.

    It is plain ASGI middleware. ``refuse`` makes the answer; ``unlimited`` are paths without a limit.
    """

    def __init__(
        self,
        app: ASGIApp,
        rate: int,
        access: Access,
        refuse: Callable[[TooManyRequests], ASGIApp],
        unlimited: Collection[str] = (),
    ) -> None:
        self._app = app
        self._access = access
        self._limit = RateLimitItemPerMinute(rate)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._unlimited = unlimited
        self._refusal = refuse(
            TooManyRequests(
                f"More than {rate} requests came within a minute.",
                "Wait as long as Retry-After says, or raise serve.rate.",
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        limited = scope["type"] == "http" and own_path(scope) not in self._unlimited
        permitted = not limited or self._limiter.hit(self._limit, self.client(scope))
        await (self._app if permitted else self._refusal)(scope, receive, send)

    def client(self, scope: Scope) -> str:
        """Return what a request is counted as: the place of its known token, or else the group of its address."""
        # A client that makes up a token for each request would never be limited by it.
        with suppress(Unauthenticated):
            if (place := self._access.token(Headers(scope=scope).get("authorization"))) is not None:
                return f"token {place}"
        address = scope["client"][0] if scope.get("client") else ""
        return f"addresses {hash(address) % _ADDRESSES}"
