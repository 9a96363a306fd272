"""Arguments and options that commands share, described once."""

from typing import Annotated, Literal, TypeAlias

import typer

from ssdscope.cli.outputs import Given, Input, Output


def _files_of(uri: str) -> list[str]:
    from ssdscope.targets.sources import files_of

    return files_of(uri)


def _beside_log(path: str, _given: Given) -> list[str]:
    return [f"{path}.part", f"{path.removesuffix('.parquet')}.json"]


TARGET = Input(_files_of)
"""The mark of an option that names a target."""

OutputFormat: TypeAlias = Annotated[
    Literal["normal", "json"],
    typer.Option("--output-format", "-o", help="Tables for people, or JSON for scripts."),
]
ProgressMode: TypeAlias = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--progress", help="Progress on stderr; auto: on a terminal only."),
]
TargetArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="sim:NAME, a drive .toml, /dev/..., a file, raid0:A,B?chunk=64k or null:.",
        show_default=False,
    ),
    TARGET,
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option("--force", help="Also replace files that ssdscope did not write."),
]
TraceArgument: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="TRACE", help="The file, plain or compressed (gzip, zstd)."),
    Input(),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Of everything random; drawn and told if absent."),
]
State: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="Of a simulated drive: fresh, sequential, random, steady or steady:SIZE.",
    ),
]
Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key of a simulated drive; repeatable."
    ),
]
WriteCache: TypeAlias = Annotated[
    Literal["on", "off"] | None,
    typer.Option("--write-cache", help="Switch the drive's write cache, where it can be."),
]
ReadCache: TypeAlias = Annotated[
    Literal["on", "off"] | None,
    typer.Option("--read-cache", help="Switch the drive's read cache, where it can be."),
]
DestroyData: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--destroy-data",
        metavar="TOKEN",
        help="Allow writing to a real file; `doctor --identify TARGET` prints the token.",
    ),
]
OverwriteExisting: TypeAlias = Annotated[
    bool,
    typer.Option("--overwrite-existing", help="Also where the file holds data that is not ours."),
]
Log: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--log", metavar="FILE.parquet", help="Keep every request, and the JSON next to it."
    ),
    Output((".parquet",), _beside_log),
]
TraceFormat: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="Format, if the content leaves a doubt."),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="WHAT=UNIT:WHERE,...",
        help="Of a table, as in time=us:1,op:2,offset=bytes:3,size=bytes:4.",
    ),
]
Volume: TypeAlias = Annotated[
    int | None,
    typer.Option("--volume", min=0, help="Only this volume (ASU, device) of the trace."),
]
ReadsOnly: TypeAlias = Annotated[
    bool, typer.Option("--reads-only", help="Leave out all that is no read; nothing is written.")
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Count malformed lines instead of stopping.")
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, help="Use so many requests only.")
]
SpreadTies: TypeAlias = Annotated[
    bool,
    typer.Option("--spread-ties", help="Spread requests of one instant evenly until the next."),
]
