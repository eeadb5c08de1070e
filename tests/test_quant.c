/* test_quant.c -- codes of a few bits: the quantiser, packing, products on every path of this CPU,
 * codes of cosines.
 *
 * Sums of products are whole numbers: they are compared exactly, with a loop over the codes. */
#include "test.h"
#include "common.h"

#include "num/codes.h"
#include "num/codes_kernels.h"

#include <float.h>

static krein_ctx *ctx;
static const int BITS[] = {8, 4, 2, 1};
/* "evex" is the code of "avxvnni" for CPUs that have it in the encoding of AVX-512 only. */
static const char *const PATHS[] = {"avx512", "avxvnni", "evex", "avx2", "portable"};

static uint8_t *random_codes(int64_t n, int bits) {
    uint8_t *codes = test_new(n, 1);
    for (int64_t i = 0; i < n; i++)
        codes[i] = (uint8_t)((int)((test_random() + 1) * 0x1p30) >> 7 & ((1 << bits) - 1));
    return codes;
}

/* Weights from codes (outputs x inputs), with a scale and a zero that are not simple. */
static krein_codes matrix(int bits, int64_t inputs, int64_t outputs, const uint8_t *codes) {
    krein_codes w = {.quant = {bits, 0.0137, -3.7}, .inputs = inputs, .outputs = outputs};
    int64_t bytes = krein__packed_bytes(bits, inputs);
    w.packed = test_new(krein__codes_bytes(&w), 1);
    for (int64_t o = 0; o < outputs; o++)
        krein__pack(bits, inputs, codes + o * inputs, w.packed + o * bytes);
    return w;
}

/* NULL where the CPU lacks the path. */
static krein_product *product_on(const char *path, const krein_codes *w, krein_quant rows,
                                 double turns, const double *phase) {
    krein_product *p = NULL;
    krein_product_plan plan = {.rows = rows, .turns = turns, .phase = phase, .path = path};
    krein_status st = krein__product_create(ctx, w, &plan, &p);
    if (st != KREIN_OK) {
        CHECK(st == KREIN_EARG && !p);
        CHECK_HAS(krein_message(ctx), "this CPU lacks it");
    }
    return p;
}

/* A path that the system's list of the CPU's instructions has is there, under its own name. */
static void paths_of_the_cpu(void) {
    static const struct {
        const char *flag, *path;
    } known[] = {{" avx2 ", "avx2"}, {" avx_vnni ", "avxvnni"}, {" avx512_vnni ", "avx512"}};
    char line[8192] = "";
    const uint8_t zero[8] = {0};
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && strncmp(line, "flags", 5) != 0)
        if (!fgets(line, (int)sizeof line, f)) break;
    if (f) fclose(f);
    if (strncmp(line, "flags", 5) != 0) SKIP("no list of the CPU's instructions");
    line[strcspn(line, "\n")] = ' ';
    for (int b = 0; b < 2; b++) /* 8 and 4 bits: the others have paths of other kinds */
        for (int i = 0; i < KREIN__COUNT(known); i++) {
            krein_codes w = matrix(BITS[b], 8, 1, zero);
            krein_product *p = NULL;
            krein_product_plan plan = {.rows = w.quant, .path = known[i].path};
            bool there = krein__product_create(ctx, &w, &plan, &p) == KREIN_OK;
            CHECK(there == (strstr(line, known[i].flag) != NULL));
            CHECK(!p || strcmp(krein__product_path(p), known[i].path) == 0);
            krein__product_destroy(ctx, p);
            free(w.packed);
        }
}

/* ---- the quantiser ------------------------------------------------------- */

static void reference_codes(void) {
    static const float x[] = {-1, -0.51f, -0.1f, 0, 0.26f, 1};
    static const uint8_t want[] = {0, 4, 7, 8, 9, 15};
    static const double back[] = {-1, -.4666666667, -.0666666667, .0666666667, .2, 1};
    krein_quant q = krein__quant(4, -1, 1);
    uint8_t codes[6];
    float real[6];
    krein__quant_codes(&q, 6, x, codes);
    krein__quant_reals(&q, 6, codes, real);
    for (int i = 0; i < 6; i++) {
        CHECK(codes[i] == want[i]);
        CHECK_ABS((double)real[i], back[i], 1e-7);
    }
}

