//! The time, the randomness and the waiting of the node: what the C library would ask the kernel for is answered from the
//! state of this thread, the program's only one. Any other would have a clock that stands still.

use crate::node;
use durosim::clock;
use std::cell::Cell;

thread_local! {
    static UNIX_NS: Cell<u64> = const { Cell::new(0) };
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// Has std, tokio and every crate in this program read this thread's time.
pub fn install() {
    clock::replace(|_| Some(UNIX_NS.get()));
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
