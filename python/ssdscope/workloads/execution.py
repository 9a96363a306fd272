"""One plan on an open target: asked whether it may write, brought to rest, run.

What a driver finds wrong with a plan is said in the names that the plan was written in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ssdscope.errors import UsageError
from ssdscope.targets import grammar
from ssdscope.targets.spare import spare_bytes
from ssdscope.targets.tokens import real_leaves
from ssdscope.workloads.flow_options import in_flow_names
from ssdscope.workloads.flows import Flows
from ssdscope.workloads.options import in_option_names, on_command_line
from ssdscope.workloads.preserving import require_apart
from ssdscope.workloads.verifying import Verification, verified

if TYPE_CHECKING:
    from ssdscope.targets import RunResult, Target
    from ssdscope.targets.device import ChunkCallback, ProgressCallback
    from ssdscope.workloads.steady import Steadiness
    from ssdscope.workloads.workload import Workload


def require_writable(target: Target) -> None:
    """Refuse to write where nothing may be written, and say what would allow it.

    Raises
    ------
    UsageError
        If the target is open for reading only.
    """
    if target.device.info.writable:
        return
    if target.kind in ("file", "block"):
        hint = f"ssdscope doctor --identify {target.uri} prints the token that --destroy-data takes"
    elif target.kind == "raid0" and real_leaves(grammar.parse_target(target.uri)):
        hint = (
            f"ssdscope doctor --identify {target.uri!r} prints the tokens of its members that "
            "--destroy-data takes"
        )
    elif target.kind == "nbd":
        hint = "add --destroy-data NBD:EXPORT --allow-virtual to write to the export"
    else:
        hint = "only simulated drives, block devices and regular files are written to"
    raise UsageError(
        f"target {target.uri!r} is open for reading only, and this workload writes", hint=hint
    )


def bring_to_rest(
    target: Target,
    plan: Workload | Flows,
    where: Callable[[str], str] = on_command_line,
) -> Steadiness | None:
    """Run a workload until its rate has come to rest, and say how that went.

    Reads move no data, so that there is nothing to wait for: None.

    Parameters
    ----------
    where
        How to call an option in a message.

    Raises
    ------
    UsageError
        If there are several flows that write, or content is preserved and writes could meet.
    DeviceError
        If the drive fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    from ssdscope.workloads.rounds import write_until_steady

    plan = plan.within(target.device.info.capacity_bytes)
    if not plan.writes:
        return None
    require_apart(target, plan)
    option = where("until_steady")
    if isinstance(plan, Flows):
        hint = f"leave out {where('flow')} and {where('jobs')}"
        raise UsageError(f"{option} is for one workload", hint=hint)
    try:
        return write_until_steady(target.device, plan, spare_bytes=spare_bytes(target))
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error


def perform(
    target: Target,
    plan: Workload | Flows,
    *,
    progress: ProgressCallback | None = None,
    chunk: ChunkCallback | None = None,
    timeline_ns: int | None = None,
    verification: Verification | None = None,
    where: Callable[[str], str] = on_command_line,
) -> RunResult:
    """Run a workload, or several side by side, to the end.

    Parameters
    ----------
    verification
        Compare what the drive holds with what was written, see `verified`.
    progress, chunk, timeline_ns
        As of `Device.run`.
    where
        How to call an option in a message.

    Raises
    ------
    UsageError
        If the plan does not fit the drive.
    DeviceError
        If the drive fails or can make no progress.
    """
    plan = plan.within(target.device.info.capacity_bytes)
    require_apart(target, plan)

    def run() -> RunResult:
        return _run(target, plan, where, progress=progress, chunk=chunk, timeline_ns=timeline_ns)

    if verification is None:
        return run()
    return verified(target, verification, run, writes=plan.writes, progress=progress)


def _run(
    target: Target, plan: Workload | Flows, where: Callable[[str], str], **telling: Any
) -> RunResult:
    if isinstance(plan, Flows):
        try:
            return target.device.run_flows(plan, **telling)
        except UsageError as error:
            raise in_flow_names(error) from error
    try:
        return target.device.run(plan, **telling)
    except UsageError as error:
        raise in_option_names(error, where) from error
