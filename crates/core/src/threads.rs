//! Work that several threads share, as far as threads can be had.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::channel;
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

/// Does the work on this many threads, this one among them, or on as many of them as can be had.
pub fn on_threads(n_threads: usize, work: impl Fn() + Sync) {
    beside(n_threads.saturating_sub(1), &work, &work);
}

/// Fills jobs one after the other, works on them on `n_threads` threads, and lends what comes of them on this thread, in the
/// order in which they were filled. It ends when no job is filled any more, or with the first error of `lend`.
///
/// `new` makes a job that is filled again and again, and `worker` what works on jobs on one thread. There are two jobs for
/// every thread, so that a slow one stops nothing but those that are far ahead of it.
pub fn in_order<J: Send, T: Send, W: FnMut(&mut J) -> T, X>(
    n_threads: usize,
    new: impl Fn() -> J,
    mut fill: impl FnMut(&mut J) -> bool + Send,
    worker: impl Fn() -> W + Sync,
    mut lend: impl FnMut(T) -> Result<(), X>,
) -> Result<(), X> {
    if n_threads > 1
        && let Some(lent) = in_order_on(n_threads, &new, &mut fill, &worker, &mut lend)
    {
        return lent;
    }
    let (mut job, mut work) = (new(), worker());
    while fill(&mut job) {
        lend(work(&mut job))?;
    }
    Ok(())
}

/// The same on other threads than this one, which lends. Nothing if no thread can be had.
fn in_order_on<J: Send, T: Send, W: FnMut(&mut J) -> T, X>(
    n_threads: usize,
    new: &impl Fn() -> J,
    fill: &mut (impl FnMut(&mut J) -> bool + Send),
    worker: &(impl Fn() -> W + Sync),
    lend: &mut impl FnMut(T) -> Result<(), X>,
) -> Option<Result<(), X>> {
    type Done<J, T> = (usize, J, Result<T, Box<dyn Any + Send>>);
    let ((free, waiting), (tell, done)) = (channel(), channel::<Done<J, T>>());
    for _ in 0..2 * n_threads {
        let _ = free.send(new());
    }
    // How many jobs were filled; nothing once there are no more.
    let feed = Mutex::new((fill, waiting, Some(0)));
    let next = || {
        let mut feed = feed.lock().ok()?;
        let (fill, waiting, n_filled) = &mut *feed;
        let number = (*n_filled)?;
        let mut job = waiting.recv().ok()?;
        *n_filled = fill(&mut job).then_some(number + 1);
        n_filled.map(|_| (number, job))
    };
    thread::scope(|scope| {
        let mut n_spawned = 0;
        for _ in 0..n_threads {
            let (next, tell) = (&next, tell.clone());
            let work = move || {
                let mut work = worker();
                while let Some((number, mut job)) = next() {
                    let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut job)));
                    if tell.send((number, job, outcome)).is_err() {
                        return;
                    }
                }
            };
            n_spawned += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
        }
        drop(tell);
        // Threads that wait for one of these end when this one leaves.
        let (free, done) = (free, done);
        let (mut early, mut n_lent) = (BTreeMap::new(), 0);
        while let Ok((number, job, outcome)) = done.recv() {
            early.insert(number, (job, outcome));
            while let Some((job, outcome)) = early.remove(&n_lent) {
                n_lent += 1;
                let _ = free.send(job);
                if let Err(error) = lend(outcome.unwrap_or_else(|panic| resume_unwind(panic))) {
                    return Some(Err(error));
                }
            }
        }
        (n_spawned > 0).then_some(Ok(()))
    })
}

/// Does the work of every part on `n_threads` threads. What comes of it is in the order of the parts, up to the first error.
pub fn each<P: Sync, T: Send, X: Send>(
    n_threads: usize,
    parts: &[P],
    work: impl Fn(&P) -> Result<T, X> + Sync,
) -> Result<Vec<T>, X> {
    let (mut next, mut all) = (parts.iter(), Vec::with_capacity(parts.len()));
    let fill = |job: &mut Option<_>| {
        *job = next.next();
        job.is_some()
    };
    let worker = || |job: &mut Option<_>| job.map(&work);
    in_order(
        n_threads.min(parts.len()),
        || None,
        fill,
        worker,
        |done| {
            all.extend(done.transpose()?);
            Ok(())
        },
    )?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is lent of jobs 0, 1 and so on, as far as `work` and `fill` let them come.
    fn run(
        n_threads: usize,
        n_jobs: usize,
        work: impl Fn(usize) -> Result<usize, String> + Sync,
    ) -> (Vec<usize>, Result<(), String>) {
        let (mut n_filled, mut all) = (0, Vec::new());
        let fill = |job: &mut usize| {
            *job = n_filled;
            n_filled += 1;
            *job < n_jobs
        };
        let outcome = in_order(
            n_threads,
            || 0,
            fill,
            || |job: &mut usize| work(*job),
            |number| {
                all.push(number?);
                Ok(())
            },
        );
        (all, outcome)
    }

    #[test]
    fn outcomes_come_in_order_whoever_is_slow() {
        for n_threads in [0, 1, 2, 3, 8] {
            let slow = |job: usize| {
                (0..if job % 13 == 1 { 10_000 } else { 0 }).for_each(|_| thread::yield_now());
                Ok(job * job)
            };
            let (all, outcome) = run(n_threads, 100, slow);
            assert_eq!(all, (0..100).map(|job| job * job).collect::<Vec<_>>(), "{n_threads} threads");
            assert_eq!((outcome, run(n_threads, 0, slow).0), (Ok(()), Vec::new()));
        }
    }

    #[test]
    fn the_first_error_in_order_ends_all_and_no_job_is_filled_far_ahead() {
        for n_threads in [1, 2, 5] {
            let work = |job: usize| if job % 10 == 7 { Err(format!("job {job}")) } else { Ok(job) };
            let (all, outcome) = run(n_threads, usize::MAX, work);
            assert_eq!((all, outcome), ((0..7).collect(), Err("job 7".to_owned())), "{n_threads} threads");
            let parts: Vec<usize> = (0..30).collect();
            assert_eq!(each(n_threads, &parts, |part| work(*part)), Err("job 7".to_owned()));
            assert_eq!(each(n_threads, &parts[..7], |part| work(*part)), Ok(parts[..7].to_vec()));
        }
    }

    #[test]
    fn a_panic_is_handed_on_and_no_thread_waits_for_ever() {
        for place in [0, 1, 50] {
            let panics = || {
                run(3, 100, |job| {
                    assert_ne!(job, place, "as it should here");
                    Ok(job)
                })
            };
            assert!(catch_unwind(panics).is_err());
        }
        let (mut n_filled, mut all) = (0, 0);
        let fill = |(): &mut ()| {
            n_filled += 1;
            assert!(n_filled < 20, "as it should here");
            true
        };
        let lends = || {
            in_order(
                3,
                || (),
                fill,
                || |(): &mut ()| (),
                |()| -> Result<(), ()> {
                    all += 1;
                    Ok(())
                },
            )
        };
        assert!(catch_unwind(AssertUnwindSafe(lends)).is_err());
    }
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
