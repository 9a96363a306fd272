//! The same rules without any cleverness: an event per page, searches over all blocks,
//! blocks numbered across the planes as in the original, no proof that cleaning is
//! futile (it spins until blocks wear out, as the original does). One parallel unit.

use ssdscope_io::rng::Stream;
use ssdscope_io::{Op, Request};
use ssdscope_sim::msr::{MsrParams, Policy};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy, PartialEq)]
enum State {
    Free,
    Open,
    Full,
}

struct Block {
    pages: Vec<Option<usize>>,
    state: State,
    bsn: u64,
    life: u32,
    erased: u64,
}

impl Block {
    fn valid(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}

/// Nothing can be cleaned, or nowhere to write.
struct Dead;

struct Element {
    p: MsrParams,
    blocks: Vec<Block>,
    /// Block and page of each logical page.
    map: Vec<(usize, usize)>,
    active: Vec<(usize, usize)>,
    cursor: Vec<usize>,
    to_write: usize,
    to_clean: usize,
    bsn: u64,
    erasures: u64,
    chance: Stream,
    queue: VecDeque<(usize, usize, bool)>,
    busy: bool,
    dead: bool,
}

impl Element {
    fn new(p: MsrParams, number: usize, seed: u64) -> Self {
        let (planes, blocks) = (p.planes as usize, p.blocks_per_plane as usize);
        let (data, k) = ((blocks - p.reserve_blocks as usize) * planes, p.pages_per_block as usize);
        let mut all: Vec<Block> = (0..blocks * planes)
            .map(|_| Block {
                pages: vec![None; k],
                state: State::Free,
                bsn: 0,
                life: p.endurance_erases,
                erased: 0,
            })
            .collect();
        let map: Vec<_> = (0..data * (k - 1)).map(|lpn| (lpn / (k - 1), lpn % (k - 1))).collect();
        for (lpn, &(block, page)) in map.iter().enumerate() {
            all[block].pages[page] = Some(lpn);
        }
        for (number, block) in all.iter_mut().enumerate().take(data + planes) {
            block.bsn = number as u64 + 1;
            block.state = if number + 1 < data { State::Full } else { State::Open };
        }
        Self {
            p,
            blocks: all,
            map,
            active: (0..planes).map(|plane| (data + plane, 0)).collect(),
            cursor: vec![0; planes],
            to_write: 0,
            to_clean: 0,
            bsn: (data + planes) as u64 + 1,
            erasures: 0,
            chance: Stream::new(seed, &format!("msr.wear.element{number}")),
            queue: VecDeque::new(),
            busy: false,
            dead: false,
        }
    }

    fn of_plane(&self, plane: usize) -> impl Iterator<Item = usize> + use<> {
        (plane..self.blocks.len()).step_by(self.p.planes as usize)
    }

    fn free(&self, plane: usize) -> usize {
        self.of_plane(plane).filter(|&block| self.blocks[block].state == State::Free).count()
    }

    fn program(&mut self, lpn: usize, plane: usize) -> Result<u64, Dead> {
        let (planes, k) = (self.p.planes as usize, self.p.pages_per_block as usize);
        if self.active[plane].1 == k - 1 {
            let count = self.p.blocks_per_plane as usize;
            let index = (0..count)
                .map(|step| self.cursor[plane] + step)
                .filter(|&index| index < count)
                .chain(0..count)
                .find(|index| self.blocks[index * planes + plane].state == State::Free)
                .ok_or(Dead)?;
            self.cursor[plane] = (index + 1) % count;
            let block = index * planes + plane;
            self.blocks[block].state = State::Open;
            self.blocks[block].bsn = self.bsn;
            self.bsn += 1;
            self.active[plane] = (block, 0);
        }
        let (old_block, old_page) = self.map[lpn];
        self.blocks[old_block].pages[old_page] = None;
        let (block, page) = self.active[plane];
        self.map[lpn] = (block, page);
        self.blocks[block].pages[page] = Some(lpn);
        self.active[plane].1 += 1;
        let mut ns = self.p.program_ns;
        if page + 1 == k - 1 {
            self.blocks[block].state = State::Full;
            ns += self.p.program_ns + (528 * self.p.transfer_ps_per_byte + 500) / 1000;
        }
        Ok(ns)
    }

