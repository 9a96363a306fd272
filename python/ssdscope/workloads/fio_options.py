"""Options of fio's job files that have no reader here: taken, taken at one value, or refused.

*Taken* are those that ask for what ssdscope does anyway, or that change nothing in what the drive
is asked for. *Neutral* ones do so at some values, and would measure something else at others.
"""

_FILE = "the target is the first word of the command line"
_RUNS = "a job file never starts programs here"
_TRIM = "only reads and writes are asked for"
_DATA = "what is written is ours: random bytes that can be told again"
_BATCH = "requests are sent one by one, as soon as there is room"
_ZONES = "zones of a device are not walked"
_PLACED = "ssdscope places its own threads"
_LOGGED = "--log FILE.parquet keeps every request, --timeline shows the rate over time"
_WINDOWS = "--timeline-interval is the length of a window"
_AT_THE_END = "everything is compared at the end of the run"
_STAMPS = "every sector has a stamp of its own"
_THREADS = "it only spreads work over threads"
_TIMED = "every request is timed"
_THERE = "the target is there before the run"
_PRINTED = "it only changes what fio prints"
_CACHE = "requests never go through the page cache"
_DEPTH = "the depth is fixed"
_SLOWER = "a job that is slower goes on, and its rate is in the result"
_SEED = "--seed or randseed repeats a run"
_MEMORY = "memory is aligned as direct I/O needs it"
_FAILED = "a request that fails is counted, and ends nothing; a hundred in a row do"
_LOG_OF_BLKTRACE = "it only says how a log is replayed"

VERIFY_REFUSED = {
    "verify_backlog": _AT_THE_END,
    "verify_backlog_batch": _AT_THE_END,
    "verify_pattern": "what is written says which write it is of, and where it belongs",
    "verify_only": "a run of reads with verify compares what an earlier run wrote",
    "verify_state_load": "the stamps on the drive say what was written",
    "verify_offset": "every sector has a stamp at its head",
    "experimental_verify": "it replays the writes, which may repeat here",
    "trim_verify_zero": _TRIM,
}
"""Options of fio's verify that have no equal, and why."""

VERIFY_IGNORED = {
    "verify_fatal": "all mismatches are counted, and the exit code is 1",
    "verify_interval": _STAMPS,
    "verify_dump": "the first mismatch is told with its place and bytes",
    "verify_async": _THREADS,
    "verify_async_cpus": _THREADS,
    "verify_state_save": "the stamps on the drive say what was written",
    "verify_write_sequence": "the number of a write is always compared",
    "verify_header_seed": _STAMPS,
    "verifysort": "data are read back in order",
    "verifysort_nr": "data are read back in order",
}
"""Options of fio's verify that change nothing here, and why."""

