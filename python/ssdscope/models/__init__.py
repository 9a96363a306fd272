"""Models that predict what a drive does with a workload from measured ones.

`features`
    The eight characteristics of huang2011 as columns of numbers.
`designs`, `collecting`, `table`
    Which workloads are run, running them, and the runs on disk.
`registry`, `estimators`, `gaussian`, `service`, `guide`
    The kinds of models, all in the manner of scikit-learn and kept as plain data; imported only
    when something is fitted, since scikit-learn takes seconds to load.
`samples`, `intervals`, `fitting`, `fitted`
    From runs to a model with an interval, and the model as a file.
`evaluation`, `explaining`
    How good models are, and what they have learnt.

A new model is a file with an estimator that passes ``check_estimator``, and a line in
`registry`. Models see a `Device` and measurements, never a drive's configuration.
"""
