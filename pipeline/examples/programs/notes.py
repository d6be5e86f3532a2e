"""Give an agent the notes that a message needs, and let it write one."""

import tempfile
from pathlib import Path

from hoprank import HopRank, Vault

NOTES = {
    "Varroa mites": "Varroa mites weaken a colony. Count them in August, and treat the hive by [[Oxalic acid]].",
    "Oxalic acid": "Oxalic acid is trickled between the combs in December, when there is no brood.",
    "Swarms": "A colony swarms in May if it lacks room. Add a box in time.",
}

with tempfile.TemporaryDirectory() as name, HopRank.connect() as hoprank:
    for title, text in NOTES.items():
        (Path(name) / f"{title}.md").write_text(f"---\npublished: true\n---\n\n# {title}\n\n{text}\n")

    vault = Vault(hoprank, "example-notes")
    vault.sync(name)

    print(vault.context("How do I treat my hive against mites?").text)
    print([note.title for note in vault.traverse("Varroa mites").nodes])
    created = vault.create("Drone brood", "Mites prefer drone brood: cut it out in June, see [[Varroa mites]].")
    print("written:", created.key)
