"""How evidence is weighed: pure functions on series, that know nothing of drives.

Reading order:

`series`
    What an engine is given, and what it gives back: an estimate against its rivals.
`noise`
    What is neither the question nor an answer: drift, scatter, bursts.
`step`, `ending`, `locked`, `filled`, `period`, `reach`, `cells`, `recurrence`, `contrast`,
`partition`, `line`, `course`, `collected`
    The engines, one per shape of question.
`mixture`, `lengths`, `halves`
    Beside them: levels that pairs lie on, lengths that stretches have in common, marks that part
    classes.
`levels`
    The only thresholds.
"""
