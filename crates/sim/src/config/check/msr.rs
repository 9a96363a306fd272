//! What drives of the SSD extension cannot be.

use super::super::parse::Value;
use super::super::{MsrConfig, State};
use super::Checker;
use crate::msr::ParamsError;

impl Checker<'_> {
    pub(super) fn check_msr(&mut self, msr: &MsrConfig, state: State) {
        if !self.check_nand(&msr.nand) {
            return;
        }
        if let Some(Value::Word(policy)) = self.entries.get("gc.policy").map(|entry| &entry.value)
            && !["greedy", "wear-aware"].contains(&policy.as_str())
        {
            let message = format!(
                "\"{policy}\" is not built into the firmware of ftl.kind = \"msr\", which has \
                 greedy and wear-aware"
            );
            self.fault("gc.policy", &message);
        }
        match msr.params().check() {
            Ok(()) => self.check_state(state, msr.params().capacity_bytes()),
            // Said already.
            Err(ParamsError::PartSector(_)) => {}
            Err(error) => self.fault(key_of(&error), &error.to_string()),
        }
    }
}

/// The key whose value makes the firmware's parameters impossible.
fn key_of(error: &ParamsError) -> &'static str {
    match error {
        ParamsError::LowWater { .. } => "gc.low_water_ratio",
        ParamsError::Units { .. } => "msr.parallel_units",
        ParamsError::Reserve { .. } => "msr.reserve_ratio",
        ParamsError::PartSector(_) => "nand.page_bytes",
        ParamsError::TooFew { name, .. } | ParamsError::TooMany { name, .. } => match *name {
            "pages_per_block" => "nand.pages_per_block",
            "page_bytes" => "nand.page_bytes",
            "endurance_erases" => "nand.endurance_erases",
            _ => "nand.blocks_per_plane",
        },
    }
}
