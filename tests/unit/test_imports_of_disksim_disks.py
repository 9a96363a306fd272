"""Hard disks of DiskSim: files that name files, zones, seek curves, and what is refused."""

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

import ssdscope
from ssdscope.errors import ConfigError, SsdscopeError
from ssdscope.targets.imports import Imported, ImportOptions, import_file

SPECS = """
disksim_disk OURS {
   Model = source ours.model,
   Per-request overhead time = 0.1,
   Time scale for overheads = 1.0,
   Bulk sector transfer time = 0.01,
   Never disconnect = 1,
   Max queue length = 1,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 1,
      Timeout time/weight = 0
   },
   Number of buffer segments = 4,
   Maximum number of write segments = 1,
   Segment size (in blks) = 128,
   Enable caching in buffer = 1,
   Buffer continuous read = 4,
   Maximum read-ahead (blks) = 256,
   Fast write level = 0,
   Read miss over. after read = 0.2,
   Read miss over. after write = 0.2,
   Write miss over. after read = 0.2,
   Write miss over. after write = 0.2,
   Wear of tomorrow = 7
} # end
"""
MODEL = """
dm_disk OURS.model {
   Number of data surfaces = 2,
   Number of cylinders = 1000,
   Block count = 180000,
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = %s,
      Add. write settling delay = 0.5,
      Head switch time = 0.4,
      Rotation speed (in rpms) = 6000,
      Percent error in rpms = 0.0
   },
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Zones = [
         dm_layout_g1_zone { # outer
            First cylinder number = 0,
            Last cylinder number = 499,
            Blocks per track = 100,
            Skew for track switch = 5,
            slips = [ 7, 9 ],
            defects = [ ]
         },
         dm_layout_g1_zone {
            First cylinder number = 500,
            Last cylinder number = 999,
            Blocks per track = 80,
            Skew for track switch = 4,
            slips = [ ],
            defects = [ ]
         }
      ]
   }
}
"""
CURVE = """curve,
      Single cylinder seek time = 1.0,
      Average seek time = 5.0,
      Full strobe seek time = 9.0"""
MACHINE = """
# a machine
disksim_bus BUS {
   type = 1,
   Read block transfer time = 0.02,
   Write block transfer time = 0.02
}
source ours.diskspecs
instantiate [ disk0 ] as OURS
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_disk disk0 [] ] ]
"""


def written(folder: Path, model: str = MODEL % CURVE, specs: str = SPECS) -> str:
    (folder / "ours.model").write_text(model, encoding="utf-8")
    (folder / "ours.diskspecs").write_text(specs, encoding="utf-8")
    (folder / "machine.parv").write_text(MACHINE, encoding="utf-8")
    return str(folder / "ours.diskspecs")


def keys(imported: Imported) -> dict[str, Any]:
    return tomllib.loads(imported.toml)


def test_two_zones_of_equal_width_are_the_same_disk(tmp_path: Path) -> None:
    imported = import_file(written(tmp_path))
    assert keys(imported)["disk"] == {
        "surfaces": 2, "cylinders": 1000, "zones": 2, "rpm": 6000,
        "outer_sectors_per_track": 100, "inner_sectors_per_track": 80,
        "seek_track_ns": 1_000_000, "seek_average_ns": 5_000_000, "seek_full_ns": 9_000_000,
        "head_switch_ns": 400_000, "write_settle_ns": 500_000, "queue_order": "arrival",
        "read_cache_bytes": 4 * 128 * 512, "read_cache_segments": 4,
        "read_ahead_bytes": 128 * 512,
    }  # fmt: skip
    assert keys(imported)["host"] == {
        "queue_depth": 1, "firmware_ns": 300_000, "bytes_per_second": 51_200_000,
    }  # fmt: skip
    assert "Wear of tomorrow = 7: not known, left out" in imported.notes
    assert "slips = in 2 zones: no sector is slipped" in imported.notes
    assert any("180,000 sectors for a Block count of 180,000" in each for each in imported.notes)


def test_a_machine_names_the_disk_and_its_bus_is_the_link(tmp_path: Path) -> None:
    written(tmp_path)
    imported = import_file(str(tmp_path / "machine.parv"))
    assert keys(imported)["host"]["bytes_per_second"] == 25_600_000
    assert "disksim_bus: the rest of a machine; only the drive is taken" in imported.notes


