// What the card computes: kernel values of a block of rows with support rows, and sums of the log in log order.
//
// Every number here has the bits of its twin on the processor (`rosenblatt-kernel`): a sum over features is one chain
// of fused additions in ascending order, a sum over the log is one chain in log order, and all other arithmetic is
// rounded once per operation, which the `_rn` functions demand of the compiler. Whole numbers are summed by the tensor
// units: such sums are exact, so that their order does not matter.
//
// Values are laid out as the processor lays them out: panel of 48 rows by panel, support row by support row.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define PANEL 48
#define NO_ROW 0xffffffffu

// What becomes of a sum.
#define END_SUM 0
#define END_POWER 1
#define END_GAUSS 2
#define END_TANH 3
#define END_ANGLE 4

struct Ending {
    int kind;
    u32 degree;
    double gamma;
    double offset;
    double constant;
};

struct Entry {
    double amount;
    double keep;
    u32 row;
    u32 output;
};

// Exponential and hyperbolic tangent, step by step as `rosenblatt_core::elementary` has them.
#define ROUNDER 6755399441055744.0

__device__ __forceinline__ void split(double x, double &twos, double &rest) {
    const double log2_e = __longlong_as_double(0x3FF71547652B82FELL);
    const double ln_2_high = __longlong_as_double(0x3FE62E42FEE00000LL);
    const double ln_2_low = 1.9082149292705877e-10;
    twos = __dsub_rn(__dadd_rn(__dmul_rn(x, log2_e), ROUNDER), ROUNDER);
    rest = __dsub_rn(__dsub_rn(x, __dmul_rn(twos, ln_2_high)), __dmul_rn(twos, ln_2_low));
}

__device__ __forceinline__ double power_of_two(double power) {
    return __longlong_as_double((long long)(((u64)__double_as_longlong(__dadd_rn(power, ROUNDER)) + 1023) << 52));
}

__device__ __forceinline__ double exp_m1_of_small(double x) {
    const double terms[12] = {0.5,
                              1.0 / 6.0,
                              1.0 / 24.0,
                              1.0 / 120.0,
                              1.0 / 720.0,
                              1.0 / 5040.0,
                              1.0 / 40320.0,
                              1.0 / 362880.0,
                              1.0 / 3628800.0,
                              1.0 / 39916800.0,
                              1.0 / 479001600.0,
                              1.0 / 6227020800.0};
    double square = __dmul_rn(x, x), fourth = __dmul_rn(square, square);
    double four[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        double low = __dadd_rn(terms[4 * k], __dmul_rn(x, terms[4 * k + 1]));
        double high = __dadd_rn(terms[4 * k + 2], __dmul_rn(x, terms[4 * k + 3]));
        four[k] = __dadd_rn(low, __dmul_rn(square, high));
    }
    double sum = __dadd_rn(__dadd_rn(four[0], __dmul_rn(fourth, four[1])), __dmul_rn(__dmul_rn(fourth, fourth), four[2]));
    return __dadd_rn(x, __dmul_rn(square, sum));
}

__device__ __forceinline__ double own_exp(double x) {
    double twos, rest;
    split(x, twos, rest);
    double half = __dsub_rn(__dadd_rn(__dmul_rn(0.5, twos), ROUNDER), ROUNDER);
    double within = __dmul_rn(__dmul_rn(__dadd_rn(1.0, exp_m1_of_small(rest)), power_of_two(half)),
                              power_of_two(__dsub_rn(twos, half)));
    double not_below = x < -746.0 ? 0.0 : within;
    return x > 710.0 ? __longlong_as_double(0x7FF0000000000000LL) : not_below;
}

__device__ __forceinline__ double own_tanh(double x) {
    double twos, rest, size = fabs(x);
    split(__dmul_rn(2.0, size > 20.0 ? 20.0 : size), twos, rest);
    double power = power_of_two(twos);
    double grown = __dadd_rn(__dmul_rn(power, exp_m1_of_small(rest)), __dsub_rn(power, 1.0));
    return copysign(__ddiv_rn(grown, __dadd_rn(grown, 2.0)), x);
}

__device__ __forceinline__ double power(double base, u32 degree) {
    double result = 1.0, square = base;
    for (u32 left = degree; left > 0; left >>= 1) {
        if (left & 1) result = __dmul_rn(result, square);
        square = __dmul_rn(square, square);
    }
    return result;
}

#define OP_PRODUCTS 0
#define OP_DISTANCES 1
#define OP_MINIMA 2