TAKEN = {
    "ioengine": "io_uring where the kernel has it, threads elsewhere",
    "filename": _FILE,
    "directory": _FILE,
    "filename_format": _FILE,
    "unique_filename": _FILE,
    "uri": _FILE,
    "allow_file_create": _THERE,
    "allow_mounted_write": "ssdscope's own rules say what may be written",
    "name": "the section has the name",
    "description": "it says nothing of the workload",
    "group_reporting": "jobs of a section are reported together",
    "new_group": "each section is reported by itself",
    "unified_rw_reporting": "reads and writes are reported apart",
    "thread": "there are no processes to share",
    "softrandommap": "a map of visited places takes no memory here",
    "randrepeat": _SEED,
    "allrandrepeat": _SEED,
    "unit_base": _PRINTED,
    "significant_figures": _PRINTED,
    "invalidate": _CACHE,
    "fadvise_hint": _CACHE,
    "overwrite": _THERE,
    "fallocate": _THERE,
    "create_on_open": _THERE,
    "create_serialize": _THERE,
    "create_fsync": _THERE,
    "create_only": _THERE,
    "openfiles": "a run is on one target",
    "file_service_type": "a run is on one target",
    "unlink": "nothing is deleted",
    "unlink_each_loop": "nothing is deleted",
    "refill_buffers": "every write has bytes of its own",
    "scramble_buffers": "every write has bytes of its own",
    "gtod_reduce": _TIMED,
    "gtod_cpu": _TIMED,
    "clocksource": _TIMED,
    "disable_lat": _TIMED,
    "disable_clat": _TIMED,
    "disable_slat": _TIMED,
    "disable_bw_measurement": _TIMED,
    "disable_bw": _TIMED,
    "clat_percentiles": "percentiles are always given",
    "lat_percentiles": "percentiles are always given",
    "slat_percentiles": "percentiles are always given",
    "percentile_list": "percentiles are always the same",
    "block_error_percentiles": _PRINTED,
    "disk_util": "what others do on the drive is looked for by other means",
    **dict.fromkeys(
        (
            "write_lat_log", "write_bw_log", "write_iops_log", "write_hist_log", "write_iolog",
            "log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset",
            "log_prio", "log_compression", "log_compression_cpus", "log_store_compressed",
            "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id",
            "log_entries", "per_job_logs",
        ),
        _LOGGED,
    ),
    "bwavgtime": _WINDOWS,
    "iopsavgtime": _WINDOWS,
    **VERIFY_IGNORED,
    "continue_on_error": _FAILED,
    "ignore_error": _FAILED,
    "error_dump": _FAILED,
    "exitall_on_error": _FAILED,
    "max_latency": "a slow request is measured, and ends nothing",
    "registerfiles": "so it is wherever the kernel allows it",
    "fixedbufs": "so it is wherever the kernel allows it",
    "nonvectored": "so it is wherever the kernel allows it",
    "sqthread_poll": "who submits a request is not the drive's business",
    "sqthread_poll_cpu": "who submits a request is not the drive's business",
    "force_async": "who submits a request is not the drive's business",
    "uncached": _CACHE,
    "hipri": "the device's queue says how completions come",
    "userspace_reap": "completions are taken as the kernel gives them",
    "cmd_type": "requests are plain reads and writes",
    "iomem": _MEMORY,
    "mem": _MEMORY,
    "mem_align": _MEMORY,
    "iomem_align": _MEMORY,
    "hugepage-size": _MEMORY,
    "lockmem": _MEMORY,
    "rwmixcycle": "fio itself does nothing with it any more",
    "rate_min": _SLOWER,
    "ratemin": _SLOWER,
    "rate_iops_min": _SLOWER,
    "rate_cycle": _SLOWER,
    "ratecycle": _SLOWER,
    "thinktime_spin": "a pause costs no processor time",
    "cpus_allowed": _PLACED,
    "cpumask": _PLACED,
    "cpus_allowed_policy": _PLACED,
    "numa_cpu_nodes": _PLACED,
    "numa_mem_policy": _PLACED,
    "nice": _PLACED,
    "uid": "ssdscope runs as whoever started it",
    "gid": "ssdscope runs as whoever started it",
    **dict.fromkeys(
        (
            "replay_no_stall", "replay_redirect", "replay_scale", "replay_align",
            "replay_time_scale", "replay_skip", "read_iolog_chunked", "merge_blktrace_file",
            "merge_blktrace_scalars", "merge_blktrace_iters",
        ),
        _LOG_OF_BLKTRACE,
    ),
}  # fmt: skip
"""Options that change nothing in what the drive is asked for, and why."""

_OFF = ("0", "0%")
NEUTRAL = {
    "buffered": (_OFF, "requests never go through the page cache"),
    "nrfiles": (("1",), "a run is on one target"),
    "nr_files": (("1",), "a run is on one target"),
    "zonemode": (("none",), _ZONES),
    "zonesize": (_OFF, _ZONES),
    "zonerange": (_OFF, _ZONES),
    "zoneskip": (_OFF, _ZONES),
    "zonecapacity": (_OFF, _ZONES),
    "max_open_zones": (_OFF, _ZONES),
    "job_max_open_zones": (_OFF, _ZONES),
    "read_beyond_wp": (_OFF, _ZONES),
    "verify_backlog": (_OFF, _AT_THE_END),
    "verify_only": (_OFF, VERIFY_REFUSED["verify_only"]),
    "verify_offset": (_OFF, VERIFY_REFUSED["verify_offset"]),
    "experimental_verify": (_OFF, VERIFY_REFUSED["experimental_verify"]),
    "trim_percentage": (_OFF, _TRIM),
    "trim_verify_zero": (_OFF, _TRIM),
    "trim_backlog": (_OFF, _TRIM),
    "trim_backlog_batch": (_OFF, _TRIM),
    "bs_unaligned": (_OFF, "offsets are multiples of the smallest size, or of blockalign"),
    "blocksize_unaligned": (_OFF, "offsets are multiples of the smallest size, or of blockalign"),
    "bs_is_seq_rand": (_OFF, "sizes go by reads and writes, not by order"),
    "offset_align": (_OFF, "offsets are multiples of the smallest size"),
    "rate_ignore_thinktime": (_OFF, "what a pause costs is made up for, as fio does by default"),
    "thinktime_blocks_type": (("complete",), "pauses come after requests that were served"),
    "thinktime_iotime": (_OFF, "pauses come after requests (thinktime_blocks)"),
    "latency_target": (_OFF, _DEPTH),
    "latency_window": (_OFF, _DEPTH),
    "latency_percentile": (("100", "100.0"), _DEPTH),
    "latency_run": (_OFF, _DEPTH),
    "end_fsync": (_OFF, "a run ends with its last request"),
    "fsync_on_close": (_OFF, "a run ends with its last request"),
    "sync_file_range": (_OFF, "fsync flushes the whole drive"),
    "write_barrier": (_OFF, "fsync flushes the whole drive"),
    "buffer_compress_percentage": (_OFF, _DATA),
    "dedupe_percentage": (_OFF, _DATA),
    "zero_buffers": (_OFF, _DATA),
    "iodepth_batch": (("1",), _BATCH),
    "iodepth_batch_submit": (("1",), _BATCH),
    "iodepth_batch_complete": (("0", "1"), _BATCH),
    "iodepth_batch_complete_min": (("0", "1"), _BATCH),
    "iodepth_batch_complete_max": (("0", "1"), _BATCH),
    "iodepth_low": (_OFF, _BATCH),
    "serialize_overlap": (_OFF, _BATCH),
    "io_submit_mode": (("inline", "offload"), _BATCH),
    "file_append": (_OFF, "the region is what it is"),
    "fill_device": (_OFF, "size=100% writes the whole target"),
    "fill_fs": (_OFF, "size=100% writes the whole target"),
    "atomic": (_OFF, "no drive promises that here"),
    "lockfile": (("none",), "jobs side by side lock nothing"),
    "pre_read": (_OFF, "nothing is read before the run; preconditioning is a run of its own"),
    "write_hint": (("none",), "writes carry no hints of their lifetime"),
    "stats": (("1",), "every job is in the result"),
    "exit_what": (("group",), "with exitall a job that ends stops those beside it"),
    "rw_sequencer": (("sequential",), "each direction is in order by itself"),
    "sg_write_mode": (("write",), "requests are plain reads and writes"),
    "readfua": (_OFF, "only writes are durable when they complete (sync)"),
    "writefua": (_OFF, "sync=1 makes each write durable when it completes"),
}  # fmt: skip
"""Options with the values that mean the same here, and why any other is refused."""

