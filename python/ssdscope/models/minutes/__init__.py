"""Models of the minutes of a trace: learnt from its first hours, held to what comes next.

`settings`
    What a model is told of a minute, as columns of finite numbers.
`forecasting`
    A model chosen and fitted, its interval, and how it does beside naive baselines.
"""