/* FORMULAS.md, 14: w of 37 numbers on its own range, s on [-1, 1]. */
static void reference_products(void) {
    enum { K = 37 };
    static const uint32_t sums[] = {876854, 3059, 130, 17};
    static const double dots[] = {22.79227504162, 23.243562022971, 25.797523785343,
                                  35.077491571496};
    static const uint8_t first[] = {10, 15, 14, 8, 2, 0, 4, 11};
    float w[K], s[K];
    for (int j = 0; j < K; j++) {
        w[j] = (float)(1.7 * det(0, j, .3));
        s[j] = (float)det(0, j, 1.1);
    }
    for (int b = 0; b < 4; b++) {
        krein_quant qs = krein__quant(BITS[b], -1, 1);
        krein_codes c;
        uint8_t row[K], weights[K];
        CHECK(krein__codes_create(ctx, BITS[b], K, 1, w, 1, &c) == KREIN_OK);
        krein__quant_codes(&qs, K, s, row);
        krein__unpack(BITS[b], K, c.packed, weights);
        if (BITS[b] == 4) {
            CHECK_REL(c.quant.scale, .222707988865, 1e-7); /* of numbers rounded to float32 */
            CHECK_REL(c.quant.zero, -7.499369241177, 1e-7);
            CHECK(memcmp(weights, first, sizeof first) == 0);
        }
        for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
            krein_product *p = product_on(PATHS[i], &c, qs, 0, NULL);
            if (!p) continue;
            void *scratch = krein__alloc(ctx, krein__product_scratch(p), 1);
            uint32_t Q;
            float real;
            krein__product_sums(p, 1, row, K, scratch, &Q);
            krein__product_reals(p, 1, row, K, scratch, &real);
            CHECK(Q == sums[b]);
            CHECK_REL((double)real, dots[b], 4 * FLT_EPSILON);
            krein__free(ctx, scratch);
            krein__product_destroy(ctx, p);
        }
        krein__codes_clear(ctx, &c);
    }
}

/* |x - xq| <= c/2 inside, the nearest end outside; the ends exact; codes of codes. */
static void rounding(void) {
    for (int b = 0; b < 4; b++) {
        krein_quant q = krein__quant(BITS[b], -0.3, 2.2);
        int top = (1 << BITS[b]) - 1;
        for (int i = 0; i < 2000; i++) {
            float x = (float)(0.95 + 2 * test_random()), back;
            uint8_t code;
            krein__quant_codes(&q, 1, &x, &code);
            krein__quant_reals(&q, 1, &code, &back);
            double inside = fmin(fmax((double)x, -0.3), 2.2);
            CHECK(fabs((double)back - inside) <= q.scale / 2 + 4 * (double)FLT_EPSILON);
            uint8_t again;
            krein__quant_codes(&q, 1, &back, &again);
            CHECK(again == code && code <= top);
        }
        float ends[] = {-0.3f, 2.2f, -INFINITY, INFINITY, NAN}, back[5];
        uint8_t codes[5];
        krein__quant_codes(&q, 5, ends, codes);
        krein__quant_reals(&q, 5, codes, back);
        CHECK(codes[0] == 0 && codes[1] == top && codes[2] == 0 && codes[3] == top &&
              codes[4] == 0);
        CHECK(back[0] == ends[0] && back[1] == ends[1]);
    }
    /* Half to even: x / c - z = 0.5, 1.5, 2.5 on [0, 15]. */
    krein_quant whole = krein__quant(4, 0, 15);
    static const float halves[] = {0.5f, 1.5f, 2.5f};
    uint8_t codes[3];
    krein__quant_codes(&whole, 3, halves, codes);
    CHECK(codes[0] == 0 && codes[1] == 2 && codes[2] == 2);
    /* One number. */
    krein_quant one = krein__quant(2, -1.25, -1.25);
    float x = -1.25f, back = 0;
    krein__quant_codes(&one, 1, &x, codes);
    krein__quant_reals(&one, 1, codes, &back);
    CHECK(codes[0] == 0 && back == x && krein__quant_check(ctx, &one) == KREIN_OK);
}

/* ---- packing --------------------------------------------------------------- */