// The value that a kernel makes of a sum. Which kernels start from which sum is known when this is compiled.
template <int OP>
__device__ __forceinline__ double finish(const Ending &end, double sum, double norm2, double other) {
    double value = sum;
    if (OP == OP_DISTANCES) {
        value = own_exp(__dmul_rn(-end.gamma, sum));
    } else if (OP == OP_PRODUCTS && end.kind == END_POWER) {
        value = power(__dadd_rn(__dmul_rn(end.gamma, sum), end.offset), end.degree);
    } else if (OP == OP_PRODUCTS && end.kind == END_GAUSS) {
        double distance2 = __dsub_rn(__dadd_rn(norm2, other), __dmul_rn(2.0, sum));
        value = own_exp(__dmul_rn(-end.gamma, distance2 > 0.0 ? distance2 : 0.0));
    } else if (OP == OP_PRODUCTS && end.kind == END_TANH) {
        value = own_tanh(__dadd_rn(__dmul_rn(end.gamma, sum), end.offset));
    } else if (OP == OP_PRODUCTS && end.kind == END_ANGLE) {
        double lengths = __dsqrt_rn(__dmul_rn(norm2, other));
        value = lengths > 0.0 ? __ddiv_rn(sum, lengths) : 0.0;
    }
    return end.constant != 0.0 ? __dadd_rn(value, end.constant) : value;
}

// Where the value of a support row, of which `n_listed` stand in a panel, with a slot of the block stands. The tiles
// below compute `n_here` of them, from number `first` on.
__device__ __forceinline__ u64 value_at(u32 slot, u32 listed, u32 n_listed) {
    return ((u64)(slot / PANEL) * n_listed + listed) * PANEL + slot % PANEL;
}

// The same, or all values of a row one behind the other, where `line` says how long that is.
__device__ __forceinline__ u64 place_of(u32 slot, u32 listed, u32 n_listed, u32 line) {
    return line ? (u64)listed * line + slot : value_at(slot, listed, n_listed);
}

template <int OP> __device__ __forceinline__ double step(double sum, double x, double y) {
    if (OP == OP_PRODUCTS) return __fma_rn(x, y, sum);
    if (OP == OP_DISTANCES) return __dadd_rn(sum, fabs(__dsub_rn(x, y)));
    return __dadd_rn(sum, x < y ? x : y);
}

// Brings 16 bytes into shared memory while others are met; zeros if there are none.
__device__ __forceinline__ void copy16(u32 to, const void *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}

// What a tile brings into shared memory, and has the tensor units meet: TM support rows and TN slots, SLAB bytes of each
// at a time, DEEP slabs on their way. Neighbours in the grid share support rows, which so are read once.
template <int TM, int TN, int SLAB, int DEEP, int THREADS> struct Slabs {
    // So long that eight lines of 16 bytes, or of four doubles, lie in different banks.
    enum : u32 { PITCH = SLAB + (SLAB % 128 ? 16 : 32), BYTES = (TM + TN) * PITCH };
    enum : int { PER_LINE = SLAB / 16, STEP = THREADS / PER_LINE, PIECES = (TM + TN) / STEP };
    const u8 *from[PIECES];
    u32 there, base, to, at;

    __device__ __forceinline__ Slabs(const void *shared, const void *supports, const u32 *listed, u32 first_row, u32 n_here,
                                     const void *block, u32 first_slot, u32 n_slots, u32 line_bytes) {
        u32 line = threadIdx.x / PER_LINE;
        at = threadIdx.x % PER_LINE * 16, there = 0;
        base = (u32)__cvta_generic_to_shared(shared), to = base + line * PITCH + at;
#pragma unroll
        for (int p = 0; p < PIECES; p++) {
            u32 mine = line + p * STEP;
            bool is_row = mine < TM;
            u32 number = is_row ? first_row + mine : first_slot + mine - TM;
            bool here = number < (is_row ? n_here : n_slots);
            u64 which = here ? (is_row && listed ? listed[number] : number) : 0;
            from[p] = (const u8 *)(is_row ? supports : block) + which * line_bytes + at;
            there |= (u32)here << p;
        }
    }

    // Asks for a slab, if there is one; what is behind the end of the lines is zero.
    __device__ __forceinline__ void fetch(u32 slab, u32 n_slabs, u32 line_bytes) {
        if (slab < n_slabs) {
            bool inside = slab * SLAB + at < line_bytes;
#pragma unroll
            for (int p = 0; p < PIECES; p++)
                copy16(to + slab % DEEP * BYTES + p * STEP * PITCH, from[p] + (inside ? slab * SLAB : 0),
                       inside && (there >> p & 1));
        }
        asm volatile("cp.async.commit_group;");
    }
};

