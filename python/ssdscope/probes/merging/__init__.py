"""Log blocks: the span that is merged, and how many are open for streams."""