static void packing(void) {
    for (int b = 0; b < 4; b++)
        for (int64_t n = 1; n <= 130; n++) {
            int64_t bytes = krein__packed_bytes(BITS[b], n);
            uint8_t *codes = random_codes(n, BITS[b]), *back = test_new(n, 1);
            uint8_t *packed = test_new(bytes + 1, 1);
            memset(packed, 0xa5, (size_t)bytes + 1);
            krein__pack(BITS[b], n, codes, packed);
            krein__unpack(BITS[b], n, packed, back);
            CHECK(memcmp(codes, back, (size_t)n) == 0);
            CHECK(packed[bytes] == 0xa5);
            free(codes), free(back), free(packed);
        }
    /* The layout is that of files: it must not change. */
    static const uint8_t codes[] = {1, 2, 3, 0, 1, 0, 2, 3, 2, 1};
    static const uint8_t two[] = {0x95, 0x02, 0xc6, 0x01}, four[] = {0x21, 0x03, 0x01, 0x32, 0x12};
    uint8_t packed[8];
    krein__pack(2, 10, codes, packed);
    CHECK(krein__packed_bytes(2, 10) == 4 && memcmp(packed, two, 4) == 0);
    krein__pack(4, 10, codes, packed);
    CHECK(krein__packed_bytes(4, 10) == 5 && memcmp(packed, four, 5) == 0);
    krein__pack(1, 10, (const uint8_t[]){1, 0, 1, 1, 0, 0, 0, 0, 0, 1}, packed);
    CHECK(krein__packed_bytes(1, 10) == 2 && packed[0] == 0x0d && packed[1] == 0x02);
}

/* A matrix of reals: every weight has the code of its number. */
static void matrices(void) {
    enum { K = 19, M = 7, LD = 9 };
    float w[K * LD];
    for (int i = 0; i < K * LD; i++) w[i] = (float)test_random();
    for (int b = 0; b < 4; b++) {
        krein_codes c;
        CHECK(krein__codes_create(ctx, BITS[b], K, M, w, LD, &c) == KREIN_OK);
        float lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i < K; i++)
            for (int j = 0; j < M; j++) {
                lo = fminf(lo, w[i * LD + j]);
                hi = fmaxf(hi, w[i * LD + j]);
            }
        CHECK_REL(c.quant.scale, (double)(hi - lo) / ((1 << BITS[b]) - 1), 1e-6);
        for (int j = 0; j < M; j++) {
            uint8_t codes[K];
            float back[K];
            krein__unpack(BITS[b], K, c.packed + j * krein__packed_bytes(BITS[b], K), codes);
            krein__quant_reals(&c.quant, K, codes, back);
            for (int i = 0; i < K; i++)
                CHECK(fabs((double)(back[i] - w[i * LD + j])) <= c.quant.scale * 0.500001);
        }
        krein__codes_clear(ctx, &c);
    }
}

/* ---- products -------------------------------------------------------------- */

/* All pairs of vectors of so many codes, so that every pair of codes meets in every place: the
 * weights have all vectors as outputs, the rows are all vectors. */
static void exhaustive(void) {
    static const int length[] = {1, 2, 4, 8}; /* 2^8 vectors each */
    for (int b = 0; b < 4; b++) {
        const int K = length[b], bits = BITS[b], N = 256;
        uint8_t *codes = test_new(N * K, 1);
        for (int v = 0; v < N; v++)
            for (int k = 0; k < K; k++)
                codes[v * K + k] = (uint8_t)(v >> k * bits & ((1 << bits) - 1));
        krein_codes w = matrix(bits, K, N, codes);
        uint32_t *Q = test_new(N * N, sizeof *Q);
        for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
            krein_product *p = product_on(PATHS[i], &w, w.quant, 0, NULL);
            if (!p) continue;
            void *scratch = krein__alloc(ctx, krein__product_scratch(p), 1);
            krein__product_sums(p, N, codes, K, scratch, Q);
            int64_t wrong = 0;
            for (int r = 0; r < N; r++)
                for (int o = 0; o < N; o++) {
                    uint32_t sum = 0;
                    for (int k = 0; k < K; k++)
                        sum += (uint32_t)codes[r * K + k] * codes[o * K + k];
                    wrong += sum != Q[r * N + o];
                }
            CHECK_ELSE(wrong == 0, "%s, %d bits: %lld wrong\n", PATHS[i], bits, (long long)wrong);
            krein__free(ctx, scratch);
            krein__product_destroy(ctx, p);
        }
        free(codes), free(w.packed), free(Q);
    }
}

