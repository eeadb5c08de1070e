/* codes_x86.c -- products of codes with the vector instructions of x86-64
 *
 *            8 bits                  4 bits                2 bits             1 bit
 * avx512     vpdpbusd                vpdpbusd              and, vpopcntd      and, vpopcntd
 * avxvnni    vpdpbusd                vpdpbusd
 * avx2       vpmaddwd on 16 bits     vpmaddubsw            vpshufb            vpshufb
 *
 * vpdpbusd multiplies unsigned with signed bytes. Of 8 bits the row is the signed one, less 128,
 * and the sums begin with 128 sum w. vpmaddubsw would saturate at two products of 8 bits; of 4 bits
 * 72 pairs of products fit into 16 bits. With 4 bits the weights are two a byte, and become bytes
 * again in registers.
 *
 * The AVX2 code for 2 and 1 bits looks up sums of two or four products (codes_lut.inc; from
 * wei2024). A tile alone, in a trial on a Zen 4 (best of several runs, other programs beside it):
 * AND with a popcount by vpshufb 825 GOP/s of 1 bit, tables 1,070, of which making them takes a
 * tenth. With AVX-512 and 2 bits tables made 530, planes with vpopcntd 590, vpdpbusd on 4 bits 465.
 * Sizes of tiles were tried out there too. What came of it: docs/results/codes.md. */
#include "base/base.h"
#include "num/codes_kernels.h"

#if defined(__x86_64__)
/* The sums of a tile must be registers, so the loops over them must be unrolled. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#pragma GCC optimize("no-tree-pre") /* with it gcc 12 keeps the sums in memory all the same */
#endif
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define POPCNT __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")))
#define AVXVNNI __attribute__((target("avx2,avxvnni")))

static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
static bool has_vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
static bool has_popcnt(void) { return has_avx512() && __builtin_cpu_supports("avx512vpopcntdq"); }
/* Clang 14 has no name for it: leaf 7, subleaf 1, bit 4 of eax. */
static bool has_avxvnni(void) {
    unsigned a = 0, b, c, d;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

/* ---- how weights are laid out ----------------------------------------------- */

/* The codes of a step are as many bytes. */
static void weights_bytes(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                          uint8_t *panel) {
    for (int64_t i = 0; i < K; i++)
        panel[k->group * (i / k->group * k->outputs + o) + i % k->group] = codes[i];
}
/* Eight codes are four bytes: the first four are the low halves. */
static void weights_halves(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                           uint8_t *panel) {
    for (int64_t i = 0; i < K; i++)
        panel[4 * (i / 8 * k->outputs + o) + i % 4] |= (uint8_t)(codes[i] << (i / 4 % 2 * 4));
}
/* 32 codes of an output are a word of 32 bits in each plane, 16 outputs a vector. */
static void weights_planes(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                           uint8_t *panel) {
    for (int64_t i = 0; i < K; i++)
        for (int m = 0; m < k->bits; m++) {
            int64_t vector = (i / 32 * (k->outputs / 16) + o / 16) * k->bits + m;
            panel[64 * vector + o % 16 * 4 + i % 32 / 8] |= (uint8_t)((codes[i] >> m & 1) << i % 8);
        }
}
/* Eight bits of codes are a byte, 32 outputs a vector. Output 8l + d is byte l of word d: so the
 * 16-bit sums of even and of odd bytes, cut into 32-bit words, have the outputs in their order. */
static void weights_indices(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                            uint8_t *panel) {
    const int group = 8 / k->bits, lane = o / 32 * 32 + o % 8 * 4 + o % 32 / 8;
    for (int64_t i = 0; i < K; i++)
        panel[i / group * k->outputs + lane] |= (uint8_t)(codes[i] << i % group * k->bits);
}

/* ---- vectors ------------------------------------------------------------------ */

typedef struct pair256 {
    __m256i a, b;
} pair256;
typedef struct pair512 {
    __m512i a, b;
} pair512;
/* Sums for the weights 1, 2 and 4 of the pairs of planes. */
typedef struct planes512 {
    __m512i one, two, four;
} planes512;

INLINE int32_t word32(const uint8_t *p) {
    int32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

AVX2 INLINE void load256(const uint8_t *p, __m256i *x) {
    *x = _mm256_loadu_si256((const __m256i *)p);
}
/* The low and the high four bits of 32 bytes. */
AVX2 INLINE void halves256(const uint8_t *p, pair256 *x) {
    const __m256i low4 = _mm256_set1_epi8(15);
    load256(p, &x->b);
    x->a = _mm256_and_si256(x->b, low4);
    x->b = _mm256_and_si256(_mm256_srli_epi16(x->b, 4), low4);
}
/* 16 bytes as numbers of 16 bits. */
AVX2 INLINE void widen256(const uint8_t *p, __m256i *x) {
    *x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
}
AVX2 INLINE __m256i table256(const uint8_t *p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}
AVX2 INLINE void spread256(const uint8_t *p, __m256i *x) { *x = _mm256_set1_epi32(word32(p)); }
AVX2 INLINE void spread_pair256(const uint8_t *p, pair256 *x) {
    spread256(p, &x->a);
    spread256(p + 4, &x->b);
}
AVX2 INLINE void add256(uint32_t *to, __m256i x) {
    __m256i *at = (__m256i *)to;
    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), x));
}
AVX2 INLINE void total256(const __m256i *sum, uint32_t *to) { add256(to, *sum); }
/* Of numbers of 16 bits, two for an output. */
AVX2 INLINE void total_pairs256(const __m256i *sum, uint32_t *to) {
    add256(to, _mm256_madd_epi16(*sum, _mm256_set1_epi16(1)));
}

