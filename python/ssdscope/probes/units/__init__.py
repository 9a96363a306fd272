"""The span that a small write rewrites, and where such spans begin.

`probe`
    The question and what is told.
`plans`
    Short writes at drawn places.
`rivals`
    Parts, wholes, and several units written at once.
`rates`, `settled`
    Search by rates at depth, behind a full buffer; and its plan.
"""
