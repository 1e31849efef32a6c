//! The driver, the card and its memory: all that is not safe by itself is here.
#![expect(unsafe_code, reason = "a driver is called, and code runs on a card whose memory Rust does not see")]

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchArgs,
    LaunchConfig, PinnedHostSlice, PushKernelArg, ValidAsZeroBits, result, sys,
};
use cudarc::nvrtc::Ptx;
use rosenblatt_core::Random;
use rosenblatt_kernel::{Ending, Found, Trouble};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What runs on the card, and what has better instructions on cards since Hopper.
const CODE: &str = include_str!("kernels.ptx");
const TENSOR_CODE: &str = include_str!("tensors.ptx");
/// The oldest version of CUDA whose drivers read it.
const OLDEST_DRIVER: (i32, &str) = (12_000, "12.0");
/// The oldest kind of card that runs it.
const OLDEST_CARD: ((i32, i32), &str) = ((8, 0), "8.0");

/// All cards there are; the trouble says why there is none.
pub fn cards() -> Result<Vec<Found>, Trouble> {
    let there = n_cards()?;
    let found = |number: usize| {
        let device = named(number).map_err(trouble)?;
        let name = result::device::get_name(device).map_err(trouble)?;
        // SAFETY: the device is one that the driver has just named.
        let memory = unsafe { result::device::total_mem(device) }.map_err(trouble)?;
        Ok(Found { number, name, memory, capability: capability(device)? })
    };
    (0..there).map(found).collect()
}

/// How many cards there are, after the driver was found to be there and not too old.
fn n_cards() -> Result<usize, Trouble> {
    // SAFETY: opens a library, whose start-up code is trusted as that of any driver.
    if !unsafe { sys::is_culib_present() } {
        return Err(Trouble::NoDriver);
    }
    let mut version = 0;
    // SAFETY: writes one number to the given place.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(trouble)?;
    if version < OLDEST_DRIVER.0 {
        let found = format!("{}.{}", version / 1000, version % 1000 / 10);
        return Err(Trouble::OldDriver { found, needed: OLDEST_DRIVER.1 });
    }
    match result::init() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => {
            return Err(Trouble::NoCard { asked: 0, there: 0 });
        }
        other => other.map_err(trouble)?,
    }
    let there = result::device::get_count().map_err(trouble)?;
    if there == 0 { Err(Trouble::NoCard { asked: 0, there: 0 }) } else { Ok(there as usize) }
}

/// The card of this number, as the driver calls it.
fn named(number: usize) -> Result<sys::CUdevice, DriverError> {
    result::device::get(i32::try_from(number).unwrap_or(i32::MAX))
}

fn capability(device: sys::CUdevice) -> Result<(i32, i32), Trouble> {
    use sys::CUdevice_attribute_enum::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    // SAFETY: the device is one that the driver has named.
    let part = |which| unsafe { result::device::get_attribute(device, which) }.map_err(trouble);
    Ok((part(MAJOR)?, part(MINOR)?))
}

/// What the driver says, in our words.
pub(crate) fn trouble(error: DriverError) -> Trouble {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Trouble::Memory,
        sys::CUresult::CUDA_ERROR_NO_DEVICE => Trouble::NoCard { asked: 0, there: 0 },
        _ => Trouble::Failed(error.to_string()),
    }
}

/// How many pieces of memory are kept for others.
const MOST_SPARE: usize = 8;

/// A card, with our code on it.
#[derive(Debug)]
pub(crate) struct Card {
    context: Arc<CudaContext>,
    name: String,
    /// Bytes that were free when it was opened.
    pub(crate) memory: usize,
    pub(crate) does: Functions,
    /// Memory that was let go, to be used again: having it locked in its place takes long.
    spare: Mutex<Vec<PinnedHostSlice<f64>>>,
}