/* One product on all paths, sums and reals; rows with a stride. */
static void compare(int wbits, int sbits, int64_t n, int64_t K, int64_t M, const uint8_t *wcodes,
                    const uint8_t *scodes) {
    const int64_t ld = K + 3;
    krein_codes w = matrix(wbits, K, M, wcodes);
    const krein_quant rows = {sbits, 0.021, -1.3};
    uint8_t *s = test_new(n * ld, 1);
    uint32_t *want = test_new(n * M, sizeof *want), *Q = test_new(n * M + 1, sizeof *Q);
    float *real = test_new(n * M + 1, sizeof *real);
    double *exact = test_new(n * M, sizeof *exact), *size = test_new(n * M, sizeof *size);
    memset(s, 0xff, (size_t)(n * ld)); /* what is between the rows does not matter */
    for (int64_t i = 0; i < n; i++) memcpy(s + i * ld, scodes + i * K, (size_t)K);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < M; o++) {
            uint64_t sum = 0;
            double dot = 0, all = 0;
            for (int64_t k = 0; k < K; k++) {
                uint32_t a = wcodes[o * K + k], b = scodes[i * K + k];
                double x = ((double)a + w.quant.zero) * ((double)b + rows.zero);
                sum += a * b;
                dot += x;
                all += fabs(x);
            }
            CHECK(sum <= UINT32_MAX);
            want[i * M + o] = (uint32_t)sum;
            exact[i * M + o] = w.quant.scale * rows.scale * dot;
            size[i * M + o] = w.quant.scale * rows.scale * (all + (double)sum);
        }
    for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
        krein_product *p = product_on(PATHS[i], &w, rows, 0, NULL);
        if (!p) continue;
        int64_t bytes = krein__product_scratch(p), wrong = 0;
        uint8_t *scratch = krein__alloc(ctx, bytes + 64, 1);
        memset(scratch, 0x5a, (size_t)bytes + 64);
        Q[n * M] = 12345;
        real[n * M] = 0.5f;
        krein__product_sums(p, n, s, ld, scratch, Q);
        krein__product_reals(p, n, s, ld, scratch, real);
        for (int64_t j = 0; j < n * M; j++) {
            wrong += Q[j] != want[j];
            wrong += !(fabs((double)real[j] - exact[j]) <=
                       (double)FLT_EPSILON * fabs(exact[j]) + 1e-12 * size[j]);
        }
        CHECK_ELSE(wrong == 0, "%s: %d x %d bits, %lld x %lld x %lld: %lld wrong\n", PATHS[i],
                   wbits, sbits, (long long)n, (long long)K, (long long)M, (long long)wrong);
        CHECK(Q[n * M] == 12345 && real[n * M] == 0.5f);
        for (int64_t j = bytes; j < bytes + 64; j++) CHECK(scratch[j] == 0x5a);
        krein__free(ctx, scratch);
        krein__product_destroy(ctx, p);
    }
    free(w.packed), free(s), free(want), free(Q), free(real), free(exact), free(size);
}

/* Sizes around every group, tile, panel and chunk. */
static void sizes(void) {
    static const int64_t size[][3] = {{1, 1, 1},     {1, 63, 5},   {2, 64, 64},  {3, 65, 65},
                                      {4, 7, 129},   {5, 100, 63}, {6, 31, 17},  {7, 33, 15},
                                      {13, 127, 31}, {25, 130, 3}, {40, 9, 33},  {1, 2048, 9},
                                      {2, 2049, 70}, {5, 4100, 2}, {1, 513, 200}};
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < KREIN__COUNT(size); i++) {
            int64_t n = size[i][0], K = size[i][1], M = size[i][2];
            uint8_t *w = random_codes(M * K, BITS[b]), *s = random_codes(n * K, BITS[b]);
            compare(BITS[b], BITS[b], n, K, M, w, s);
            free(w), free(s);
        }
}

