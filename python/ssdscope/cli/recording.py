"""``ssdscope probe --record``: what was measured is kept in a file, and decided upon again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.results.files import destination

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.probes.budget import Budget
    from ssdscope.probes.record import Record
    from ssdscope.targets import Target


def kept_in(path: str | None) -> Record | None:
    """Give what a file has; None if there is no such file yet.

    Raises
    ------
    UsageError
        If the file is no record.
    """
    from ssdscope.probes.record import Record

    if path is None or Path(path).is_dir() or not Path(path).exists():
        return None
    return Record.load(Path(path))


def record_of(kept: Record | None, path: str, target: Target, seed: int, budget: Budget) -> Record:
    """Give what was kept, or a new record where there is none yet.

    Raises
    ------
    UsageError
        If it is of something else, or no file can be there.
    """
    from ssdscope.probes.record import Record

    destination(path)
    about = {
        "target": target.uri,
        "drive": target.fingerprint(),
        "seed": seed,
        "budget": "full" if budget.heavy else "short",
    }
    if kept is None:
        return Record(json.dumps(about))
    was = json.loads(kept.about or "{}")
    unlike = [
        f"{key} {was.get(key)}, not {value}"
        for key, value in about.items()
        if was.get(key) != value
    ]
    if unlike:
        raise UsageError(
            f"{path} was recorded of {unlike[0]}",
            hint="name another file for this, or leave the target out to decide upon that one",
        )
    return kept


def seed_of(kept: Record | None) -> int | None:
    """Give the seed of what was measured; None of nothing."""
    return None if kept is None else int(json.loads(kept.about or "{}").get("seed", 0))


def decided(path: str, name: str) -> tuple[Findings, int | None]:
    """Decide again upon what a file has of a probe, of a property or of all, and give the seed.

    Raises
    ------
    UsageError
        If there is no such file, or it has nothing of that.
    """
    from ssdscope.findings import Findings
    from ssdscope.probes import registry
    from ssdscope.probes.again import decide
    from ssdscope.probes.budget import Budget

    record = kept_in(path)
    if record is None:
        raise UsageError(
            f"there is no file {path}, and no target to record",
            hint=f"ssdscope probe {name} sim:mqsim-8g --record {path}",
        )
    chosen = registry.choose(name, Budget.parse("full" if record.heavy else "default"))
    wanted = {each for probe in chosen for each in probe.properties if probe.name in record.probes}
    found = [each for each in decide(record) if each.name in wanted]
    if not found:
        raise UsageError(f"{path} has nothing of {name}: it has {', '.join(record.probes)}")
    return Findings(found).led_by(name), seed_of(record)
