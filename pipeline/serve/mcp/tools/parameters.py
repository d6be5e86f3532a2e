"""Parameters that several tools share, with their descriptions and limits."""

from typing import Annotated

from pydantic import Field, JsonValue

Query = Annotated[str, Field(min_length=1, description="A question, or keywords, in natural language.")]
Corpus = Annotated[str, Field(min_length=1, max_length=200, description="Name of a corpus; list_corpora lists them.")]
TopK = Annotated[int, Field(ge=1, description="Number of passages.")]
Filters = Annotated[
    dict[str, JsonValue] | None,
    Field(
        description="Conditions on the metadata of documents, such as"
        ' {"year": {"$gte": 2020}, "lang": "en"}. Operators: $eq $ne $lt $lte $gt $gte $between $in $nin $like $ilike'
        " $and $or."
    ),
]
Graph = Annotated[
    str | None,
    Field(description="Name of a knowledge graph; list_corpora lists them. Without it, the graph of the corpus."),
]
Node = Annotated[
    str,
    Field(
        min_length=1,
        max_length=10_000,
        description="Id of a node; in a corpus also the id of a search result, the key of a document, or a name.",
    ),
]