_FLOW = "jobs are not coupled; --flow with turn= takes turns"
_DEDUPE = _DATA
_PRIORITY = "requests have no priority of the kernel's here"
REFUSED = {
    "opendir": "a run is on one target",
    "exec_prerun": _RUNS,
    "exec_postrun": _RUNS,
    "verify_trigger_file": _RUNS,
    "trigger": _RUNS,
    **{name: why for name, why in VERIFY_REFUSED.items() if name not in NEUTRAL},
    "read_iolog": "a trace is replayed: ssdscope replay TARGET TRACE",
    "percentage_sequential": "percentage_random says the same",
    "buffer_pattern": _DATA,
    "buffer_compress_chunk": _DATA,
    "dedupe_mode": _DEDUPE,
    "dedupe_working_set_percentage": _DEDUPE,
    "dedupe_global": _DEDUPE,
    "prio": _PRIORITY,
    "prioclass": _PRIORITY,
    "cmdprio": _PRIORITY,
    "cmdprio_bssplit": _PRIORITY,
    "cmdprio_class": _PRIORITY,
    "cmdprio_hint": _PRIORITY,
    "cmdprio_percentage": _PRIORITY,
    "priohint": _PRIORITY,
    "cgroup": "a run is bounded by its own rates, not by the kernel's",
    "cgroup_weight": "a run is bounded by its own rates, not by the kernel's",
    "cgroup_nodelete": "a run is bounded by its own rates, not by the kernel's",
    "ioscheduler": "settings of the machine stay as they are",
    "profile": "it is a workload of fio's own making",
    "steadystate": "--until-steady runs one workload until its rate is steady",
    "ss": "--until-steady runs one workload until its rate is steady",
    "steadystate_duration": "--until-steady runs one workload until its rate is steady",
    "ss_dur": "--until-steady runs one workload until its rate is steady",
    "steadystate_ramp_time": "--until-steady runs one workload until its rate is steady",
    "ss_ramp": "--until-steady runs one workload until its rate is steady",
    "flow": _FLOW,
    "flow_id": _FLOW,
    "flow_sleep": _FLOW,
    "flow_watermark": _FLOW,
    "zone_reset_frequency": _ZONES,
    "zone_reset_threshold": _ZONES,
    "ignore_zone_limits": _ZONES,
    "zone_append": _ZONES,
    "dataplacement": "writes carry no hints of where they belong",
    "fdp": "writes carry no hints of where they belong",
    "md_per_io_size": "requests carry no metadata",
    "pi_act": "requests carry no metadata",
    "pi_chk": "requests carry no metadata",
    "cpuload": "no processor is kept busy",
    "cpumode": "no processor is kept busy",
    "cpuchunks": "no processor is kept busy",
    "io_size_increment": "all jobs transfer alike",
    "sequencer": "sequential requests follow one behind the other",
    "ramp_size": "ramp_time leaves out the beginning",
    "sprandom": "it writes in an order made for one drive; preconditioning fills a drive",
    "iodepth_mode": _DEPTH,
}
"""Options that would measure something else, and why."""


def neutral_refusal(name: str, text: str | None) -> str | None:
    """Say why a value of a neutral option would measure something else; None if it would not."""
    values, reason = NEUTRAL[name]
    return None if text is not None and text in values else reason
