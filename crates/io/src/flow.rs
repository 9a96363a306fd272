//! Several workloads on one device, at the same time or in turn: each a flow with a name of its
//! own.

use crate::arrivals::Arrival;
use crate::device::{DeviceInfo, Queues};
use crate::request::{Priority, Queue};
use crate::workload::{MOST_IN_FLIGHT, Plan, Workload};
use serde::{Deserialize, Serialize};
use std::fmt;

/// More flows than this are a slip of the finger.
pub const MOST_FLOWS: usize = 256;

/// One of several workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// What it is called in summaries.
    pub name: String,
    /// The class of its queue, on a device that tells classes apart; default: medium.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// How many requests it makes before the next flow has its turn. If any flow says so, all take
    /// turns, with one request in flight between them; default: 1.
    #[serde(default)]
    pub turn: Option<u64>,
    /// What it asks for.
    pub workload: Workload,
}

/// Workloads that run side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// At least one, of different names.
    pub flows: Vec<Flow>,
    /// As soon as one has made its last request the others make no more.
    #[serde(default)]
    pub exit_all: bool,
}

/// A flow checked against a device.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// Its queue.
    pub queue: Queue,
    /// Requests in its turn, if flows take turns.
    pub turn: u64,
    /// What it asks for.
    pub plan: Plan,
}

/// Everything that is wrong with a set of flows, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowsError {
    /// At least one line.
    pub lines: Vec<String>,
}

impl FlowsError {
    fn one(line: String) -> Self {
        Self { lines: vec![line] }
    }
}

impl fmt::Display for FlowsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.lines.join("\n"))
    }
}

impl std::error::Error for FlowsError {}

impl Flows {
    /// Reads flows from JSON, where `null` stands for a workload's default.
    ///
    /// # Errors
    /// If the text is not of this form.
    pub fn from_json(text: &str) -> Result<Self, FlowsError> {
        let not_flows = |error: serde_json::Error| FlowsError::one(format!("flows: {error}"));
        let mut value: serde_json::Value = serde_json::from_str(text).map_err(not_flows)?;
        let flows = value.get_mut("flows").and_then(|flows| flows.as_array_mut());
        for flow in flows.into_iter().flatten() {
            if let Some(workload) = flow.get_mut("workload").and_then(|each| each.as_object_mut()) {
                workload.retain(|_, value| !value.is_null());
            }
        }
        serde_json::from_value(value).map_err(not_flows)
    }

    /// Whether flows take turns.
    #[must_use]
    pub fn in_turn(&self) -> bool {
        self.flows.iter().any(|flow| flow.turn.is_some())
    }

    /// Checks the flows against a device. Flow `i` gets queue `i` modulo the device's.
    ///
    /// # Errors
    /// Everything that is wrong, each line with the name of its flow.
    pub fn plan(&self, info: &DeviceInfo, queues: Queues) -> Result<Vec<FlowPlan>, FlowsError> {
        let mut lines = Vec::new();
        if !(1..=MOST_FLOWS).contains(&self.flows.len()) {
            let count = self.flows.len();
            return Err(FlowsError::one(format!("{count} flows: expected 1 to {MOST_FLOWS}")));
        }
        let mut plans: Vec<FlowPlan> = Vec::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let mut fault = |text: &str| lines.push(format!("flow {}: {text}", flow.name));
            if flow.name.is_empty() || flow.name.chars().any(char::is_control) {
                fault("a flow needs a name of printable characters");
            }
            if self.flows[..index].iter().any(|other| other.name == flow.name) {
                fault("there are two of this name");
            }
            if flow.workload.until_ci.is_some() {
                fault("until_ci: the flows of a run have no interval in common to stop at");
            }
            if flow.priority.is_some() && !queues.priorities {
                fault("priority: the queues of this device have no classes");
            }
            let queue = Queue {
                index: (index % usize::from(queues.count)) as u16,
                priority: flow.priority.unwrap_or_default(),
            };
            let shared = |other: &&FlowPlan| {
                other.queue.index == queue.index && other.queue.priority != queue.priority
            };
            if let Some(other) = plans.iter().find(shared) {
                fault(&format!(
                    "priority: another than that of flow {}, with which it shares one of the \
                     {} queues of this device",
                    other.name, queues.count
                ));
            }
            if self.in_turn() {
                faults_in_turn(flow).iter().for_each(|text| fault(text));
            }
            let (name, turn) = (flow.name.clone(), flow.turn.unwrap_or(1));
            match flow.workload.plan(info) {
                Ok(plan) => plans.push(FlowPlan { name, queue, turn, plan }),
                Err(error) => error.to_string().lines().for_each(&mut fault),
            }
        }
        let full = plans.iter().map(|flow| &flow.plan.workload);
        let in_flight: u64 = full.map(|full| full.iodepth * full.numjobs).sum();
        if in_flight > MOST_IN_FLIGHT {
            lines.push(format!("{in_flight} requests in flight, more than {MOST_IN_FLIGHT}"));
        }
        if lines.is_empty() { Ok(plans) } else { Err(FlowsError { lines }) }
    }
}

/// What keeps a flow from taking turns: only one request may be in flight between all.
fn faults_in_turn(flow: &Flow) -> Vec<String> {
    let one_each = "flows that take turns (turn) have one request in flight between them";
    let Workload { iodepth, numjobs, arrival, .. } = &flow.workload;
    let faults = [
        (flow.turn == Some(0), "turn: must be more than 0".to_owned()),
        (*iodepth > 1, format!("iodepth: {one_each}")),
        (*numjobs > 1, format!("numjobs: {one_each}")),
        (*arrival != Arrival::Closed, format!("arrival: {one_each}")),
    ];
    faults.into_iter().filter_map(|(wrong, text)| wrong.then_some(text)).collect()
}
