"""What the paper predicts: its tables II to VI, figures 8 to 10, and what it left to do.

`runs`
    The collections that models learn from, each drive in a file of its own.
`frozen`
    Which state of the presets models are held to.
`published`
    What the paper prints.
`accuracy`
    Models fitted to the runs, and how far off they are.
`tables`
    Tables II to VI beside ours.
`quantile`
    Models of the median, which the paper tried too.
`improving`
    Figures 9 and 10: what the extended characteristics add.
`tree`
    Figure 8: a tree, drawn.
`unseen`
    What the paper did not ask: models held to runs they have not seen.
`simulators`, `datasheets`
    The paper's future work: models beside simulators that know a drive from its data sheet.
"""
