"""Drives drawn at random, probed blind, and compared with what is true of them.

A probe is only worth trusting if it was tried on drives whose inside is known.
`docs/observability.md` is the rule book.

`generator`
    The drives; `dice`, `hardware`, `firmware`, `memory` draw their parts.
`truth`, `measured`
    What is true of each property: by formula (`shape`, `addresses`), or measured on the `twin`.
`observability`
    Which of them can be told from outside; `reference_reads`, `reference_writes` measure how
    strongly each shows on the undisturbed twin.
"""