AVX512 INLINE void load512(const uint8_t *p, __m512i *x) { *x = _mm512_loadu_si512(p); }
AVX512 INLINE void halves512(const uint8_t *p, pair512 *x) {
    const __m512i low4 = _mm512_set1_epi8(15);
    load512(p, &x->b);
    x->a = _mm512_and_si512(x->b, low4);
    x->b = _mm512_and_si512(_mm512_srli_epi16(x->b, 4), low4);
}
AVX512 INLINE void load_pair512(const uint8_t *p, pair512 *x) {
    load512(p, &x->a);
    load512(p + 64, &x->b);
}
AVX512 INLINE void spread512(const uint8_t *p, __m512i *x) { *x = _mm512_set1_epi32(word32(p)); }
AVX512 INLINE void spread_pair512(const uint8_t *p, pair512 *x) {
    spread512(p, &x->a);
    spread512(p + 4, &x->b);
}
AVX512 INLINE void total512(const __m512i *sum, uint32_t *to) {
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_loadu_si512(to), *sum));
}
AVX512 INLINE void total_planes512(const planes512 *sum, uint32_t *to) {
    __m512i x = _mm512_add_epi32(sum->two, _mm512_add_epi32(sum->four, sum->four));
    x = _mm512_add_epi32(sum->one, _mm512_add_epi32(x, x));
    total512(&x, to);
}

/* ---- how rows are laid out ------------------------------------------------------ */

static void row_bytes(int64_t K, const uint8_t *codes, uint8_t *out) {
    memcpy(out, codes, (size_t)K);
    memset(out + K, 0, (size_t)((8 - K % 8) % 8));
}
static void row_signed(int64_t K, const uint8_t *codes, uint8_t *out) {
    for (int64_t k = 0; k < K; k++) out[k] = codes[k] ^ 128; /* less 128 */
    memset(out + K, 0, (size_t)((4 - K % 4) % 4));
}
static void row_wide(int64_t K, const uint8_t *codes, uint8_t *out) {
    for (int64_t k = 0; k < K; k++) {
        out[2 * k] = codes[k];
        out[2 * k + 1] = 0;
    }
    memset(out + 2 * K, 0, (size_t)(2 * (K % 2)));
}