/// The functions of `kernels.cu`.
#[derive(Debug)]
pub(crate) struct Functions {
    pub(crate) dense_products: CudaFunction,
    /// The same by tensor units, where these are quicker and add in the processor's order.
    pub(crate) tensor_products: Option<CudaFunction>,
    pub(crate) dense_distances: CudaFunction,
    pub(crate) dense_minima: CudaFunction,
    pub(crate) whole_products: CudaFunction,
    pub(crate) sparse_products: CudaFunction,
    pub(crate) sparse_distances: CudaFunction,
    pub(crate) sparse_minima: CudaFunction,
    pub(crate) spread_doubles: CudaFunction,
    pub(crate) spread_bytes: CudaFunction,
    pub(crate) file_entries: CudaFunction,
    pub(crate) add_up: CudaFunction,
    pub(crate) vote_per_output: CudaFunction,
    pub(crate) vote_jointly: CudaFunction,
    pub(crate) pick_rows: CudaFunction,
    pub(crate) walk: CudaFunction,
}

/// How much shared memory the tile of whole numbers takes: three slabs of 128 and 128 lines of 80 bytes. That of doubles by
/// tensor units: three of 128 and 64 lines of 160 bytes.
pub(crate) const WHOLE_SHARED: u32 = 3 * (128 + 128) * 80;
pub(crate) const TENSOR_SHARED: u32 = 3 * (128 + 64) * 160;

/// The cards that are open. Opening takes a fifth of a second, and you will likely want an opened one again.
static OPEN: Mutex<BTreeMap<usize, Arc<Card>>> = Mutex::new(BTreeMap::new());

impl Card {
    pub(crate) fn shared(number: usize) -> Result<Arc<Self>, Trouble> {
        let mut open = OPEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(card) = open.get(&number) {
            return Ok(Arc::clone(card));
        }
        let card = Arc::new(Self::open(number)?);
        open.insert(number, Arc::clone(&card));
        Ok(card)
    }

