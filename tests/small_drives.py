"""Two small drives of our own: one that merges, one that maps pages."""

MERGING = """
description = "a small drive with log blocks of 256 KiB and pages of 4 KiB"
default_state = "sequential"
over_provisioning_ratio = 0.1
[nand]
channels = 2
ways = 1
blocks_per_plane = 1024
pages_per_block = 64
page_bytes = 2048
read_ns = 20_000
program_ns = 200_000
erase_ns = 1_500_000
[channel]
ns_per_byte = 25
[host]
bytes_per_second = 300e6
command_ns = 20_000
queue_depth = 1
[ftl]
kind = "log-block"
map_unit_bytes = 4096
merge_unit_bytes = 262_144
log_association = "one-to-one"
log_blocks = 8
"""
PAGES = """
description = "a page-mapped drive of 125 MiB"
default_state = "sequential"
over_provisioning_ratio = 0.15
[nand]
channels = 2
blocks_per_plane = 576
pages_per_block = 32
page_bytes = 4096
read_ns = 50_000
program_ns = 500_000
erase_ns = 2_000_000
[channel]
ns_per_byte = 5
[host]
interface = "simple"
bytes_per_second = 500e6
[ftl]
kind = "page"
"""
