"""Call the verbs of a domain as a server does."""

from __future__ import annotations

import json
from typing import Any

from pipeline import HopRank
from pipeline.registry import domain_named, verbs_of
from pipeline.serve.signature import Signature


def asked(hoprank: HopRank, domain: str, verb: str, **arguments: Any) -> Any:
    """What a verb answers, through JSON, with its arguments checked by its schema."""
    (found,) = (one for one in verbs_of(domain_named(domain)) if one.name == verb)
    signature = Signature(found.function)
    return json.loads(json.dumps(signature.dump(found.function(hoprank, **signature.read(arguments)))))
