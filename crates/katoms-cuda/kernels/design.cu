// Products with a design in device memory. Every sum is in double precision and in an order that depends on the shape of
// the design alone: the same bits from run to run, and for one vector as for many.
//
// One kernel multiplies: the transpose of a design by a few packed vectors, in tiles of 8 columns by 8 vectors by 4 rows
// (mma.m8n8k4.f64). Gradients, Gram matrices, moments and samples of the rows are this product with other operands.

typedef unsigned int u32;
typedef long long i64;

// How numbers are stored. A lane loads 16 bytes; `of` is one of the V numbers in them.
struct F64 {
  typedef double Number;
  static const int V = 2;
  __device__ static double of(const u32* w, int s) { return __hiloint2double(w[2 * s + 1], w[2 * s]); }
};
struct F32 {
  typedef float Number;
  static const int V = 4;
  __device__ static double of(const u32* w, int s) { return __uint_as_float(w[s]); }
};
struct F16 {
  typedef unsigned short Number;
  static const int V = 8;
  __device__ static double of(const u32* w, int s) {
    unsigned short half = w[s / 2] >> (16 * (s % 2));
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
  }
};
struct BF16 {
  typedef unsigned short Number;
  static const int V = 8;
  __device__ static double of(const u32* w, int s) {
    return __uint_as_float(s % 2 ? w[s / 2] & 0xffff0000u : w[s / 2] << 16);
  }
};
// A whole number in the last bits of 2^52 is exact, and quicker than a conversion.
struct U8 {
  typedef unsigned char Number;
  static const int V = 16;
  __device__ static double of(const u32* w, int s) {
    return __hiloint2double(0x43300000, w[s / 4] >> (8 * (s % 4)) & 255) - 4503599627370496.0;
  }
};
struct I8 {
  typedef signed char Number;
  static const int V = 16;
  __device__ static double of(const u32* w, int s) {
    return __hiloint2double(0x43300000, (w[s / 4] ^ 0x80808080u) >> (8 * (s % 4)) & 255) - 4503599627370624.0;
  }
};

template <typename T>
__device__ double number(const char* at) {
  u32 words[4] = {0, 0, 0, 0};
  typename T::Number value = *(const typename T::Number*)at;
  if (sizeof(value) == 8) {
    double whole = *(const double*)at;
    return whole;
  }
  if (sizeof(value) == 4) words[0] = *(const u32*)at;
  if (sizeof(value) == 2) words[0] = *(const unsigned short*)at;
  if (sizeof(value) == 1) words[0] = *(const unsigned char*)at;
  return T::of(words, 0);
}

// What a warp has asked of memory and not yet multiplied: STAGES times FOUR times 16 bytes for each lane, which alone reads
// and writes them.
const int WARPS = 4, STAGES = 6, FOUR = 4;
struct Ring {
  uint4 words[STAGES][FOUR][32];
};

