"""How many types of pages lie on a word line.

`probe`
    The question and what is answered.
`plans`
    A stretch that is read as it was filled, and written again in another order.
`kinds`
    Engines: how many levels of equal shares there are, and what they go by.
"""
