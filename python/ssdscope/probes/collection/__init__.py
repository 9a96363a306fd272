"""After how much written, and how much idle time, a drive collects, and how much as one.

`probe`
    The question, the period and the reclaim unit.
`one_place`, `in_turn`
    Overwrites of one place, and of places in turn.
`idle`, `pauses`, `trials`
    The quiet time after which it begins.
"""
