"""How often engines are wrong where there is nothing, and how often they find what is there.

`nulls`
    Series in which there is nothing of what an engine looks for.
`engines`
    Each engine on such a series, and on one that has an effect of a known size.
`page`
    The table and the picture of docs/inference.md: ``python -m scripts.calibration.page``.
"""