/* All codes the largest: what saturates, or is added up in too few bits, shows here. */
static void extremes(void) {
    static const int64_t lengths[] = {64, 2048, 6000};
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < KREIN__COUNT(lengths); i++) {
            const int64_t n = 7, K = lengths[i], M = 66;
            uint8_t *w = test_new(M * K, 1), *s = test_new(n * K, 1);
            memset(w, (1 << BITS[b]) - 1, (size_t)(M * K));
            memset(s, (1 << BITS[b]) - 1, (size_t)(n * K));
            compare(BITS[b], BITS[b], n, K, M, w, s);
            memset(w, 0, (size_t)(3 * K)); /* and the smallest */
            memset(s + K, 0, (size_t)K);
            compare(BITS[b], BITS[b], n, K, M, w, s);
            free(w), free(s);
        }
}

/* As many inputs as fit into 32 bits, beyond 2^31 and one too many. */
static void longest(void) {
    const int64_t K = krein__product_inputs(8), M = 2;
    CHECK(K == 66051 && krein__product_inputs(4) == 19088743);
    uint8_t *w = test_new(M * (K + 1), 1), *s = test_new(K, 1);
    memset(w, 255, (size_t)(M * (K + 1)));
    memset(s, 255, (size_t)K);
    compare(8, 8, 1, K, M, w, s);
    krein_codes more = matrix(8, K + 1, M, w);
    krein_product *p = NULL;
    CHECK(krein__product_create(ctx, &more, &(krein_product_plan){.rows = more.quant}, &p) ==
          KREIN_EARG);
    CHECK(!p);
    CHECK_HAS(krein_message(ctx), "66052 inputs of 8 bits");
    CHECK_HAS(krein_message(ctx), "fewer");
    free(w), free(s), free(more.packed);
}

/* Weights and rows of different bits. */
static void mixed(void) {
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const int64_t n = 5, K = 77, M = 18;
            uint8_t *w = random_codes(M * K, BITS[a]), *s = random_codes(n * K, BITS[b]);
            compare(BITS[a], BITS[b], n, K, M, w, s);
            free(w), free(s);
        }
}

/* ---- cosines and sines ----------------------------------------------------- */

/* How far x is from where the code changes. */
static double to_boundary(krein_quant q, double x) {
    double v = x / q.scale - q.zero;
    return fabs(v - floor(v) - 0.5) * q.scale;
}
static int code_of(krein_quant q, double x) { return (int)rint(x / q.scale - q.zero); }

/* Every phase of the table, and floats next to it. */
static void tables(void) {
    for (int b = 0; b < 4; b++) {
        krein_wave_codes *w = NULL;
        CHECK(krein__wave_codes_create(ctx, BITS[b], &w) == KREIN_OK);
        krein_quant q = krein__wave_codes_quant(w);
        CHECK(q.bits == BITS[b]);
        CHECK_REL(q.scale, 2.0 / ((1 << BITS[b]) - 1), 1e-15);
        int64_t wrong = 0;
        for (int u = -100; u < 65636; u++) {
            long double t = 2 * 3.14159265358979323846264338327950288L * u / 65536;
            double want[2] = {(double)cosl(t), (double)sinl(t)};
            float turns[] = {(float)u / 65536, (float)u / 65536 + 7, (float)(u + 0.3) / 65536};
            uint8_t pairs[6];
            krein__wave_codes_of(w, 3, turns, pairs);
            for (int i = 0; i < 2; i++) {
                if (to_boundary(q, want[i]) > 1e-15) wrong += pairs[i] != code_of(q, want[i]);
                wrong += pairs[i] != pairs[2 + i] || pairs[i] != pairs[4 + i];
            }
        }
        CHECK_ELSE(wrong == 0, "%d bits: %lld wrong\n", BITS[b], (long long)wrong);
        /* A cosine of zero is in the middle: half to even. */
        float quarter[] = {0.25f, INFINITY, NAN};
        uint8_t pair[6], zero = BITS[b] == 1 ? 0 : (uint8_t)(1 << (BITS[b] - 1));
        uint8_t top = (uint8_t)((1 << BITS[b]) - 1);
        krein__wave_codes_of(w, 3, quarter, pair);
        CHECK(pair[0] == zero && pair[1] == top);
        CHECK(pair[2] == top && pair[3] == zero && pair[4] == top && pair[5] == zero);
        krein__wave_codes_destroy(ctx, w);
    }
    krein__wave_codes_destroy(ctx, NULL);
}

