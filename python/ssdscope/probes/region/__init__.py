"""The region written with one bit per cell: how much fits before writes slow down.

`probe`
    The question and what is told.
`stretches`
    Stretches of writes, and what they find of a region filled before.
`filled`
    Engine: where runs end that find a memory as empty, but for what was left.
"""
