"""Models of the minutes of a trace: learnt from its first hours, held to what comes next.

`settings`
    What a model is told of a minute, as columns of finite numbers.
`choosing`
    What of that predicts, by errors on minutes that were not learnt from.
`forecasting`
    Models fitted, chosen and weighed against the median; the prediction's interval.
`result`
    What comes of it, held to the truth beside naive baselines.
"""
