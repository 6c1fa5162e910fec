//! Threads for batches: made once for a process, when a batch first needs them.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// More of them would wait for memory.
const MOST_THREADS: usize = 16;

/// Pieces of work for each thread, so that one that has long ones leaves the others to the rest.
const SHARES: usize = 4;

/// The threads, and the process that they live in: a fork leaves them behind.
type Kept = Option<(u32, Arc<ThreadPool>)>;

static POOL: Mutex<Kept> = Mutex::new(None);

/// Runs `work` on all items, on several threads if `is_worth_it` and there are any.
pub(crate) fn for_each<T: Send>(
    items: &mut [T],
    is_worth_it: bool,
    work: impl Fn(&mut T) + Send + Sync,
) {
    let pool = if is_worth_it && items.len() > 1 { pool() } else { None };
    let Some(pool) = pool else {
        items.iter_mut().for_each(work);
        return;
    };
    let share = items.len().div_ceil(pool.current_num_threads() * SHARES);
    let work = &work;
    pool.scope(|scope| {
        for part in items.chunks_mut(share) {
            scope.spawn(move |_| part.iter_mut().for_each(work));
        }
    });
}

/// None where there is one core, or no threads can be had.
fn pool() -> Option<Arc<ThreadPool>> {
    // Never waits: a lock that another thread held during a fork is held for good.
    let mut kept = match POOL.try_lock() {
        Ok(kept) => kept,
        Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
        Err(TryLockError::WouldBlock) => return None,
    };
    let process = std::process::id();
    if let Some((of, pool)) = &*kept
        && *of == process
    {
        return Some(pool.clone());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores == 1 {
        return None;
    }
    let builder = ThreadPoolBuilder::new()
        .num_threads(cores.min(MOST_THREADS))
        .thread_name(|at| format!("stencilm-{at}"));
    let pool = Arc::new(builder.build().ok()?);
    if let Some(left_behind) = kept.replace((process, pool.clone())) {
        // Its threads are not in this process: to end them would wait for them.
        std::mem::forget(left_behind);
    }
    Some(pool)
}
