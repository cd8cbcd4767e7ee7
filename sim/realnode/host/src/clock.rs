//! The time, the randomness and the waiting of the node: what the C library would ask the kernel for is answered from the
//! state of this thread, the program's only one. Any other would have a clock that stands still.

use crate::node;
use std::cell::Cell;

thread_local! {
    static UNIX_NS: Cell<u64> = const { Cell::new(0) };
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// This thread's time, in milliseconds since the epoch of Unix.
pub fn now_ms() -> u64 {
    UNIX_NS.get() / 1_000_000
}

/// Sets this thread's time: that which the node's clock shows, right or wrong.
pub fn set(now_ms: u64) {
    UNIX_NS.set(now_ms * 1_000_000);
}

/// Seeds this thread's randomness.
pub fn seed(seed: u64) {
    RANDOM.set(seed);
}

fn random() -> u64 {
    // SplitMix64.
    let state = RANDOM.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    RANDOM.set(state);
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

#[repr(C)]
struct Timeval {
    seconds: i64,
    microseconds: i64,
}

/// Stands in the place of the C library's function: std, tokio and every crate in this program read this clock.
///
/// # Safety
/// `out` is null or points to a `timespec`, as the C library demands.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(_id: i32, out: *mut Timespec) -> i32 {
    let ns = UNIX_NS.get();
    if !out.is_null() {
        let value = Timespec { seconds: (ns / 1_000_000_000) as i64, nanoseconds: (ns % 1_000_000_000) as i64 };
        unsafe { out.write(value) };
    }
    0
}

/// As [clock_gettime].
///
/// # Safety
/// `out` is null or points to a `timeval`.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(out: *mut Timeval, _zone: *mut std::ffi::c_void) -> i32 {
    let ns = UNIX_NS.get();
    if !out.is_null() {
        let value = Timeval { seconds: (ns / 1_000_000_000) as i64, microseconds: (ns % 1_000_000_000 / 1000) as i64 };
        unsafe { out.write(value) };
    }
    0
}

/// As [clock_gettime].
///
/// # Safety
/// `out` is null or points to a `time_t`.
#[unsafe(no_mangle)]
unsafe extern "C" fn time(out: *mut i64) -> i64 {
    let seconds = (UNIX_NS.get() / 1_000_000_000) as i64;
    if !out.is_null() {
        unsafe { out.write(seconds) };
    }
    seconds
}

/// Stands in the place of the C library's function: hash maps, identifiers and `select!` follow the node's seed.
///
/// # Safety
/// `out` has room for `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(out: *mut u8, len: usize, _flags: u32) -> isize {
    let mut done = 0;
    while done < len {
        let bytes = random().to_le_bytes();
        let n = bytes.len().min(len - done);
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.add(done), n) };
        done += n;
    }
    len as isize
}

/// Stands in the place of the C library's function, in which tokio waits for its next timer. Nothing here has a file to
/// wait for: the time passes at once, or the node's grant is over.
#[unsafe(no_mangle)]
extern "C" fn epoll_wait(_file: i32, _events: *mut std::ffi::c_void, _room: i32, timeout_ms: i32) -> i32 {
    // With 0 tokio only looks: tasks are ready, or a timer is due.
    if timeout_ms != 0 {
        node::idle(u64::try_from(timeout_ms).ok());
    }
    0
}
