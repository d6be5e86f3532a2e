"""An answer by a language model: the prompt, the endpoint that is asked, and the answer's citations, checked.

May import from :mod:`pipeline.retrieve` and what that may import from. Nothing else in HopRank needs a language model,
and only :mod:`pipeline.answer.chat` imports the client, when it is asked.
"""