/* Bit `bit` of 32 codes. */
AVX2 INLINE uint32_t plane(const uint8_t *codes, int bit) {
    __m256i x;
    load256(codes, &x);
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(x, 7 - bit));
}
/* 32 codes from k on; zeros behind the last. */
INLINE const uint8_t *codes_at(int64_t K, const uint8_t *codes, int64_t k, uint8_t last[32]) {
    if (K - k >= 32) return codes + k;
    memset(last, 0, 32);
    return memcpy(last, codes + k, (size_t)(K - k));
}
AVX2 static void row_planes_1(int64_t K, const uint8_t *codes, uint8_t *out) {
    uint8_t last[32];
    for (int64_t k = 0; k < K; k += 32) {
        uint32_t x = plane(codes_at(K, codes, k, last), 0);
        memcpy(out + k / 8, &x, 4);
    }
}
AVX2 static void row_planes_2(int64_t K, const uint8_t *codes, uint8_t *out) {
    uint8_t last[32];
    for (int64_t k = 0; k < K; k += 32) {
        const uint8_t *from = codes_at(K, codes, k, last);
        uint32_t x[2] = {plane(from, 0), plane(from, 1)};
        memcpy(out + k / 4, x, 8);
    }
}

/* Row a: the sums of products of the codes in a with those in 0, 1, ..., 15. */
#define ONES(a, i) (((a) & (i)&1) + ((a) & (i)&2) / 2 + ((a) & (i)&4) / 4 + ((a) & (i)&8) / 8)
#define PAIRS(a, i) (((a)&3) * ((i)&3) + (a) / 4 * ((i) / 4))
#define TABLE(f, a)                                                                                \
    {                                                                                              \
        f(a, 0), f(a, 1), f(a, 2), f(a, 3), f(a, 4), f(a, 5), f(a, 6), f(a, 7), f(a, 8), f(a, 9),  \
            f(a, 10), f(a, 11), f(a, 12), f(a, 13), f(a, 14), f(a, 15)                             \
    }
#define TABLES(f)                                                                                  \
    {                                                                                              \
        TABLE(f, 0), TABLE(f, 1), TABLE(f, 2), TABLE(f, 3), TABLE(f, 4), TABLE(f, 5), TABLE(f, 6), \
            TABLE(f, 7), TABLE(f, 8), TABLE(f, 9), TABLE(f, 10), TABLE(f, 11), TABLE(f, 12),       \
            TABLE(f, 13), TABLE(f, 14), TABLE(f, 15)                                               \
    }
static const uint8_t of_ones[16][16] = TABLES(ONES), of_pairs[16][16] = TABLES(PAIRS);

/* A table of 16 bytes for four codes of one bit; two tables a step. */
AVX2 static void row_tables_1(int64_t K, const uint8_t *codes, uint8_t *out) {
    uint8_t last[32];
    for (int64_t k = 0; k < K; k += 32) {
        uint32_t x = plane(codes_at(K, codes, k, last), 0);
        int64_t tables = K - k < 32 ? (K - k + 7) / 8 * 2 : 8;
        for (int64_t j = 0; j < tables; j++, out += 16) memcpy(out, of_ones[x >> 4 * j & 15], 16);
    }
}
/* A table for two codes of two bits; a word has four pairs, a and b as a + 256 b. */
static void row_tables_2(int64_t K, const uint8_t *codes, uint8_t *out) {
    for (int64_t k = 0; k < K; k += 8) {
        uint64_t x = 0;
        memcpy(&x, codes + k, (size_t)(K - k < 8 ? K - k : 8));
        x |= x >> 6; /* a + 4 b */
        int64_t tables = K - k < 8 ? (K - k + 3) / 4 * 2 : 4;
        for (int64_t j = 0; j < tables; j++, out += 16) memcpy(out, of_pairs[x >> 16 * j & 15], 16);
    }
}

/* ---- avx512 ---------------------------------------------------------------- */

