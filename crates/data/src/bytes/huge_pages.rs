//! Room for data that will be large: made at once, and in large pages where the system has them.
//!
//! A fresh page costs a visit to the kernel when it is first written to. For text that is parsed at close to a
//! gigabyte a second, thirty thousand such visits are a fifth of all the time; two hundred are nothing. Nothing
//! here changes what is stored.
//!
//! The only `unsafe` is a call that gives the system advice about memory.

/// Makes room for `n_more` items after those of `list`, if there is as much memory. Without, nothing happens, and
/// the list grows as it must.
pub(crate) fn reserve<T>(list: &mut Vec<T>, n_more: usize) {
    if list.try_reserve_exact(n_more).is_ok() {
        prefer_large_pages(list);
    }
}

/// Advises the system to use large pages for the room after the items.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice to the system about memory that is ours")]
fn prefer_large_pages<T>(list: &mut Vec<T>) {
    /// The size of a large page, on most machines.
    const LARGE: usize = 2 << 20;
    let room = list.spare_capacity_mut();
    let start = room.as_mut_ptr().addr().next_multiple_of(LARGE);
    let end = (room.as_mut_ptr().addr() + size_of_val(room)) / LARGE * LARGE;
    if start < end {
        let first = room.as_mut_ptr().cast::<libc::c_void>().with_addr(start);
        // SAFETY: all of it is room of the list, which is borrowed alone, and advice of this kind changes
        // neither what memory holds nor who may use it. If it is refused, nothing happens.
        let _ = unsafe { libc::madvise(first, end - start, libc::MADV_HUGEPAGE) };
    }
}

/// Other systems decide for themselves.
#[cfg(not(target_os = "linux"))]
fn prefer_large_pages<T>(_list: &mut Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_and_nothing_is_lost() {
        let mut list: Vec<u32> = (0..1000).collect();
        reserve(&mut list, 5 << 20);
        assert!(list.capacity() >= (5 << 20) + 1000);
        list.extend(1000..5 << 20);
        assert!(list.iter().copied().eq(0..5 << 20));
        // More than there is: the list is as it was.
        reserve(&mut list, usize::MAX / 8);
        assert_eq!(list.len(), 5 << 20);
    }
}
