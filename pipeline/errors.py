"""Every error that HopRank raises on purpose.

HopRankError                    a message that says what was wrong and what to do
├── InputError                  wrong input or configuration: the commands exit with 2
│   ├── ConfigurationError      a setting that can't be used
│   ├── SourceError             a file, folder, glob or .jsonl line that can't be read
│   ├── CorpusError             a corpus that is unknown
│   │   └── FingerprintError    a corpus that was embedded or chunked differently
│   ├── QuerySetError           a queryset that doesn't hold together
│   ├── GraphError              a knowledge graph, node or edge that can't be, or isn't there
│   ├── QuestionError           a question that can't be searched for
│   ├── FilterError             a filter that can't be applied
│   └── ServerError             a server that can't be used as it is
│       ├── ServerUnreachable   nothing answers at the address
│       ├── LoginRefused        the user name or password is wrong
│       └── ServerUnsupported       it lacks something HopRank needs (version, GDS, vector index)
└── Fault                       the input was right and it still failed: exit with 1
    ├── ServerLost              the server went away in the middle
    ├── QueryTimeout            a query took longer than the settings allow
    ├── ServerStartFailed       the embedded server didn't come up
    ├── DownloadFailed          a jar or a model couldn't be fetched or has the wrong checksum
    └── Busy                    somebody else holds what is needed
"""

from __future__ import annotations


class HopRankError(Exception):
    """Base of all of HopRank's errors; ``str(error)`` is fit for a person to read.

    ``message`` says what was wrong and names the input; ``fix`` says what to do about it.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(f"{message}\n{fix}" if fix else message)
        self.message = message
        self.fix = fix


class InputError(HopRankError):
    """Wrong input or configuration; the caller can mend it."""


class ConfigurationError(InputError):
    """A setting has a value that can't be used."""


class SourceError(InputError):
    """A source of documents can't be read."""


class CorpusError(InputError):
    """A corpus of that name doesn't exist, or can't be used for this."""


class FingerprintError(CorpusError):
    """The corpus was built with another model, dimension, chunker or schema."""


class QuerySetError(InputError):
    """A queryset's files are missing, malformed or don't agree with each other."""


class GraphError(InputError):
    """A knowledge graph, node or edge is malformed, unknown, or can't be changed like this."""


class QuestionError(InputError):
    """A question is empty or too long to search for."""


class FilterError(InputError):
    """A filter is malformed: it names an operator that there isn't, or a value that the operator can't take."""


class ServerError(InputError):
    """The server that the settings point at can't be used."""


class ServerUnreachable(ServerError):
    """Nothing answers at the address."""


class LoginRefused(ServerError):
    """The server answered and refused the user name or the password."""


class ServerUnsupported(ServerError):
    """The server lacks a version, a plugin or a feature that HopRank needs."""


class Fault(HopRankError):
    """Input and configuration were right and it failed all the same."""


class ServerLost(Fault):
    """The server went away while it was being used."""


class QueryTimeout(Fault):
    """A query took longer than the settings, or the server's own, allow; the server has ended it and undone it."""


class ServerStartFailed(Fault):
    """The embedded server didn't come up."""


class DownloadFailed(Fault):
    """A jar or a model couldn't be fetched, or isn't what its checksum says."""


class Busy(Fault):
    """Somebody else holds what is needed for longer than we wait."""