// Up to 16 bytes from an address that is no multiple of 16, byte by byte; the rest are zeros.
__device__ __noinline__ uint4 piecewise(const char* at, int bytes) {
  u32 words[4] = {0, 0, 0, 0};
  for (int b = 0; b < bytes; ++b) {
    u32 byte = (u32)(unsigned char)at[b] << (8 * (b % 4));
    if (b < 4) words[0] |= byte;
    else if (b < 8) words[1] |= byte;
    else if (b < 12) words[2] |= byte;
    else words[3] |= byte;
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// 16 bytes from memory, of which `count` numbers count; the rest are zeros.
template <typename T>
__device__ void fetch(uint4* to, const char* at, bool aligned, int count) {
  const int bytes = count * (16 / T::V);
  if (aligned) {
    u32 shared = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(at), "r"(bytes) : "memory");
    return;
  }
  *to = piecewise(at, bytes);
}

// The end of what is fetched for a stage, and the wait for the oldest of them.
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_for_oldest() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory"); }

__device__ void multiply_add(double* c, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
}

struct Shape {
  const char* x;
  i64 ld;          // bytes from a column (or row) to the next
  int m, n;        // rows and columns
  int aligned;     // whether every column (or row) begins at a multiple of 16 bytes
  int split;       // rows of a part; a multiple of 4·V
};

// out[part][vector][column] = the sum over the part's rows of x times the packed vectors. Where SQUARES, x counts less
// its column's centre, and out[part][8 + vector][column] are the sums of its squares. Columns follow each other; those of a
// list count where there is one. A warp multiplies 32 columns by 8·NB vectors.
template <typename T, int NB, bool SQUARES>
__device__ void along_columns(Shape a, const int* list, const double* packed, int blocks, const double* centres, double* out) {
  const int V = T::V, ROWS = 4 * V;
  __shared__ Ring rings[WARPS];
  int lane = threadIdx.x % 32, g = lane / 4, k = lane % 4;
  Ring& ring = rings[threadIdx.x / 32];
  i64 first = ((i64)blockIdx.x * WARPS + threadIdx.x / 32) * (8 * FOUR);
  if (first >= a.n) return;
  int nb0 = blockIdx.z * NB;
  const char* at[FOUR];
  double centre[FOUR], sums[FOUR][NB][2], squares[FOUR][2];
#pragma unroll
  for (int c = 0; c < FOUR; ++c) {
    i64 column = min(first + 8 * c + g, (i64)a.n - 1);
    centre[c] = SQUARES && centres ? centres[column] : 0.0;
    at[c] = a.x + (list ? (i64)list[column] : column) * a.ld + 16 * k;
    squares[c][0] = squares[c][1] = 0.0;
#pragma unroll
    for (int b = 0; b < NB; ++b) sums[c][b][0] = sums[c][b][1] = 0.0;
  }
  int begin = blockIdx.y * a.split, end = min(a.m, begin + a.split);
  const double* p = packed + ((i64)(begin / ROWS) * blocks + nb0) * V * 32 + lane;
  auto ask = [&](int row, int stage) {
    int left = min(max(end - row - k * V, 0), V);
    if (row < end) {
#pragma unroll
      for (int c = 0; c < FOUR; ++c) {
        fetch<T>(&ring.words[stage][c][lane], left ? at[c] + (i64)(row / ROWS) * 64 : a.x, a.aligned, left);
      }
    }
    commit();
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) ask(begin + stage * ROWS, stage);
  int stage = 0;
  for (int row = begin; row < end; row += ROWS, p += (i64)blocks * V * 32) {
    wait_for_oldest();
    u32 now[FOUR][4];
#pragma unroll
    for (int c = 0; c < FOUR; ++c) {
      uint4 v = ring.words[stage][c][lane];
      now[c][0] = v.x, now[c][1] = v.y, now[c][2] = v.z, now[c][3] = v.w;
    }
    ask(row + (STAGES - 1) * ROWS, stage == 0 ? STAGES - 1 : stage - 1);
    stage = stage == STAGES - 1 ? 0 : stage + 1;
#pragma unroll
    for (int s = 0; s < V; ++s) {
      double x[FOUR];
#pragma unroll
      for (int c = 0; c < FOUR; ++c) x[c] = T::of(now[c], s) - (SQUARES ? centre[c] : 0.0);
#pragma unroll
      for (int b = 0; b < NB; ++b) {
        double r = __ldg(p + (b * V + s) * 32);
#pragma unroll
        for (int c = 0; c < FOUR; ++c) {
          multiply_add(sums[c][b], x[c], r);
          if (SQUARES) multiply_add(squares[c], x[c] * x[c], r);
        }
      }
    }
  }
  int height = (SQUARES ? 2 : 1) * 8 * blocks;
  double* to = out + ((i64)blockIdx.y * height + 8 * nb0) * a.n;
#pragma unroll
  for (int c = 0; c < FOUR; ++c) {
    i64 column = first + 8 * c + g;
    if (column >= a.n) continue;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll
      for (int b = 0; b < NB; ++b) to[(i64)(8 * b + 2 * k + e) * a.n + column] = sums[c][b][e];
      if (SQUARES) to[(i64)(8 + 2 * k + e) * a.n + column] = squares[c][e];
    }
  }
}

