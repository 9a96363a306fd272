"""Properties that belong together: what a drive reads fast, what it erases as one, and so on."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "disk": (
        "rotation_ns",
        "seek_track_ns",
        "seek_full_ns",
        "disk_cache_bytes",
        "disk_cache_segments",
    ),
    "latency": ("read_latency_alpha_ns", "read_latency_beta_ns_per_byte", "queue_depth_knee"),
    "units": ("rmw_unit_bytes", "alignment_phase_bytes", "write_buffer_unit_bytes"),
    "merging": ("merge_unit_bytes", "open_units"),
    "buffer": ("write_buffer_bytes", "write_buffer_unit_bytes"),
    "caches": ("read_cache_bytes", "read_cache_unit_bytes", "read_ahead_bytes"),
    "table": ("map_zone_bytes", "map_cache_bytes"),
    "dies": ("interleave_degree", "placement", "placement_pages", "internal_volume_bits"),
    "order": ("allocation",),
    "spare": ("over_provisioning_ratio", "gc_write_amplification"),
    "collection": ("gc_period_bytes", "reclaim_unit_bytes", "idle_gc_onset_ns"),
    "region": ("pslc_bytes",),
    "trim": ("trim_effect",),
}
"""Families by name; a property may be of two."""
