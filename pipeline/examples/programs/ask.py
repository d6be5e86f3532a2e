"""Ask a folder of documents: the passages that answer, where they stand, and how they were found.

python ask.py FOLDER "QUESTION"
"""

import sys

from hoprank import HopRank

folder, question = sys.argv[1:]

with HopRank.connect() as hoprank:
    hoprank.sync(folder, corpus="example-ask")  # the second time only changes cost time

    result = hoprank.search(question, corpus="example-ask", top_k=3, explain=True)
    for item in result.items:
        where = item.metadata
        print(f"{where['rank']}. {where['document']}, line {where['line_start']}, by {', '.join(where['legs'])}")
        print(f"   {item.content[:100]}")

    # The context for a language model, if one is to write the answer.
    context = hoprank.context(question, corpus="example-ask", tokens=1000)
    print(len(context.to_markdown()), "characters for a language model")
