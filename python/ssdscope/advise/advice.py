"""The knobs applied to what is known of one drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.advise.facts import PLACEHOLDER, Facts
from ssdscope.advise.gains import LEAST_GAIN, Gain
from ssdscope.advise.ground import Ground, NoGainError
from ssdscope.advise.knobs import KNOBS, Knob
from ssdscope.advise.knobs.knob import Worked
from ssdscope.advise.streams import Stream
from ssdscope.errors import UsageError, nearest
from ssdscope.findings import Findings

ENOUGH = 0.03
"""The formula's value stands if the best one tried on the twin gains no more over it."""
NEAR_BEST = 0.02
"""Else the cheapest value stands that comes so near to the best."""
NO_EFFECT, NO_GAIN, SAME = "no effect on this drive", "no gain on this drive", "nothing changes"


@dataclass(frozen=True)
class Advice:
    """One setting.

    Attributes
    ----------
    tool, knob
        The setting.
    value, command
        None where the tool's default should stay; a habit has no command.
    typed_in
        Where the command is typed: a shell, a file, a program.
    habit
        What to do where nothing can be typed.
    formula
        In words.
    because
        The formula with its numbers, or why the default should stay.
    outcome
        ``set``; ``no effect``: it makes no difference to this drive; ``not known``: what the
        formula needs was not detected.
    default
        What is set today, if that is known; else what the tool does by itself.
    findings
        The properties it rests on.
    gain
        What it gains over the default on the drive as it was found; None if that was not measured.
    gain_remark
        Then why not, in a few words.
    gain_in_use
        Likewise once the drive was written all over at random, if that is another state.
    default_of
        The product and its version whose default that is; None of what is set today.
    sweep
        Values tried on the twin, and the time each takes per byte that the tool asked for.
    """

    tool: str
    knob: str
    value: str | None
    command: str | None
    formula: str
    because: str
    outcome: str
    default: str | None = None
    findings: tuple[str, ...] = ()
    gain: Gain | None = None
    gain_remark: str | None = None
    sweep: tuple[tuple[str, float], ...] = ()
    gain_in_use: Gain | None = None
    typed_in: str | None = None
    habit: str | None = None
    default_of: str | None = None

    @property
    def gains(self) -> list[Gain]:
        """What it gains, by state: that of a drive in use first, as every drive comes to be."""
        return [each for each in (self.gain_in_use, self.gain) if each is not None]

    @property
    def is_default(self) -> bool:
        """Whether the tool's own default should stay."""
        return self.value is None

    def to_json(self) -> dict[str, Any]:
        """Write the advice, with where it comes from."""
        return asdict(self) | {
            "source": "default" if self.is_default else "detected",
            "findings": list(self.findings),
            "gain": None if self.gain is None else self.gain.to_json(),
            "gain_in_use": None if self.gain_in_use is None else self.gain_in_use.to_json(),
            "sweep": [
                {"value": value, "ns_per_byte": ns_per_byte} for value, ns_per_byte in self.sweep
            ],
        }


def tools() -> list[str]:
    """List the tools there are knobs for."""
    return sorted({knob.tool for knob in KNOBS})


def require_tools(names: Sequence[str]) -> None:
    """Refuse a tool that there is no advice for.

    Raises
    ------
    UsageError
        With the nearest ones.
    """
    for name in names:
        if name not in tools():
            raise UsageError(f"there is no advice for {name!r}", hint=nearest(name, tools()))


def advise(
    findings: Findings,
    uri: str,
    only: Sequence[str] = (),
    *,
    sustained: Sequence[Mapping[str, Any]] = (),
    capacity_bytes: int = 0,
    queue: Mapping[str, Any] | None = None,
    ground: Ground | str = "no twin",
) -> list[Advice]:
    """Compute settings from what is known of a drive.

    Parameters
    ----------
    findings
        Of the drive.
    uri
        The target; a block device's path is put into the commands.
    only
        Tools to advise on; all of them if empty.
    sustained
        Rows of the performance section: what the drive keeps up.
    capacity_bytes
        Of the drive; 0 if not known.
    queue
        Attributes of the kernel's queue, as they are today.
    ground
        A simulated drive like it, to measure gains on; or why there is none, in a few words.

    Returns
    -------
    list of Advice
        One per knob, in the order of the registry.

    Raises
    ------
    UsageError
        If a tool is unknown.
    """
    require_tools(only)
    facts = Facts(findings, sustained, device_of(uri), capacity_bytes, queue or {})
    return [_advice(knob, facts, ground) for knob in KNOBS if not only or knob.tool in only]


def of_document(
    document: Mapping[str, Any],
    findings: Findings,
    only: Sequence[str] = (),
    *,
    device: str | None = None,
    ground: Ground | str = "no twin",
) -> list[Advice]:
    """Compute settings from the document of `characterize`, as `advise` does.

    Parameters
    ----------
    document
        The document.
    findings
        Its findings, typed.
    device
        Path for the commands, instead of the measured target's.
    """
    require_tools(only)
    facts = facts_of(document, findings, device)
    return [_advice(knob, facts, ground) for knob in KNOBS if not only or knob.tool in only]


def facts_of(document: Mapping[str, Any], findings: Findings, device: str | None = None) -> Facts:
    """Take what formulas may use out of the document of `characterize`."""
    target = document["target"]
    return Facts(
        findings,
        _rows(document["performance"].get("sustained")),
        device_of(device or str(target["uri"])),
        int(target["info"]["capacity_bytes"]),
        queue_of(target),
    )


def device_of(uri: str) -> str:
    """Give the path for commands: a block device's own, or a placeholder."""
    return uri if uri.startswith("/dev/") else PLACEHOLDER