// The same where rows follow each other: a warp multiplies 8·V columns, 16 rows at a time.
template <typename T, int NB, bool SQUARES>
__device__ void along_rows(Shape a, const int*, const double* packed, int blocks, const double* centres, double* out) {
  const int V = T::V, ROWS = 4 * FOUR;
  __shared__ Ring rings[WARPS];
  int lane = threadIdx.x % 32, g = lane / 4, k = lane % 4;
  Ring& ring = rings[threadIdx.x / 32];
  i64 first = ((i64)blockIdx.x * WARPS + threadIdx.x / 32) * (8 * V);
  if (first >= a.n) return;
  i64 own = first + g * V;
  int wide = (int)min(max((i64)a.n - own, (i64)0), (i64)V);
  int nb0 = blockIdx.z * NB;
  double centre[V], sums[V][NB][2], squares[V][2];
#pragma unroll
  for (int s = 0; s < V; ++s) {
    centre[s] = SQUARES && centres && s < wide ? centres[own + s] : 0.0;
    squares[s][0] = squares[s][1] = 0.0;
#pragma unroll
    for (int b = 0; b < NB; ++b) sums[s][b][0] = sums[s][b][1] = 0.0;
  }
  int begin = blockIdx.y * a.split, end = min(a.m, begin + a.split);
  const double* p = packed + ((i64)(begin / 4) * blocks + nb0) * 32 + lane;
  const char* at = a.x + own * (i64)sizeof(typename T::Number);
  auto ask = [&](int row, int stage) {
#pragma unroll
    for (int c = 0; c < FOUR; ++c) {
      int there = row + 4 * c + k < end ? wide : 0;
      fetch<T>(&ring.words[stage][c][lane], there ? at + (i64)(row + 4 * c + k) * a.ld : a.x, a.aligned, there);
    }
    commit();
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) ask(begin + stage * ROWS, stage);
  int stage = 0;
  for (int row = begin; row < end; row += ROWS) {
    wait_for_oldest();
#pragma unroll
    for (int c = 0; c < FOUR; ++c, p += (i64)blocks * 32) {
      if (row + 4 * c >= end) break;
      uint4 v = ring.words[stage][c][lane];
      u32 now[4] = {v.x, v.y, v.z, v.w};
      double r[NB];
#pragma unroll
      for (int b = 0; b < NB; ++b) r[b] = __ldg(p + b * 32);
#pragma unroll
      for (int s = 0; s < V; ++s) {
        double x = T::of(now, s) - (SQUARES ? centre[s] : 0.0);
#pragma unroll
        for (int b = 0; b < NB; ++b) multiply_add(sums[s][b], x, r[b]);
        if (SQUARES) multiply_add(squares[s], x * x, r[0]);
      }
    }
    ask(row + (STAGES - 1) * ROWS, stage == 0 ? STAGES - 1 : stage - 1);
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }
  int height = (SQUARES ? 2 : 1) * 8 * blocks;
  double* to = out + ((i64)blockIdx.y * height + 8 * nb0) * a.n;
#pragma unroll
  for (int s = 0; s < V; ++s) {
    if (s >= wide) continue;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll
      for (int b = 0; b < NB; ++b) to[(i64)(8 * b + 2 * k + e) * a.n + own + s] = sums[s][b][e];
      if (SQUARES) to[(i64)(8 + 2 * k + e) * a.n + own + s] = squares[s][e];
    }
  }
}

// What lies on the rows and columns of a design.
template <typename T>
__device__ double entry(Shape a, int by_rows, i64 row, i64 column) {
  i64 size = sizeof(typename T::Number);
  return number<T>(a.x + (by_rows ? row * a.ld + column * size : column * a.ld + row * size));
}

// Copies of listed columns in double precision, one every `ld` numbers, times h where there is one; zeros behind them.
template <typename T>
__device__ void gather(Shape a, int by_rows, const int* list, const double* h, i64 ld, double* out) {
  i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  int which = blockIdx.y;
  if (row >= ld) return;
  double value = row < a.m ? entry<T>(a, by_rows, row, list[which]) : 0.0;
  out[which * ld + row] = h && row < a.m ? h[row] * value : value;
}