    fn place(&mut self, lpn: usize) -> usize {
        let (planes, k) = (self.p.planes as usize, self.p.pages_per_block as usize);
        let (old_block, old_page) = self.map[lpn];
        let old = (self.blocks[old_block].bsn, old_page);
        let mut best: Option<(usize, usize)> = None;
        for step in 0..planes {
            let plane = (self.to_write + step) % planes;
            let (block, page) = self.active[plane];
            if (self.blocks[block].bsn, page) > old {
                let free = self.free(plane) * k + k - page;
                if best.is_none_or(|(most, _)| free > most) {
                    best = Some((free, plane));
                }
            }
        }
        let (_, plane) = best.unwrap();
        self.to_write = (plane + 1) % planes;
        plane
    }

    /// Cleans one block if a plane is low: how long that takes.
    fn clean(&mut self) -> Result<Option<u64>, Dead> {
        let planes = self.p.planes as usize;
        let low = (0..planes)
            .map(|step| (self.to_clean + step) % planes)
            .find(|&plane| self.free(plane) <= self.p.low_water_blocks as usize);
        let Some(plane) = low else { return Ok(None) };
        self.to_clean = (plane + 1) % planes;
        let (victim, ns) = self.choose(plane)?;
        Ok(Some(ns + self.clean_block(victim, plane)?))
    }

    fn clean_block(&mut self, victim: usize, plane: usize) -> Result<u64, Dead> {
        let mut ns = self.p.erase_ns;
        for page in 0..self.p.pages_per_block as usize {
            if let Some(lpn) = self.blocks[victim].pages[page] {
                ns += self.p.read_ns + self.program(lpn, plane)?;
            }
        }
        self.erasures += 1;
        let block = &mut self.blocks[victim];
        block.state = State::Free;
        block.bsn = 0;
        block.life -= 1;
        block.erased = self.erasures;
        Ok(ns)
    }

    fn choose(&mut self, plane: usize) -> Result<(usize, u64), Dead> {
        let mut list = Vec::new();
        let mut least = usize::MAX;
        for block in self.of_plane(plane) {
            let at = &self.blocks[block];
            if at.state == State::Full && at.life > 0 && at.valid() <= least {
                least = at.valid();
                list.insert(0, block);
            }
        }
        let &last = list.last().ok_or(Dead)?;
        if self.p.policy == Policy::Greedy {
            return Ok((list[0], 0));
        }
        let lives: u64 = self.of_plane(plane).map(|block| u64::from(self.blocks[block].life)).sum();
        let mean = lives as f64 / f64::from(self.p.blocks_per_plane);
        for &block in &list[..list.len() - 1] {
            let life = f64::from(self.blocks[block].life);
            if life < 0.85 * mean {
                if let Some(cold) = self.coldest(plane, block) {
                    return Ok((cold, self.migrate(cold, block, plane)?));
                }
                if life < 0.80 * mean && self.chance.unit() >= life / mean / 0.80 {
                    continue;
                }
            }
            return Ok((block, 0));
        }
        Ok((last, 0))
    }

    fn coldest(&self, plane: usize, but: usize) -> Option<usize> {
        self.of_plane(plane)
            .filter(|&block| block != but)
            .filter(|&block| self.blocks[block].state == State::Full && self.blocks[block].life > 0)
            .filter(|&block| self.blocks[block].valid() > 0)
            .min_by_key(|&block| self.blocks[block].erased)
    }

    fn migrate(&mut self, cold: usize, worn: usize, plane: usize) -> Result<u64, Dead> {
        let ns = self.clean_block(worn, plane)?;
        let pages = self.blocks[cold].valid() as u64;
        for page in 0..self.p.pages_per_block as usize {
            let lpn = self.blocks[cold].pages[page].take();
            self.blocks[worn].pages[page] = lpn;
            if let Some(lpn) = lpn {
                self.map[lpn] = (worn, page);
            }
        }
        self.blocks[worn].state = State::Full;
        self.blocks[worn].bsn = self.blocks[cold].bsn;
        Ok(ns + pages * (self.p.read_ns + self.p.program_ns))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// How many requests went to the elements before, request, element.
    PageDone(usize, usize, usize),
    CleanDone(usize),
    BusDone(usize),
    Arrive(usize),
}

pub struct Naive {
    p: MsrParams,
    elements: Vec<Element>,
    requests: Vec<(Request, u64)>,
    left: Vec<u64>,
    started: Vec<usize>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    holder: bool,
    leaving: VecDeque<usize>,
    arriving: VecDeque<usize>,
    pub now: u64,
    /// Request and instant.
    pub done: Vec<(u64, u64)>,
}

impl Naive {
    pub fn new(p: MsrParams, seed: u64) -> Self {
        Self {
            p,
            elements: (0..p.elements as usize).map(|e| Element::new(p, e, seed)).collect(),
            requests: Vec::new(),
            left: Vec::new(),
            started: Vec::new(),
            events: BinaryHeap::new(),
            holder: false,
            leaving: VecDeque::new(),
            arriving: VecDeque::new(),
            now: 0,
            done: Vec::new(),
        }
    }

