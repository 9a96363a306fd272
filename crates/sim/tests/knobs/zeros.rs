//! Writing zeros: a discard on drives that discard, else a write whose data are not sent.

use crate::rig::{COMMAND, PAGE, Rig, write};
use ssdscope_io::{Cause, Op};

#[test]
fn drives_that_discard_write_zeros_by_a_discard() {
    for open in [Rig::page, Rig::logged] {
        let after = |op: Op| {
            let mut rig = open(&[]);
            rig.one(write(1));
            let latency_ns = rig.latency_ns((op, 0, 4 * PAGE));
            (latency_ns, rig.rest())
        };
        let zeroed = after(Op::WriteZeroes);
        assert_eq!(zeroed.1.host_bytes_discarded, 4 * PAGE);
        assert_eq!(zeroed, after(Op::Discard));
    }
}

#[test]
fn zeros_are_a_write_without_its_data_where_nothing_is_discarded() {
    let mut disk = Rig::disk(&[]);
    let (written, zeroed) =
        (disk.one((Op::Write, 0, PAGE)), disk.one((Op::WriteZeroes, PAGE, PAGE)));
    assert_eq!(written.attribution[Cause::Link], COMMAND + PAGE);
    assert_eq!(zeroed.attribution[Cause::Link], COMMAND);
    assert!(zeroed.attribution[Cause::Mechanical] > 0);

    let mut msr = Rig::msr(&[]);
    let (written, zeroed) = (msr.one((Op::Write, 0, PAGE)), msr.one((Op::WriteZeroes, PAGE, PAGE)));
    let sent_ns = written.attribution[Cause::Link] - zeroed.attribution[Cause::Link];
    assert_eq!(sent_ns, PAGE, "a byte takes a nanosecond");
    assert_eq!(written.latency().0 - zeroed.latency().0, sent_ns);
    assert_eq!(msr.counters().host_bytes_written, 2 * PAGE);
}
