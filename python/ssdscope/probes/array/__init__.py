"""Whether what answers is an array of drives whose members are told apart.

`probe`
    The question and what is answered.
`members`
    Engines: which places share a member by what reads take, and whether pairs of them agree.
"""
