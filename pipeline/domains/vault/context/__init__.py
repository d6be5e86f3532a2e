"""The context router: evidence that a message needs notes, the threshold of relevance, progressive disclosure.

May import: domains.vault.graph, domains.vault.settings, domains.vault.vault, errors, records, retrieve.
"""