#define NAME(x) x##_vnni8
#define TARGET VNNI
#define PATH "avx512"
#define LEVEL KREIN_CODES_AVX512
#define HERE has_vnni
#define CODE_BITS 8
#define TILE 6
#define TILES 4
#define VECTORS 4
#define VECTOR_OUTPUTS 16
#define GROUP 4
#define WORD_BYTES 64
#define ROW_BYTES 4
#define SHIFT 128
#define WEIGHTS weights_bytes
#define ROW row_signed
#define FLUSH KREIN_CODES_CHUNK
#define WORD __m512i
#define SPREAD __m512i
#define SUM __m512i
#define LOAD load512
#define SPREAD_OUT spread512
#define TOTAL total512
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    *sum = _mm512_dpbusd_epi32(*sum, *w, *s);
}
#include "num/codes_dot.inc"

#define NAME(x) x##_vnni4
#define TARGET VNNI
#define PATH "avx512"
#define LEVEL KREIN_CODES_AVX512
#define HERE has_vnni
#define CODE_BITS 4
#define TILE 5
#define TILES 4
#define VECTORS 4
#define VECTOR_OUTPUTS 16
#define GROUP 8
#define WORD_BYTES 64
#define ROW_BYTES 8
#define SHIFT 0
#define WEIGHTS weights_halves
#define ROW row_bytes
#define FLUSH KREIN_CODES_CHUNK
#define WORD pair512
#define SPREAD pair512
#define SUM __m512i
#define LOAD halves512
#define SPREAD_OUT spread_pair512
#define TOTAL total512
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    *sum = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(*sum, w->a, s->a), w->b, s->b);
}
#include "num/codes_dot.inc"

POPCNT INLINE __m512i count512(__m512i sum, __m512i x, __m512i y) {
    return _mm512_add_epi32(sum, _mm512_popcnt_epi32(_mm512_and_si512(x, y)));
}

#define NAME(x) x##_popcnt2
#define TARGET POPCNT
#define PATH "avx512"
#define LEVEL KREIN_CODES_AVX512
#define HERE has_popcnt
#define CODE_BITS 2
#define TILE 4
#define TILES 8
#define VECTORS 2
#define VECTOR_OUTPUTS 16
#define GROUP 32
#define WORD_BYTES 128
#define ROW_BYTES 8
#define SHIFT 0
#define WEIGHTS weights_planes
#define ROW row_planes_2
#define FLUSH KREIN_CODES_CHUNK
#define WORD pair512
#define SPREAD pair512
#define SUM planes512
#define LOAD load_pair512
#define SPREAD_OUT spread_pair512
#define TOTAL total_planes512
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    sum->one = count512(sum->one, w->a, s->a);
    sum->two = count512(count512(sum->two, w->a, s->b), w->b, s->a);
    sum->four = count512(sum->four, w->b, s->b);
}
#include "num/codes_dot.inc"

#define NAME(x) x##_popcnt1
#define TARGET POPCNT
#define PATH "avx512"
#define LEVEL KREIN_CODES_AVX512
#define HERE has_popcnt
#define CODE_BITS 1
#define TILE 4
#define TILES 8
#define VECTORS 4
#define VECTOR_OUTPUTS 16
#define GROUP 32
#define WORD_BYTES 64
#define ROW_BYTES 4
#define SHIFT 0
#define WEIGHTS weights_planes
#define ROW row_planes_1
#define FLUSH KREIN_CODES_CHUNK
#define WORD __m512i
#define SPREAD __m512i
#define SUM __m512i
#define LOAD load512
#define SPREAD_OUT spread512
#define TOTAL total512
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    *sum = count512(*sum, *w, *s);
}
#include "num/codes_dot.inc"

/* ---- avxvnni, and the same in the encoding of AVX-512, for a test ------------- */

#define SUFFIX(x) x##_avxvnni
#define AIM AVXVNNI
#define LABEL "avxvnni"
#define HAS has_avxvnni
#define DOT(sum, u, s) _mm256_dpbusd_avx_epi32(sum, u, s)
#include "num/codes_vnni256.inc"