// A warp codes the sampled rows of a column: a byte for the distance from its centre, in steps.
template <typename T>
__device__ void code(Shape a, int by_rows, int block, int every, int count, i64 ld, const double* means, signed char* codes,
                     double* centres, float* steps) {
  i64 column = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (column >= a.n) return;
  float centre = (float)means[column], most = 0.0f;
  for (int i = lane; i < count; i += 32) {
    i64 row = (i64)(i / block) * block * every + i % block;
    most = fmaxf(most, fabsf((float)entry<T>(a, by_rows, row, column) - centre));
  }
  for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, half));
  float inverse = most > 0.0f ? __fdiv_rn(127.0f, most) : 0.0f;
  for (int i = lane; i < ld; i += 32) {
    i64 row = (i64)(i / block) * block * every + i % block;
    float distance = i < count ? (float)entry<T>(a, by_rows, row, column) - centre : 0.0f;
    // A small number on top of 1.5·2^23 is rounded to a whole one, which stands in the last bits.
    u32 bits = __float_as_uint(__fadd_rn(__fmul_rn(distance, inverse), 12582912.0f));
    codes[column * ld + i] = (signed char)(bits & 255);
  }
  if (lane == 0) {
    centres[column] = centre;
    steps[column] = __fdiv_rn(most, 127.0f);
  }
}

// A row of a design.
template <typename T>
__device__ void row(Shape a, int by_rows, i64 at, double* out) {
  i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j < a.n) out[j] = entry<T>(a, by_rows, at, j);
}

#ifdef NUMBERS // the kernels for numbers that are stored in one way

#define PASS(NAME, ALONG, NB, SQUARES)                                                                                  \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) NAME(                                                        \
      Shape a, const int* list, const double* packed, int blocks, const double* centres, double* out) {                 \
    ALONG<NUMBERS, NB, SQUARES>(a, list, packed, blocks, centres, out);                                                 \
  }

PASS(pass_columns_1, along_columns, 1, false)
PASS(pass_columns_4, along_columns, 4, false)
PASS(squares_columns, along_columns, 1, true)
PASS(pass_rows_1, along_rows, 1, false)
PASS(squares_rows, along_rows, 1, true)
#ifdef MANY_BY_ROWS // a lane holds sums for all numbers that it takes at a time: of small ones too many
PASS(pass_rows_4, along_rows, 4, false)
#endif

extern "C" __global__ void gather_columns(Shape a, int by_rows, const int* list, const double* h, i64 ld, double* out) {
  gather<NUMBERS>(a, by_rows, list, h, ld, out);
}
extern "C" __global__ void take_row(Shape a, int by_rows, i64 at, double* out) { row<NUMBERS>(a, by_rows, at, out); }
extern "C" __global__ void code_rows(Shape a, int by_rows, int block, int every, int count, i64 ld, const double* means,
                                     signed char* codes, double* centres, float* steps) {
  code<NUMBERS>(a, by_rows, block, every, count, ld, means, codes, centres, steps);
}

#else // those for double precision and codes

// Vectors in the order in which lanes take them: `v` numbers of a lane follow each other in memory. Zeros behind the rows,
// and in place of vectors up to a multiple of eight.
extern "C" __global__ void pack(const double* vectors, i64 ld, int m, int count, int v, int blocks, i64 total, double* out) {
  i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= total) return;
  int lane = at % 32, s = at / 32 % v, b = at / (32 * v) % blocks;
  i64 row = at / ((i64)32 * v * blocks) * (4 * v) + lane % 4 * v + s;
  int vector = 8 * b + lane / 4;
  out[at] = row < m && vector < count ? vectors[vector * ld + row] : 0.0;
}

// Columns of which few entries are stored, in double precision.
struct Sparse {
  const double* values;
  const u32* rows;
  const i64* starts;
  i64 n; // columns, or those of a list
  const int* list;
};

// What a warp has of a column.
struct Entries {
  i64 column, from, to;
  __device__ Entries(const Sparse& a) {
    column = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (column >= a.n) return;
    i64 j = a.list ? a.list[column] : column;
    from = a.starts[j] + threadIdx.x % 32, to = a.starts[j + 1];
  }
};

__device__ double over_warp(double value) {
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
  return value;
}

// out[vector][column] = the column times a vector, packed with one number of a lane following another.
extern "C" __global__ void pass_sparse(Sparse a, const double* packed, int blocks, int count, double* out) {
  Entries of(a);
  if (of.column >= a.n) return;
  int left = min(8, count - 8 * (int)blockIdx.y);
  double sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (i64 e = of.from; e < of.to; e += 32) {
    u32 row = a.rows[e];
    double x = a.values[e];
    const double* r = packed + ((i64)(row / 4) * blocks + blockIdx.y) * 32 + row % 4;
#pragma unroll
    for (int q = 0; q < 8; ++q)
      if (q < left) sums[q] += x * r[4 * q];
  }
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    double sum = over_warp(sums[q]);
    if (threadIdx.x % 32 == 0 && q < left) out[(i64)(8 * blockIdx.y + q) * a.n + of.column] = sum;
  }
}

