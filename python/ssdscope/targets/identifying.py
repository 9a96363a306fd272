"""Who a target is, and the token that allows writing to it: drives, files, exports, arrays."""

from __future__ import annotations

import json
from typing import Any

from ssdscope import _native
from ssdscope.errors import UsageError
from ssdscope.targets import grammar
from ssdscope.targets.device import translated_errors
from ssdscope.targets.exports import read_export
from ssdscope.targets.opening import identify
from ssdscope.targets.tokens import joined_tokens


def identify_target(uri: str) -> dict[str, Any]:
    """Say what a real target is; nothing is written, and of an export nothing is read either.

    Raises
    ------
    UsageError
        If it is simulated.
    DeviceError
        If it cannot be asked.
    """
    spec = grammar.parse_target(uri)
    match spec:
        case grammar.Nbd():
            return _identify_export(uri)
        case grammar.Raid0(members, chunk_bytes):
            return _identify_array(uri, members, chunk_bytes)
    return identify(uri)


def _identify_export(uri: str) -> dict[str, Any]:
    export = read_export(uri)
    with translated_errors():
        facts: dict[str, Any] = json.loads(
            _native.identify_nbd(export.socket, export.port, export.name)
        )
    refusal = "the server offers it for reading only" if facts["read_only"] else None
    return {
        "path": uri,
        "kind": "nbd",
        "export": export.name,
        **facts,
        "token": f"NBD:{export.name}",
        "write_refusal": refusal,
        "write_needs": ["--allow-virtual"],
    }


def _identify_array(
    uri: str, members: tuple[grammar.Spec, ...], chunk_bytes: int
) -> dict[str, Any]:
    if any(isinstance(each, grammar.Preset | grammar.DriveFile | grammar.Null) for each in members):
        raise UsageError(
            f"target {uri!r} has a member that is not real: it has no identity",
            hint="only what is real needs a token before it is written to",
        )
    known = [identify_target(grammar.write_target(member)) for member in members]
    tokens = [each["token"] for each in known]
    refusals = [f"{each['path']}: {why}" for each in known if (why := each["write_refusal"])]
    needs = [need for each in known for need in each["write_needs"]]
    return {
        "path": uri,
        "kind": "raid0",
        "chunk_bytes": chunk_bytes,
        "members": known,
        "token": joined_tokens(tokens) if all(tokens) else None,
        "write_refusal": "; ".join(refusals) or None,
        "write_needs": list(dict.fromkeys(needs)),
    }
