"""The tree of errors that HopRank raises.

HopRankError                    base: a message with the problem, and a fix
├── InputError                  wrong input or configuration: the commands exit with 2
│   ├── ConfigurationError      a setting that can't be used
│   ├── SourceError             a file, folder, glob or .jsonl line that can't be read
│   ├── CorpusError             an unknown or unsuitable corpus
│   │   └── FingerprintError    a corpus that was embedded or chunked differently
│   ├── QuerySetError           a malformed or inconsistent queryset
│   ├── GraphError              a malformed or unknown knowledge graph, node or edge
│   ├── QuestionError           a question that can't be searched for
│   ├── FilterError             a filter that can't be applied
│   └── ServerError             a server that can't be used as it is
│       ├── ServerUnreachable   nothing answers at the address
│       ├── LoginRefused        the user name or password is wrong
│       └── ServerUnsupported   it lacks something HopRank needs (version, GDS, vector index)
└── Fault                       a failure despite correct input: the commands exit with 1
    ├── ServerLost              the server went away during its use
    ├── QueryTimeout            a query took longer than the settings allow
    ├── ServerStartFailed       the embedded server didn't come up
    ├── DownloadFailed          a jar or a model couldn't be fetched or has the wrong checksum
    └── Busy                    another process holds a lease or lock
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HopRankError(Exception):
    """Base of all of HopRank's errors; ``str(error)`` is meant for users.

    ``message`` states the problem and names the input; ``fix`` says what to do about it.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(f"{message}\n{fix}" if fix else message)
        self.message = message
        self.fix = fix


class InputError(HopRankError):
    """Wrong input or configuration, which the caller can correct."""


class ConfigurationError(InputError):
    """A setting has a value that can't be used."""


class SourceError(InputError):
    """A source of documents can't be read."""


class CorpusError(InputError):
    """A corpus doesn't exist, or can't be used for this purpose."""


class FingerprintError(CorpusError):
    """The corpus was built with another model, dimension, chunker or schema."""


class QuerySetError(InputError):
    """A queryset's files are missing, malformed or don't agree with each other."""


class GraphError(InputError):
    """A knowledge graph, node or edge is malformed, unknown, or can't be changed like this."""


class QuestionError(InputError):
    """A question is empty or too long to search for."""


class FilterError(InputError):
    """A filter is malformed: it names an unknown operator, or a value that the operator doesn't accept."""


class ServerError(InputError):
    """The server that the settings name can't be used."""


class ServerUnreachable(ServerError):
    """Nothing answers at the address."""


class LoginRefused(ServerError):
    """The server refused the user name or the password."""


class ServerUnsupported(ServerError):
    """The server lacks a version, a plugin or a feature that HopRank needs."""


class Fault(HopRankError):
    """A failure despite correct input and configuration."""


class ServerLost(Fault):
    """The server went away during its use."""


class QueryTimeout(Fault):
    """A query exceeded the time limit of the settings or of the server, which terminated it and rolled it back."""


class ServerStartFailed(Fault):
    """The embedded server didn't come up."""


class DownloadFailed(Fault):
    """A jar or a model couldn't be fetched, or its checksum is wrong."""


class Busy(Fault):
    """Another process held a lease or lock for longer than the time to wait."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, cutoff: float = 0.5) -> str:
    """Return the fix of an error about an unknown name: the closest of the known ones, else ``otherwise``.

    ``cutoff`` is the least similarity that counts as close, from 0 to 1.
    """
    closest = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"Did you mean {closest[0]!r}?" if closest else otherwise
