"""The models that the settings name: the backend of embedding, and the reranker."""

from pipeline.embedding.embedder import Embedder
from pipeline.embedding.endpoint import EndpointEmbedder
from pipeline.embedding.reranker import Reranker
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.settings import Settings


def make_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name, without loading its model or asking its endpoint."""
    embed = settings.embed
    if embed.endpoint:
        return EndpointEmbedder(
            embed.model,
            embed.endpoint,
            api_key=embed.api_key.get_secret_value() if embed.api_key else "",
            tokenizer=embed.tokenizer,
            max_tokens=embed.max_tokens,
            batch_tokens=embed.batch_tokens,
            timeout=embed.timeout,
            query_prefix=embed.query_prefix,
            passage_prefix=embed.passage_prefix,
        )
    return SentenceTransformerEmbedder(
        embed.model,
        device=embed.device,
        precision=embed.precision,
        revision=embed.revision,
        batch_tokens=embed.batch_tokens,
        query_prefix=embed.query_prefix,
        passage_prefix=embed.passage_prefix,
        onnx=settings.data_home / "onnx",
    )


def make_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name, without loading it; None if they name none."""
    if not (name := settings.retrieve.reranker):
        return None
    return Reranker(name, device=settings.embed.device, onnx=settings.data_home / "onnx")