// Powers of many sums at once, each as `power` has it.
template <int N> __device__ __forceinline__ void finish_powers(const Ending &end, double (&values)[N]) {
    double squares[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        squares[k] = __dadd_rn(__dmul_rn(end.gamma, values[k]), end.offset), values[k] = 1.0;
    for (u32 left = end.degree; left > 0; left >>= 1) {
        if (left & 1)
#pragma unroll
            for (int k = 0; k < N; k++) values[k] = __dmul_rn(values[k], squares[k]);
#pragma unroll
        for (int k = 0; k < N; k++) squares[k] = __dmul_rn(squares[k], squares[k]);
    }
}

// What is made of the sums that the tensor units leave with a thread: rows 8 apart, of each pairs of slots 8 apart.
template <int MI, int NI, class T>
__device__ __forceinline__ void finish_tile(const Ending &end, const T (&sums)[MI][NI][4], u32 first_row, u32 n_here,
                                            const u32 *listed, const double *norms2, u32 first_slot, u32 n_slots,
                                            const double *block_norms2, u32 first, u32 n_listed, u32 line,
                                            double *values) {
    u64 at[NI];
    u32 step = line ? line : PANEL;
#pragma unroll
    for (int j = 0; j < NI; j++) at[j] = place_of(first_slot + j * 8, first, n_listed, line);
    if (end.kind == END_POWER || end.kind == END_SUM) {
#pragma unroll
        for (int i = 0; i < MI * 2; i++) {
            double mine[NI * 2];
#pragma unroll
            for (int k = 0; k < NI * 2; k++) mine[k] = (double)sums[i / 2][k / 2][i % 2 * 2 + k % 2];
            if (end.kind == END_POWER) finish_powers(end, mine);
            if (end.constant != 0.0)
#pragma unroll
                for (int k = 0; k < NI * 2; k++) mine[k] = __dadd_rn(mine[k], end.constant);
            u32 row = first_row + i * 8;
#pragma unroll
            for (int j = 0; j < NI; j++)
                if (row < n_here && first_slot + j * 8 < n_slots)
                    *(double2 *)&values[at[j] + (u64)row * step] = make_double2(mine[2 * j], mine[2 * j + 1]);
        }
        return;
    }
    // Not unrolled: what the other kernels make of a sum is long.
#pragma unroll 1
    for (int i = 0; i < MI * 2; i++) {
        T mine[NI][2];
#pragma unroll
        for (int m = 0; m < MI; m++)
#pragma unroll
            for (int j = 0; j < NI; j++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    if (m * 2 + k / 2 == i) mine[j][k % 2] = sums[m][j][k];
        u32 row = first_row + i * 8;
        if (row >= n_here) continue;
        double norm2 = norms2[listed ? listed[row] : row];
#pragma unroll
        for (int j = 0; j < NI; j++) {
            u32 slot = first_slot + j * 8;
            if (slot >= n_slots) continue;
            double2 two;
            two.x = finish<OP_PRODUCTS>(end, (double)mine[j][0], norm2, block_norms2[slot]);
            two.y = finish<OP_PRODUCTS>(end, (double)mine[j][1], norm2, block_norms2[slot + 1]);
            *(double2 *)&values[at[j] + (u64)row * step] = two;
        }
    }
}

template <int MI, int NI, class T> __device__ __forceinline__ void clear(T (&sums)[MI][NI][4]) {
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++)
#pragma unroll
            for (int k = 0; k < 4; k++) sums[i][j][k] = 0;
}

// Four features more of 16 rows with 8 slots. The tensor units fuse and round product after product in ascending
// order, which is the processor's chain: a card is asked whether it does so before this is used.
__device__ __forceinline__ void meet_doubles(double (&sums)[4], double x_low, double x_high, double y) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
        : "d"(x_low), "d"(x_high), "d"(y));
#else
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(sums[0]), "+d"(sums[1])
        : "d"(x_low), "d"(y));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(sums[2]), "+d"(sums[3])
        : "d"(x_high), "d"(y));
#endif
}

// Products of dense rows in doubles by the tensor units: 128 support rows by 64 slots per thread block of four warps,
// each 64 by 32; features in slabs of 16. `stride` is a multiple of 8.
typedef Slabs<128, 64, 128, 3, 128> DoubleSlabs;
extern "C" __global__ void __launch_bounds__(128, 2)
    tensor_products(const double *supports, const u32 *listed, u32 n_here, u32 first, u32 n_listed, u32 line,
                    const double *block, u32 n_slots, u32 stride, const double *norms2, const double *block_norms2,
                    const u32 *needed, Ending end, double *values) {
    u32 first_row = blockIdx.y * 128, first_slot = blockIdx.x * 64;
    // Rows are listed by their last use: those before the first one that the slots need are not met.
    if (needed && first + first_row + 128 <= needed[blockIdx.x]) return;
    extern __shared__ __align__(16) u8 shared[];
    DoubleSlabs slabs(shared, supports, listed, first_row, n_here, block, first_slot, n_slots, stride * 8);
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 warp_row = warp % 2 * 64 + lane / 4, warp_slot = warp / 2 * 32;
    u32 n_slabs = (stride + 15) / 16;
    double sums[4][4][4];
    clear(sums);
    slabs.fetch(0, n_slabs, stride * 8);
    slabs.fetch(1, n_slabs, stride * 8);
    for (u32 slab = 0; slab < n_slabs; slab++) {
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        slabs.fetch(slab + 2, n_slabs, stride * 8);
        const double *here = (const double *)(shared + slab % 3 * DoubleSlabs::BYTES) + lane % 4;
        const u32 pitch = DoubleSlabs::PITCH / 8;
        const double *rows = here + warp_row * pitch, *slots = here + (128 + warp_slot + lane / 4) * pitch;
#pragma unroll
        for (int k = 0; k < 16; k += 4) {
            double y[4];
#pragma unroll
            for (int j = 0; j < 4; j++) y[j] = slots[j * 8 * pitch + k];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double x_low = rows[i * 16 * pitch + k], x_high = rows[(i * 16 + 8) * pitch + k];
#pragma unroll
                for (int j = 0; j < 4; j++) meet_doubles(sums[i][j], x_low, x_high, y[j]);
            }
        }
    }
    finish_tile(end, sums, first_row + warp_row, n_here, listed, norms2, first_slot + warp_slot + lane % 4 * 2, n_slots,
                block_norms2, first, n_listed, line, values);
}

