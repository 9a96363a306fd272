"""The read cache: bytes, unit, and what is fetched ahead.

`probe`
    The question and what is told.
`ahead`
    What is read beyond a row of reads.
`ending`
    Engine: where rows end that are rounded up to pages unknown.
"""
