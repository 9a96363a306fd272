"""fio's job files: what is taken, what is left out, what is refused and how it is said."""

from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.seeds import numbered
from ssdscope.workloads.drawn import parse_distribution, parse_split
from ssdscope.workloads.fio_job import FILE_BYTES_MAX, parse_fio_job, read_fio_job
from ssdscope.workloads.fio_numbers import fio_bytes, fio_time_ns
from ssdscope.workloads.fio_options import IGNORED, REFUSED
from ssdscope.workloads.verifying import Verification
from ssdscope.workloads.workload import BlockShare, Workload

GIB = 1 << 30


def only(text: str) -> Workload:
    """Read a job file of one job, for a drive of 1 GiB."""
    job = parse_fio_job(text, "a.fio")
    (stage,) = job.stages
    (flow,) = stage.flows.flows
    return flow.workload.within(GIB)


@pytest.mark.parametrize("kb_base", [1024, 1000])
def test_suffixes_are_read_as_fio_3_33_reads_them(kb_base: int) -> None:
    other = 2024 - kb_base
    for text, expected in (
        ("40", 40), ("40b", 40), ("0x10", 16), ("40k", 40 * kb_base), ("40K", 40 * kb_base),
        ("40kb", 40 * kb_base), ("40ki", 40 * kb_base), ("40kib", 40 * other),
        ("2m", 2 * kb_base**2), ("2mib", 2 * other**2), ("1g", kb_base**3),
    ):  # fmt: skip
        assert fio_bytes(text, kb_base) == expected, text


def test_times_have_the_unit_of_their_option() -> None:
    for text, unit_ns, expected in (
        ("10", 10**9, 10**10), ("10", 1000, 10**4), ("5ms", 10**9, 5 * 10**6),
        ("2m", 1, 12 * 10**10),
        ("80us", 10**9, 80_000), ("1h", 1, 36 * 10**11),
    ):  # fmt: skip
        assert fio_time_ns(text, unit_ns) == expected, text


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ("rw=randread", {"rw": "randread", "io_bytes": GIB}),
        ("readwrite=readwrite", {"rw": "rw"}),
        ("rw=write:4k", {"rw": "write", "stride_bytes": 4096}),
        ("bs=8k,16k", {"read_block_bytes": 8192, "write_block_bytes": 16384}),
        ("blocksize=8k", {"block_bytes": 8192}),
        ("rw=randrw\nrwmixwrite=30", {"read_percent": 70}),
        ("size=50%\noffset=25%", {"size_bytes": GIB // 2, "offset_bytes": GIB // 4}),
        ("size=8m\nloops=3", {"io_bytes": 3 << 23}),
        ("size=8m\nio_size=50%", {"io_bytes": 1 << 22}),
        ("runtime=10\ntime_based", {"runtime_ns": 10**10, "io_bytes": None}),
        ("runtime=10\nsize=8m", {"runtime_ns": 10**10, "io_bytes": 1 << 23}),
        ("rw=randread\nloops=3\nnumber_ios=10", {"requests": 30}),
        ("rw=randread\nsize=8m\nio_size=4m\nloops=3", {"io_bytes": 12 << 20}),
        ("rw=randwrite\nrate_iops=1k", {"rate_iops": 1024, "arrival": "closed"}),
        ("rw=randwrite\nrate_iops=100,200", {"rate_iops": 200}),
        ("rw=randread\nrate_iops=0\nrate_process=linear", {"rate_iops": None}),
        (
            "rw=randrw\nbs=8k\nrate_iops=100,200",
            {"rate_iops": None, "read_rate_bytes": 819200, "write_rate_bytes": 1638400},
        ),
        (
            "rw=randread\niodepth=8\nrate_iops=500\nrate_process=poisson",
            {"arrival": "poisson", "rate_iops": 500, "iodepth": 1},
        ),
        ("thinktime=80", {"thinktime_ns": 80_000}),
        ("rate=1m,500k", {"read_rate_bytes": 1 << 20, "write_rate_bytes": 500 << 10}),
        ("rate=,500k", {"read_rate_bytes": None, "write_rate_bytes": 500 << 10}),
        ("bssplit=4k/60:64k/", {"block_split": (BlockShare(4096, 60), BlockShare(65536, 40))}),
        ("random_distribution=zipf:1.2", {"random_distribution": {"zipf": 1.2}}),
        ("sync=dsync\nfsync=3", {"fua": True, "fsync_every": 3}),
        ("iodepth=4 ; a comment\nnumjobs=2 # one more", {"iodepth": 4, "numjobs": 2}),
        ("kb_base=1000\nbs=4kib", {"block_bytes": 4096}),
    ],
)
def test_what_means_the_same_is_taken(options: str, fields: dict[str, object]) -> None:
    workload = only(f"[a]\n{options}\n")
    assert {name: getattr(workload, name) for name in fields} == fields