    fn open(number: usize) -> Result<Self, Trouble> {
        let there = n_cards()?;
        if number >= there {
            return Err(Trouble::NoCard { asked: number, there });
        }
        let device = named(number).map_err(trouble)?;
        let name = result::device::get_name(device).map_err(trouble)?;
        let found = capability(device)?;
        if found < OLDEST_CARD.0 {
            let found = format!("{}.{}", found.0, found.1);
            return Err(Trouble::OldCard { name, found, needed: OLDEST_CARD.1 });
        }
        let context = CudaContext::new(number).map_err(trouble)?;
        // SAFETY: every worker has a stream of its own and shares no memory with others, so no other needs
        // waiting for.
        unsafe { context.disable_event_tracking() };
        keep_memory(&context)?;
        let memory = context.mem_get_info().map(|(free, _)| free).map_err(trouble)?;
        let module: Arc<CudaModule> = context.load_module(Ptx::from_src(CODE)).map_err(trouble)?;
        let function = |name: &str| module.load_function(name).map_err(trouble);
        // Other cards have such units only in name.
        let tensor_products = match found {
            (8, 0) => Some(function("tensor_products")?),
            (9, 0) | (10, 0 | 3) => {
                let module = context.load_module(Ptx::from_src(TENSOR_CODE)).map_err(trouble)?;
                Some(module.load_function("tensor_products").map_err(trouble)?)
            }
            _ => None,
        };
        let mut does = Functions {
            dense_products: function("dense_products")?,
            tensor_products,
            dense_distances: function("dense_distances")?,
            dense_minima: function("dense_minima")?,
            whole_products: function("whole_products")?,
            sparse_products: function("sparse_products")?,
            sparse_distances: function("sparse_distances")?,
            sparse_minima: function("sparse_minima")?,
            spread_doubles: function("spread_doubles")?,
            spread_bytes: function("spread_bytes")?,
            file_entries: function("file_entries")?,
            add_up: function("add_up")?,
            vote_per_output: function("vote_per_output")?,
            vote_jointly: function("vote_jointly")?,
            pick_rows: function("pick_rows")?,
            walk: function("walk")?,
        };
        let most_shared = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        does.whole_products.set_attribute(most_shared, WHOLE_SHARED.cast_signed()).map_err(trouble)?;
        if let Some(tensors) = &does.tensor_products {
            tensors.set_attribute(most_shared, TENSOR_SHARED.cast_signed()).map_err(trouble)?;
            if !add_alike(&context, tensors, &does.dense_products)? {
                does.tensor_products = None;
            }
        }
        Ok(Self { context, name, memory, does, spare: Mutex::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A queue of work that waits for no other.
    pub(crate) fn stream(&self) -> Result<Arc<CudaStream>, Trouble> {
        self.context.new_stream().map_err(trouble)
    }
}

/// Whether tensor units give the bits of plain ones, for rows whose sums depend on the order and on every rounding: numbers of
/// all sizes that cancel each other, and rows whose products are next to nothing.
fn add_alike(
    context: &Arc<CudaContext>,
    tensors: &CudaFunction,
    plain: &CudaFunction,
) -> Result<bool, Trouble> {
    let (n_rows, n_slots, stride) = (200_u32, 144_u32, 144_u32);
    let mut random = Random::for_purpose(0, "tensor units");
    let mut draw = |n: u32| -> Vec<f64> {
        let mut one = |row: u32| {
            let size = if row % 4 == 3 {
                -530
            } else {
                [0, 0, random.below(60) as i32 - 30][random.below(3) as usize]
            };
            (random.unit() - 0.5) * 2.0_f64.powi(size)
        };
        (0..n * stride).map(|place| one(place / stride)).collect()
    };
    let stream = context.new_stream().map_err(trouble)?;
    let (rows, block) = (draw(n_rows), draw(n_slots));
    let (rows, block) =
        (stream.clone_htod(&rows).map_err(trouble)?, stream.clone_htod(&block).map_err(trouble)?);
    let norms2 = stream.alloc_zeros::<f64>(n_rows as usize).map_err(trouble)?;
    let sums_of = |function: &CudaFunction, shared: u32| {
        let mut sums = stream.alloc_zeros::<f64>((n_rows * n_slots) as usize).map_err(trouble)?;
        let (nothing, zero, ending) = (0_u64, 0_u32, RawEnding::default());
        let mut args = stream.launch_builder(function);
        args.arg(&rows).arg(&nothing).arg(&n_rows).arg(&zero).arg(&n_rows).arg(&zero).arg(&block);
        args.arg(&n_slots).arg(&stride).arg(&norms2).arg(&norms2).arg(&nothing).arg(&ending).arg(&mut sums);
        launch(args, (n_slots.div_ceil(64) as usize, n_rows.div_ceil(128) as usize), 128, shared)?;
        let sums = stream.clone_dtoh(&sums).map_err(trouble)?;
        stream.synchronize().map_err(trouble)?;
        Ok(sums.iter().map(|sum| sum.to_bits()).collect::<Vec<u64>>())
    };
    Ok(sums_of(tensors, TENSOR_SHARED)? == sums_of(plain, 0)?)
}

/// Has the driver keep memory that was let go for the next who wants some, instead of unmapping it at every stop.
fn keep_memory(context: &CudaContext) -> Result<(), Trouble> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let (mut pool, mut most) = (std::ptr::null_mut(), u64::MAX);
    let threshold = sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the pool is that of the card, and the attribute is a number of 64 bits.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()).result().map_err(trouble)?;
        sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut most).cast()).result().map_err(trouble)
    }
}

/// What a kernel makes of a sum, as `kernels.cu` has it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RawEnding {
    kind: i32,
    degree: u32,
    gamma: f64,
    offset: f64,
    constant: f64,
}

// SAFETY: plain numbers, in C's order.
unsafe impl DeviceRepr for RawEnding {}

impl RawEnding {
    pub(crate) fn new(ending: Ending, constant: f64) -> Self {
        let plain = Self { constant, ..Self::default() };
        match ending {
            Ending::Sum => plain,
            Ending::Power { gamma, offset, degree } => Self { kind: 1, degree, gamma, offset, ..plain },
            Ending::Gauss { gamma } => Self { kind: 2, gamma, ..plain },
            Ending::Tanh { gamma, offset } => Self { kind: 3, gamma, offset, ..plain },
            // Distances have no other ending, so the code does not ask.
            Ending::Decay { gamma } => Self { gamma, ..plain },
            Ending::Angle => Self { kind: 4, ..plain },
        }
    }
}

