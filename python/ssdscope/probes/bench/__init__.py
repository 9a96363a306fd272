"""What may touch the device: every request of a plan goes through here.

`ledger`
    The drive on the bench: what is written and asked is counted, and no more let through than was
    declared.
`company`
    Why a measurement is stopped: others at work, requests split or failed, a drive that is gone.
`stopped`, `states`
    The stop, with its reason; what a drive is prepared to, and how.
`machine`, `discipline`, `gaps`
    The quiet of the machine; what measurements share; reads between the bursts of others.
`rows`
    Ways to read.
`filling`, `overwriting`, `write_through`
    Ways to write.
"""
