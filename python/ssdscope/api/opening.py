"""A target, opened."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ssdscope.api.keywords import keyworded
from ssdscope.errors import UsageError
from ssdscope.seeds import require_seed
from ssdscope.targets.opening import Target, as_set, open_target
from ssdscope.targets.sources import files_of

TargetLike: TypeAlias = "str | os.PathLike[str] | Target"
"""An open target, or what `open` takes."""

SEED = 1
"""The same numbers each time, unless another seed is given."""


@keyworded()
def open(  # noqa: A001 (as gzip.open: it is used as ssdscope.open)
    target: str | os.PathLike[str],
    /,
    *,
    state: str | None = None,
    sets: Mapping[str, Any] | Sequence[str] = (),
    seed: int = SEED,
    write_cache: bool | None = None,
    read_cache: bool | None = None,
    destroy_data: str | None = None,
    overwrite_existing: bool = False,
    allow_virtual: bool = False,
    window: tuple[int, int | None] | None = None,
    write_limit_bytes: int | None = None,
    preserve_content: bool = False,
) -> Target:
    """Open a drive: a simulated one, a file, a block device, or several as a RAID-0.

    A real drive is opened for reading only. A `UserWarning` says if parts of a file were never
    written, so that reads of them do not reach its drive.

    Parameters
    ----------
    target
        ``"sim:NAME"``, a drive file (``.toml``), ``/dev/...``, a file, ``"raid0:A,B?chunk=64k"``
        or ``"null:"``.
    state
        Of a simulated drive: ``"fresh"``, ``"sequential"``, ``"random"``, ``"steady"`` or
        ``"steady:SIZE"``. Without it the drive's own.
    sets
        Keys of a simulated drive to change, by name, or as ``"KEY=VALUE"``.
    seed
        Of the drive's own randomness, and of what runs on it without a seed of its own.
    write_cache, read_cache
        Switch a cache on or off, where the drive allows it.
    destroy_data
        Allows writing to a real drive or file: the token that ``ssdscope doctor --identify
        TARGET`` prints.
    overwrite_existing
        Allow it also where data lies that is not ours.
    allow_virtual
        Allow it also on a partition, a loop device or another virtual device.
    window
        Offset and size of what is opened of a block device for writing; a size of None is up to
        the end. Without it the last quarter.
    write_limit_bytes
        How many bytes may be written in all.
    preserve_content
        Each write to a file or a block device writes back what is there.

    Returns
    -------
    Target
        With ``uri``, ``kind``, ``capacity_bytes``, ``state``, ``drive``, ``seed`` and ``device``.

    Raises
    ------
    UsageError
        If the target cannot be meant, or a keyword does not apply to it.
    ConfigError
        If its drive file cannot work.
    DeviceError
        If it cannot be opened.

    Examples
    --------
    >>> import ssdscope as s
    >>> s.open("sim:msr-4gb", state="random", sets={"gc.policy": "greedy"})
    sim:msr-4gb, 3.35 GiB, random
    """
    opened = open_target(
        os.fspath(target),
        state=state,
        sets=_words(sets),
        seed=require_seed(seed),
        destroy_token=destroy_data,
        overwrite_existing=overwrite_existing,
        allow_virtual=allow_virtual,
        window=window,
        write_limit_bytes=write_limit_bytes,
        preserve_content=preserve_content,
    )
    _switch("write_cache", write_cache, opened.device.set_write_cache)
    _switch("read_cache", read_cache, opened.device.set_read_cache)
    if opened.kind != "simulated":
        from ssdscope.targets.holes import in_words

        if holes := in_words(opened):
            warnings.warn(holes, stacklevel=3)
    return opened


def target_of(target: TargetLike, seed: int | None) -> Target:
    """Give the open target that is meant, which is opened with the seed if it is a name."""
    if isinstance(target, Target):
        return target
    return open(target, seed=SEED if seed is None else seed)


def files_behind(target: TargetLike) -> list[str]:
    """List the files behind a target, which nothing may be written over."""
    return files_of(target.uri if isinstance(target, Target) else os.fspath(target))


def seed_of(target: Target, seed: int | None) -> int:
    """Give the seed of what is done with a target: the one given, or that of the target."""
    return target.seed if seed is None else require_seed(seed)


def _words(sets: Mapping[str, Any] | Sequence[str]) -> Sequence[str]:
    if isinstance(sets, Mapping):
        return [as_set(key, value) for key, value in sets.items()]
    return (sets,) if isinstance(sets, str) else sets


def _switch(keyword: str, wanted: bool | None, switch: Callable[[bool], None]) -> None:
    if wanted is None:
        return
    try:
        switch(wanted)
    except UsageError as error:
        raise UsageError(f"{keyword}={wanted}: {error.message}", hint=error.hint) from error
