"""Views of a vault, drawn with rich: syncs, related notes and the upkeep of its files.

May import: cli, domains.vault.actions, domains.vault.context, domains.vault.evaluate, domains.vault.maps,
domains.vault.related, domains.vault.sync, domains.vault.upkeep.
"""
