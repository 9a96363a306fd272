//! What several drives counted, as if they were one.

use crate::counters::Counters;

/// Counts are added; channels and dies stand side by side, in the order of the members.
pub fn sum(members: &[Counters]) -> Counters {
    let mut total = Counters::default();
    for member in members {
        add(&mut total, member.clone());
    }
    total
}

fn add(total: &mut Counters, member: Counters) {
    // Taken apart without `..`, so that a new counter cannot be forgotten here.
    let Counters {
        host_bytes_read,
        host_bytes_written,
        host_bytes_discarded,
        flash_bytes_read,
        flash_bytes_programmed,
        flash_pages_read,
        flash_pages_programmed,
        simulated,
        block_erases,
        gc_runs,
        gc_pages_moved,
        wear_pages_moved,
        pslc_pages_folded,
        rmw_reads,
        multi_plane_commands,
        suspends,
        merges,
        map_loads,
        map_write_backs,
        buffer_coalesced_bytes,
        buffer_read_bytes,
        cache_read_bytes,
        read_ahead_bytes,
        retired_blocks,
        read_only,
        channel_busy_ns,
        die_busy_ns,
        erase_histogram,
    } = member;
    total.host_bytes_read += host_bytes_read;
    total.host_bytes_written += host_bytes_written;
    total.host_bytes_discarded += host_bytes_discarded;
    total.flash_bytes_read += flash_bytes_read;
    total.flash_bytes_programmed += flash_bytes_programmed;
    total.flash_pages_read += flash_pages_read;
    total.flash_pages_programmed += flash_pages_programmed;
    total.simulated += simulated;
    total.block_erases += block_erases;
    total.gc_runs += gc_runs;
    total.gc_pages_moved += gc_pages_moved;
    total.wear_pages_moved += wear_pages_moved;
    total.pslc_pages_folded += pslc_pages_folded;
    total.rmw_reads += rmw_reads;
    total.multi_plane_commands += multi_plane_commands;
    total.suspends += suspends;
    total.merges += merges;
    total.map_loads += map_loads;
    total.map_write_backs += map_write_backs;
    total.buffer_coalesced_bytes += buffer_coalesced_bytes;
    total.buffer_read_bytes += buffer_read_bytes;
    total.cache_read_bytes += cache_read_bytes;
    total.read_ahead_bytes += read_ahead_bytes;
    total.retired_blocks += retired_blocks;
    total.read_only |= read_only;
    total.channel_busy_ns.extend(channel_busy_ns);
    total.die_busy_ns.extend(die_busy_ns);
    total.add_erase_histogram(&erase_histogram);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Merges;

    #[test]
    fn counts_add_up_and_channels_stand_side_by_side() {
        let one = Counters {
            host_bytes_written: 4096,
            block_erases: 2,
            merges: Merges { switch: 1, partial: 2, full: 3 },
            channel_busy_ns: vec![10, 20],
            erase_histogram: vec![5, 1],
            ..Counters::default()
        };
        let other =
            Counters { channel_busy_ns: vec![30], erase_histogram: vec![4, 0, 2], ..one.clone() };
        let total = sum(&[one, other]);
        assert_eq!((total.host_bytes_written, total.block_erases), (8192, 4));
        assert_eq!(total.merges, Merges { switch: 2, partial: 4, full: 6 });
        assert_eq!(total.channel_busy_ns, [10, 20, 30]);
        assert_eq!(total.erase_histogram, [9, 1, 2]);
    }
}
