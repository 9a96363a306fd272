"""How evidence is weighed: pure functions on series, that know nothing of drives.

Here is what several families of properties ask; an engine that one alone asks lies beside it, in
`probes`, and is as pure. Reading order:

`series`
    What an engine is given, and what it gives back: an estimate against its rivals.
`noise`
    What is neither the question nor an answer: drift, scatter, bursts; and what two shares of
    events gain over one.
`mixture`
    The levels that values lie on.
`step`, `period`, `recurrence`, `cells`, `contrast`, `places`
    Engines, one per shape of question.
`levels`
    The only thresholds.
"""
