"""What the paper predicts: its tables II to VI, figures 8 to 10, and what it left to do.

`runs`
    The collections that models learn from, each drive in a file of its own.
`frozen`
    Which state of the presets models are held to.
`accuracy`
    Models fitted to the runs, and how far off they are.
`tables`, `comparing`
    Tables II to VI beside ours, and what is said of them that compares their cells.
`improving`
    Figures 9 and 10: what the extended characteristics add.
`tree`
    Figure 8: a tree, drawn.
`characteristics`
    What single characteristics are worth, and what the logarithm and the median are.
`platforms`
    The second host.
`unseen`
    What the paper did not ask: models held to runs they have not seen.
`simulators`, `datasheets`
    The paper's future work: models beside simulators.
"""
