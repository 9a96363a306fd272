"""A document that was put away before it was whole, and what it takes to go on with it.

While it grows a document has a part `UNFINISHED`: what was asked for when it was begun, which must
be the same when it is gone on with, and what later stages need that no page shows.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.report import document as documents
from ssdscope.targets.metered import Spent

UNFINISHED = "unfinished"
TOOK = ("seconds", "processor_seconds", "counted_seconds")
"""What a stage took, as `spending.Took` has it."""
IDENTITY = ("model", "serial", "wwn", "firmware")
"""Of a real drive: what tells it from another, as far as the document says it."""


def begun(document: Mapping[str, Any], *, fingerprint: str | None, trace: str) -> dict[str, Any]:
    """Give what a document is begun with, from its head, before anything is measured.

    Parameters
    ----------
    document
        With no stage done.
    fingerprint
        Of a simulated drive (`Target.fingerprint`).
    trace
        The words that name a trace; empty without one.
    """
    asked = _asked(document, fingerprint, trace)
    return {"begun_with": asked, "distributions": []}


def _asked(document: Mapping[str, Any], fingerprint: str | None, trace: str) -> dict[str, str]:
    """Say what has to be the same when a document is gone on with, each in words."""
    target, given = document["target"], document["provenance"]
    info = target["info"]
    caches = (f"{name} {_on(info[f'{name}_cache'])}" for name in ("write", "read"))
    return {
        "version": f"{document['tool']['version']}, commit {given['build']['commit']}",
        "target": target["uri"],
        "drive": _identity(target),
        "capacity": f"{info['capacity_bytes']:,} bytes",
        "open for": "reading and writing" if info["writable"] else "reading only",
        "part measured": _window(target),
        "caches": ", ".join(caches),
        "--state": target["state"] or "",
        "--set": " ".join(target["sets"]),
        "drive file": fingerprint or "",
        "--seed": str(document["seed"]),
        "--budget": given["budget"],
        "--trace": trace,
        "identity": given["identity"],
    }


def _on(cache: Mapping[str, Any]) -> str:
    return (
        cache["control"] if cache["control"] != "switchable" else ("on" if cache["on"] else "off")
    )


def _window(target: Mapping[str, Any]) -> str:
    window = (target["access"] or {}).get("window")
    return "all" if not window else f"{window[1]:,} bytes from {window[0]:,} on"


def read_unfinished(path: Path | None) -> dict[str, Any]:
    """Read a document that can be gone on with.

    Parameters
    ----------
    path
        Where it lies; None if it has no place of its own, as where it goes to /dev/null.

    Raises
    ------
    UsageError
        If there is none, it is whole already, or it is no report.
    """
    if path is None or not path.exists():
        raise UsageError(
            f"there is no {path or 'document'} to go on with",
            hint="--resume takes the -O and --json of the command that was interrupted; without "
            "--resume everything is measured",
        )
    known = dict(documents.read(path).document)
    if UNFINISHED not in known:
        raise UsageError(
            f"{path} is whole: there is nothing left to measure",
            hint="without --resume everything is measured again",
        )
    _require_sound(known, path)
    return known


def require_same(known: Mapping[str, Any], now: Mapping[str, Any], where: str) -> None:
    """Refuse to go on with what was begun otherwise: half a page would be of something else.

    Parameters
    ----------
    known, now
        The document as it was put away, and as this command would begin it.
    where
        It was put away.

    Raises
    ------
    UsageError
        With both values of all that differs.
    """
    before, asked = known[UNFINISHED]["begun_with"], now[UNFINISHED]["begun_with"]
    differs = [
        f"  {name}: {before.get(name) or 'none'}; now {value or 'none'}"
        for name, value in asked.items()
        if before.get(name) != value
    ]
    if differs:
        raise UsageError(
            f"{where} was begun otherwise, and cannot be gone on with:\n" + "\n".join(differs),
            hint="give what it was begun with; or begin anew, with --force instead of --resume",
        )


def require_same_drive(path: Path, document: Mapping[str, Any]) -> None:
    """Refuse to replace the page or the document of another drive.

    Parameters
    ----------
    path
        Where one is to go.
    document
        Which that is, with no stage done.

    Raises
    ------
    UsageError
        If another drive's lies there.
    """
    try:
        there = documents.read(path).document
    except UsageError:  # none, or none of this version: the guard of outputs has judged it
        return
    alike = there["provenance"].get("identity") == document["provenance"]["identity"]
    before, now = (_drive(each["target"], whole=alike) for each in (there, document))
    if before != now:
        raise UsageError(
            f"cannot write {path}: it holds the report of {before}, and this one is of {now}",
            hint="name another file for the output, or replace it with --force",
        )


def _drive(target: Mapping[str, Any], *, whole: bool) -> str:
    """Name a drive; not by what one document may show and another may not, unless `whole`."""
    identity = _identity(target) if whole else ""
    return f"{target['uri']} ({identity})" if identity else str(target["uri"])


def _identity(target: Mapping[str, Any]) -> str:
    known = target["declared"] or {}
    return ", ".join(str(known[name]) for name in IDENTITY if known.get(name))


def require_nothing_lost(path: Path | None) -> None:
    """Refuse to begin anew where stages that were measured would be lost.

    Raises
    ------
    UsageError
        If `path` holds a document that can be gone on with.
    """
    try:
        known = read_unfinished(path)
    except UsageError:  # there is none, or nobody could go on with it
        return
    if done := known["provenance"]["stages_done"]:
        raise UsageError(
            f"{path} holds what an interrupted run measured (stages done: {', '.join(done)})",
            hint="--resume goes on with it; --force begins anew, and replaces it",
        )


def _require_sound(known: Mapping[str, Any], path: Path) -> None:
    """Refuse what no command of ours wrote: the stages behind would stumble over it."""
    kept, given = known[UNFINISHED], known["provenance"]
    try:
        sound = isinstance(known["seed"], int) and _is_sound(kept, given)
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise UsageError(
            f"{path}: what later stages need is missing or was changed",
            hint="begin anew, with --force instead of --resume",
        )


def _is_sound(kept: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    names = ("name", *TOOK, "allowed_seconds", "cut_off", *Spent().to_json())
    rows = given["spent"]["stages"]
    return (
        isinstance(kept["begun_with"], dict)
        and all({"rw", "iodepth", "requests"} <= each.keys() for each in kept["distributions"])
        and isinstance(given["resumed"], list)
        and isinstance(given["stages_done"], list)
        and given["stages_done"] == [each["name"] for each in rows if not each["cut_off"]]
        and all(name in each for each in rows for name in names)
        and given["stages_ended"].keys() == set(given["stages_done"])
        and isinstance(given["outcomes"], dict)
        and isinstance(given["stage_seconds"], dict)
    )
