//! An allocator that counts, so that a test can state how much memory was in use at most: by the whole
//! program, or by what one thread did.

#![allow(unreachable_pub, dead_code, reason = "shared by tests and an example, of which it is a module")]
#![expect(unsafe_code, reason = "an allocator cannot be had without; it only counts and passes on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What this thread asked for less what it gave back, and the most that ever was.
    static MINE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// What this thread asked for.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes in use at any moment so far.
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Forgets the peak: it is what is in use now.
pub fn forget_peak() {
    PEAK.store(IN_USE.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// How many bytes are in use.
pub fn in_use() -> usize {
    IN_USE.load(Ordering::Relaxed)
}

/// What `work` returns, and how many bytes this thread had in use at most while it ran, beyond those before.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = MINE.get().0;
    MINE.set((before, before));
    let outcome = work();
    (outcome, (MINE.get().1 - before).max(0).cast_unsigned())
}

/// What `work` returns, and how many bytes this thread asked for while it ran, whether it gave them back or not.
pub fn asked_by<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ASKED.get();
    let outcome = work();
    (outcome, ASKED.get() - before)
}

fn more(n_bytes: usize) {
    let in_use = IN_USE.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes;
    if in_use > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(in_use, Ordering::Relaxed);
    }
    // A thread that is ending has no counts of its own any more.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + n_bytes));
    let _ = MINE.try_with(|mine| {
        let (now, most) = mine.get();
        let now = now + n_bytes.cast_signed();
        mine.set((now, most.max(now)));
    });
}

fn fewer(n_bytes: usize) {
    IN_USE.fetch_sub(n_bytes, Ordering::Relaxed);
    let _ = MINE.try_with(|mine| {
        let (now, most) = mine.get();
        mine.set((now - n_bytes.cast_signed(), most));
    });
}

// SAFETY: every call is passed on to the system's allocator as it came; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        fewer(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        fewer(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