// The code for cards since Hopper is this much; all other functions are the same for all.
#ifndef TENSORS_ALONE

// Dense rows in doubles, by plain units. 128 support rows by 64 slots per thread block, 8 by 8 per thread; features in slabs of 8, the
// next two of which are on their way while one is met. `stride` is a multiple of 8.
#define BM 128
#define BN 64
#define BK 8
#define DEPTH 3

// Brings one number into shared memory while others are met; zero if there is none.
__device__ __forceinline__ void copy8(double *to, const double *from, bool there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from),
                 "r"(there ? 8 : 0));
}

template <int OP>
__device__ __forceinline__ void dense_tile(const double *supports, const u32 *listed, u32 n_here, u32 first,
                                           u32 n_listed, u32 line, const double *block, u32 n_slots, u32 stride,
                                           const double *norms2, const double *block_norms2, const u32 *needed,
                                           Ending end, double *values) {
    u32 first_row = blockIdx.y * BM, first_slot = blockIdx.x * BN;
    if (needed && first + first_row + BM <= needed[blockIdx.x]) return;
    __shared__ __align__(16) double rows[DEPTH][BK][BM];
    __shared__ __align__(16) double slots[DEPTH][BK][BN];
    u32 t = threadIdx.x, tx = t % 8, ty = t / 8;
    u32 my_row = first_row + t;
    bool has_row = my_row < n_here;
    const double *row_from = supports + (has_row ? (u64)(listed ? listed[my_row] : my_row) * stride : 0);
    u32 my_slot = first_slot + t / 2;
    bool has_slot = my_slot < n_slots;
    const double *slot_from = block + (has_slot ? (u64)my_slot * stride : 0) + (t & 1) * 4;
    u32 n_slabs = stride / BK;
    auto fetch = [&](u32 slab) {
        if (slab < n_slabs) {
            u32 side = slab % DEPTH;
#pragma unroll
            for (int k = 0; k < 8; k++) copy8(&rows[side][k][t], row_from + slab * BK + k, has_row);
#pragma unroll
            for (int k = 0; k < 4; k++)
                copy8(&slots[side][(t & 1) * 4 + k][t / 2], slot_from + slab * BK + k, has_slot);
        }
        asm volatile("cp.async.commit_group;");
    };
    double sums[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sums[i][j] = 0.0;
    fetch(0);
    fetch(1);
    for (u32 slab = 0; slab < n_slabs; slab++) {
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        fetch(slab + 2);
        u32 side = slab % DEPTH;
#pragma unroll
        for (int k = 0; k < BK; k++) {
            double x[8], y[8];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double2 two = *(const double2 *)&rows[side][k][ty * 2 + 32 * i];
                x[2 * i] = two.x, x[2 * i + 1] = two.y;
                two = *(const double2 *)&slots[side][k][tx * 2 + 16 * i];
                y[2 * i] = two.x, y[2 * i + 1] = two.y;
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] = step<OP>(sums[i][j], x[i], y[j]);
        }
    }
    // Not unrolled: what a kernel makes of a sum is long, and would stand here 64 times.
#pragma unroll 1
    for (int i = 0; i < 8; i++) {
        double mine[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (k == i) mine[j] = sums[k][j];
        u32 row = first_row + ty * 2 + 32 * (i / 2) + i % 2;
        if (row >= n_here) continue;
        double norm2 = norms2[listed ? listed[row] : row];
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            u32 slot = first_slot + tx * 2 + 16 * (j / 2);
            if (slot >= n_slots) continue;
            double2 two;
            two.x = finish<OP>(end, mine[j], norm2, block_norms2[slot]);
            two.y = finish<OP>(end, mine[j + 1], norm2, block_norms2[slot + 1]);
            *(double2 *)&values[place_of(slot, first + row, n_listed, line)] = two;
        }
    }
}

#define DENSE(NAME, OP)                                                                                                \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                               \
        NAME(const double *supports, const u32 *listed, u32 n_here, u32 first, u32 n_listed, u32 line,                \
             const double *block, u32 n_slots, u32 stride, const double *norms2, const double *block_norms2,           \
             const u32 *needed, Ending end, double *values) {                                                          \
        dense_tile<OP>(supports, listed, n_here, first, n_listed, line, block, n_slots, stride, norms2, block_norms2,  \
                       needed, end, values);                                                                           \
    }
