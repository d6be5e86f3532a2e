"""Links by cosine, by names and titles, and by hyperlinks: of a whole corpus, or around the changes of an update."""
