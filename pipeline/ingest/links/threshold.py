"""The threshold of similarity links: ``link.similar_threshold`` "auto" as a cosine of the model at hand.

A corpus keeps the number, since an update needs the same whatever has become of the settings.
"""

from pipeline.db.catalogue import Corpus
from pipeline.embedding.embedder import Embedder
from pipeline.embedding.everyday import Everyday
from pipeline.settings import LinkSettings, Settings

_BUNDLED = 0.6
"""The threshold for the bundled model. On the sets that the graph was chosen on neighbours above it added 0 to 1 point
of recall."""

_DIGITS = 2  # decimals of a threshold


def with_threshold(settings: Settings, embedder: Embedder, corpus: Corpus | None = None) -> LinkSettings:
    """Return the link settings with a number for a threshold of "auto".

    It is as far above the model's background as 0.6 is above that of the bundled model. A ``corpus`` of another model
    than the embedder's keeps its own.
    """
    links = settings.link
    if links.similar_threshold != "auto":
        return links
    if corpus and not corpus.has_vectors_of(embedder.identity):
        return links.model_copy(update={"similar_threshold": links.kept_by(corpus.links).threshold})
    scale = Everyday(embedder, settings.data_home).scale
    return links.model_copy(update={"similar_threshold": round(scale.cosine(_BUNDLED), _DIGITS)})
