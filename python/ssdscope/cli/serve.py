"""``ssdscope serve``: a drive as a network block device, for any program."""

import signal
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import interrupts, options
from ssdscope.cli.help import OUTPUT, command
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.cli.running import TargetOptions, window_of
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from ssdscope.units import parse_size

if TYPE_CHECKING:
    from ssdscope.targets import Target
    from ssdscope.targets.serving import Served

EXAMPLES = """
A drive of 2007 for fio, nbdcopy and whatever else speaks NBD, and as a QEMU guest's NVMe disk:
  ssdscope serve sim:kuo-samsung-slc --socket /tmp/ssd.sock --qemu
Twenty times slower, so that the machine's own noise is small beside the drive's times:
  ssdscope serve sim:nvme-tlc --socket /tmp/ssd.sock --slow-down 20
With the data in a file, and the statistics in another when it ends:
  ssdscope serve sim:sata-tlc --socket /tmp/ssd.sock --backing disk.img --stats seen.json
A real file or disk with its own data, only read:
  ssdscope serve disk.img --socket /tmp/disk.sock
"""

SERVER = "Server"


def _option(name: str, metavar: str, text: str, default: str | bool = False) -> Any:
    return typer.Option(
        name, metavar=metavar, help=text, show_default=default, rich_help_panel=SERVER
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(serve)


def serve(
    context: typer.Context,
    target: options.TargetArgument,
    socket: Annotated[
        str | None,
        _option("--socket", "PATH", "Unix socket to listen on. Only its owner may connect."),
        Input(lambda _path: ()),  # the server itself refuses what is not a dead server's socket
    ] = None,
    port: Annotated[
        int | None,
        _option(
            "--port",
            "N",
            "Port of 127.0.0.1 to listen on, for every user of this machine; 0: any free one.",
        ),
    ] = None,
    export: Annotated[
        str, _option("--export", "NAME", "Name of the export.", "none, which is a name, too")
    ] = "",
    slow_down: Annotated[
        float, _option("--slow-down", "X", "Answer X times slower than the drive.", "1")
    ] = 1.0,
    backing: Annotated[
        str | None,
        _option(
            "--backing",
            "FILE",
            "Keep the data in this file, which is made if it is missing.",
            "memory",
        ),
        Input(),
    ] = None,
    memory: Annotated[
        str, _option("--memory", "SIZE", "Memory that data may take at most.", "2g")
    ] = "2g",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Refuse writes.", rich_help_panel=SERVER)
    ] = False,
    qemu: Annotated[
        bool,
        typer.Option(
            "--qemu",
            help="Print the arguments that make it the NVMe disk of a QEMU guest.",
            rich_help_panel=SERVER,
        ),
    ] = False,
    stats: Annotated[
        str | None,
        typer.Option(
            "--stats",
            metavar="FILE.json",
            help="Write the statistics here as well.",
            rich_help_panel=OUTPUT,
        ),
        Output((".json",)),
    ] = None,
    force: options.Force = False,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    offset: options.WindowOffset = None,
    size: options.WindowSize = None,
    write_limit: options.WriteLimit = None,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Serve a drive as a network block device, until Ctrl-C.

    A reply leaves when the drive is done: its latency counts from the arrival of the request,
    times the slow-down. Data are really stored: in memory that grows with what is written, or
    in a file. Statistics are printed at the end, and whenever SIGUSR1 comes.

    A file or a block device is served with its own data. Nobody may write there without the
    token (--destroy-data), as of run. The exit code is 130 after Ctrl-C, and 0 after SIGTERM and
    SIGHUP.
    """
    from ssdscope.targets.serving import Serving

    session: Session = context.obj
    guard(context, force=force)
    how = Serving(socket, port, export, slow_down, backing, read_only, parse_size(memory))
    used_seed = session.seed(seed)
    goal = TargetOptions.typed(context.params, window_of(offset, size))
    opened = goal.open(used_seed)
    status = _serve(opened, how, used_seed, output_format, stats, qemu=qemu)
    session.repeat(used_seed)
    return status


def _serve(
    opened: "Target", how: Any, seed: int, output_format: str, stats: str | None, *, qemu: bool
) -> int:
    from ssdscope.targets import serving

    asked = _on_request()
    workload = {"slow_down": how.slow_down, "export": how.export, "backing": how.backing}

    def tell(served: "Served") -> None:
        _tell(opened, workload, seed, served, output_format, stats)

    read_only = how.read_only or not opened.device.info.writable

    def introduce(uris: list[str], port: int | None) -> None:
        _introduce(uris, read_only=read_only)
        if qemu:
            workload["qemu"] = _for_qemu(opened, how, port, read_only=read_only)

    interrupts.came.clear()
    try:
        served = serving.serve(opened, how, listening=introduce, asked=asked, statistics=tell)
    except KeyboardInterrupt:  # while it introduced itself: nobody was served
        return _ended()
    tell(served)
    if served.broken is not None:
        error(f"the drive broke down: {served.broken}", None)
        return EXIT_FAILED
    return _ended()


def _ended() -> int:
    """Say by which signal it ended."""
    return EXIT_INTERRUPTED if signal.SIGINT in interrupts.came else EXIT_DONE


def _on_request() -> Any:
    """Hear SIGUSR1; what is returned says whether it came since it was asked last."""
    came = []

    def hear(_number: int, _frame: FrameType | None) -> None:
        came.append(True)

    def asked() -> bool:
        wanted = bool(came)
        came.clear()
        return wanted

    signal.signal(signal.SIGUSR1, hear)
    return asked


def _introduce(uris: list[str], *, read_only: bool) -> None:
    """Say what clients type."""
    for uri in uris:
        note(f"serving {uri}{', read only' if read_only else ''}")
    uri = uris[0]
    note("clients, for example:")
    note(
        f"  fio --name=try --ioengine=nbd --uri='{uri}' --rw=randread --bs=4k --iodepth=8 "
        "--runtime=10 --time_based"
    )
    note(f"  nbdinfo '{uri}'")
    note(f"  mkdir ssd && nbdfuse ssd/disk '{uri}' &  # then: losetup --direct-io=on -f ssd/disk")
    note("Ctrl-C ends it; kill -USR1 prints the statistics so far")


def _for_qemu(opened: "Target", how: Any, port: int | None, *, read_only: bool) -> list[str]:
    """Say the line for QEMU, and what to do inside; give its words."""
    from ssdscope.targets import qemu
    from ssdscope.targets.names import shell_words

    words = qemu.arguments(
        how,
        port,
        read_only=read_only,
        logical_block_bytes=opened.device.info.logical_block_bytes,
    )
    note("as the first NVMe disk of a virtual machine, /dev/nvme0n1, add to its command line:")
    note(f"  qemu-system-x86_64 {shell_words(words)}")
    note("look at it inside: nvme list; nvme id-ctrl /dev/nvme0n1; lsblk /dev/nvme0n1")
    return words


def _tell(
    opened: "Target",
    workload: dict[str, Any],
    seed: int,
    served: "Served",
    output_format: str,
    stats: str | None,
) -> None:
    from ssdscope.results.files import write_text
    from ssdscope.results.record import envelope, strict_json

    record = {
        **envelope(seed=seed),
        "target": opened.describe(),
        "served": workload,
        **served.summary,
    }
    if output_format == "json":
        emit_json(record)
    else:
        emit(_text(record))
    # Last, as whoever asked waits for the file, and may end the server as soon as it is there.
    if stats is not None:
        write_text(stats, strict_json(record) + "\n")


def _text(record: dict[str, Any]) -> str:
    from ssdscope.cli.tables import run_text
    from ssdscope.cli.terminal import paragraph
    from ssdscope.units import format_duration, format_size

    clients, stored = record["clients"], record["stored_bytes"]
    lines = [
        run_text("served", record),
        paragraph(
            f"{clients['connections']:,} connections, {clients['most_at_once']:,} at once; "
            f"{record['failed_requests']:,} requests failed, "
            f"{record['refused_requests']:,} refused"
            + (f"; data take {format_size(stored)}" if stored else "")
        ),
    ]
    late = record["lateness_ns"]
    if late:
        p50, p99, largest = (format_duration(late[key]) for key in ("p50", "p99", "max"))
        lines.append(paragraph(f"replies left late by {p50} (p50), {p99} (p99), {largest} (max)"))
    return "\n".join(lines)