DENSE(dense_products, OP_PRODUCTS)
DENSE(dense_distances, OP_DISTANCES)
DENSE(dense_minima, OP_MINIMA)

// Dense rows of bytes: exact in any order, so the tensor units may have them. 128 support rows by 128 slots per thread
// block of four warps, each 64 by 64; features in slabs of 64. `stride` is a multiple of 64.
__device__ __forceinline__ void load_matrices(u32 (&to)[4], u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
}

typedef Slabs<128, 128, 64, 3, 128> ByteSlabs;
extern "C" __global__ void __launch_bounds__(128, 2)
    whole_products(const u8 *supports, const u32 *listed, u32 n_here, u32 first, u32 n_listed, u32 line,
                   const u8 *block, u32 n_slots, u32 stride, const double *norms2, const double *block_norms2,
                   const u32 *needed, Ending end, double *values) {
    u32 first_row = blockIdx.y * 128, first_slot = blockIdx.x * 128;
    if (needed && first + first_row + 128 <= needed[blockIdx.x]) return;
    extern __shared__ __align__(16) u8 shared[];
    ByteSlabs slabs(shared, supports, listed, first_row, n_here, block, first_slot, n_slots, stride);
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 warp_row = warp % 2 * 64, warp_slot = warp / 2 * 64;
    const u32 pitch = ByteSlabs::PITCH;
    u32 rows = (warp_row + lane % 16) * pitch + lane / 16 * 16;
    u32 slots = (128 + warp_slot + lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 16;
    u32 n_slabs = stride / 64;
    int sums[4][8][4];
    clear(sums);
    slabs.fetch(0, n_slabs, stride);
    slabs.fetch(1, n_slabs, stride);
    for (u32 slab = 0; slab < n_slabs; slab++) {
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        slabs.fetch(slab + 2, n_slabs, stride);
        u32 here = slabs.base + slab % 3 * ByteSlabs::BYTES;
#pragma unroll
        for (int k = 0; k < 64; k += 32) {
            u32 x[4][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) load_matrices(x[i], here + rows + i * 16 * pitch + k);
#pragma unroll
            for (int j = 0; j < 4; j++) load_matrices(y[j], here + slots + j * 16 * pitch + k);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                                 "{%0,%1,%2,%3};"
                                 : "+r"(sums[i][j][0]), "+r"(sums[i][j][1]), "+r"(sums[i][j][2]), "+r"(sums[i][j][3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j / 2][j % 2 * 2]),
                                   "r"(y[j / 2][j % 2 * 2 + 1]));
        }
    }
    finish_tile(end, sums, first_row + warp_row + lane / 4, n_here, listed, norms2,
                first_slot + warp_slot + lane % 4 * 2, n_slots, block_norms2, first, n_listed, line, values);
}

// Sparse support rows with slots that lie feature by feature, side by side. One thread a slot, four rows each.
template <int OP>
__device__ __forceinline__ void sparse_tile(const u64 *offsets, const u32 *features, const double *entries,
                                            const u32 *listed, u32 n_here, u32 first, u32 n_listed, u32 line,
                                            const double *block, u32 n_slots, const double *norms2,
                                            const double *block_norms2, Ending end, double *values) {
    u32 slot = blockIdx.y * blockDim.x + threadIdx.x;
    if (slot >= n_slots) return;
    for (u32 place = blockIdx.x * 4; place < blockIdx.x * 4 + 4 && place < n_here; place++) {
        u32 row = listed ? listed[place] : place;
        double sum = 0.0;
#pragma unroll 4
        for (u64 entry = offsets[row]; entry < offsets[row + 1]; entry++)
            sum = step<OP>(sum, entries[entry], block[(u64)features[entry] * n_slots + slot]);
        values[place_of(slot, first + place, n_listed, line)] = finish<OP>(end, sum, norms2[row], block_norms2[slot]);
    }
}

#define SPARSE(NAME, OP)                                                                                               \
    extern "C" __global__ void NAME(const u64 *offsets, const u32 *features, const double *entries, const u32 *listed, \
                                    u32 n_here, u32 first, u32 n_listed, u32 line, const double *block, u32 n_slots,   \
                                    const double *norms2, const double *block_norms2, Ending end, double *values) {    \
        sparse_tile<OP>(offsets, features, entries, listed, n_here, first, n_listed, line, block, n_slots, norms2,           \
                        block_norms2, end, values);                                                                    \
    }
SPARSE(sparse_products, OP_PRODUCTS)
SPARSE(sparse_minima, OP_MINIMA)