/* Sums that are phases, all of them: on vectors the codes come from comparisons, not the table. */
static void thresholds(void) {
    static const struct {
        const char *path;
        krein_codes_level level;
    } list[] = {{"portable", KREIN_CODES_BASELINE},
                {"avx2", KREIN_CODES_AVX2},
                {"avx512", KREIN_CODES_AVX512}};
    uint32_t *u = test_new(65536, sizeof *u), *zero = test_new(65536, sizeof *zero);
    float *turns = test_new(65536, sizeof *turns);
    uint8_t *want = test_new(65536, 2), *pairs = test_new(65536, 2), one = 1;
    krein_codes c = matrix(8, 1, 1, &one);
    for (int i = 0; i < 65536; i++) {
        u[i] = (uint32_t)i;
        turns[i] = (float)i / 65536;
    }
    for (int b = 0; b < 4; b++) {
        krein_wave_codes *w = NULL;
        CHECK(krein__wave_codes_create(ctx, BITS[b], &w) == KREIN_OK);
        krein__wave_codes_of(w, 65536, turns, want);
        for (int i = 0; i < 3; i++) {
            krein_product *p = product_on(list[i].path, &c, c.quant, 0, NULL);
            if (!p) continue; /* the CPU lacks it */
            krein__wave_codes_of_sums(w, list[i].level, 65536, u, (uint64_t)1 << 48, zero, 0,
                                      pairs);
            CHECK(memcmp(pairs, want, 2 * 65536) == 0);
            krein__product_destroy(ctx, p);
        }
        krein__wave_codes_destroy(ctx, w);
    }
    free(u), free(zero), free(turns), free(want), free(pairs), free(c.packed);
}

/* A layer straight to codes: the code of the cosine in real numbers wherever that is 4.8e-5 away
 * from a boundary, and the same bytes on every path. */
static void layers(void) {
    const double bound = 2 * M_PI * (0x1p-17 + 0x1p-30);
    CHECK(bound < 4.8e-5);
    for (int b = 0; b < 4; b++) {
        const int64_t n = 11, K = 300, M = 270;
        uint8_t *wcodes = random_codes(M * K, BITS[b]), *s = random_codes(n * K, BITS[b]);
        krein_wave_codes *table = NULL;
        CHECK(krein__wave_codes_create(ctx, BITS[b], &table) == KREIN_OK);
        const krein_quant rows = krein__wave_codes_quant(table);
        krein_codes w = matrix(BITS[b], K, M, wcodes);
        w.quant = krein__quant(BITS[b], -1.9, 2.3);
        double *phase = test_new(M, sizeof *phase);
        for (int64_t o = 0; o < M; o++) phase[o] = 3 * test_random();
        uint8_t *pairs = test_new(2 * n * M, 1), *before = NULL;
        for (int i = 0; i < KREIN__COUNT(PATHS); i++) {
            krein_product *p = product_on(PATHS[i], &w, rows, 0.5 / M_PI, phase);
            if (!p) continue;
            void *scratch = krein__alloc(ctx, krein__product_scratch(p), 1);
            krein__product_waves(p, table, n, s, K, scratch, pairs);
            if (before) CHECK(memcmp(pairs, before, (size_t)(2 * n * M)) == 0);
            if (!before) before = memcpy(test_new(2 * n * M, 1), pairs, (size_t)(2 * n * M));
            krein__free(ctx, scratch);
            krein__product_destroy(ctx, p);
        }
        int64_t wrong = 0, near = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t o = 0; o < M; o++) {
                long double dot = 0;
                for (int64_t k = 0; k < K; k++)
                    dot += ((long double)wcodes[o * K + k] + (long double)w.quant.zero) *
                           ((long double)s[i * K + k] + (long double)rows.zero);
                dot *= (long double)w.quant.scale * (long double)rows.scale;
                dot += 2 * 3.14159265358979323846264338327950288L * (long double)phase[o];
                double want[2] = {(double)cosl(dot), (double)sinl(dot)};
                for (int j = 0; j < 2; j++) {
                    int code = pairs[2 * (i * M + o) + j], right = code_of(rows, want[j]);
                    bool clear = to_boundary(rows, want[j]) > bound;
                    near += !clear;
                    wrong += clear ? code != right : abs(code - right) > 1;
                }
            }
        CHECK_ELSE(wrong == 0, "%d bits: %lld wrong\n", BITS[b], (long long)wrong);
        /* The bound is there for a few: 2 bound / scale of all, twice that at the most. */
        CHECK((double)near <= 4 * bound / rows.scale * (double)(2 * n * M) + 20);
        free(wcodes), free(s), free(w.packed), free(phase), free(pairs), free(before);
        krein__wave_codes_destroy(ctx, table);
    }
}