// out[weighting][column] = the sum of the squares of a column's distances from its centre; what is not stored is a zero.
extern "C" __global__ void squares_sparse(Sparse a, const double* packed, int count, const double* totals,
                                          const double* centres, double* out) {
  Entries of(a);
  if (of.column >= a.n) return;
  double centre = centres[of.column], squares[8] = {0, 0, 0, 0, 0, 0, 0, 0}, stored[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (i64 e = of.from; e < of.to; e += 32) {
    u32 row = a.rows[e];
    double away = a.values[e] - centre;
    const double* w = packed + (i64)(row / 4) * 32 + row % 4;
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      if (q >= count) continue;
      squares[q] += w[4 * q] * (away * away);
      stored[q] += w[4 * q];
    }
  }
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    double square = over_warp(squares[q]), there = over_warp(stored[q]);
    if (threadIdx.x % 32 == 0 && q < count) {
      double absent = totals[q] - there;
      out[(i64)q * a.n + of.column] = square + (absent > 0.0 ? absent : 0.0) * centre * centre;
    }
  }
}

// Copies of listed columns, one every `ld` numbers, times h where there is one; a block of threads makes one.
extern "C" __global__ void gather_sparse(Sparse a, const double* h, i64 ld, double* out) {
  double* to = out + (i64)blockIdx.x * ld;
  for (i64 row = threadIdx.x; row < ld; row += blockDim.x) to[row] = 0.0;
  __syncthreads();
  i64 j = a.list[blockIdx.x];
  for (i64 e = a.starts[j] + threadIdx.x; e < a.starts[j + 1]; e += blockDim.x) {
    u32 row = a.rows[e];
    to[row] = h ? h[row] * a.values[e] : a.values[e];
  }
}

// out[e] = values[which[e]].
extern "C" __global__ void take(const double* values, const u32* which, i64 count, double* out) {
  i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < count) out[e] = values[which[e]];
}

// out[e] = the product of a row of the left factor and one of the right; columns follow each other.
extern "C" __global__ void dots(const double* left, i64 rows, const double* right, i64 columns, int rank,
                                const uint2* places, i64 count, double* out) {
  i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const double *l = left + places[e].x, *r = right + places[e].y;
  double sum = 0.0;
  for (int c = 0; c < rank; ++c) sum += l[c * rows] * r[c * columns];
  out[e] = sum;
}

// out[i] = the sum of the parts, in their order.
extern "C" __global__ void add_up(const double* parts, int count, i64 length, double* out) {
  i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  double sum = parts[i];
  for (int p = 1; p < count; ++p) sum += parts[p * length + i];
  out[i] = sum;
}

// parts[block of columns][row] = the sum of the columns of the block, each times its value.
extern "C" __global__ void apply(const double* columns, i64 ld, int m, int count, const double* values, int each,
                                 double* parts) {
  i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  int first = blockIdx.y * each, last = min(count, first + each);
  double sum = 0.0;
  for (int c = first; c < last; ++c) sum += values[c] * columns[c * ld + row];
  parts[(i64)blockIdx.y * m + row] = sum;
}

// Means, variances and the product with a vector, one after the other, from a pass with squares about the centres for
// weights and that vector. `total` is the sum of the weights, `sum` that of the vector.
extern "C" __global__ void finish(const double* sums, const double* centres, i64 n, double total, double sum, double* out) {
  i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  double away = sums[j] / total, variance = sums[8 * n + j] / total - away * away;
  out[j] = centres[j] + away;
  out[n + j] = variance < 0.0 ? 0.0 : variance; // a NaN stays one
  out[2 * n + j] = sums[n + j] + sum * centres[j];
}

// Products with codes become products with what they stand for.
extern "C" __global__ void decode(double* products, const float* steps, const double* centres, i64 n, int count,
                                  const double* units, const double* totals) {
  i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  for (int q = 0; q < count; ++q) {
    double value = units[q] * (double)steps[j] * products[q * n + j] + centres[j] * totals[q];
    products[q * n + j] = isfinite(value) ? value : 0.0;
  }
}

#endif
