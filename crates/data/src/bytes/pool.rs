//! What outlives a part of a source: threads that parse, and buffers.
//!
//! A source may have thousands of parts. If each had threads and buffers of its own, the memory of the
//! process would grow with their number even though everything is given back: every new thread begins a
//! heap of its own, and a heap in which buffers of many sizes come and go is full of holes. So there is one
//! pool per stream. It starts as many threads as the first part wants and lends them to one part after the
//! other; buffers are taken from it and given back. Nothing here knows what is parsed.

use std::any::Any;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Longer buffers are not kept: they were needed for one odd record.
const MAX_KEPT_BYTES: usize = 1 << 20;

type Task = Box<dyn FnOnce() + Send>;

/// Threads and buffers that are used again.
#[derive(Default)]
pub(crate) struct Pool {
    /// The way to each thread. A thread ends when it is gone.
    threads: Mutex<Vec<Sender<Task>>>,
    buffers: Mutex<Vec<Vec<u8>>>,
    /// What else is used again, of any type.
    spare: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Pool {
    /// Has `task` done by thread `number`, which is started if need be, after what it was given before.
    /// A thread that cannot be started does nothing.
    pub(crate) fn run(&self, number: usize, task: impl FnOnce() + Send + 'static) {
        let mut threads = locked(&self.threads);
        let mut task: Task = Box::new(task);
        if let Some(thread) = threads.get(number) {
            match thread.send(task) {
                Ok(()) => return,
                // It is gone, and its place is taken by another.
                Err(back) => task = back.0,
            }
        }
        let (tasks_in, tasks) = channel::<Task>();
        let started = thread::Builder::new().name(format!("parser {number}")).spawn(move || {
            while let Ok(task) = tasks.recv() {
                task();
            }
        });
        if started.is_err() || tasks_in.send(task).is_err() {
            return;
        }
        match threads.get_mut(number) {
            Some(place) => *place = tasks_in,
            None => threads.push(tasks_in),
        }
    }

    /// A buffer of `n_bytes`, holding anything.
    pub(crate) fn take_buffer(&self, n_bytes: usize) -> Vec<u8> {
        let mut buffers = locked(&self.buffers);
        // The smallest that is large enough; otherwise none is grown, as others will want them.
        let fits = |buffer: &Vec<u8>| (buffer.capacity() >= n_bytes).then_some(buffer.capacity());
        let found =
            buffers.iter().enumerate().filter_map(|(place, buffer)| Some((fits(buffer)?, place))).min();
        let mut buffer = found.map_or_else(Vec::new, |(_, place)| buffers.swap_remove(place));
        drop(buffers);
        buffer.resize(n_bytes, 0);
        buffer
    }

    /// Takes a buffer back.
    pub(crate) fn give_buffer(&self, buffer: Vec<u8>) {
        if (1..=MAX_KEPT_BYTES).contains(&buffer.capacity()) {
            locked(&self.buffers).push(buffer);
        }
    }

    /// Something that was given back, holding anything, or a new one.
    pub(crate) fn take_spare<T: Any + Default>(&self) -> T {
        let mut spare = locked(&self.spare);
        let found = spare.iter().rposition(|spare| spare.is::<T>()).map(|place| spare.swap_remove(place));
        found.and_then(|found| found.downcast().ok()).map(|found| *found).unwrap_or_default()
    }

    /// Takes something back.
    pub(crate) fn give_spare<T: Any + Send>(&self, spare: T) {
        locked(&self.spare).push(Box::new(spare));
    }
}

/// No thread leaves a list half changed, so that a panic does no harm.
fn locked<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_threads = locked(&self.threads).len();
        f.debug_struct("Pool").field("n_threads", &n_threads).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn threads_and_buffers_are_used_again() {
        let pool = Arc::new(Pool::default());
        let (tell, heard) = channel();
        let mut seen = Vec::new();
        for _ in 0..10 {
            for number in 0..2 {
                let tell = tell.clone();
                pool.run(number, move || tell.send(thread::current().id()).unwrap());
                seen.push(heard.recv().unwrap());
            }
        }
        assert!(seen.chunks(2).all(|pair| pair == &seen[..2]), "{seen:?}");
        assert_ne!(seen[0], seen[1]);
        // A thread that is lost to a panic is replaced.
        pool.run(0, || std::panic::resume_unwind(Box::new(())));
        let again = tell.clone();
        while heard.recv_timeout(std::time::Duration::from_millis(10)).is_err() {
            let again = again.clone();
            pool.run(0, move || {
                let _ = again.send(thread::current().id());
            });
        }

        let (short, long) = (pool.take_buffer(10), pool.take_buffer(1000));
        let places = [short.as_ptr(), long.as_ptr()];
        pool.give_buffer(long);
        pool.give_buffer(short);
        pool.give_buffer(vec![0; MAX_KEPT_BYTES + 1]);
        let (long, short) = (pool.take_buffer(900), pool.take_buffer(10));
        assert_eq!(([short.as_ptr(), long.as_ptr()], short.len(), long.len()), (places, 10, 900));
        assert_eq!(pool.take_buffer(20).capacity(), 20);
    }
}
