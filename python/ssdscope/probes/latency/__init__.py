"""What a read takes, and at which depth deeper queues gain nothing.

`probe`
    Reads of many sizes, one at a time.
`queue_depth`
    Rates by depth.
`line`, `saturation`
    Engines: what a request costs, and what each byte; where a rate comes to its end.
"""