def test_global_holds_for_the_sections_behind_it() -> None:
    text = "[global]\nbs=8k\n[a]\nrw=read\n[global]\nbs=16k\n[b]\nrw=read\n[c]\nbs=32k\nstonewall\n"
    stages = parse_fio_job(text, "a.fio").stages
    sizes = [[flow.workload.block_bytes for flow in stage.flows.flows] for stage in stages]
    assert sizes == [[8192, 16384], [32768]]


def test_jobs_of_one_name_are_told_apart_and_keep_their_seeds() -> None:
    (stage,) = parse_fio_job("[a]\nrandseed=7\n[a]\nrw=read\n", "a.fio").stages
    first, second = stage.seeded(100).flows.flows
    assert (first.name, second.name) == ("a", "a-2")
    assert (first.workload.seed, second.workload.seed) == (7, numbered(100, 1, "workloads.flows"))


def test_what_means_nothing_is_told_once() -> None:
    job = parse_fio_job("[global]\nthread\ngroup_reporting\ndirect=1\n[a]\n[b]\n", "a.fio")
    (note,) = job.notes
    assert note == (
        "ignored, as they change nothing here: thread (there are no processes to share); "
        "group_reporting (jobs of a section are reported together)"
    )


@pytest.mark.parametrize(
    ("options", "line", "words"),
    [
        *((f"{name}=x", 2, f"{name} is refused: {why}") for name, why in REFUSED.items()),
        ("exec_anything=x", 2, "exec_anything is refused"),
        ("include other.fio", 2, "include is refused: a job file reads no other files here"),
        ("size=${SIZE}", 2, "variables are not expanded"),
        ("numjobs=$ncpus", 2, "variables are not expanded"),
        ("iodpeth=4", 2, "iodpeth: there is no such option here"),
        ("rw=randraed", 2, "'randraed' is not an access pattern"),
        ("rw=randtrim", 2, "'randtrim' is not an access pattern"),
        ("rw=randread:8", 2, "runs between random places are not made"),
        ("bs=4q", 2, "the suffix 'q' is unknown"),
        ("bs=1.5k", 2, "'1.5k' is not a number as fio writes it"),
        ("bs", 2, "a value is missing"),
        ("runtime=4x", 2, "the suffix 'x' is unknown"),
        ("direct=0", 2, "0 asks for the page cache"),
        ("ioengine=rbd", 2, "it does more than read and write a target"),
        ("ioengine=exec", 2, "it does more than read and write a target"),
        ("size=120%", 2, "is not a whole percentage"),
        ("rwmixread=120", 2, "is not a whole number from 0 to 100"),
        ("bssplit=4k/60:8k/50", 2, "the shares sum to 110 %, not to 100"),
        ("random_distribution=zip:1", 2, "'zip:1' is not a distribution"),
        ("random_distribution=zipf", 2, "a number is missing"),
        ("random_distribution=zipf:a", 2, "'a' is not a number"),
        ("random_distribution=zoned:50/10", 2, "the shares sum to 50 %, not to 100"),
        ("time_based", 2, "there is no runtime"),
        ("loops=2\nnumber_ios=5", 2, "fio's begin at the start again"),
        ("loops=2\nruntime=5\ntime_based", 2, "with time_based the runtime is the end"),
        ("rate_process=fixed", 2, "'fixed' is neither linear nor poisson"),
        ("rate_process=poisson", 2, "poisson needs rate_iops"),
        ("rate_process=poisson\nrate_iops=9\nrate=1m", 2, "no rate in bytes beside it"),
        ("rate_process=poisson\nrate_iops=9\nthinktime=5", 2, "have no pauses"),
        ("rate_process=poisson\nrate_iops=9\nrw=randrw", 2, "in a mix each direction"),
        ("rate_iops=9\nrw=randrw\nbssplit=4k/50:8k/50", 2, "in a mix it needs one size"),
        ("startdelay=1,2", 2, "a range to draw from is not taken"),
        ("kb_base=1023", 2, "neither 1000 nor 1024"),
        ("iodepth=0", 2, "0 is less than 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_named_with_its_line(options: str, line: int, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_fio_job(f"[a]\n{options}\n", "a.fio")
    assert f"a.fio, line {line}: " in refused.value.message
    assert words in refused.value.message


def test_all_faults_are_told_at_once_and_one_alone_has_its_hint() -> None:
    with pytest.raises(UsageError) as refused:
        parse_fio_job("bs=4k\n[a]\nfilename=/dev/sda\niodpeth=4\ninclude x\n", "a.fio")
    assert [line.split(":")[0] for line in refused.value.message.splitlines()] == [
        "a.fio, line 1", "a.fio, line 5", "a.fio, line 3", "a.fio, line 4",
    ]  # fmt: skip
    with pytest.raises(UsageError) as refused:
        parse_fio_job("[a]\niodpeth=4\n", "a.fio")
    assert "iodepth" in (refused.value.hint or "")


def test_files_that_are_no_job_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.fio"
    for content, words in (
        (b"", "there is no job"),
        (b"[global]\nrw=read\n", "there is no job"),
        (b"\xff\xfe", "not a text in UTF-8"),
        (b"#" * (FILE_BYTES_MAX + 1), "which no job file has"),
        (b"[a]\n" * 257, "257 jobs, more than 256"),
        (b"[]\n", "a section needs a name"),
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=words):
            read_fio_job(str(path))
    with pytest.raises(UsageError, match="cannot read"):
        read_fio_job(str(tmp_path / "none.fio"))
    with pytest.raises(UsageError, match=r"there is no section \[b\]"):
        parse_fio_job("[a]\n", "a.fio", section="b")


def test_what_is_otherwise_with_random_arrivals_is_told() -> None:
    text = "[a]\ndirect=1\nrate_iops=500\nrate_process=poisson\n"
    (note,) = parse_fio_job(text, "a.fio").notes
    assert "iodepth does not hold them back" in note


def test_delays_of_jobs_side_by_side_must_agree() -> None:
    with pytest.raises(UsageError, match="startdelay differs"):
        parse_fio_job("[a]\nstartdelay=1\n[b]\n", "a.fio")
    stages = parse_fio_job("[a]\n[b]\nstonewall\nstartdelay=1\n", "a.fio").stages
    assert [stage.start_delay_ns for stage in stages] == [0, 10**9]


def test_no_option_is_both_refused_and_ignored() -> None:
    from ssdscope.workloads.fio_job import taken_options

    taken = set(taken_options())
    assert not REFUSED.keys() & IGNORED.keys()
    assert not taken & (REFUSED.keys() | IGNORED.keys())


def test_shares_that_are_left_out_are_shared_evenly() -> None:
    assert [share.percent for share in parse_split("4k:8k/50:16k")] == [25, 50, 25]
    assert parse_distribution("random") is None
    zones = {"zoned_abs": [{"percent": 60, "extent": GIB}, {"percent": 40, "extent": 7 * GIB}]}
    assert parse_distribution("zoned_abs:60/1g:40/7g") == zones


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("verify=crc32c", Verification("crc32c")),
        ("verify=crc32c-intel\ndo_verify=0", Verification("crc32c-intel", reads_back=False)),
        ("verify=crc32c\ndo_verify\nverify_fatal=1\nverify_dump=0", Verification("crc32c")),
        ("verify=0", None),
        ("do_verify=0", None),
    ],
)
def test_verify_is_of_all_that_runs_side_by_side(
    options: str, expected: Verification | None
) -> None:
    (stage,) = parse_fio_job(f"[global]\nrw=write\n{options}\n[a]\n[b]\n", "a.fio").stages
    assert stage.verification == expected


def test_verify_is_refused_where_it_means_something_else() -> None:
    for options, words in (
        ("[a]\nverify=sha256\n", "line 2: verify: 'sha256' is refused"),
        ("[a]\nverify=crc32c\nverify_backlog=9\n", "line 3: verify_backlog is refused"),
        ("[a]\nverify=crc32c\n[b]\nrw=read\n", "line 1: verify or do_verify differs"),
    ):
        with pytest.raises(UsageError, match=words):
            parse_fio_job(options, "a.fio")
    apart = parse_fio_job("[a]\nrw=write\nverify=crc32c\n[b]\nrw=read\nstonewall\n", "a.fio")
    assert [stage.verification for stage in apart.stages] == [Verification("crc32c"), None]
