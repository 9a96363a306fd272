"""The write buffer: its size, and the units in which room is taken.

`probe`
    The question and what is told.
`plans`
    Writes from an empty buffer on, and what is left of one.
`long_writes`
    Buffers that many small writes do not fill: writes of several units.
`locked`, `extent`
    Engines: the step at which all runs wait; how far a curve that falls holds.
"""