/* A deep kernel of three layers in codes, and the same in float32 of the numbers that the codes
 * stand for, with cosines from the same table. The phases differ by float32 rounding; where a code
 * then differs the float path is given the other's, and this is counted. */
static void float_path(void) {
    enum { N = 6, D = 12, F = 40, LAYERS = 3 };
    for (int b = 0; b < 4; b++) {
        const int bits = BITS[b];
        krein_wave_codes *table = NULL;
        CHECK(krein__wave_codes_create(ctx, bits, &table) == KREIN_OK);
        const krein_quant feature = krein__wave_codes_quant(table);
        uint8_t codes[N * 2 * F], next[N * 2 * F];
        int64_t in = D, moved = 0;
        float x[N * D];
        for (int i = 0; i < N * D; i++) x[i] = (float)det(i / D, i % D, .4);
        krein__quant_codes(&feature, N * D, x, codes);
        for (int l = 0; l < LAYERS; l++) {
            float w[2 * F * F], wq[2 * F * F], sq[2 * F];
            for (int64_t i = 0; i < in * F; i++) w[i] = (float)det(i / F, i % F, .1 * l);
            krein_codes c;
            CHECK(krein__codes_create(ctx, bits, in, F, w, F, &c) == KREIN_OK);
            for (int64_t o = 0; o < F; o++) {
                uint8_t row[2 * F];
                krein__unpack(bits, in, c.packed + o * krein__packed_bytes(bits, in), row);
                krein__quant_reals(&c.quant, in, row, wq + o * in);
            }
            krein_product *p = product_on(NULL, &c, feature, 0.5 / M_PI, NULL);
            void *scratch = krein__alloc(ctx, krein__product_scratch(p), 1);
            krein__product_waves(p, table, N, codes, in, scratch, next);
            for (int i = 0; i < N; i++) {
                float turns[F];
                uint8_t pairs[2 * F];
                krein__quant_reals(&feature, in, codes + i * in, sq);
                for (int64_t o = 0; o < F; o++) {
                    float sum = 0;
                    for (int64_t k = 0; k < in; k++) sum += wq[o * in + k] * sq[k];
                    turns[o] = sum * (float)(0.5 / M_PI);
                }
                krein__wave_codes_of(table, F, turns, pairs);
                for (int j = 0; j < 2 * F; j++) moved += pairs[j] != next[i * 2 * F + j];
            }
            memcpy(codes, next, sizeof codes);
            in = 2 * F;
            krein__free(ctx, scratch);
            krein__product_destroy(ctx, p);
            krein__codes_clear(ctx, &c);
        }
        /* Phases of a few turns, wrong by 1e-6 at the most, of 2^bits - 1 changes in half a turn.
         */
        double expected = 2.0 * N * F * LAYERS * 2e-6 * 2 * ((1 << bits) - 1);
        CHECK((double)moved <= expected + 5 * sqrt(expected) + 2);
        krein__wave_codes_destroy(ctx, table);
    }
}

/* ---- what is refused --------------------------------------------------------- */

