"""The front door of the library: what the command line does, as functions.

`opening`
    ``open``: a name or a path into an open target.
`running`
    ``run`` and ``replay``; `result` is what they give.
`sweeping`
    ``run_sweep``: many runs on all cores.
`probing`
    ``probe``; `findings` is what it gives.
`characterizing`
    ``characterize``: the page about a drive.
`advising`, `placing`, `comparing`
    ``advice``: settings that follow from a page; ``place``: where workloads belong; ``compare``.
`reports`, `twinning`
    ``read_report``: what it wrote, read back; its twin.
`importing`
    ``import_fio``: what fio left, drive by drive.
`collecting`, `modelling`
    ``collect``: runs for a model; ``fit``: a model of them.
`reproducing`
    ``reproduce``: a paper's study.
`keywords`, `frames`, `shown`, `progress`
    Errors that speak of keywords; tables of results; results in a notebook; bars.

Each function is a name of `ssdscope` itself, which loads it when it is first used. Nothing here
prints: what the command line says beside its data is in the results.
"""
