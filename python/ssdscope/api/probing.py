"""Detectors on a drive."""

from __future__ import annotations

from ssdscope.api.findings import Findings
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import TargetLike, seed_of, target_of
from ssdscope.api.progress import OnStage, stages
from ssdscope.errors import Interrupted
from ssdscope.probes import registry
from ssdscope.probes.budget import Budget
from ssdscope.report import spending
from ssdscope.report.probing import run_probes


@keyworded()
def probe(
    target: TargetLike,
    /,
    *names: str,
    budget: str = "default",
    rated_writes: int | str | None = None,
    seed: int | None = None,
    progress: OnStage = None,
) -> Findings:
    """Detect properties of a drive from the outside.

    A real drive is only read, unless it was opened for writing. A simulated one is left as it was
    found.

    Parameters
    ----------
    target
        An open target, or the name of one.
    *names
        Of probes, as ``ssdscope probe list`` has them, of properties or families of them; all
        that the budget allows if there are none.
    budget
        Time to spend: ``"90s"``, ``"5m"``, ``"2h"``; ``"default"`` (a minute), ``"full"`` (with
        probes that write more than one capacity) or ``"full:2h"``.
    rated_writes
        What a real drive takes in its life, of its data sheet: bytes, or ``"600t"``.
    seed
        Of everything drawn; that of the target if absent.
    progress
        Called with the stage and the share that is done. Or whether a bar is shown: if absent, in
        a notebook and in an interactive session.

    Returns
    -------
    Findings
        By property: each is detected with an interval, absent with a bound, ambiguous with
        candidates, or undetectable with the reason.

    Raises
    ------
    UsageError
        If a probe is unknown, or more would be written than only a full budget allows.
    DeviceError
        If the drive fails; its `partial` holds the findings so far.
    Interrupted
        After Ctrl-C; its `partial` holds the findings so far.

    Examples
    --------
    >>> import ssdscope as s
    >>> found = s.probe("sim:ryu-a", "latency")
    >>> found
    read_latency_alpha_ns          166,492 ns (166,354 to 166,627)
    read_latency_beta_ns_per_byte  9.16768 ns/byte (9.16685 to 9.16846)
    queue_depth_knee               absent
    >>> found["queue_depth_knee"].outcome
    'absent'
    """
    spend = Budget.parse(budget)
    wanted = names or ("all",)
    chosen = list(dict.fromkeys(each for name in wanted for each in registry.choose(name, spend)))
    rated = spending.rated(rated_writes)
    opened = target_of(target, seed)
    used_seed = seed_of(opened, seed)
    plan = spending.of_probes(opened, spend, chosen, rated)
    with stages(progress) as stage:
        probed = run_probes(opened, wanted, plan, seed=used_seed, progress=stage)
    found = probed.findings.led_by(wanted[0])
    findings = Findings(found.values(), seed=used_seed, spent=probed.spent)
    if probed.failure is not None:
        probed.failure.partial = findings
        raise probed.failure
    if probed.interrupted:
        raise Interrupted(findings)
    return findings
