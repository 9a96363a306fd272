"""Arguments and options that commands share, described once."""

from typing import Annotated, Literal, TypeAlias

import typer

from ssdscope.cli import choices
from ssdscope.cli.help import OUTPUT, READING
from ssdscope.cli.help import TARGET as TARGET_GROUP
from ssdscope.cli.outputs import Given, Input, Output
from ssdscope.cli.target_names import complete_target


def _files_of(uri: str) -> list[str]:
    from ssdscope.targets.sources import files_of

    return files_of(uri)


def _beside_log(path: str, _given: Given) -> list[str]:
    return [f"{path.removesuffix('.parquet')}.json"]


TARGET = Input(_files_of)
"""The mark of an option that names a target."""
TARGET_HELP = (
    "The drive: sim:NAME (`ssdscope drives list` lists them), a drive .toml, a file, /dev/..., "
    "raid0:A,B?chunk=64k, or null: (completes at once)."
)

OutputFormat: TypeAlias = Annotated[
    Literal["normal", "json"],
    typer.Option(
        "--output-format",
        "-o",
        metavar="FORMAT",
        help="Form of the results",
        rich_help_panel=OUTPUT,
        autocompletion=choices.OUTPUT_FORMATS.complete,
    ),
    choices.OUTPUT_FORMATS,
]
ProgressMode: TypeAlias = Annotated[
    Literal["auto", "always", "never"],
    typer.Option(
        "--progress",
        metavar="WHEN",
        help="Show progress on stderr",
        rich_help_panel=OUTPUT,
        autocompletion=choices.PROGRESS.complete,
    ),
    choices.PROGRESS,
]
TargetArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TARGET", help=TARGET_HELP, show_default=False, autocompletion=complete_target
    ),
    TARGET,
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace files that ssdscope did not write.", rich_help_panel=OUTPUT
    ),
]
TraceArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TRACE",
        help="The trace, a file: plain, gzip or zstd. Of blktrace one of its files, or their name.",
    ),
    Input(),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        help="Random seed: the same one repeats a run.",
        show_default="drawn, and printed",
        rich_help_panel=OUTPUT,
    ),
]
State: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="How a simulated drive was used before.",
        show_default="what its file says",
        rich_help_panel=TARGET_GROUP,
        autocompletion=choices.STATES.complete,
    ),
    choices.STATES,
]
Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of a simulated drive; repeatable. `ssdscope drives keys` lists them.",
        rich_help_panel=TARGET_GROUP,
        autocompletion=choices.DRIVE_KEYS.complete,
    ),
    choices.DRIVE_KEYS,
]
WriteCache: TypeAlias = Annotated[
    Literal["on", "off"] | None,
    typer.Option(
        "--write-cache",
        metavar="on|off",
        help="Switch the drive's write cache.",
        show_default="as it is",
        rich_help_panel=TARGET_GROUP,
    ),
]
ReadCache: TypeAlias = Annotated[
    Literal["on", "off"] | None,
    typer.Option(
        "--read-cache",
        metavar="on|off",
        help="Switch the drive's read cache.",
        show_default="as it is",
        rich_help_panel=TARGET_GROUP,
    ),
]
DestroyData: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--destroy-data",
        metavar="TOKEN",
        help="Allow writing to a real drive or file. `ssdscope doctor --identify TARGET` prints "
        "its token; of a RAID-0 one for each member.",
        rich_help_panel=TARGET_GROUP,
    ),
]
OverwriteExisting: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--overwrite-existing",
        help="Allow it even if data is lost that ssdscope did not write.",
        rich_help_panel=TARGET_GROUP,
    ),
]
AllowVirtual: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-virtual",
        help="Allow it on a partition, a loop device or another virtual device.",
        rich_help_panel=TARGET_GROUP,
    ),
]
PreserveContent: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--preserve-content",
        help="Each write to a file or block device writes back what is there. It needs "
        "--destroy-data too.",
        rich_help_panel=TARGET_GROUP,
    ),
]
WriteLimit: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--write-limit",
        metavar="SIZE",
        help="Stop before more than this is written to a real drive or file.",
        show_default="no limit but that of the workload",
        rich_help_panel=TARGET_GROUP,
    ),
]
WindowOffset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--offset",
        metavar="SIZE",
        help="Where the window starts that is measured of a block device open for writing.",
        show_default="three quarters of it",
        rich_help_panel=TARGET_GROUP,
    ),
]
WindowSize: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="SIZE",
        help="Size of that window.",
        show_default="up to the end",
        rich_help_panel=TARGET_GROUP,
    ),
]
DryRun: TypeAlias = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be spent and written, and stop."),
]
RatedWrites: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--rated-writes",
        metavar="SIZE",
        help="Bytes that the data sheet allows to be written in the drive's life: 600t.",
        show_default="unknown",
    ),
]
QuietQueue: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--quiet-queue",
        help="Set the disk's queue for measuring (no scheduler, merging or throttling), and set it "
        "back at the end, or by `ssdscope doctor --restore`.",
        rich_help_panel=TARGET_GROUP,
    ),
]
Log: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="FILE.parquet",
        help="Write a row per request here, and the results beside it as JSON.",
        rich_help_panel=OUTPUT,
    ),
    Output((".parquet",), _beside_log),
]
Timeline: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--timeline",
        help="Show the rate and percentiles over time, and what made the rate drop.",
        rich_help_panel=OUTPUT,
    ),
]
TimelineInterval: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--timeline-interval",
        metavar="TIME",
        help="Length of its windows: 1 (second), 100ms.",
        show_default="what gives 50 to 120 windows",
        rich_help_panel=OUTPUT,
    ),
]
TimelineOutput: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--timeline-output",
        "-O",
        metavar="FILE",
        help="Write it here: a page (.html), a picture (.svg, .png, .pdf), or a table (.csv, "
        ".parquet).",
        rich_help_panel=OUTPUT,
    ),
    Output((".html", ".svg", ".png", ".pdf", ".csv", ".parquet")),
]
TraceFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the trace, if its content allows several.",
        show_default="recognised by the content",
        rich_help_panel=READING,
        autocompletion=choices.TRACE_FORMATS.complete,
    ),
    choices.TRACE_FORMATS,
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="LIST",
        help="Columns of a table, by name or number: time=us:1,op:2,offset=bytes:3,size=bytes:4. "
        "A number for bytes is the size of an LBA: offset=4096:3.",
        rich_help_panel=READING,
    ),
]
Volume: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--volume",
        metavar="N",
        min=0,
        help="Use only this volume (ASU, device) of the trace.",
        show_default="all of them",
        rich_help_panel=READING,
    ),
]
Times: TypeAlias = Annotated[
    str,
    typer.Option(
        "--times",
        metavar="WHICH",
        help="Which time a request of a trace of events (blktrace, ...) has.",
        rich_help_panel=READING,
        autocompletion=choices.TIMES.complete,
    ),
    choices.TIMES,
]
OverlayVolumes: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--overlay-volumes",
        help="Lay all volumes over one another, as MQSim does, and not end to end.",
        rich_help_panel=READING,
    ),
]
ReadsOnly: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--reads-only",
        help="Leave out everything but reads: nothing is written.",
        rich_help_panel=READING,
    ),
]
SkipBad: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Count malformed lines instead of stopping at the first.",
        rich_help_panel=READING,
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="Use the first N requests only.",
        show_default="all of them",
        rich_help_panel=READING,
    ),
]
SpreadTies: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--spread-ties",
        help="Spread requests of one instant evenly until the next.",
        rich_help_panel=READING,
    ),
]
