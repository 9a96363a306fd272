"""Drives drawn at random, probed blind, and compared with what is true of them.

A probe is only worth trusting if it was tried on drives whose inside is known.
`docs/observability.md` is the rule book.

`generator`
    The drives; `dice`, `hardware`, `firmware`, `memory` draw their parts.
`second`
    Drives drawn by other rules (`modern`, `from_presets`, `msr_drives`), and `arrays` of them.
`without_flash`
    Hard disks, arrays of them, the null device, files: what has nothing of a flash drive.
`truth`, `measured`
    What is true of each property: by formula (`shape`, `addresses`), or measured on the `twin`.
`truth_of_msr`, `truth_of_arrays`, `truth_of_disks`, `known`
    The same of what the second generator and the targets without flash have besides.
`observability`
    Which of them can be told from outside; `reference_reads`, `reference_writes`,
    `reference_curves` measure how strongly each shows on the undisturbed twin.
`blind`, `judge`
    One drive: probed through its device alone, and every answer held against the truth.
`crowd`, `journal`, `kept`
    Many of them on all cores; an interrupted study goes on where it was. What was measured of each
    may be kept, and decided upon again.

`ssdscope.studies.recovery` runs them as a study.
"""