    pub fn submit(&mut self, at: u64, request: Request) {
        self.events.push(Reverse((at, Event::Arrive(self.requests.len()))));
        self.requests.push((request, at));
        self.left.push(0);
    }

    /// Runs until an instant with completions; false if there is none to come.
    pub fn advance(&mut self) -> bool {
        let before = self.done.len();
        while let Some(Reverse((at, event))) = self.events.pop() {
            self.now = at;
            self.handle(event);
            let more = self.events.peek().is_some_and(|Reverse((next, _))| *next == at);
            if self.done.len() > before && !more {
                return true;
            }
        }
        false
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive(request) => self.arriving.push_back(request),
            Event::BusDone(request) => {
                self.holder = false;
                if self.requests[request].0.op == Op::Read {
                    self.done.push((self.requests[request].0.id, self.now));
                } else {
                    self.start(request);
                }
            }
            Event::CleanDone(element) => {
                self.elements[element].busy = false;
                self.activate(element);
            }
            Event::PageDone(_, request, element) => {
                self.elements[element].busy = false;
                self.left[request] -= 1;
                if self.left[request] == 0 {
                    self.leaving.push_back(request);
                }
                self.activate(element);
            }
        }
        self.run_bus();
    }

    fn run_bus(&mut self) {
        while !self.holder {
            let (request, out) = if let Some(request) = self.leaving.pop_front() {
                (request, true)
            } else if let Some(request) = self.arriving.pop_front() {
                (request, false)
            } else {
                return;
            };
            let (asked, _) = self.requests[request];
            if (asked.op == Op::Read) == out {
                self.holder = true;
                let ns = (asked.sectors.0 * self.p.link_ps_per_sector + 500) / 1000;
                self.events.push(Reverse((self.now + ns, Event::BusDone(request))));
            } else if out {
                self.done.push((asked.id, self.now));
            } else {
                self.start(request);
            }
        }
    }

    fn start(&mut self, request: usize) {
        let (asked, _) = self.requests[request];
        let sectors = u64::from(self.p.page_bytes) / 512;
        let (first, pages) = (asked.lba.0 / sectors, asked.sectors.0 / sectors);
        self.left[request] = pages;
        self.started.push(request);
        for page in (first..first + pages).map(|page| page as usize) {
            let (element, lpn) = (page % self.elements.len(), page / self.elements.len());
            self.elements[element].queue.push_back((request, lpn, asked.op == Op::Read));
            self.activate(element);
        }
    }

    fn activate(&mut self, number: usize) {
        let element = &mut self.elements[number];
        if element.busy || element.dead {
            return;
        }
        let outcome = Self::next_work(element);
        match outcome {
            Ok(Some((ns, request))) => {
                element.busy = true;
                let event = request.map_or(Event::CleanDone(number), |request| {
                    let before = self.started.iter().position(|&other| other == request);
                    Event::PageDone(before.unwrap(), request, number)
                });
                self.events.push(Reverse((self.now + ns, event)));
            }
            Ok(None) => {}
            Err(Dead) => element.dead = true,
        }
    }

    fn next_work(element: &mut Element) -> Result<Option<(u64, Option<usize>)>, Dead> {
        let p = element.p;
        if (p.background || !element.queue.is_empty())
            && let Some(ns) = element.clean()?
        {
            return Ok(Some((ns, None)));
        }
        let Some((request, lpn, is_read)) = element.queue.pop_front() else { return Ok(None) };
        let pins = (u64::from(p.page_bytes) / 512 * 528 * p.transfer_ps_per_byte + 500) / 1000;
        let array = if is_read {
            p.read_ns
        } else {
            let plane = element.place(lpn);
            element.program(lpn, plane)?
        };
        Ok(Some((pins + array, Some(request))))
    }
}
