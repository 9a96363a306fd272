"""How often engines are wrong where there is nothing, and how often they find what is there.

`nulls`
    Series in which there is nothing of what an engine looks for.
`shared`, `of_families`, `engines`
    Each engine on such a series, and on one that has an effect of a known size: those that several
    families of properties ask, those that one asks, and all of them.
`page`
    The table and the picture of docs/inference.md: ``python -m scripts.calibration.page``.
"""
