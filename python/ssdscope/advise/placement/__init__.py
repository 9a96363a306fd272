"""Which workload belongs on which drive: the cheapest placement that keeps every limit.

Read in this order:

`requests`
    Columns of requests, and several of them laid beside each other on one drive.
`workloads`, `reading`, `tables`
    A workload makes requests for a stretch of time: by its characteristics and a rate, or from a
    trace. How both are written in files and on the command line.
`drives`, `costs`
    What can be bought: price, capacity, endurance, and a simulated drive to try workloads on.
`trying`
    What workloads see of a drive that they share: all of them run on it.
`predicting`
    What a model of a drive says of a workload that arrives at a rate.
`limits`, `judging`
    What must hold, and whether it does for a set of workloads on a drive.
`programme`
    The integer programme: choose, judge what was chosen, cut off what fails, choose again.
`pairs`, `placing`, `infeasible`, `ranking`
    Each workload alone on each drive; a placement with its replay; which limit is in the way;
    and which drive would help a workload.
"""
