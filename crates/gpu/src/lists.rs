//! The log by output: which entries a sum must be taken over, in log order, as lists that grow in one stretch of memory.

use crate::card::RawEntry;
use rosenblatt_kernel::Entry;

/// The lists of all outputs.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    by_output: Vec<List>,
    n_filed: usize,
    /// Entries there is room for.
    room: usize,
}

#[derive(Debug, Default)]
struct List {
    start: usize,
    room: usize,
    /// Its entries' numbers in the log.
    numbers: Vec<u32>,
}

/// What to write where.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Filing {
    pub(crate) entries: Vec<RawEntry>,
    pub(crate) places: Vec<u32>,
}

impl Lists {
    /// Files the entries of the log that are new; all of them again if a list has outgrown its room.
    pub(crate) fn file(&mut self, log: &[Entry], n_outputs: usize) -> Filing {
        self.by_output.resize_with(n_outputs.max(self.by_output.len()), List::default);
        let fresh = self.n_filed.min(log.len());
        for (number, entry) in log.iter().enumerate().skip(fresh) {
            self.by_output[entry.output as usize].numbers.push(number as u32);
        }
        self.n_filed = log.len();
        let outgrown = self.by_output.iter().any(|list| list.numbers.len() > list.room);
        if outgrown {
            self.room = 0;
            for list in &mut self.by_output {
                list.start = self.room;
                list.room = (2 * list.numbers.len()).max(32);
                self.room += list.room;
            }
        }
        let first = if outgrown { 0 } else { fresh };
        let mut filing = Filing::default();
        for list in &self.by_output {
            let from = list.numbers.partition_point(|number| (*number as usize) < first);
            for (place, &number) in list.numbers.iter().enumerate().skip(from) {
                filing.entries.push(raw(&log[number as usize]));
                filing.places.push((list.start + place) as u32);
            }
        }
        filing
    }

    /// How many entries there must be room for.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Where each list ends.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_output.iter().map(|list| (list.start + list.numbers.len()) as u32)
    }

    /// Where in each list the entries from number `until` on begin.
    pub(crate) fn starts(&self, until: usize) -> impl Iterator<Item = u32> + '_ {
        self.by_output.iter().map(move |list| {
            (list.start + list.numbers.partition_point(|number| (*number as usize) < until)) as u32
        })
    }
}

pub(crate) fn raw(entry: &Entry) -> RawEntry {
    let Entry { output, row, amount, keep, .. } = *entry;
    RawEntry { amount, keep, row, output }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    /// The filings in order give the log of every output in order, from any moment on.
    #[test]
    fn lists_grow_in_log_order() {
        let mut random = Random::new(7);
        let (mut lists, mut memory, mut log) = (Lists::default(), Vec::new(), Vec::new());
        for _ in 0..60 {
            for _ in 0..random.below(40) {
                // Most of them for one output, so that lists outgrow their room at different times.
                let output = if random.below(3) == 0 { random.below(5) as u32 } else { 2 };
                let amount = log.len() as f64;
                log.push(Entry { round: 1, output, row: 0, amount, keep: 1.0, bias: 0.0, norm2: 0.0 });
            }
            let filing = lists.file(&log, 5);
            memory.resize(lists.room(), RawEntry::default());
            for (entry, place) in filing.entries.iter().zip(&filing.places) {
                memory[*place as usize] = *entry;
            }
            let until = random.below(log.len() as u64 + 1) as usize;
            for (output, (start, end)) in lists.starts(until).zip(lists.ends()).enumerate() {
                let expected = log[until..].iter().filter(|entry| entry.output as usize == output).map(raw);
                assert!(memory[start as usize..end as usize].iter().copied().eq(expected));
            }
        }
        assert_eq!(lists.file(&log, 5), Filing::default(), "nothing is new");
    }
}