def test_mechanics_alone_are_a_disk(tmp_path: Path) -> None:
    written(tmp_path)
    imported = import_file(str(tmp_path / "ours.model"))
    assert keys(imported)["host"] == {"queue_depth": 1}
    assert any("the mechanics only" in each for each in imported.notes)


@pytest.mark.parametrize(
    ("kind", "files", "track_ms", "mean_ms", "full_ms"),
    [
        ("constant,\n Constant seek time = 4.0", {}, 4, 4, 4),
        # A line from 1 to 999 cylinders has its mean at a third: 1 + 8 * (1001 / 3 - 1) / 998.
        (
            "linear,\n Single cylinder seek time = 1.0,\n Full strobe seek time = 9.0",
            {}, 1, 1 + 8 * (1001 / 3 - 1) / 998, 9,
        ),
        (
            "extracted,\n Full seek curve = ours.seek",
            {"ours.seek": "Seek distances measured: 2\n1,\t1.00000\n999,\t9.00000\n"},
            1, 1 + 8 * (1001 / 3 - 1) / 998, 9,
        ),
        # Below 1 cylinder there is no root; so the line 2 + d / 1000, the mean distance 1001 / 3.
        (
            "hpl,\n HPL seek equation values = [ 1, 0.0, 1.0, 2.0, 0.001, -1.0 ]",
            {}, 2.001, 2 + 1001 / 3 / 1000, 2.999,
        ),
        (
            ("hplplus10,\n HPL seek equation values = [ 1, 0.0, 1.0, 2.0, 0.001, -1.0 ],\n"
            " First ten seek times = [ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 ]"),
            {},
            1,
            2 + 1001 / 3 / 1000
            - sum(2 * (1000 - d) / 999_000 * (1 + d / 1000) for d in range(1, 11)),
            2.999,
        ),
    ],
)  # fmt: skip
def test_seek_curves_by_hand(
    tmp_path: Path,
    kind: str,
    files: dict[str, str],
    track_ms: float,
    mean_ms: float,
    full_ms: float,
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    disk = keys(import_file(written(tmp_path, MODEL % kind)))["disk"]
    found = [disk[f"seek_{each}_ns"] / 1e6 for each in ("track", "average", "full")]
    assert found == pytest.approx([track_ms, mean_ms, full_ms], abs=1e-6)


def test_the_simulators_own_curve_is_not_off(tmp_path: Path) -> None:
    # A root up to a third of 999 cylinders, a line from there: 1 ms, 6 ms and 9 ms at the ends.
    root = 5 / (math.sqrt(333) - 1)
    times = [
        1 + root * (math.sqrt(each) - 1) if each < 333 else 6 + 3 * (each - 333) / 666
        for each in range(1, 1000)
    ]
    lines = "".join(f"{each}, {ms:.9f}\n" for each, ms in enumerate(times, start=1))
    (tmp_path / "ours.seek").write_text(lines, encoding="utf-8")
    model = MODEL % "extracted,\n Full seek curve = ours.seek"
    notes = import_file(written(tmp_path, model)).notes
    assert "seeks: the curve here is 0.00 ms off in the mean, 0.00 ms at most" in notes
    # A straight line has no root in it.
    linear = "linear,\n Single cylinder seek time = 1.0,\n Full strobe seek time = 9.0"
    off = [
        each for each in import_file(written(tmp_path, MODEL % linear)).notes if "off in" in each
    ]
    assert off
    assert "0.00" not in off[0]


def test_tracks_without_zones_have_the_capacity_and_the_longest_track(tmp_path: Path) -> None:
    layout = "dm_layout_g4 { TP = [ 0, 108, 109, 0, 109, 110 ], IDX = [ [ 0, TRACK, 1 ] ] }"
    (tmp_path / "tracks.model").write_text(layout, encoding="utf-8")
    model = MODEL % CURVE
    model = model[: model.index("Layout Model")] + "Layout Model = source tracks.model\n}\n"
    disk = keys(import_file(written(tmp_path, model)))["disk"]
    assert disk["zones"] == 16
    # The mean is 180,000 / 2,000; 16 zones reach 15/16 of the way to the longest track.
    assert (disk["outer_sectors_per_track"], disk["inner_sectors_per_track"]) == (109, 71)


def test_an_imported_disk_turns_and_seeks_as_the_file_says(tmp_path: Path) -> None:
    drive = tmp_path / "disk.toml"
    specs = SPECS.replace("Enable caching in buffer = 1", "Enable caching in buffer = 0")
    drive.write_text(import_file(written(tmp_path, specs=specs)).toml, encoding="utf-8")
    run = ssdscope.run(ssdscope.open(str(drive)), rw="randread", bs="512", number_ios=4000, seed=1)
    # Overheads 0.3 ms, the mean seek, half of a revolution of 10 ms, a sector and its transfer.
    expected_ms = 0.3 + 5.0 + 5.0 + 10 / 90 + 0.01
    assert run.mean_latency_ns / 1e6 == pytest.approx(expected_ms, rel=0.02)


@pytest.mark.parametrize(
    ("model", "specs", "said"),
    [
        (None, SPECS, "line 3: source ours.model: cannot read"),
        (MODEL % "guessed", SPECS, "Seek type is 'guessed'"),
        (MODEL % "extracted,\n Full seek curve = no.seek", SPECS, "Full seek curve: cannot read"),
        (MODEL % "hpl,\n HPL seek equation values = [ 1, 2 ]", SPECS, "are not 6 numbers"),
        ((MODEL % CURVE).replace("= 999", "= 1000"), SPECS, "cylinders 500 to 1000 are not among"),
        ((MODEL % CURVE).replace("= 180000", "= many"), SPECS, "Block count is 'many'"),
        ((MODEL % CURVE).replace("_g1 {\n      LBN", "_g2 {\n      LBN"), SPECS, "not known here"),
        (
            (MODEL % CURVE).replace("trackSwitchPlusRotation", "averageRotation"),
            SPECS,
            "only trackSwitchPlusRotation works",
        ),
        ((MODEL % CURVE)[:-3], SPECS, "the block of OURS.model does not end"),
        ((MODEL % CURVE).split("]", 1)[0], SPECS, "does not end"),
        (MODEL % CURVE, SPECS.replace("Max queue length = 1,", ""), "Max queue length is missing"),
        (MODEL % CURVE, SPECS.replace("Model = source ours.model,", ""), "Model is missing"),
        (MODEL % CURVE, "source ours.diskspecs\nsource ours.diskspecs\ninstantiate", "64 files"),
        ("[" * 100 + MODEL % CURVE, SPECS, "nested deeper than 32"),
    ],
)
def test_bad_files_are_refused_with_place_and_reason(
    tmp_path: Path, model: str | None, specs: str, said: str
) -> None:
    path = written(tmp_path, model or "", specs)
    if model is None:
        (tmp_path / "ours.model").unlink()
    with pytest.raises(SsdscopeError) as caught:
        import_file(path)
    assert said in str(caught.value)


def test_an_override_reaches_a_value_of_a_named_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    options = ImportOptions(overrides={"Rotation speed (in rpms)": "7200"})
    assert keys(import_file(path, options))["disk"]["rpm"] == 7200


def test_the_flash_of_penn_states_flashsim_has_its_constants(tmp_path: Path) -> None:
    path = tmp_path / "flash.parv"
    text = (
        "disksim_simpleflash SD0 {\n Block count = 2097152, # 1 GiB\n Extra Block count = 65536,\n"
        " FTL type = 3,\n Bulk sector transfer time = 0.0,\n Max queue length = 1\n}\n"
    )
    path.write_text(text, encoding="utf-8")
    drive = keys(import_file(str(path)))
    assert drive["nand"]["blocks_per_plane"] == 8192 + 256
    assert drive["over_provisioning_ratio"] == 256 / 8192
    assert (drive["nand"]["read_ns"], drive["map"]["kind"]) == (130_900, "demand")
    path.write_text(text.replace("FTL type = 3", "FTL type = 2"), encoding="utf-8")
    with pytest.raises(ConfigError, match="FTL type is '2'"):
        import_file(str(path))
