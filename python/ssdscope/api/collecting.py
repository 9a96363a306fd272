"""Runs for a model to learn from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import TargetLike, files_behind, seed_of, target_of
from ssdscope.api.progress import OnStage, stages
from ssdscope.api.shown import Shown, shown_as
from ssdscope.errors import Interrupted
from ssdscope.models import collection
from ssdscope.models.table import begun
from ssdscope.results.guard import Place, claim_places
from ssdscope.results.opening import open_parquet

if TYPE_CHECKING:
    import pyarrow as pa

    from ssdscope.report.sheet import Sheet

_NAMES = ("train", "test", "repeat", "skipped", "failed", "ended_by_time", "against_little")


@dataclass(frozen=True, repr=False)
class Collection(Shown, collection.Collection):
    """Runs for a model, as far as they were made; `fit` takes their file, `out`."""

    def to_dict(self) -> dict[str, Any]:
        """Give the counts that ``ssdscope model collect -o json`` prints."""
        return self.summary()

    def to_frame(self) -> pa.Table:
        """Read the table of a row per run: its workload, its figures, and what it is for.

        Returns
        -------
        pyarrow.Table
        """
        with open_parquet(self.out) as file:
            return file.read()

    def __fspath__(self) -> str:
        """Give the file, so that `fit` takes a collection as it is."""
        return self.out

    def _sheet(self) -> Sheet:
        from ssdscope.report.sheet import Sheet

        counts = [(key.replace("_", " "), f"{value:,}") for key, value in self.summary().items()
                  if key in _NAMES and value]  # fmt: skip
        return Sheet(repr(self), counts, remarks=self.remarks())

    def __repr__(self) -> str:
        """Name the file, and count the runs in it."""
        usable = len(self.rows) - self.doubtful
        cut = "; interrupted" if self.interrupted else ""
        return f"{self.out}: {len(self.rows):,} runs, {usable:,} to learn from and test with{cut}"


@keyworded()
def collect(
    target: TargetLike,
    /,
    *,
    out: str | os.PathLike[str] = "runs.parquet",
    design: str = "sobol",
    points: int | None = None,
    test: int | None = None,
    repeats: int | None = None,
    until_ci: str = "1%",
    runtime: str = "60s",
    size: int | str | None = None,
    jobs: int = -1,
    force: bool = False,
    seed: int | None = None,
    progress: OnStage = None,
) -> Collection:
    """Run workloads of all kinds on a drive, each from the same state, in random order.

    Each run is on disk as soon as it ends. The same call goes on where it was interrupted, and
    with more points where it had ended. Of a drive that may not be written, only reads are
    measured. A simulated one is left as it was found.

    Parameters
    ----------
    target
        An open target, or the name of one.
    out
        Where the runs go, a row for each (``.parquet``).
    design
        How workloads are chosen: ``"sobol"``, ``"grid"`` or ``"adaptive"``.
    points, test, repeats
        Workloads to learn from (1,024, of a grid 12,000), more of them to test models with (a
        quarter), and those that run twice to measure the noise (a sixteenth).
    until_ci, runtime
        When a run ends: once the 95 % interval of its mean latency is within this share of it, or
        after this time of the drive.
    size
        Use only the first so many bytes of the drive.
    jobs
        Runs at a time on a simulated drive; -1 for all cores. It changes no result.
    force
        Also replace files that ssdscope did not write.
    seed
        Of everything drawn; if absent that which the file began with, or that of the target.
    progress
        As of `probe`.

    Returns
    -------
    Collection

    Raises
    ------
    UsageError
        If a keyword cannot be meant, the drive takes none of the workloads, or the file holds
        another collection.
    DeviceError
        If the drive fails; what came before is in the file.
    Interrupted
        After Ctrl-C; its `partial` is the collection so far.

    Examples
    --------
    >>> import tempfile
    >>> import ssdscope as s
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = s.collect("sim:ryu-b", out=f"{folder}/runs.parquet", points=4, until_ci="20%")
    ...     runs.to_frame().num_rows, runs.trustworthy
    (5, True)
    """
    path = os.fspath(out)
    asked = collection.Options(
        design, points, test, repeats, until_ci, runtime, None if size is None else str(size), jobs
    )
    asked.require()
    places = [Place(path, resumed=True), Place(f"{path}.part", path, resumed=True)]
    with claim_places(places, files_behind(target), force=force):
        known = seed if seed is not None else (begun(path) or {}).get("seed")
        opened = target_of(target, known)
        used_seed = seed_of(opened, known)
        job = collection.Job.of(asked.plan(used_seed), asked, opened.device, opened.uri)
        with stages(progress) as stage:
            made = collection.run(job, opened.device, path, opened.identity(), stage)
    found = shown_as(Collection, made)
    if found.interrupted:
        raise Interrupted(found)
    return found
