"""Whether data lie by the order of writing or by address.

`probe`
    The question and what is told.
`plans`
    Pairs of reads of what was written side by side, and far apart.
"""
