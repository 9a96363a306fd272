"""Log blocks: the span that is merged, and how many are open for streams.

`probe`
    The question and what is told.
`plans`
    Writes that fill log blocks, and streams side by side.
"""
