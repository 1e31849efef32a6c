//! What the page calls: four functions of plain numbers, and memory that it reads and writes itself.
//!
//! The page asks for room, writes its request there, and has it answered; the answer and the numbers beside it lie in
//! memory until the next request. No pointer is followed on this side, so nothing but the names is unsafe.
#![expect(unsafe_code, reason = "names that a page can find are marked so; nothing else here is unsafe")]

#[cfg(feature = "package")]
use crate::package::Package as Session;
#[cfg(not(feature = "package"))]
use crate::session::Session;
use std::cell::RefCell;

#[derive(Default)]
struct Desk {
    session: Session,
    request: Vec<u8>,
    bytes: Vec<u8>,
    answer: String,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Room for a request of `n_bytes` bytes, or, if `part` is 1, for the bytes of a file that it is about.
#[unsafe(no_mangle)]
pub extern "C" fn rosenblatt_room(part: u32, n_bytes: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        let room = if part == 1 { &mut desk.bytes } else { &mut desk.request };
        room.clear();
        room.resize(n_bytes, 0);
        room.as_mut_ptr()
    })
}

/// Answers the request; says how long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn rosenblatt_ask() -> usize {
    DESK.with_borrow_mut(|desk| {
        let (request, bytes) = (std::mem::take(&mut desk.request), std::mem::take(&mut desk.bytes));
        desk.answer = desk.session.ask(&request, bytes);
        desk.answer.len()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn rosenblatt_answer() -> *const u8 {
    DESK.with_borrow(|desk| desk.answer.as_ptr())
}

/// Where the numbers beside the answer are, which says how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn rosenblatt_numbers() -> *const f64 {
    DESK.with_borrow(|desk| desk.session.numbers().as_ptr())
}

/// Where the file beside the answer is, which says how long it is.
#[cfg(feature = "package")]
#[unsafe(no_mangle)]
pub extern "C" fn rosenblatt_bytes() -> *const u8 {
    DESK.with_borrow(|desk| desk.session.bytes().as_ptr())
}
