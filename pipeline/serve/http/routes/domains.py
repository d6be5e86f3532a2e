"""Domains, read-only: the kinds of graphs that HopRank knows, and the questions that each answers."""

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path

from pipeline.errors import InputError, Unknown, did_you_mean
from pipeline.registry import Domain, Verb, registry, verbs_of
from pipeline.serve.http.models import DomainModel, VerbModel
from pipeline.serve.http.state import Granted, Service
from pipeline.serve.signature import Signature

router = APIRouter(prefix="/v1/domains", tags=["domains"])


@router.get("")
async def domains(_: Granted) -> list[DomainModel]:
    """List the domains, with the verbs that a client may call and the schemas of their arguments."""
    return [_model(domain) for domain in registry().domains]


@router.post("/{domain}/{verb}")
async def call_verb(
    domain: Annotated[str, Path(examples=["skills"])],
    verb: Annotated[str, Path(examples=["skills_search"])],
    arguments: Annotated[dict[str, Any], Body(description="The arguments, as the verb's schema describes them.")],
    service: Service,
    grant: Granted,
) -> dict[str, Any]:
    """Return the answer of a domain to a question. A token needs all corpora for it: verbs name their graphs freely."""
    grant.check_all()
    found = _verb(domain, verb)
    signature = _signature(found)
    given = signature.read(arguments)
    answer: dict[str, Any] = signature.dump(await service.gate.run(found.function, service.connection, **given))
    return answer


def _verb(domain_name: str, verb_name: str) -> Verb:
    verbs = {(domain.name, verb.name): verb for domain in registry().domains for verb in _read_verbs(domain)}
    if (domain_name, verb_name) not in verbs:
        known = [f"{domain}/{name}" for domain, name in verbs]
        given = f"{domain_name}/{verb_name}"
        raise Unknown(f"There is no verb {given[:80]!r}.", did_you_mean(given, known, f"Known: {', '.join(known)}."))
    return verbs[domain_name, verb_name]


def _read_verbs(domain: Domain) -> list[Verb]:
    try:
        return [verb for verb in verbs_of(domain) if verb.read_only]
    except InputError:
        return []  # an installed domain that can't be imported; its own commands say why


@cache
def _signature(verb: Verb) -> Signature:
    return Signature(verb.function)


def _model(domain: Domain) -> DomainModel:
    verbs = [
        VerbModel(name=verb.name, help=verb.help, arguments=_signature(verb).input_schema)
        for verb in _read_verbs(domain)
    ]
    return DomainModel(name=domain.name, help=domain.help, verbs=verbs)
