"""The quickstart's questions, and what stands in for a language model that answers them."""

from __future__ import annotations

from pipeline.examples import example_answers

TOP_K = 20
READ = {question: known for question, known in example_answers().items() if known in ("Celsius", "a bucket")}
"""Two of the questions whose answers stand in the archive word by word."""

UNKNOWN = "The passages don't say."


def answer(prompt: str) -> str:
    """Answer the question of a prompt if the passages in it do, as a language model should."""
    text = " ".join(prompt.split())
    for question, known in READ.items():
        if question in text and known in text.replace(question, ""):
            return known
    return UNKNOWN
