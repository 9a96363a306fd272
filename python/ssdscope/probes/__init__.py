"""Experiments that find out what is inside a drive, through the same door as any host.

Reading order:

`bench`
    What may touch the device: its ledger, states, the quiet of the machine, ways to write.
`budget`
    What may be spent.
`plan`, `run`, `record`
    What is measured, apart from what is made of it; kept, so that it can be decided upon again.
`disk`, `latency`, `units`, ...
    A folder for each family: what it asks (`probe`), plans, weighs with an engine, and cannot tell.
    What several families ask for is in `shared`; engines that several weigh with, in `inference`.
`mechanisms`, `verdict`, `reconcile`
    What hides what; what evidence comes to; findings held against each other.
`asking`, `again`
    What a family sees of a drive that is there, and of a record.
`registry`, `session`
    Which families there are and in what order they run; the run itself.

A new family is a folder whose `probe` has a `PROBE`, and one line in `registry`. Probes see a
`Bench`, and through it a `Device`: never the configuration of a simulated drive.
"""
