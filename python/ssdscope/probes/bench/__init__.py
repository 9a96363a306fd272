"""What may touch the device: every request of a plan goes through here.

`ledger`
    The drive on the bench: what is written and asked is counted, and no more let through than was
    declared.
`company`
    Why a measurement is stopped: others at work, requests split or failed, a drive that is gone.
`preparing`
    How a drive is brought into the state that a plan begins with.
`machine`, `discipline`
    The quiet of the machine; what measurements share, beside others, too.
`rows`
    Ways to read.
`filling`, `overwriting`, `write_through`
    Ways to write.
"""
