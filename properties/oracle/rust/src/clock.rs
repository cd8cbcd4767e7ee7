//! A clock that tests can set, under code that asks the operating system for the time.
//!
//! On Linux this module defines `clock_gettime`, `gettimeofday` and `time`. The linker prefers them to those of the C
//! library, for std, for every crate, and for libraries in C such as SQLite. Until [replace] or [Virtual::start] they
//! pass the kernel's time on.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether readings of the time can be answered by this module.
pub const AVAILABLE: bool = cfg!(target_os = "linux");

/// A clock of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time of day.
    Wall,
    /// Any other clock: deadlines and measurements go by it.
    Other,
}

/// Tells what a clock shows, in nanoseconds. None stands for the kernel's answer.
pub type Source = fn(Clock) -> Option<u64>;

static SOURCE: RwLock<Source> = RwLock::new(virtual_wall);

/// Has every thread of this program read this clock.
pub fn replace(source: Source) {
    *SOURCE.write().expect("nobody panics with this lock") = source;
}

/// The virtual wall clock in nanoseconds since 1970; 0 while there is none.
static NOW_NS: AtomicU64 = AtomicU64::new(0);

/// Readings are a nanosecond apart, so that no identifier made from the time comes twice.
pub(crate) fn virtual_wall(clock: Clock) -> Option<u64> {
    if clock != Clock::Wall || NOW_NS.load(Ordering::Relaxed) == 0 {
        return None; // waits and timeouts go by the real clock
    }
    Some(NOW_NS.fetch_add(1, Ordering::Relaxed))
}

const MS: u64 = 1_000_000;

/// A virtual wall clock for the whole program, until it is dropped. Only one may exist at a time.
pub struct Virtual(());

impl Virtual {
    /// Stops the wall clock at this time, in milliseconds since 1970, which must not be 0.
    pub fn start(now_ms: u64) -> Virtual {
        NOW_NS.store(now_ms * MS, Ordering::SeqCst);
        Virtual(())
    }

    /// The time in milliseconds.
    pub fn now_ms(&self) -> u64 {
        NOW_NS.load(Ordering::SeqCst) / MS
    }

    /// Moves the clock forward to this millisecond. What was measured from an earlier reading is over then, for a
    /// provider that counts nanoseconds, too: within a millisecond the readings go on where they were.
    pub fn set(&self, now_ms: u64) {
        let later = |now: u64| (now_ms > now / MS).then(|| now_ms * MS + now % MS);
        let _ = NOW_NS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, later); // it stays if it is that late already
    }

    /// Sets the clock back to this time, for a new store: the same calls have the same times again.
    pub fn restart(&self, now_ms: u64) {
        NOW_NS.store(now_ms * MS, Ordering::SeqCst);
    }
}

impl Drop for Virtual {
    fn drop(&mut self) {
        NOW_NS.store(0, Ordering::SeqCst);
    }
}

#[cfg(target_os = "linux")]
mod replaced {
    use super::{Clock, SOURCE};
    use libc::{c_int, c_void, clockid_t, time_t, timespec, timeval};

    const SECOND: u64 = 1_000_000_000;

    /// The time that a source tells, or the kernel.
    fn now(clock: Clock) -> Option<u64> {
        // A thread that holds the lock for writing does not read the time.
        let source = *SOURCE.read().ok()?;
        source(clock)
    }

    /// Asks the kernel, since the C library's function has this one's name.
    unsafe fn ask_kernel(id: clockid_t, out: *mut timespec) -> c_int {
        unsafe { libc::syscall(libc::SYS_clock_gettime, id, out) as c_int }
    }

    /// # Safety
    /// `out` is null or points to a `timespec`, as the C library demands.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn clock_gettime(id: clockid_t, out: *mut timespec) -> c_int {
        let clock = match id {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => Clock::Wall,
            _ => Clock::Other,
        };
        let Some(ns) = now(clock) else {
            return unsafe { ask_kernel(id, out) };
        };
        if !out.is_null() {
            let value = timespec { tv_sec: (ns / SECOND) as time_t, tv_nsec: (ns % SECOND) as _ };
            unsafe { out.write(value) };
        }
        0
    }

    fn wall() -> timespec {
        let mut value = timespec { tv_sec: 0, tv_nsec: 0 };
        unsafe { clock_gettime(libc::CLOCK_REALTIME, &mut value) };
        value
    }

    /// # Safety
    /// `out` is null or points to a `timeval`.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn gettimeofday(out: *mut timeval, _zone: *mut c_void) -> c_int {
        let value = wall();
        if !out.is_null() {
            unsafe { out.write(timeval { tv_sec: value.tv_sec, tv_usec: (value.tv_nsec / 1000) as _ }) };
        }
        0
    }

    /// # Safety
    /// `out` is null or points to a `time_t`.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn time(out: *mut time_t) -> time_t {
        let seconds = wall().tv_sec;
        if !out.is_null() {
            unsafe { out.write(seconds) };
        }
        seconds
    }
}