// The same for distances, to which features count that only one side has: both rows are walked side by side.
extern "C" __global__ void sparse_distances(const u64 *offsets, const u32 *features, const double *entries,
                                            const u32 *listed, u32 n_here, u32 first, u32 n_listed, u32 line,
                                            const u64 *slot_offsets, const u32 *slot_features,
                                            const double *slot_entries, u32 n_slots, const double *norms2,
                                            const double *block_norms2, Ending end, double *values) {
    u32 slot = blockIdx.y * blockDim.x + threadIdx.x, place = blockIdx.x;
    if (slot >= n_slots) return;
    u32 row = listed ? listed[place] : place;
    u64 one = offsets[row], one_end = offsets[row + 1];
    u64 other = slot_offsets[slot], other_end = slot_offsets[slot + 1];
    double sum = 0.0;
    while (one < one_end || other < other_end) {
        u32 ours = one < one_end ? features[one] : 0xffffffffu;
        u32 theirs = other < other_end ? slot_features[other] : 0xffffffffu;
        double x = ours <= theirs ? entries[one++] : 0.0;
        double y = theirs <= ours ? slot_entries[other++] : 0.0;
        sum = step<OP_DISTANCES>(sum, x, y);
    }
    values[place_of(slot, first + place, n_listed, line)] = finish<OP_DISTANCES>(end, sum, norms2[row], block_norms2[slot]);
}

// Lays the entries of rows out with their zeros, one warp a row; what they are laid into is zero.
extern "C" __global__ void spread_doubles(const u64 *offsets, const u32 *features, const double *entries, u32 n_rows,
                                          u64 row_stride, u64 feature_stride, double *to) {
    u32 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= n_rows) return;
    for (u64 entry = offsets[row] + threadIdx.x % 32; entry < offsets[row + 1]; entry += 32)
        to[row * row_stride + features[entry] * feature_stride] = entries[entry];
}

extern "C" __global__ void spread_bytes(const u64 *offsets, const u32 *features, const u8 *entries, u32 n_rows,
                                        u64 row_stride, u8 *to) {
    u32 row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= n_rows) return;
    for (u64 entry = offsets[row] + threadIdx.x % 32; entry < offsets[row + 1]; entry += 32)
        to[row * row_stride + features[entry]] = entries[entry];
}

// Takes rows that are kept, by their numbers; what is behind the last of them becomes zero. Lines are so many words long.
extern "C" __global__ void pick_rows(const u32 *kept, const double *kept_norms2, const u32 *numbers, u32 n_rows,
                                     u32 words, u32 *to, double *norms2) {
    u32 row = blockIdx.x;
    u64 from = row < n_rows ? (u64)numbers[row] * words : 0;
    for (u32 word = threadIdx.x; word < words; word += blockDim.x)
        to[(u64)row * words + word] = row < n_rows ? kept[from + word] : 0;
    if (threadIdx.x == 0) norms2[row] = row < n_rows ? kept_norms2[numbers[row]] : 0.0;
}

// New entries of the log go where the list of their output goes on.
extern "C" __global__ void file_entries(const Entry *fresh, const u32 *places, u32 n_fresh, Entry *lists) {
    u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n_fresh) lists[places[k]] = fresh[k];
}

__device__ __forceinline__ u64 sum_at(u32 slot, u32 output, u32 n_outputs) {
    return ((u64)(slot / PANEL) * n_outputs + output) * PANEL + slot % PANEL;
}

// Brings sums to the end of the log: one thread a slot and output, from the entry its group of slots begins with. The
// chain of additions is what takes the time, so the values of the next two batches of entries are on their way
// meanwhile. Where all entries of a batch keep all of the sum, as most rules do, nothing is multiplied with it.
#define BATCH 32
#define AHEAD 2
extern "C" __global__ void __launch_bounds__(32)
    add_up(const Entry *__restrict__ lists, const u32 *__restrict__ list_ends, const u32 *__restrict__ starts,
           const u32 *__restrict__ groups, const u32 *__restrict__ at, const double *__restrict__ values, u32 n_listed,
           u32 n_slots, u32 n_outputs, double *sums) {
    u32 lane = threadIdx.x, slot = blockIdx.x * 32 + lane, output = blockIdx.y;
    bool real = slot < n_slots;
    u32 safe = real ? slot : n_slots - 1;
    double sum = sums[sum_at(safe, output, n_outputs)];
    const double *mine = values + (u64)(safe / PANEL) * n_listed * PANEL + safe % PANEL;
    u32 from = starts[(u64)groups[safe] * n_outputs + output], to = list_ends[output];
    // All threads of a warp go through the same entries; who begins later lets the first ones pass.
    u32 first = __reduce_min_sync(0xffffffffu, from), last = __reduce_max_sync(0xffffffffu, from);
    __shared__ Entry entries[AHEAD + 2][BATCH];
    __shared__ bool plain[AHEAD + 2];
    Entry next;
    auto look = [&](u32 batch) {
        u32 place = first + batch * BATCH + lane;
        next = {0.0, 1.0, NO_ROW, 0};
        if (place < to) {
            next = lists[place];
            if (at && next.row != NO_ROW) next.row = at[next.row];
        }
    };
    auto file = [&](u32 batch) {
        bool keeps = __all_sync(0xffffffffu, next.keep == 1.0 && next.row != NO_ROW);
        entries[batch % (AHEAD + 2)][lane] = next;
        if (lane == 0) plain[batch % (AHEAD + 2)] = keeps && first + batch * BATCH >= last;
        __syncwarp();
    };
    double value[AHEAD][BATCH];
    auto bring = [&](double(&into)[BATCH], u32 batch) {
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            u32 row = entries[batch % (AHEAD + 2)][k].row;
            into[k] = row == NO_ROW ? 0.0 : mine[(u64)row * PANEL];
        }
    };
