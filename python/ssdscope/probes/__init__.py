"""Experiments that find out what is inside a drive, through the same door as any host.

Reading order:

`notes`
    What a probe notes while it measures, until it is the evidence of an answer
    (`ssdscope.findings` has the answers and the kinds of evidence).
`budget`, `states`, `bench`
    What may be spent; what a drive is prepared to; the drive on the bench, with its ledger.
`discipline`
    What measurements share: the smallest request, random places, undivided sizes, a quiet hour.
`reconcile`
    Findings held against each other.
`plan`, `run`, `record`, `verdict`, `mechanisms`
    What is measured, apart from what is made of it; `properties` has a file for each family.
`registry`, `session`
    Which families there are and in what order they run; the run itself.

A new family is a file with a `PROBE`, and one line in `registry`. Probes see a `Bench`, and
through it a `Device`: never the configuration of a simulated drive.
"""
