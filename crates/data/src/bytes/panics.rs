//! Running what may panic on hostile bytes: the panic is caught, and nothing is printed about it.
//!
//! Decoders that others wrote now and then panic where they should return an error. The caller of [`catch`]
//! turns that into an error of its own; the usual message on stderr would only frighten, so the panic hook
//! is passed over while this thread is inside. Other threads, and panics elsewhere, keep their messages.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// How many calls of [`catch`] this thread is inside.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// What `work` returns, or `None` if it panicked. Whatever it was changing must not be looked at again then.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            // A thread that is ending has no depth any more, and says what it has to say.
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 {
                usual(panic);
            }
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught_and_the_depth_comes_back() {
        assert_eq!(catch(|| 1), Some(1));
        let inner = catch(|| {
            assert!(catch(|| panic!("within")).is_none());
            DEPTH.get()
        });
        assert_eq!((inner, DEPTH.get()), (Some(1), 0));
        assert!(catch(|| [0; 3][std::hint::black_box(3)]).is_none());
        assert_eq!(DEPTH.get(), 0);
    }
}