#define SUFFIX(x) x##_evex
#define AIM VNNI
#define LABEL "evex"
#define HAS has_vnni
#define DOT(sum, u, s) _mm256_dpbusd_epi32(sum, u, s)
#include "num/codes_vnni256.inc"

/* ---- avx2 ------------------------------------------------------------------- */

#define NAME(x) x##_avx2_8
#define TARGET AVX2
#define PATH "avx2"
#define LEVEL KREIN_CODES_AVX2
#define HERE has_avx2
#define CODE_BITS 8
#define TILE 6
#define TILES 4
#define VECTORS 2
#define VECTOR_OUTPUTS 8
#define GROUP 2
#define WORD_BYTES 16
#define ROW_BYTES 4
#define SHIFT 0
#define WEIGHTS weights_bytes
#define ROW row_wide
#define FLUSH KREIN_CODES_CHUNK
#define WORD __m256i
#define SPREAD __m256i
#define SUM __m256i
#define LOAD widen256
#define SPREAD_OUT spread256
#define TOTAL total256
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(*w, *s));
}
#include "num/codes_dot.inc"

/* A lane of 16 bits gets four products up to 225 a step. */
#define NAME(x) x##_avx2_4
#define TARGET AVX2
#define PATH "avx2"
#define LEVEL KREIN_CODES_AVX2
#define HERE has_avx2
#define CODE_BITS 4
#define TILE 4
#define TILES 4
#define VECTORS 2
#define VECTOR_OUTPUTS 8
#define GROUP 8
#define WORD_BYTES 32
#define ROW_BYTES 8
#define SHIFT 0
#define WEIGHTS weights_halves
#define ROW row_bytes
#define FLUSH 36
#define WORD pair256
#define SPREAD pair256
#define SUM __m256i
#define LOAD halves256
#define SPREAD_OUT spread_pair256
#define TOTAL total_pairs256
TARGET INLINE void NAME(multiply)(const WORD *w, const SPREAD *s, SUM *sum) {
    *sum = _mm256_add_epi16(*sum, _mm256_maddubs_epi16(s->a, w->a));
    *sum = _mm256_add_epi16(*sum, _mm256_maddubs_epi16(s->b, w->b));
}
#include "num/codes_dot.inc"

/* A byte gets four products up to 9 a step, or eight up to 1. */
#define NAME(x) x##_avx2_2
#define TARGET AVX2
#define PATH "avx2"
#define LEVEL KREIN_CODES_AVX2
#define HERE has_avx2
#define CODE_BITS 2
#define TILE 4
#define TILES 2
#define VECTORS 2
#define VECTOR_OUTPUTS 32
#define GROUP 4
#define WORD_BYTES 32
#define ROW_BYTES 32
#define SHIFT 0
#define WEIGHTS weights_indices
#define ROW row_tables_2
#define FLUSH 7
#include "num/codes_lut.inc"

#define NAME(x) x##_avx2_1
#define TARGET AVX2
#define PATH "avx2"
#define LEVEL KREIN_CODES_AVX2
#define HERE has_avx2
#define CODE_BITS 1
#define TILE 4
#define TILES 2
#define VECTORS 2
#define VECTOR_OUTPUTS 32
#define GROUP 8
#define WORD_BYTES 32
#define ROW_BYTES 32
#define SHIFT 0
#define WEIGHTS weights_indices
#define ROW row_tables_1
#define FLUSH 31
#include "num/codes_lut.inc"

const krein_codes_kernel *const krein__codes_x86[] = {
    &kernel_vnni8,    &kernel_vnni4,    &kernel_popcnt2, &kernel_popcnt1,
    &kernel8_avxvnni, &kernel4_avxvnni, &kernel8_evex,   &kernel4_evex,
    &kernel_avx2_8,   &kernel_avx2_4,   &kernel_avx2_2,  &kernel_avx2_1};
const int64_t krein__codes_x86_count = KREIN__COUNT(krein__codes_x86);

#else
const krein_codes_kernel *const krein__codes_x86[1];
const int64_t krein__codes_x86_count = 0;
#endif
