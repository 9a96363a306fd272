"""Plans that several families ask for.

`at_once`
    Reads at once, of which some wait for each other.
`backwards`
    Blocks read backwards, which count what stays in a memory.
`visits`
    Blocks read again and again, which say whether places differ.
"""
