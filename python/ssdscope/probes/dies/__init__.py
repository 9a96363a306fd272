"""How many reads are served side by side, and how pages lie on what serves them.

`probe`
    The question and what is told.
`sorting`
    Blocks sorted into classes that wait for each other.
`placement`, `rows`
    How rows of pages lie over the classes.
`volumes`
    Bits of the address that choose.
`partition`, `halves`, `lengths`
    Engines: classes of places, marks that part classes, lengths of stretches.
"""
