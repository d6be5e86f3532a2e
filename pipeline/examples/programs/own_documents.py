"""Search documents of a program's own, such as the rows of a database, by meaning and by filters."""

from hoprank import HopRank

TICKETS = [
    {"id": "t1", "title": "Login", "text": "The login page stays blank in Safari.", "metadata": {"status": "open"}},
    {"id": "t2", "title": "Export", "text": "The export to CSV loses umlauts.", "metadata": {"status": "open"}},
    {"id": "t3", "title": "Sign-in", "text": "Signing in took a minute.", "metadata": {"status": "closed"}},
]

with HopRank.connect() as hoprank:
    # The corpus holds these afterwards and no others; `add` would keep the others.
    hoprank.replace(TICKETS, corpus="example-tickets")

    wanted = {"status": "open"}
    result = hoprank.search("Users can't get into their account", corpus="example-tickets", filters=wanted)
    for item in result.items:
        print(item.metadata["document"], item.metadata["document_metadata"]["status"], item.content)

    print([entry.key for entry in hoprank.documents("example-tickets")])
