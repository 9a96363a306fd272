"""A parsed target, opened: the one place where a drive's inside can be prepared or shown."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from ssdscope import _native
from ssdscope.errors import ConfigError, SsdscopeError, UsageError, nearest
from ssdscope.targets import grammar
from ssdscope.targets.arrays import Array, read_array
from ssdscope.targets.device import Device, native_of, translated_errors
from ssdscope.targets.exports import read_export
from ssdscope.targets.names import printable
from ssdscope.targets.presets import preset_text
from ssdscope.targets.tokens import shared_tokens
from ssdscope.units import format_binary, format_size, parse_size

TEXT_BYTES_MAX = 4 * 2**20
STATES = {
    "fresh": "never written",
    "sequential": "written once, in order",
    "random": "then overwritten at random",
    "steady": "then until the write amplification settles; steady:1g in a window of 1 GiB",
}
"""How a simulated drive was used before it is opened."""


@dataclass(frozen=True, repr=False)
class Target:
    """An open target.

    Attributes
    ----------
    uri
        As the user wrote it.
    kind
        ``simulated``, ``block``, ``file``, ``raid0`` or ``null``.
    capacity_bytes
        Exported capacity.
    drive
        The resolved drive file of a simulated target, else None. For the record of a run
        only: probes, models and twins never read it.
    members
        The targets of a RAID-0, in the order of the stripes.
    state
        How a simulated drive was prepared, if the user said so.
    device
        The door to the drive.
    seed
        Of a simulated drive's own randomness; what runs on it draws from the same, unless it is
        given another.
    sets
        ``KEY=VALUE`` changes that a simulated drive was opened with.
    """

    uri: str
    kind: str
    capacity_bytes: int
    drive: dict[str, Any] | None
    device: Device
    state: str | None = None
    members: tuple["Target", ...] = ()
    seed: int = 0
    sets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Name the target, its size, and the state of a simulated one or the kind of another."""
        name, colon, size = (self.state or self.kind).partition(":")
        words = [printable(self.uri), format_binary(self.capacity_bytes)]
        words.append(f"{name}:{format_size(int(size))}" if colon else name)
        words += [] if self.device.info.writable else ["read only"]
        return ", ".join(words)

    @property
    def place(self) -> str:
        """The path that leads to what is open, and to nothing else, as long as it is."""
        return self.device.link() or self.uri

    @property
    def reads_before_writes(self) -> bool:
        """Whether places are read before they are first written, so that no data are lost."""
        access = [each.device.access() or {} for each in self.members or (self,)]
        return any(each.get("reads_before_writes") for each in access)

    def identity(self) -> dict[str, Any]:
        """Say what tells the target from others, for a file of many runs on one."""
        return {
            "target": self.uri,
            "state": self.state,
            "sets": list(self.sets),
            "capacity_bytes": self.capacity_bytes,
            "writable": self.device.info.writable,
            "fingerprint": self.fingerprint(),
        }

    def describe(self) -> dict[str, Any]:
        """Describe the target for a result file: enough to open it again."""
        description: dict[str, Any] = {
            "uri": self.uri,
            "kind": self.kind,
            "capacity_bytes": self.capacity_bytes,
            "state": self.state,
            "drive": self.drive,
            "access": self.device.access(),
            "caches": {
                "write": asdict(self.device.info.write_cache),
                "read": asdict(self.device.info.read_cache),
            },
        }
        if self.kind in ("block", "file"):
            from ssdscope.targets.machine import state_beneath

            description["machine"] = state_beneath(self.place)
        if self.members:
            description["members"] = [member.describe() for member in self.members]
        return description

    def fingerprint(self) -> str | None:
        """Tell this simulated drive from any that is configured otherwise; None for a real one."""
        if self.members:
            drives: Any = [self.uri, *(member.fingerprint() for member in self.members)]
        elif self.drive is None:
            return None
        else:
            drives = [self.state, self.drive]
        return hashlib.sha256(json.dumps(drives, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Options:
    state: str | None
    sets: tuple[str, ...]
    seed: int
    destroy_token: str | None
    overwrite_existing: bool
    allow_virtual: bool
    window: tuple[int, int | None] | None
    write_limit_bytes: int | None
    preserve_content: bool


def open_target(
    uri: str,
    *,
    state: str | None = None,
    sets: Sequence[str] = (),
    seed: int = 0,
    destroy_token: str | None = None,
    overwrite_existing: bool = False,
    allow_virtual: bool = False,
    window: tuple[int, int | None] | None = None,
    write_limit_bytes: int | None = None,
    preserve_content: bool = False,
) -> Target:
    """Open a target.

    Parameters
    ----------
    uri
        The target, as in `ssdscope.targets.grammar`.
    state
        ``fresh``, ``sequential``, ``random`` or ``steady[:SIZE]``, for simulated drives.
        Without it a drive's own ``default_state``.
    sets
        ``KEY=VALUE`` changes to the drive file, for simulated drives.
    seed
        Of a simulated drive's own randomness.
    destroy_token
        For a real drive or file that may be written: the token that ``doctor --identify``
        prints, of a RAID-0 one for each real member. Without it everything real is opened for
        reading only.
    overwrite_existing
        Allow writing where something lies that is not ours.
    allow_virtual
        Allow writing to a partition, a loop device, an NBD export or another virtual device.
    window
        Offset and size of what is opened of a block device for writing; a size of None is up to
        the end. Without it the last quarter. Nothing outside is seen.
    write_limit_bytes
        How many bytes may be written in all.
    preserve_content
        Of a file or a block device: each write writes back what is there, which is read right
        before, outside the time that counts. It needs the token too, and `overwrite_existing` not.

    Raises
    ------
    UsageError
        If the target cannot be meant, or an option does not apply to it.
    ConfigError
        If its drive file cannot work.
    DeviceError
        If it cannot be opened.
    """
    spec = grammar.parse_target(uri)
    options = _Options(
        canonical_state(state),
        tuple(sets),
        seed,
        destroy_token,
        overwrite_existing,
        allow_virtual,
        window,
        write_limit_bytes,
        preserve_content,
    )
    if preserve_content:
        _require_content(uri, spec, options)
    if (state is not None or sets) and not any(
        _is_simulated(leaf) for leaf in grammar.leaves(spec)
    ):
        option = "--state" if state is not None else "--set"
        raise UsageError(
            f"target {uri!r} is not simulated: {option} does not apply",
            hint="prepare a real drive by I/O, with run and a write workload",
        )
    return replace(_open(uri, spec, options), seed=seed, sets=options.sets)


def _require_content(uri: str, spec: grammar.Spec, options: _Options) -> None:
    """Refuse to keep the content of what has none, or where nothing would be written."""
    if not all(isinstance(leaf, grammar.Path) for leaf in grammar.leaves(spec)):
        raise UsageError(
            f"target {uri!r}: only the content of files and block devices can be preserved",
            hint="leave out --preserve-content",
        )
    if options.destroy_token is None:
        raise UsageError(
            "--preserve-content still writes, and a power cut in the middle of a write may cost "
            "what is there",
            hint="add --destroy-data TOKEN; ssdscope doctor --identify TARGET prints the token",
        )


def as_set(key: str, value: Any) -> str:
    """Write a change of a drive's key as ``KEY=VALUE``.

    Raises
    ------
    UsageError
        If the value is none that a drive file can hold.
    """
    if isinstance(value, str):
        return f"{key}={value}"
    if isinstance(value, bool | int | float):
        return f"{key}={json.dumps(value)}"
    raise UsageError(f"{value!r} is not a value of a drive key")


def canonical_state(state: str | None) -> str | None:
    """Check a state and write its size in bytes: ``steady:1g`` becomes ``steady:1073741824``.

    Raises
    ------
    UsageError
        If it is none.
    """
    if state is None:
        return None
    name, colon, size = state.partition(":")
    if name not in STATES or (colon and name != "steady"):
        raise UsageError(
            f"{state!r} is not a state of a drive",
            hint=f"{nearest(name, STATES)} or steady:SIZE, as in steady:1g",
        )
    return f"steady:{_window(size)}" if colon else name


def _window(text: str) -> int:
    """Read the window of a steady state."""
    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"--state steady: {error.message}", hint=error.hint) from error


def read_drive(uri: str) -> tuple[str, str]:
    """Read the drive file behind a simulated target, without opening it.

    Parameters
    ----------
    uri
        ``sim:NAME`` or a path to a ``.toml``.

    Returns
    -------
    text, label
        The TOML, and what to call it in messages.

    Raises
    ------
    UsageError
        If the target is not a simulated drive or the file cannot be read.
    """
    spec = grammar.parse_target(uri)
    if isinstance(spec, grammar.Preset):
        return preset_text(spec.name), f"{spec.name}.toml"
    if isinstance(spec, grammar.DriveFile):
        sent = _SENT.get().get(spec.path)
        return read_text(spec.path) if sent is None else sent, printable(spec.path)
    raise UsageError(
        f"target {uri!r} has no drive file",
        hint="use sim:NAME or a path that ends in .toml",
    )


_SENT: ContextVar[Mapping[str, str]] = ContextVar("_SENT", default=MappingProxyType({}))


@contextlib.contextmanager
def drive_files(texts: Mapping[str, str]) -> Iterator[None]:
    """Take drive files from these texts meanwhile, by path, whatever this machine holds there."""
    before = _SENT.set(texts)
    try:
        yield
    finally:
        _SENT.reset(before)


def array_behind(uri: str) -> Array | None:
    """Say what array a simulated target is; None if it is a single drive."""
    return read_array(*read_drive(uri))


def members_of(array: Array) -> list[str]:
    """List the targets that an array is made of."""
    return [
        grammar.write_target(leaf) for leaf in grammar.leaves(grammar.parse_target(array.target))
    ]


def resolve_drive(uri: str, sets: Sequence[str] = ()) -> dict[str, Any]:
    """Read a simulated target's drive file, resolve it, and give the values it stands for.

    Of an array they are those of its first member.
    """
    text, label = read_drive(uri)
    array = read_array(text, label)
    if array is not None:
        return resolve_drive(members_of(array)[0], (*array.sets, *sets))
    with translated_errors():
        resolved: dict[str, Any] = json.loads(_native.resolve_drive(text, label, list(sets)))
    return resolved


def check_drive(uri: str) -> list[str]:
    """Find every fault of a drive file; an empty list says it works."""
    text, label = read_drive(uri)
    try:
        array = read_array(text, label)
        if array is None:
            return _native.check_drive(text, label)
        resolve_drive(members_of(array)[0], array.sets)
    except SsdscopeError as error:
        return error.message.splitlines()
    return []


def drive_keys() -> list[dict[str, Any]]:
    """List the keys of a drive file: ``key, type, unit, doc, default, kinds``."""
    keys: list[dict[str, Any]] = json.loads(_native.drive_keys())
    return keys


def identify(path: str) -> dict[str, Any]:
    """Say what a device or file is, and the token that allows writing to it.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if not isinstance(grammar.parse_target(path), grammar.Path | grammar.DriveFile):
        raise UsageError(
            f"target {path!r} is no file and no device: it has no identity",
            hint="only what is real needs a token before it is written to",
        )
    with translated_errors():
        identity: dict[str, Any] = json.loads(_native.identify(path))
    return identity | {"path": path, "real_path": os.path.realpath(path)}


def native_version() -> str:
    """Give the version of the native module."""
    return _native.version()


def read_text(path: str, bytes_max: int = TEXT_BYTES_MAX) -> str:
    """Read a text file the user named, of at most `bytes_max`.

    Raises
    ------
    UsageError
        If it cannot be read, with the reason; a pipe or a device might never end.
    ConfigError
        If it is no text, or far more than anyone writes.
    """
    try:
        size_bytes = FilePath(path).stat().st_size
        if not FilePath(path).is_file():
            raise UsageError(f"cannot read {path}: it is not a plain file")
        if size_bytes > bytes_max:
            raise ConfigError(
                f"{path}: holds {size_bytes:,} bytes; such a file has {bytes_max:,} at most"
            )
        return FilePath(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", hint="check the spelling and the permissions"
        ) from error


def _is_simulated(spec: grammar.Spec) -> bool:
    return isinstance(spec, grammar.Preset | grammar.DriveFile)


def _open(uri: str, spec: grammar.Spec, options: _Options) -> Target:
    match spec:
        case grammar.Preset() | grammar.DriveFile():
            return _open_simulated(uri, options)
        case grammar.Path(path):
            with translated_errors():
                token = options.destroy_token and printable(options.destroy_token)
                native = _native.open_file(
                    path,
                    token,
                    options.overwrite_existing,
                    options.allow_virtual,
                    options.window,
                    options.write_limit_bytes,
                    options.preserve_content,
                )
        case grammar.Null(capacity_bytes):
            with translated_errors():
                native = _native.open_null(capacity_bytes)
        case grammar.Raid0():
            return _open_raid0(uri, spec, options)
        case grammar.Nbd():
            native = _open_nbd(uri, options)
    return _target(uri, Device(native))


def _open_nbd(uri: str, options: _Options) -> _native.Device:
    """Connect to a server; whoever writes there writes to somebody else's drive."""
    export = read_export(uri)
    token = options.destroy_token and printable(options.destroy_token)
    if token is not None and not options.allow_virtual:
        raise UsageError(
            f"target {uri!r}: what is behind an NBD export cannot be seen from here",
            hint="add --allow-virtual to write to it all the same",
        )
    with translated_errors():
        return _native.open_nbd(export.socket, export.port, export.name, export.slow_down, token)


def _open_simulated(uri: str, options: _Options) -> Target:
    text, label = read_drive(uri)
    array = read_array(text, label)
    if array is not None:
        spec = grammar.parse_target(array.target)
        return _open(uri, spec, replace(options, sets=(*array.sets, *options.sets)))
    with translated_errors():
        drive = json.loads(_native.resolve_drive(text, label, options.sets))
        native = _native.open_sim(text, label, options.sets, options.state, options.seed)
    state = options.state or drive.get("default_state")
    return replace(_target(uri, Device(native)), drive=drive, state=state)


def _open_raid0(uri: str, spec: grammar.Raid0, options: _Options) -> Target:
    members = []
    tokens = shared_tokens(options.destroy_token, spec)
    for index, (member, token) in enumerate(zip(spec.members, tokens, strict=True)):
        sets = options.sets if _is_simulated(member) or isinstance(member, grammar.Raid0) else ()
        member_options = replace(
            options, sets=sets, seed=_member_seed(options.seed, index), destroy_token=token
        )
        members.append(_open(grammar.write_target(member), member, member_options))
    with translated_errors():
        native = _native.open_raid0(
            native_of([member.device for member in members]), spec.chunk_bytes
        )
    return replace(_target(uri, Device(native)), members=tuple(members))


def _member_seed(seed: int, index: int) -> int:
    """Give each member its own randomness; the same for the same run."""
    digest = hashlib.blake2b(f"{seed}/raid0/{index}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def _target(uri: str, device: Device) -> Target:
    info = device.info
    return Target(uri, info.kind, info.capacity_bytes, None, device)
