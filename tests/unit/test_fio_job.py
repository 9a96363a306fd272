"""fio's job files: what is taken, what is left out, what is refused and how it is said."""

from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.seeds import numbered
from ssdscope.workloads.drawn import parse_distribution, parse_split
from ssdscope.workloads.fio_engines import ONE_IN_FLIGHT, QUEUING, all_engines, engine_refusal
from ssdscope.workloads.fio_job import parse_fio_job, read_fio_job
from ssdscope.workloads.fio_numbers import fio_bytes, fio_time_ns
from ssdscope.workloads.fio_options import NEUTRAL, REFUSED, TAKEN
from ssdscope.workloads.fio_section import taken_options
from ssdscope.workloads.fio_text import FILE_BYTES_MAX, INCLUDES_MAX
from ssdscope.workloads.flows import Flows
from ssdscope.workloads.stages import plan_of
from ssdscope.workloads.verifying import Verification
from ssdscope.workloads.workload import BlockShare, Workload

GIB = 1 << 30


def only(text: str) -> Workload:
    """Read a job file of one job, on a drive of 1 GiB."""
    job = parse_fio_job(text, "a.fio")
    (stage,) = job.stages
    (flow,) = stage.within(GIB).flows
    return flow.workload


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
        ("rw=randrw:1", {"rw": "randrw"}),
        ("threads=1", {}),
        ("rw=randread\nrate_iops=0\nrate_process=linear", {"rate_iops": None}),
        (
            "rw=randrw\nbs=8k\nrate_iops=100,200",
            {"rate_iops": None, "read_rate_bytes": 819200, "write_rate_bytes": 1638400},
        ),
        (
            "ioengine=libaio\nrw=randread\niodepth=8\nrate_iops=500\nrate_process=poisson",
            {"arrival": "poisson", "rate_iops": 500, "iodepth": 1},
        ),
        ("thinktime=80", {"thinktime_ns": 80_000}),
        ("rate=1m,500k", {"read_rate_bytes": 1 << 20, "write_rate_bytes": 500 << 10}),
        ("rate=,500k", {"read_rate_bytes": None, "write_rate_bytes": 500 << 10}),
        ("bssplit=4k/60:64k/", {"block_split": (BlockShare(4096, 60), BlockShare(65536, 40))}),
        ("rw=randread\nrandom_distribution=zipf:1.2", {"random_distribution": {"zipf": 1.2}}),
        ("sync=dsync\nfsync=3", {"fua": True, "fsync_every": 3}),
        (
            "ioengine=null\niodepth=4 ; a comment\nnumjobs=2 # one more",
            {"iodepth": 4, "numjobs": 2},
        ),
        ("ioengine=io_uring\niodepth=8", {"iodepth": 8}),
        ("iodepth=8", {"iodepth": 1}),
        ("ioengine=pvsync2\niodepth=8", {"iodepth": 1}),
        ("rw=read\npercentage_random=50", {"percentage_random": None}),
        ("bsrange=4k-4k", {"block_split": (BlockShare(4096, 100),)}),
        ("bsrange=4k-8k", {"block_split": (BlockShare(4096, 50), BlockShare(8192, 50))}),
        ("rw=randread\nblockalign=8k", {"align_bytes": 8192}),
        ("rw=read\nba=8k", {"align_bytes": None}),
        ("filesize=8m", {"size_bytes": 1 << 23, "io_bytes": 1 << 23}),
        ("filesize=8m\nsize=4m", {"size_bytes": 1 << 22}),
        ("filename=$DEVICE\ndirectory=${HOME}", {"rw": "read"}),
        ("rate=0\nrate_iops=0", {"rate_bytes": None, "rate_iops": None}),
        (
            "rw=randread\nbssplit=4k/50:8k/50\nrate_iops=100",
            {"read_rate_bytes": 409600, "rate_iops": None},
        ),
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
    text = "[global]\nthread\ngroup_reporting\ndirect=1\n[a]\n[b]\nthread\n"
    note = parse_fio_job(text, "a.fio").notes[0]
    head, _, reasons = note.partition(": ")
    assert head == "taken, as they ask for nothing else than a run does"
    assert reasons.split("; ") == [
        "thread (there are no processes to share)",
        "group_reporting (jobs of a section are reported together)",
    ]