def queue_of(target: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the attributes of a real drive's queue that its report holds."""
    declared = target.get("declared") or {}
    queue = declared.get("queue") if isinstance(declared, Mapping) else None
    return queue if isinstance(queue, Mapping) else {}


def _rows(value: Any) -> list[Mapping[str, Any]]:
    rows = value if isinstance(value, list) else []
    return [each for each in rows if isinstance(each, Mapping)]


def _advice(knob: Knob, facts: Facts, ground: Ground | str) -> Advice:
    reasons = [why for name in knob.needs if (why := facts.why_not(name)) is not None]
    today = knob.usual(facts)
    default = None if today is None else knob.shown(today)
    product = knob.default_of(facts)
    rests = facts.rests_on((*knob.needs, *knob.also))
    if reasons:
        why = "; ".join(reasons)
        return Advice(
            knob.tool, knob.name, None, None, knob.formula, why, "not known", default, rests,
            default_of=product,
        )  # fmt: skip
    worked = knob.setting(facts)
    chosen, sweep, remark = _chosen(knob, facts, worked, ground)
    gain, in_use, why_none = _gains(knob, facts, chosen.value, ground, remark)
    common: dict[str, Any] = {
        "tool": knob.tool,
        "knob": knob.name,
        "formula": knob.formula,
        "default": default,
        "default_of": product,
        "findings": rests,
        "gain": gain,
        "gain_in_use": in_use,
        "gain_remark": why_none,
        "sweep": tuple((knob.shown(value), cost) for value, cost in sweep.items()),
    }
    gains = [each for each in (gain, in_use) if each is not None]
    same = why_none == SAME
    if stays := _stays(chosen.value, today, gains, list(sweep.values()), same=same):
        because = f"{stays}: {chosen.text}"
        return Advice(value=None, command=None, because=because, outcome="no effect", **common)
    line = knob.command(facts, chosen.value)
    return Advice(
        value=knob.shown(chosen.value),
        command=None if knob.typed_in is None else line,
        typed_in=knob.typed_in,
        habit=line if knob.typed_in is None else None,
        because=chosen.text,
        outcome="set",
        **common,
    )


def _stays(
    value: int, today: int | None, gains: Sequence[Gain], costs: Sequence[float], *, same: bool
) -> str | None:
    """Say why the default should stay, if it should: a gain in one state is enough to set it."""
    if value == today:
        return "it is that already"
    if same:
        return NO_EFFECT
    if today is None and costs and max(costs) < (1 + LEAST_GAIN) * min(costs):
        return NO_EFFECT
    if gains and all(each.none for each in gains):
        return f"{NO_EFFECT}{_within(gains)}"
    if gains and all(each.none or each.ratio < 1 for each in gains):
        return NO_GAIN
    return None


def _within(gains: Sequence[Gain]) -> str:
    """Say how large an effect may be that the twin cannot show."""
    apart = max(max(each.high, 1 / each.low) for each in gains) - 1
    return f", to within {apart:.0%}" if apart > LEAST_GAIN else ""


def _chosen(
    knob: Knob, facts: Facts, worked: Worked, ground: Ground | str
) -> tuple[Worked, dict[int, float], str | None]:
    """Take the formula's value, unless another one is clearly better on the twin."""
    values = knob.values(facts, worked.value)
    if knob.stream is None or isinstance(ground, str) or len(values) < 2:
        return worked, {}, None
    if knob.before is not None:
        return worked, {}, None
    try:
        times = ground.ns_per_byte([knob.stream(facts, value) for value in values])
    except NoGainError as reason:
        return worked, {}, str(reason)
    costs = dict(zip(values, times, strict=True))
    best = min(times)
    sure = ground.sure_of(knob.stream(facts, worked.value))
    if not sure or costs[worked.value] <= (1 + ENOUGH) * best:
        return worked, costs, None
    value = next(each for each, cost in costs.items() if cost <= (1 + NEAR_BEST) * best)
    faster = costs[worked.value] / costs[value] - 1
    said = f"{worked.text}; on the {ground.name} {knob.shown(value)} is {faster:.0%} faster still"
    return Worked(value, said), costs, None


def _gains(
    knob: Knob, facts: Facts, value: int, ground: Ground | str, remark: str | None
) -> tuple[Gain | None, Gain | None, str | None]:
    """Measure what a value gains over the default, in both states; or say why that cannot be."""
    if knob.gain is not None and (measured := knob.gain(facts)) is not None:
        return measured, None, None
    compared = streams_of(knob, facts, value)
    if isinstance(compared, str):
        return None, None, compared
    if isinstance(ground, str):
        return None, None, ground
    if remark is not None:
        return None, None, remark
    before, after = compared
    try:
        gain = ground.gain(before, after, knob.at_most)
    except NoGainError as reason:
        return None, None, str(reason)
    return gain, _in_use(ground, before, after, knob.at_most), None


def streams_of(knob: Knob, facts: Facts, value: int) -> tuple[Stream, Stream] | str:
    """Give the requests without a setting and with it; or say why there are none to compare."""
    today = knob.usual(facts)
    if value == today:
        return SAME
    if knob.stream is None:
        return knob.no_stream
    if knob.before is None and today is None:
        return "today's value is not known"
    before = knob.before(facts, value) if knob.before else knob.stream(facts, today or 0)
    after = knob.stream(facts, value)
    return SAME if before.sends == after.sends else (before, after)


def _in_use(ground: Ground, before: Stream, after: Stream, at_most: str) -> Gain | None:
    """Measure the same in use; None where that is no other state, or cannot be measured.

    Writes that are brought to rest lead there by themselves.
    """
    if after.kept_share is not None:
        return None
    try:
        used = ground.in_use()
        return None if used is None else used.gain(before, after, at_most)
    except NoGainError:
        return None
