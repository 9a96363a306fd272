"""Tokens of an array: one for each real member, in the order of the members.

``raid0:/dev/sda,/dev/sdb`` is written with ``SERIAL:1234,SERIAL:5678``. Parentheses stand around a
token that holds a comma, as around such a member of a target.
"""

from collections.abc import Sequence

from ssdscope.errors import UsageError
from ssdscope.targets import grammar


def real_leaves(spec: grammar.Spec) -> list[grammar.Spec]:
    """List those of a target's leaves that are real, in order."""
    return [each for each in grammar.leaves(spec) if isinstance(each, grammar.Path | grammar.Nbd)]


def joined_tokens(tokens: Sequence[str]) -> str:
    """Write several tokens as one text.

    Examples
    --------
    >>> joined_tokens(["FILE:a.bin", "FILE:b,c.bin"])
    'FILE:a.bin,(FILE:b,c.bin)'
    """
    if len(tokens) == 1:
        return tokens[0]
    return ",".join(f"({each})" if set(each) & set(",()") else each for each in tokens)


def shared_tokens(text: str | None, spec: grammar.Raid0) -> list[str | None]:
    """Give each member of an array its part of the tokens.

    Parameters
    ----------
    text
        As typed; None where nothing may be written.

    Raises
    ------
    UsageError
        If there is not one token for each real member.
    """
    counts = [len(real_leaves(member)) for member in spec.members]
    if text is None or not sum(counts):
        return [None] * len(counts)
    tokens = _split(text)
    if len(tokens) != sum(counts):
        raise UsageError(
            f"the array has {sum(counts)} real members, and --destroy-data {text!r} names "
            f"{len(tokens)}: each of them is written, so each needs its token",
            hint="ssdscope doctor --identify 'raid0:...' prints them in order, with commas between",
        )
    parts: list[str | None] = []
    for count in counts:
        own, tokens = tokens[:count], tokens[count:]
        parts.append(joined_tokens(own) if own else None)
    return parts


def _split(text: str) -> list[str]:
    parts = grammar.split_at_top_level(text, f"--destroy-data {text!r}")
    return [grammar.without_parentheses(part) for part in parts]