@pytest.mark.parametrize(
    ("options", "line", "words"),
    [
        *((f"{name}=x", 2, f"{name} is refused: {why}") for name, why in REFUSED.items()),
        *((f"{name}=x", 2, f"{name}=x is refused: {why}") for name, (_, why) in NEUTRAL.items()),
        ("exec_anything=x", 2, "exec_anything is refused"),
        ("include ../other.fio", 2, "include ../other.fio: only a file beside the job file"),
        ("include /etc/passwd", 2, "only a file beside the job file"),
        ("include none.fio", 2, "include none.fio: cannot read none.fio"),
        ("size=${SIZE}", 2, "variables are not expanded in '${SIZE}'"),
        ("numjobs=$ncpus", 2, "variables are not expanded"),
        ("filename=a:b", 2, "filename=a:b is refused: a run is on one target"),
        ("iodpeth=4", 2, "iodpeth: there is no such option here"),
        ("rw=randraed", 2, "'randraed' is not an access pattern"),
        ("rw=randtrim", 2, "'randtrim' is not an access pattern"),
        ("rw=randread:8", 2, "runs between random places are not made"),
        ("bs=4q", 2, "the suffix 'q' is unknown"),
        ("bs=1.5k", 2, "'1.5k' is not a number as fio writes it"),
        ("bs", 2, "a value is missing"),
        ("runtime=4x", 2, "the suffix 'x' is unknown"),
        ("direct=0", 2, "0 asks for the page cache"),
        ("ioengine=rbd", 2, "'rbd' is refused: it measures a storage service"),
        ("ioengine=exec", 2, "'exec' is refused: a job file never starts programs"),
        ("ioengine=libiao", 2, "'libiao' is not an engine that is known here"),
        ("size=120%", 2, "is not a whole percentage"),
        ("filesize=1m\nsize=2m", 2, "a job that transfers more than its file holds"),
        ("filesize=1m-2m", 2, "a size to draw from is not taken"),
        ("rwmixread=120", 2, "is not a whole number from 0 to 100"),
        ("bssplit=4k/60:8k/50:16k", 2, "nothing is left for a size without a share"),
        ("bssplit=4k/6x", 2, "'6x' is not a whole percentage"),
        ("bsrange=4k-10k", 2, "2 sizes cannot have a whole percentage each"),
        ("bsrange=8k-4k", 2, "is no range of sizes"),
        ("random_distribution=zip:1", 2, "'zip:1' is not a distribution"),
        ("random_distribution=zoned", 2, "a number is missing"),
        ("random_distribution=zipf:a", 2, "'a' is not a number"),
        ("random_distribution=zoned:50/10", 2, "the shares sum to 50 %, not to 100"),
        ("random_distribution=zoned:50/80:50/40", 2, "the zones span 120 % of the region"),
        ("random_generator=pcg", 2, "'pcg' is none of tausworthe"),
        ("rate_process=fixed", 2, "'fixed' is neither linear nor poisson"),
        ("rate_process=poisson", 2, "poisson needs rate_iops"),
        ("rate_iops=9\nrate=1m", 2, "fio takes either it or rate, not both"),
        ("rate_process=poisson\nrate_iops=9\nthinktime=5", 2, "have no pauses"),
        ("rate_process=poisson\nrate_iops=9\nrw=randrw", 2, "in a mix each direction"),
        ("offset_increment=10%", 2, "a percentage is not taken"),
        ("startdelay=1,2", 2, "a range to draw from is not taken"),
        ("wait_for=b", 2, "there is no job [b] before it"),
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
        parse_fio_job("bs=4k\n[a]\nopendir=/home\niodpeth=4\ninclude x\n", "a.fio")
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


def test_jobs_side_by_side_begin_each_after_its_own_delay() -> None:
    text = "[a]\nstartdelay=3\n[b]\nstartdelay=1\n[c]\nstonewall\nstartdelay=2\n"
    stages = parse_fio_job(text, "a.fio").stages
    assert [stage.start_delay_ns for stage in stages] == [10**9, 2 * 10**9]
    delays = [flow.workload.start_delay_ns for flow in stages[0].flows.flows]
    assert delays == [2 * 10**9, 0]


def test_a_job_waits_for_the_one_that_it_names() -> None:
    text = "[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nwait_for=a\n"
    stages = parse_fio_job(text, "a.fio").stages
    names = [[flow.name for flow in stage.flows.flows] for stage in stages]
    assert names == [["a"], ["b"], ["c", "d"]]
    with pytest.raises(UsageError, match="others run beside"):
        parse_fio_job("[a]\n[b]\n[c]\nwait_for=a\n", "a.fio")


def test_no_option_is_in_two_lists() -> None:
    lists = [set(taken_options()), set(TAKEN), set(NEUTRAL), set(REFUSED)]
    assert len(set.union(*lists)) == sum(map(len, lists))
    engines = all_engines()
    assert len(set(engines)) == len(engines)
    refused = [name for name in engines if engine_refusal(name)]
    assert not {*refused} & {*ONE_IN_FLIGHT, *QUEUING}


@pytest.mark.parametrize(
    "option",
    [f"{name}={value}" for name, (values, _) in NEUTRAL.items() for value in values],
)
def test_a_neutral_value_is_taken(option: str) -> None:
    job = parse_fio_job(f"[a]\n{option}\n", "a.fio")
    assert option.split("=")[0] in job.notes[0]


def test_an_engine_that_measures_something_else_is_all_that_is_said_of_its_job() -> None:
    text = "[a]\nioengine=http\nhttp_host=x\nhttp_s3_key=${KEY}\nrw=trim\n[b]\nbs=4q\n"
    with pytest.raises(UsageError) as refused:
        parse_fio_job(text, "a.fio")
    places = [line.split(":")[0] for line in refused.value.message.splitlines()]
    assert places == ["a.fio, line 2", "a.fio, line 7"]


def test_a_depth_that_means_nothing_is_told() -> None:
    notes = parse_fio_job("[a]\ndirect=1\niodepth=32\n", "a.fio").notes
    expected = (
        "[a]: psync, which fio takes by itself, has one request in flight, whatever iodepth says; "
        "ioengine=libaio or io_uring has more"
    )
    assert notes == (expected,)


def test_copies_of_a_job_stop_each_other_as_flows() -> None:
    for text, kind in (
        ("[a]\nnumjobs=2\nexitall\n", Flows),
        ("[a]\nnumjobs=2\n", Workload),
        ("[a]\nexitall\n", Workload),
    ):
        (stage,) = parse_fio_job(text, "a.fio").stages
        assert isinstance(plan_of(stage, GIB), kind)


def test_files_that_fio_would_keep_apart_are_told() -> None:
    apart = parse_fio_job("[a]\ndirect=1\nnumjobs=2\n", "a.fio").notes
    assert [note.split(";")[0] for note in apart] == [
        "without a filename fio gives each job a file of its own"
    ]
    named = parse_fio_job("[a]\nfilename=x\n[b]\nfilename=y\n", "a.fio").notes
    assert "the jobs name several files; here all of them are on the one target" in named


def test_an_included_file_gives_options_of_its_section(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.inc").write_text("bs=16k ; larger\nrw=write\n")
    path = tmp_path / "a.fio"
    path.write_text("[a]\nrw=read\ninclude sub/more.inc\n[b]\nrw=read\n")
    (stage,) = read_fio_job(str(path)).stages
    plans = [flow.workload for flow in stage.flows.flows]
    assert [(plan.rw, plan.block_bytes) for plan in plans] == [("write", 16384), ("read", 4096)]


def test_faults_of_an_included_file_name_it(tmp_path: Path) -> None:
    path, more = tmp_path / "a.fio", tmp_path / "more.inc"
    path.write_text("[a]\ninclude more.inc\n")
    for text, words in (
        ("rw=read\nbs=4q\n", f"{more}, line 2: bs: '4q'"),
        ("rw=read\n[b]\nbs=4q\n", f"{more}, line 2: [b] begins a section"),
        ("include more.inc\n", f"more than {INCLUDES_MAX} files are included"),
    ):
        more.write_text(text)
        with pytest.raises(UsageError) as refused:
            read_fio_job(str(path))
        assert words in refused.value.message


def test_a_file_that_is_cut_in_a_section_says_where() -> None:
    with pytest.raises(
        UsageError, match=r"line 3: '\[glo' has no closing bracket; the file may be"
    ):
        parse_fio_job("[a]\nrw=read\n[glo", "a.fio")


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
        ("[a]\nverify=crc32c\nverify_backlog=9\n", "line 3: verify_backlog=9 is refused"),
        ("[a]\nverify=crc32c\n[b]\nrw=read\n", "line 1: verify or do_verify differs"),
    ):
        with pytest.raises(UsageError, match=words):
            parse_fio_job(options, "a.fio")
    apart = parse_fio_job("[a]\nrw=write\nverify=crc32c\n[b]\nrw=read\nstonewall\n", "a.fio")
    assert [stage.verification for stage in apart.stages] == [Verification("crc32c"), None]
