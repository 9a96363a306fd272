"""What fio left, as results of ours: documents in the shape of a run's.

`texts`
    Its output: JSON with text around it, several documents in a row, or cut.
`outputs`
    A document as the results of its groups of jobs.
`sections`, `sums`, `bins`
    One direction of a job; jobs side by side added up; fio's histograms.
`options`
    What the jobs were asked for.
`logs`, `windows`, `histograms`
    Its logs: of requests, of means over windows, of histograms.
`folders`
    A folder of all these, drive by drive.
"""