#pragma unroll
    for (int batch = 0; batch < AHEAD; batch++) look(batch), file(batch), bring(value[batch], batch);
    look(AHEAD);
    u32 n_batches = to > first ? (to - first + BATCH - 1) / BATCH : 0;
    for (u32 begin = 0; begin < n_batches; begin += AHEAD) {
#pragma unroll
        for (int turn = 0; turn < AHEAD; turn++) {
            u32 batch = begin + turn;
            file(batch + AHEAD);
            look(batch + AHEAD + 1);
            double now[BATCH];
#pragma unroll
            for (int k = 0; k < BATCH; k++) now[k] = value[turn][k];
            bring(value[turn], batch + AHEAD);
            const Entry *here = entries[batch % (AHEAD + 2)];
            if (plain[batch % (AHEAD + 2)]) {
#pragma unroll
                for (int k = 0; k < BATCH; k++) sum = __dadd_rn(sum, __dmul_rn(here[k].amount, now[k]));
            } else {
#pragma unroll
                for (int k = 0; k < BATCH; k++) {
                    u32 place = first + batch * BATCH + k;
                    double kept = __dmul_rn(here[k].keep, sum);
                    double moved = here[k].row == NO_ROW ? kept : __dadd_rn(kept, __dmul_rn(here[k].amount, now[k]));
                    if (place >= from && place < to) sum = moved;
                }
            }
        }
    }
    if (real) sums[sum_at(slot, output, n_outputs)] = sum;
}

// How long the hypothesis before a move lived, and its bias.
struct Life {
    double lived;
    double bias;
};

__device__ __forceinline__ double vote(double score, double lived) {
    return __dsub_rn(score > 0.0 ? lived : 0.0, score < 0.0 ? lived : 0.0);
}

// All survivors vote on the sign of their output, and with `at_zero` where there is none. `lives` has one for every entry, and
// one more at the end of a list.
extern "C" __global__ void vote_per_output(const Entry *lists, const Life *lives, const u32 *list_starts,
                                           const u32 *list_ends, const double *values, u32 n_listed, u32 n_slots,
                                           u32 n_outputs, double at_zero, double *votes) {
    u32 slot = blockIdx.x * blockDim.x + threadIdx.x, output = blockIdx.y;
    if (slot >= n_slots) return;
    const double *mine = values + (u64)(slot / PANEL) * n_listed * PANEL + slot % PANEL;
    double sum = 0.0, all = 0.0;
    u32 to = list_ends[output];
#pragma unroll 8
    for (u32 k = list_starts[output]; k < to; k++) {
        Entry entry = lists[k];
        Life life = lives[k];
        double score = __dadd_rn(sum, life.bias);
        all = __dadd_rn(all, vote(score == 0.0 ? at_zero : score, life.lived));
        double kept = __dmul_rn(entry.keep, sum);
        sum = entry.row == NO_ROW ? kept
                                  : __dadd_rn(kept, __dmul_rn(entry.amount, mine[(u64)entry.row * PANEL]));
    }
    double score = __dadd_rn(sum, lives[to].bias);
    all = __dadd_rn(all, vote(score == 0.0 ? at_zero : score, lives[to].lived));
    votes[sum_at(slot, output, n_outputs)] = all;
}

// All survivors vote for the class with the highest score, the first or the last of several. Entries are in log order; a life's bias is its output's after
// the move, and `lived` how long all stood still before it. One more life at the end.
extern "C" __global__ void vote_jointly(const Entry *log, const Life *lives, u32 n_entries, const double *values,
                                        u32 n_listed, u32 n_slots, u32 n_outputs, u32 names_last, double *sums,
                                        double *biases, double *votes) {
    u32 slot = blockIdx.x * blockDim.x + threadIdx.x;
    if (slot >= n_slots) return;
    const double *mine = values + (u64)(slot / PANEL) * n_listed * PANEL + slot % PANEL;
    for (u32 k = 0; k <= n_entries; k++) {
        Life life = lives[k];
        if (life.lived > 0.0) {
            u32 best = 0;
            double highest = __dadd_rn(sums[slot], biases[slot]);
            for (u32 output = 1; output < n_outputs; output++) {
                u64 place = (u64)output * n_slots + slot;
                double score = __dadd_rn(sums[place], biases[place]);
                if (score > highest || (names_last && score == highest)) best = output, highest = score;
            }
            u64 place = sum_at(slot, best, n_outputs);
            votes[place] = __dadd_rn(votes[place], life.lived);
        }
        if (k == n_entries) break;
        Entry entry = log[k];
        u64 place = (u64)entry.output * n_slots + slot;
        double kept = __dmul_rn(entry.keep, sums[place]);
        sums[place] = entry.row == NO_ROW
                          ? kept
                          : __dadd_rn(kept, __dmul_rn(entry.amount, mine[(u64)entry.row * PANEL]));
        biases[place] = life.bias;
    }
}

