//! Work that several threads share, as far as threads can be had.

use std::thread;

/// How many threads there are cores for.
pub fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// `own` on this thread, beside `others` on each of this many more. A thread that cannot be had is done without, so `own`
/// must be able to do all of the work.
pub fn beside<R>(n_others: usize, others: impl Fn() + Sync, own: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        for _ in 0..n_others {
            if thread::Builder::new().spawn_scoped(scope, &others).is_err() {
                break;
            }
        }
        own()
    })
}

/// Does the work on so many threads, this one among them, or on as many of them as can be had.
pub fn on_threads(n_threads: usize, work: impl Fn() + Sync) {
    beside(n_threads.saturating_sub(1), &work, &work);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn everybody_works_and_the_caller_is_one_of_them() {
        for (n_threads, n_workers) in [(0, 1), (1, 1), (4, 4)] {
            let n_done = AtomicUsize::new(0);
            on_threads(n_threads, || {
                n_done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(n_done.into_inner(), n_workers);
        }
        let caller = thread::current().id();
        assert_eq!(
            beside(3, || assert_ne!(thread::current().id(), caller), || thread::current().id()),
            caller
        );
    }
}
