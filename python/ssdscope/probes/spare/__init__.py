"""Spare space, from where collection begins, and write amplification.

`probe`
    The question and what is told.
`overwrites`
    Uniform overwrites from a state without stale pages.
`log_blocks`
    A full set of log blocks, which looks like spare space used up.
`collected`
    Engine: the write amplification that uniform overwrites settle at.
"""