// What is known of a move beforehand: how long all hypotheses stood still before it, how long that of its output did, the
// same divided by its length, and one by its length after it.
struct Stage {
    double stood;
    double lived;
    double weight;
    double shrink;
};

// One walk along the log with one row: which class each of seven read-outs gives it, at several moments. `looks` says
// before which move each moment is, and `ends` holds for each of them how long all stood still, and by output how long
// it lived until then and one by its length. Errors are counted in whole numbers, in any order.
extern "C" __global__ void __launch_bounds__(32)
    walk(const Entry *__restrict__ log, const Stage *__restrict__ stages, u32 n_entries, const u32 *__restrict__ looks,
         const double *__restrict__ ends, u32 n_looks, const u32 *__restrict__ classes, u32 n_rows,
         const double *__restrict__ values, u32 n_listed, u32 n_outputs, u64 *errors) {
    extern __shared__ __align__(16) double state[];
    u32 lane = threadIdx.x, slot = blockIdx.x * 32 + lane;
    bool real = slot < n_rows;
    u32 safe = real ? slot : 0, class_ = classes[safe];
    const double *mine = values + (u64)(safe / PANEL) * n_listed * PANEL + safe % PANEL;
    // Sums, votes, averages and normalised averages; then one by the length of each output.
    double *sums = state + lane, *votes = sums + 32 * n_outputs, *averages = votes + 32 * n_outputs;
    double *normalised = averages + 32 * n_outputs, *shrinks = state + 4 * 32 * n_outputs;
    for (u32 k = 0; k < 4 * n_outputs; k++) state[k * 32 + lane] = 0.0;
    for (u32 k = lane; k < n_outputs; k += 32) shrinks[k] = 0.0;
    __syncwarp();
    double wrong = 0.0, wrong_normalised = 0.0;
    auto errs = [&](const double *scores, const double *factors) {
        double highest = __longlong_as_double(0xFFF0000000000000LL);
        u32 best = 0;
        for (u32 output = 0; output < n_outputs; output++) {
            double score = scores[output * 32];
            if (factors) score = __dmul_rn(score, factors[output]);
            if (score > highest) best = output, highest = score;
        }
        return best != class_;
    };
    auto stand = [&](double stood) {
        if (stood == 0.0) return;
        if (errs(sums, nullptr)) wrong = __dadd_rn(wrong, stood);
        if (errs(sums, shrinks)) wrong_normalised = __dadd_rn(wrong_normalised, stood);
    };
    auto count = [&](u32 output, double lived, double weight) {
        double sum = sums[output * 32];
        votes[output * 32] = __dadd_rn(votes[output * 32], vote(sum, lived));
        averages[output * 32] = __dadd_rn(averages[output * 32], __dmul_rn(lived, sum));
        normalised[output * 32] = __dadd_rn(normalised[output * 32], __dmul_rn(weight, sum));
    };
    u32 look = 0;
    Entry next = n_entries ? log[0] : Entry{0.0, 1.0, NO_ROW, 0};
    double next_value = next.row == NO_ROW ? 0.0 : mine[(u64)next.row * PANEL];
    for (u32 k = 0; k <= n_entries; k++) {
        for (; look < n_looks && looks[look] == k; look++) {
            const double *end = ends + (u64)look * (1 + 2 * n_outputs);
            stand(end[0]);
            for (u32 output = 0; output < n_outputs; output++) {
                double lived = end[1 + output];
                count(output, lived, __dmul_rn(lived, end[1 + n_outputs + output]));
            }
            if (real) {
                u64 *to = errors + (u64)look * 7;
                if (errs(sums, nullptr)) atomicAdd(to, 1ull);
                if (errs(sums, shrinks)) atomicAdd(to + 1, 1ull);
                if (errs(votes, nullptr)) atomicAdd(to + 2, 1ull);
                if (errs(averages, nullptr)) atomicAdd(to + 3, 1ull);
                if (errs(normalised, nullptr)) atomicAdd(to + 4, 1ull);
                atomicAdd(to + 5, (u64)wrong);
                atomicAdd(to + 6, (u64)wrong_normalised);
            }
        }
        if (k == n_entries) break;
        Entry entry = next;
        double value = next_value;
        if (k + 1 < n_entries) {
            next = log[k + 1];
            next_value = next.row == NO_ROW ? 0.0 : mine[(u64)next.row * PANEL];
        }
        Stage stage = stages[k];
        stand(stage.stood);
        count(entry.output, stage.lived, stage.weight);
        double kept = __dmul_rn(entry.keep, sums[entry.output * 32]);
        sums[entry.output * 32] = entry.row == NO_ROW ? kept : __dadd_rn(kept, __dmul_rn(entry.amount, value));
        __syncwarp();
        if (lane == 0) shrinks[entry.output] = stage.shrink;
        __syncwarp();
    }
}

#endif
