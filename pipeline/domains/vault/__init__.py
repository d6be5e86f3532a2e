"""Vaults of linked notes: kept in a corpus, asked for context, checked and mended."""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "vault",
    "Vaults of linked notes: sync one, get context for a prompt, check its links.",
    settings="settings:VaultSettings",
    verbs="verbs:VERBS",
)
