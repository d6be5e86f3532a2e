"""Domains: the kinds of graphs that HopRank knows, the questions that each answers, and what it is told."""

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path

from pipeline.errors import InputError, Unknown, did_you_mean
from pipeline.registry import Domain, Verb, registry, verbs_of
from pipeline.retrieve.question import remarks
from pipeline.serve.http.models import DomainModel, VerbModel
from pipeline.serve.http.state import Granted, Service
from pipeline.serve.signature import Signature, warned

router = APIRouter(prefix="/v1/domains", tags=["domains"])


@router.get("")
async def domains(_: Granted) -> list[DomainModel]:
    """List the domains, with the verbs that a client may call and the schemas of their arguments."""
    return [
        DomainModel(
            name=domain.name,
            help=domain.help,
            verbs=[
                VerbModel(
                    name=verb.name,
                    help=verb.help,
                    arguments=_signature(verb).input_schema,
                    read_only=verb.read_only,
                    destructive=verb.destructive and not verb.read_only,
                    idempotent=verb.read_only or verb.idempotent,
                )
                for verb in _verbs(domain)
            ],
        )
        for domain in registry().domains
    ]


@router.post("/{domain}/{verb}")
async def call_verb(
    domain: Annotated[str, Path(examples=["skills"])],
    verb: Annotated[str, Path(examples=["skills_search"])],
    arguments: Annotated[dict[str, Any], Body(description="The arguments, as the verb's schema describes them.")],
    service: Service,
    grant: Granted,
) -> dict[str, Any]:
    """Return the answer of a domain to a question, or what it did.

    A token has to open what the verb names, or all corpora if it may read any, and to write for a verb that does.
    """
    verbs = {f"{one.name}/{verb.name}": verb for one in registry().domains for verb in _verbs(one)}
    if (asked := f"{domain}/{verb}") not in verbs:
        raise Unknown(f"There is no verb {asked[:80]!r}.", did_you_mean(asked, verbs, f"Known: {', '.join(verbs)}."))
    grant.check_verb(verbs[asked], arguments)
    signature = _signature(verbs[asked])
    given = signature.read(arguments)

    def call() -> dict[str, Any]:
        with remarks() as warnings:
            answer = verbs[asked].function(service.connection, **given)
        return warned(signature.dump(answer), warnings)

    return await service.gate.run(call)


def _verbs(domain: Domain) -> tuple[Verb, ...]:
    try:
        return verbs_of(domain)
    except InputError:
        return ()  # an installed domain that can't be imported; its own commands say why


@cache
def _signature(verb: Verb) -> Signature:
    return Signature(verb.function)
