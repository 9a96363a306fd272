"""The mapping table: bytes that one part covers, and bytes covered in memory.

`probe`
    The question and what is told.
`edges`
    Reads on both sides of an edge.
`reach`
    Engine: about how far two places share a cell.
"""