static void refusals(void) {
    krein_product *p = NULL;
    krein_wave_codes *waves = NULL;
    krein_codes c;
    float w[4] = {1, 2, NAN, 4};
    static const int none[] = {0, 3, 16, -1};
    for (int i = 0; i < 4; i++) {
        CHECK(krein__codes_create(ctx, none[i], 2, 2, w, 2, &c) == KREIN_EARG && !c.packed);
        CHECK_HAS(krein_message(ctx), "8, 4, 2 or 1");
        CHECK(krein__wave_codes_create(ctx, none[i], &waves) == KREIN_EARG && !waves);
    }
    CHECK(krein__codes_create(ctx, 8, 2, 2, w, 2, &c) == KREIN_ENUMERIC && !c.packed);
    CHECK_HAS(krein_message(ctx), "not finite");
    CHECK(krein__codes_create(ctx, 8, 0, 2, w, 2, &c) == KREIN_EARG);
    CHECK(krein__codes_create(ctx, 8, 2, (int64_t)1 << 40, w, 2, &c) == KREIN_EARG);
    uint8_t one = 1;
    krein_codes good = matrix(8, 1, 1, &one), bad = good;
    bad.quant.scale = 0;
    CHECK(krein__product_create(ctx, &bad, &(krein_product_plan){.rows = good.quant}, &p) ==
          KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "scale 0");
    krein_quant rows = {8, 1, INFINITY};
    CHECK(krein__product_create(ctx, &good, &(krein_product_plan){.rows = rows}, &p) == KREIN_EARG);
    krein_product_plan plan = {.rows = good.quant, .path = "sse9"};
    CHECK(krein__product_create(ctx, &good, &plan, &p) == KREIN_EARG && !p);
    CHECK_HAS(krein_message(ctx), "sse9");
    /* By the environment, which stands in for no path at all. */
    plan.path = NULL;
    setenv("KREIN_TEST_CODES", "portable", 1);
    CHECK(krein__product_create(ctx, &good, &plan, &p) == KREIN_OK);
    CHECK(strcmp(krein__product_path(p), "portable") == 0);
    unsetenv("KREIN_TEST_CODES");
    krein__product_destroy(ctx, p);
    krein__product_destroy(ctx, NULL);
    free(good.packed);
}

static void memory(void) {
    test_memory m;
    for (int b = 0; b < 4; b++)
        for (int64_t K = 1; K < 5000; K = 3 * K + 2) {
            const int64_t M = 1 + K / 9;
            uint8_t *codes = random_codes(K * M, BITS[b]);
            krein_codes c = matrix(BITS[b], K, M, codes);
            krein_product *p = NULL;
            double most, scratch;
            most = krein__product_bytes(BITS[b], K, M, &scratch);
            int64_t before = (int64_t)atomic_load(&ctx->held);
            krein_product_plan plan = {.rows = c.quant, .turns = 1};
            CHECK(krein__product_create(ctx, &c, &plan, &p) == KREIN_OK);
            CHECK((double)((int64_t)atomic_load(&ctx->held) - before) <= most);
            CHECK((double)krein__product_scratch(p) <= scratch);
            CHECK(most < 4 * ((double)K + 64) * ((double)M + 64) + 2000);
            krein__product_destroy(ctx, p);
            free(codes), free(c.packed);
        }
    krein_ctx *on = test_ctx_with(1, &m);
    float w[6] = {1, 2, 3, 4, 5, 7};
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_codes c;
        krein_product *p = NULL;
        krein_wave_codes *waves = NULL;
        krein_status st = krein__codes_create(on, 4, 3, 2, w, 2, &c);
        if (st == KREIN_OK)
            st = krein__product_create(
                on, &c, &(krein_product_plan){.rows = krein__quant(4, -1, 1), .turns = 1}, &p);
        if (st == KREIN_OK) st = krein__wave_codes_create(on, 4, &waves);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        krein__wave_codes_destroy(on, waves);
        krein__product_destroy(on, p);
        krein__codes_clear(on, &c);
    }
    krein_ctx_destroy(on);
}

int main(void) {
    ctx = test_ctx(1);
    RUN(paths_of_the_cpu);
    RUN(reference_codes);
    RUN(reference_products);
    RUN(rounding);
    RUN(packing);
    RUN(matrices);
    RUN(exhaustive);
    RUN(sizes);
    RUN(extremes);
    RUN(longest);
    RUN(mixed);
    RUN(tables);
    RUN(thresholds);
    RUN(layers);
    RUN(float_path);
    RUN(refusals);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
