"""The tree of errors that HopRank raises.

HopRankError                    base: a message with the problem, and a fix
├── InputError                  wrong input or configuration: the commands exit with 2
│   ├── ConfigurationError      a setting that can't be used
│   │   └── ExtraMissing        a package of an extra that isn't installed; an ImportError too
│   ├── SourceError             a file, folder, glob, line or row that can't be read
│   ├── Unknown                 a name that nothing has; base of all errors named Unknown...
│   │   └── UnknownJob          a job that doesn't exist
│   ├── CorpusError             an unknown or unsuitable corpus
│   │   ├── UnknownCorpus       a corpus that doesn't exist
│   │   ├── UnknownDocument     a document that the corpus doesn't have
│   │   └── FingerprintError    a corpus that was embedded or chunked differently
│   ├── QuerySetError           a malformed or inconsistent queryset
│   ├── GraphError              a malformed or unknown knowledge graph, node or edge
│   │   ├── UnknownGraph        a knowledge graph that doesn't exist
│   │   └── UnknownNode         a node that the graph doesn't have
│   ├── QuestionError           a question that can't be searched for
│   ├── FilterError             a filter that can't be applied
│   ├── JobError                a job that isn't in the state that a request needs
│   ├── AccessError             a request that its token doesn't permit
│   │   ├── Unauthenticated     no token, or an unknown one
│   │   └── Forbidden           a token that doesn't open this
│   ├── LimitExceeded           a request beyond a limit of the service
│   │   ├── TooLarge            a body that is too large
│   │   └── TooManyRequests     more requests than the rate allows
│   └── ServerError             a server that can't be used as it is
│       ├── ServerUnreachable   nothing answers at the address
│       ├── LoginRefused        the user name or password is wrong
│       └── ServerUnsupported   it lacks something HopRank needs (version, GDS, vector index)
└── Fault                       a failure despite correct input: the commands exit with 1
    ├── ServerLost              the server went away during its use
    │   └── DatabaseStopped     its database stopped after an error of its own
    ├── QueryTimeout            a query took longer than the settings allow
    ├── ServerStartFailed       the embedded server didn't come up
    ├── DownloadFailed          a jar or a model couldn't be fetched or has the wrong checksum
    ├── EmbeddingFailed         an embedding endpoint doesn't answer, or not with vectors
    ├── WorkerFailed            a worker of a distributed ingest failed again and again
    ├── AnswerFailed            a chat endpoint doesn't answer, or not as its protocol says
    ├── Overloaded              the service has no room for a request at present
    ├── RequestTimeout          a request took longer than the service allows
    ├── Worse                   an evaluation fell behind another by more than it may
    ├── Superseded              a corpus or graph that was replaced, renamed or dropped while it was read
    └── Busy                    another process holds a lease or lock
"""

import difflib
from collections.abc import Iterable
from typing import Self


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


class ExtraMissing(ConfigurationError, ImportError):
    """A module needs a package that an extra of HopRank installs."""

    @classmethod
    def of(cls, extra: str, error: ImportError | str, instead: str = "") -> Self:
        """Return the error that a failed import is raised as, naming the extra; ``instead`` is another way out."""
        fix = f'Install it, in the clone of HopRank: uv pip install -e ".[{extra}]"'
        return cls(f"A package that this needs isn't there: {error}.", f"{fix}{instead and f', or {instead}'}.")


class SourceError(InputError):
    """A source of documents can't be read."""


class Unknown(InputError):
    """A request names something that doesn't exist."""


class UnknownJob(Unknown):
    """There is no job with this id."""


class CorpusError(InputError):
    """A corpus doesn't exist, or can't be used for this purpose."""


class UnknownCorpus(CorpusError, Unknown):
    """There is no corpus with this name."""


class UnknownDocument(CorpusError, Unknown):
    """The corpus has no document with this key."""


class FingerprintError(CorpusError):
    """The corpus was built with another model, dimension, chunker or schema."""


class QuerySetError(InputError):
    """A queryset's files are missing, malformed or don't agree with each other."""


class GraphError(InputError):
    """A knowledge graph, node or edge is malformed, unknown, or can't be changed like this."""


class UnknownGraph(GraphError, Unknown):
    """There is no knowledge graph with this name."""


class UnknownNode(GraphError, Unknown):
    """The graph has no node with this id."""


class QuestionError(InputError):
    """A question is empty, or a vector no vector of the corpus."""


class FilterError(InputError):
    """A filter is malformed: it names an unknown operator, or a value that the operator doesn't accept."""


class JobError(InputError):
    """A job isn't in the state that the request needs."""


class AccessError(InputError):
    """The token of a request doesn't permit it."""


class Unauthenticated(AccessError):
    """A request has no token, or an unknown one."""


class Forbidden(AccessError):
    """The token of a request doesn't open this corpus, or doesn't permit writes."""


class LimitExceeded(InputError):
    """A request exceeds a limit of the service."""


class TooLarge(LimitExceeded):
    """The body of a request is too large."""


class TooManyRequests(LimitExceeded):
    """A client sends more requests than the rate allows."""


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


class DatabaseStopped(ServerLost):
    """The server answers, but its database stopped after an error of its own, and must be started again."""


class QueryTimeout(Fault):
    """A query exceeded the time limit of the settings or of the server, which terminated it and rolled it back."""


class ServerStartFailed(Fault):
    """The embedded server didn't come up."""


class DownloadFailed(Fault):
    """A jar or a model couldn't be fetched, or its checksum is wrong."""


class EmbeddingFailed(Fault):
    """An embedding endpoint didn't answer, or its answer holds no vectors."""


class WorkerFailed(Fault):
    """A worker of a distributed ingest failed again and again, or what it made is gone."""


class AnswerFailed(Fault):
    """A chat endpoint didn't answer, broke off, or wrote what isn't its protocol."""


class Overloaded(Fault):
    """The service has no room for a request at present."""


class RequestTimeout(Fault):
    """A request took longer than the service allows."""


class Worse(Fault):
    """An evaluation fell behind the one that it is compared with by more than it may."""


class Superseded(Fault):
    """A corpus or graph was replaced, renamed or dropped while it was read; to ask again finds what is there now."""


class Busy(Fault):
    """Another process held a lease or lock for longer than the time to wait."""


def first_line(error: BaseException) -> str:
    """Return the first line of what an error of any library says, or its class if it says nothing."""
    return str(error).strip().split("\n", 1)[0] or type(error).__name__


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, cutoff: float = 0.5) -> str:  # chosen by hand
    """Return the fix of an error about an unknown name: the closest of the known ones, else ``otherwise``.

    ``cutoff`` is the least similarity that counts as close, from 0 to 1.
    """
    closest = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"Did you mean {closest[0]!r}?" if closest else otherwise
