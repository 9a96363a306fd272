//! Arrays for tests.

use crate::config::{DriveConfig, Firmware};
use crate::flash::Flash;
use ssdscope_io::rng::Stream;

/// An idle array of any shape and times.
pub fn draw_flash(random: &mut Stream) -> Flash {
    let mut pick = |values: &[&'static str]| values[random.below(values.len() as u64) as usize];
    let text = format!(
        "over_provisioning_ratio = 0.2\n[nand]\nchannels = {}\nways = {}\ndies = {}\nplanes = {}\n\
         blocks_per_plane = 64\npages_per_block = 64\npage_bytes = 2048\nread_ns = {}\n\
         program_ns = {}\nerase_ns = 1500000\n{}[channel]\nns_per_byte = {}\n{}\
         [host]\ninterface = \"simple\"\nbytes_per_second = 3e9\n[ftl]\nkind = \"page\"\n\
         [scheduler]\nmulti_plane = {}\ndata_first = {}\nway_interleave = {}\n",
        pick(&["1", "2", "3"]),
        pick(&["1", "2", "3"]),
        pick(&["1", "2"]),
        pick(&["1", "2", "4"]),
        pick(&["20000", "50001"]),
        pick(&["40000", "200000"]),
        pick(&["", "", "read_by_type_ns = [3000, 5000]\nprogram_by_type_ns = [90000, 200000]\n"]),
        pick(&["3", "25"]),
        pick(&["", "read_command_ns = 300\nprogram_command_ns = 400\nerase_command_ns = 200\n"]),
        pick(&["true", "true", "false"]),
        pick(&["true", "false"]),
        pick(&["true", "true", "false"]),
    );
    match DriveConfig::parse(&text, "test", &[]).unwrap_or_else(|why| panic!("{why}")).firmware {
        Firmware::Page(page) => Flash::new(&page.nand, &page.channel, page.scheduler),
        _ => panic!("it maps by the page"),
    }
}