/// A move, as `kernels.cu` has it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RawEntry {
    pub(crate) amount: f64,
    pub(crate) keep: f64,
    pub(crate) row: u32,
    pub(crate) output: u32,
}

// SAFETY: plain numbers, in C's order.
unsafe impl DeviceRepr for RawEntry {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for RawEntry {}

/// How long a hypothesis lived and its bias, as `kernels.cu` has it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RawLife {
    pub(crate) lived: f64,
    pub(crate) bias: f64,
}

// SAFETY: plain numbers, in C's order.
unsafe impl DeviceRepr for RawLife {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for RawLife {}

/// What is known of a move before a walk along the log, as `kernels.cu` has it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RawStage {
    pub(crate) stood: f64,
    pub(crate) lived: f64,
    pub(crate) weight: f64,
    pub(crate) shrink: f64,
}

// SAFETY: plain numbers, in C's order.
unsafe impl DeviceRepr for RawStage {}
// SAFETY: zeros are numbers.
unsafe impl ValidAsZeroBits for RawStage {}

/// Puts a function into its stream's queue, unless there is nothing to do.
///
/// Arguments must be those of the function, and what they point to as large as it expects: that is seen to where they are
/// put together (`worker.rs`, `rows.rs`), and by the tests that run with a memory checker.
pub(crate) fn launch(
    mut args: LaunchArgs<'_>,
    grid: (usize, usize),
    threads: u32,
    shared: u32,
) -> Result<(), Trouble> {
    if grid.0 == 0 || grid.1 == 0 {
        return Ok(());
    }
    let grid_dim = (grid.0 as u32, grid.1 as u32, 1);
    let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: shared };
    // SAFETY: as above.
    unsafe { args.launch(config) }.map(|_| ()).map_err(trouble)
}

/// Memory of the processor that the card writes to without a stop between.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    memory: Option<PinnedHostSlice<f64>>,
    from: usize,
}

impl Pinned {
    /// Asks for numbers of the card, which are here once the queue is empty: wait for that.
    pub(crate) fn fetch(
        &mut self,
        card: &Card,
        stream: &Arc<CudaStream>,
        from: &CudaSlice<f64>,
        n: usize,
    ) -> Result<(), Trouble> {
        if self.memory.as_ref().is_none_or(|memory| memory.len() < n) {
            self.give_back(card);
            let mut spare = card.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let fitting = spare.iter().position(|memory| memory.len() >= n);
            let mut memory: PinnedHostSlice<f64> = if let Some(place) = fitting {
                spare.swap_remove(place)
            } else {
                // SAFETY: it is not read before the card has written; flag 0 is memory that the processor
                // reads quickly.
                unsafe { card.context.alloc_pinned_with_flags(n, 0) }.map_err(trouble)?
            };
            self.from = memory.as_mut_ptr().map_err(trouble)? as usize;
            self.memory = Some(memory);
        }
        // SAFETY: there is room for `n` numbers, and they are not read before the queue is empty.
        let room = unsafe { std::slice::from_raw_parts_mut(self.from as *mut f64, n) };
        stream.memcpy_dtoh(&from.slice(..n), room).map_err(trouble)
    }

    /// Leaves the memory to others.
    pub(crate) fn give_back(&mut self, card: &Card) {
        let mut spare = card.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.extend(self.memory.take());
        }
        self.memory = None;
    }

    /// What was fetched last.
    pub(crate) fn numbers(&self) -> &[f64] {
        let Some(memory) = &self.memory else { return &[] };
        // SAFETY: the memory is there as long as this is, and the worker waits for what it asked for before it returns.
        unsafe { std::slice::from_raw_parts(self.from as *const f64, memory.len()) }
    }
}
