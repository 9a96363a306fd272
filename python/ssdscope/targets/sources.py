"""The files that a target consists of, or is described by, and files of traces."""

from glob import escape
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.targets import grammar
from ssdscope.targets.opening import array_behind, read_drive


def files_of(uri: str) -> list[str]:
    """List the files and devices behind a target, its drive files and those of members too.

    Raises
    ------
    UsageError
        If the target cannot be meant, or a drive file cannot be read.
    ConfigError
        If the drive file of an array is wrong.
    """
    return _files(grammar.parse_target(uri))


def drive_texts(uri: str) -> dict[str, str]:
    """Read the drive files behind a target, by path, for `opening.drive_files` elsewhere."""
    return {path: read_drive(path)[0] for path in files_of(uri) if path.endswith(".toml")}


def require_file(trace: str) -> None:
    """Refuse what is no trace file before a drive is prepared for it.

    Raises
    ------
    UsageError
        If it is none, or cannot be read.
    """
    path = Path(trace)
    if not path.exists() and any(path.parent.glob(f"{escape(path.name)}.blktrace.*")):
        return  # blktrace writes a file for each processor
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(
            f"the trace {trace} is not a regular file, and a trace is read twice",
            hint="save the stream to a file (plain, gzip or zstd) first",
        )
    try:
        with path.open("rb"):
            return
    except OSError as error:
        raise UsageError(f"cannot read the trace {trace}: {error.strerror}") from error


def _files(spec: grammar.Spec) -> list[str]:
    match spec:
        case grammar.Path(path):
            return [path]
        case grammar.DriveFile(path):
            array = array_behind(path)
            return [path] if array is None else [path, *files_of(array.target)]
        case grammar.Raid0(members):
            return [file for member in members for file in _files(member)]
    return []
