"""Text: names, identifiers, sentences, paragraphs, headings, prose and dates, as ingestion and search read them."""
