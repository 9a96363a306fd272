"""Whether it is a hard disk, and what turns, moves and is kept in it.

`probe`
    The question, and the answer about the spindle.
`arm`
    What the arm takes, by tracks and cylinders.
`cache`
    What its cache holds.
`turn`, `tracks`, `held`
    Engines: when a place comes round again; where tracks and cylinders end; places that a cache
    holds.
"""
