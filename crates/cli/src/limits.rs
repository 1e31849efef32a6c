//! When the machine has no more to give: memory, threads, room in a file. The program says so in one line, removes its
//! temporary files and ends with 1, as it does for a full disk, instead of being ended without a word.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::panic;

/// The system's memory, and an end in order where there is no more.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

#[expect(
    unsafe_code,
    reason = "only an allocator hears of memory that is not given, and its calls are passed on as they are"
)]
// SAFETY: every call is the system allocator's own; what it refuses ends the process.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on as it came.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on as it came.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: passed on as it came.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on as it came.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Whether the first thread may use so much stack.
pub(crate) fn has_stack(n_bytes: usize) -> bool {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
        limit.is_none_or(|limit| limit >= n_bytes as u64)
    }
    #[cfg(not(unix))]
    {
        let _ = n_bytes;
        false
    }
}

#[inline(always)]
fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exhausted(size);
    }
    memory
}

/// Ends the program for want of memory.
#[cold]
fn exhausted(size: usize) -> ! {
    // Into memory that is there already.
    let mut line = [0_u8; 200];
    let mut rest = line.as_mut_slice();
    let _ = writeln!(
        rest,
        "error: the system gives no more memory ({size} bytes more were asked for); try `--memory`, `--online` or a smaller part"
    );
    let unused = rest.len();
    end(&line[..line.len() - unused])
}

/// Removes what is unfinished, says why, and ends the program.
fn end(line: &[u8]) -> ! {
    let _ = std::io::stderr().write_all(line);
    rosenblatt_data::files::try_remove_unfinished();
    exit()
}

#[expect(clippy::exit, reason = "nothing that is left could be done without what is missing")]
fn exit() -> ! {
    std::process::exit(1)
}

/// From now on a thread that cannot be started ends the program in order, and a file that grows beyond a limit is an
/// error of writing.
pub(crate) fn tell_of_exhaustion() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if message.contains("failed to spawn thread") {
            end(b"error: the system gives no more threads, or no memory for them; try `--threads 1`\n");
        }
        usual(panic);
    }));
    #[cfg(unix)]
    {
        // With a handler the signal does not kill, and the call that writes tells of the limit.
        let heard = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    }
}
