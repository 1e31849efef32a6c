//! Where two numbers lead, for all templates in one table: a place is looked at once, and what is there is next to where it
//! is looked for.

use ahash::RandomState;

/// What two numbers lead to at one of the forks.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// One more than the fork; zero where nothing is.
    fork: u32,
    left: u32,
    right: u32,
    to: u32,
}

const EMPTY: Slot = Slot { fork: 0, left: 0, right: 0, to: 0 };

/// A place that was looked at, and what was there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    at: usize,
    slot: Slot,
}

/// A table of them. Nothing of it depends on the key of the hashes but how long it takes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forks {
    slots: Vec<Slot>,
    len: usize,
}

#[inline(always)]
fn hash(hasher: &RandomState, fork: u32, left: u32, right: u32) -> usize {
    // Forks share no more than a table: numbers that meet differ in what stands there.
    let key =
        (u64::from(left) << 32 | u64::from(right)) ^ u64::from(fork).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hasher.hash_one(key) as usize
}

impl Forks {
    /// Where the numbers are, or where they would be.
    #[inline(always)]
    fn slot(&self, hasher: &RandomState, fork: u32, left: u32, right: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash(hasher, fork, left, right) & mask;
        loop {
            let slot = self.slots[at];
            if slot.fork == 0 {
                return Err(at);
            }
            if (slot.fork, slot.left, slot.right) == (fork + 1, left, right) {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, hasher: &RandomState, fork: u32, left: u32, right: u32) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slot(hasher, fork, left, right).ok().map(|at| self.slots[at].to)
    }

    /// Looks at the place of two numbers, and asks nothing yet: of many looks in a row, none waits for the memory of
    /// another. A number that is `nowhere` is not looked for.
    #[inline(always)]
    pub(crate) fn look(
        &self,
        hasher: &RandomState,
        fork: u32,
        (left, right): (u32, u32),
        nowhere: u32,
    ) -> Probe {
        let is_somewhere = left != nowhere && right != nowhere;
        let mask = self.slots.len().wrapping_sub(1);
        let at = if is_somewhere { hash(hasher, fork, left, right) & mask } else { 0 };
        let slot = self.slots.get(at).copied().unwrap_or(EMPTY);
        Probe { at, slot: Slot { fork: if is_somewhere { slot.fork } else { 0 }, ..slot } }
    }

    /// Where the two numbers lead that were looked for.
    #[inline(always)]
    pub(crate) fn found(&self, probe: Probe, fork: u32, left: u32, right: u32) -> Option<u32> {
        let Probe { mut at, mut slot } = probe;
        loop {
            if slot.fork == 0 {
                return None;
            }
            if (slot.fork, slot.left, slot.right) == (fork + 1, left, right) {
                return Some(slot.to);
            }
            at = (at + 1) & (self.slots.len() - 1);
            slot = self.slots[at];
        }
    }

    /// The same, and `new` says where they lead if they led nowhere.
    #[inline(always)]
    pub(crate) fn get_or(
        &mut self,
        hasher: &RandomState,
        (fork, left, right): (u32, u32, u32),
        new: impl FnOnce() -> u32,
    ) -> u32 {
        if self.len * 8 >= self.slots.len() * 5 {
            self.grow(hasher);
        }
        match self.slot(hasher, fork, left, right) {
            Ok(at) => self.slots[at].to,
            Err(at) => {
                self.len += 1;
                self.slots[at] = Slot { fork: fork + 1, left, right, to: new() };
                self.slots[at].to
            }
        }
    }

    #[cold]
    fn grow(&mut self, hasher: &RandomState) {
        let n_slots = (self.slots.len() * 2).max(1 << 10);
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; n_slots]);
        for slot in old.into_iter().filter(|slot| slot.fork != 0) {
            if let Err(at) = self.slot(hasher, slot.fork - 1, slot.left, slot.right) {
                self.slots[at] = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fork_has_numbers_of_its_own() {
        let hasher = RandomState::new();
        let mut forks = Forks::default();
        assert_eq!(forks.get(&hasher, 0, 0, 0), None);
        assert_eq!(forks.found(forks.look(&hasher, 0, (0, 0), u32::MAX), 0, 0, 0), None);
        let all =
            |n: u32| (0..3_u32).flat_map(move |fork| (0..n).map(move |number| (fork, number / 7, number)));
        for (to, at) in all(5000).enumerate() {
            assert_eq!(forks.get_or(&hasher, at, || to as u32), to as u32);
            assert_eq!(forks.get_or(&hasher, at, || u32::MAX), to as u32, "it leads where it led");
        }
        for (to, (fork, left, right)) in all(5000).enumerate() {
            assert_eq!(forks.get(&hasher, fork, left, right), Some(to as u32));
            assert_eq!(forks.get(&hasher, fork + 3, left, right), None);
            let look =
                |fork| forks.found(forks.look(&hasher, fork, (left, right), u32::MAX), fork, left, right);
            assert_eq!((look(fork), look(fork + 3)), (Some(to as u32), None), "a look finds the same");
            let nowhere = forks.look(&hasher, fork, (left, right), right);
            assert_eq!(forks.found(nowhere, fork, left, right), None);
        }
    }
}
