"""Bring the words beside the texts of a corpus, which an earlier version of HopRank made, to the present rules."""

from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.db.indexes import drop_indexes, fulltext_indexes, renew_fulltext_index
from pipeline.db.lease import LeasedWrites, lease
from pipeline.text.index_words import FOLDING, index_words

_BATCH = 1000  # chunks of a query; chosen by hand, not measured


def refold(corpus: CorpusHandle, wait: float) -> CorpusHandle:
    """Return the corpus with the words of the present rules in its full-text index; it usually has them.

    Texts, vectors and edges stay as they are, and searches go on meanwhile: a new index is made beside the old one.
    Killed at any moment, it leaves a corpus that the next call completes. Waits up to ``wait`` seconds for another
    writer; raises Busy.
    """
    if corpus.record.folding >= FOLDING:
        return corpus
    with lease(corpus, wait) as (leased, writer):
        writes = LeasedWrites(leased, writer)
        texts = leased.stream("texts_of_other_letters")
        rows = ({"id": row["id"], "folded": index_words(row["title"], row["heading"], row["text"])} for row in texts)
        writes.write_rows("set_folded", ({**row, "folded": row["folded"] or None} for row in rows), batch=_BATCH)
        index = renew_fulltext_index(
            leased.client, leased.id, leased.record.analyzer, filterable=bool(leased.record.filterable)
        )
        writes.write("set_folding", folding=FOLDING, text_index=None if index == leased.label else index)
        drop_indexes(leased.client, [name for name in fulltext_indexes(leased.id) if index not in (None, name)])
    return open_corpus(corpus.client, corpus.name)
