/* test_rng.c -- Philox against its published answers, distributions against their laws,
 * and the table of streams. */
#include "base/rng.h"
#include "test.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { R = 200000 };
static const krein_rng g = {.seed = 20240607, .stream = 77};
static double draws[R];

/* Philox4x64-10 as the paper writes it. */
static void slow_philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4]) {
    uint64_t c[4], k[2] = {key[0], key[1]};
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        const wide p = (wide)0xD2E7470EE14C6C93u * c[0], q = (wide)0xCA5A826395121157u * c[2];
        const uint64_t next[4] = {(uint64_t)(q >> 64) ^ c[1] ^ k[0], (uint64_t)q,
                                  (uint64_t)(p >> 64) ^ c[3] ^ k[1], (uint64_t)p};
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B97F4A7C15u;
        k[1] += 0xBB67AE8584CAA73Bu;
    }
    memcpy(out, c, sizeof c);
}

/* The three philox4x64 10 lines of Random123's kat_vectors: counter, key, answer. */
static void known_answers(void) {
    static const uint64_t kat[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
         0x7e68b68aec7ba23b},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x87b092c3013fe90b,
         0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0},
        {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
         0x452821e638d01377, 0xbe5466cf34e90c6c, 0xa528f45403e61d95, 0x38c72dbd566e9788,
         0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}};
    uint64_t out[4];
    for (int i = 0; i < 3; i++) {
        slow_philox(kat[i], kat[i] + 4, out);
        CHECK(memcmp(out, kat[i] + 6, sizeof out) == 0);
    }
    krein__philox(0, 0, 0, 0, 0, out);
    CHECK(memcmp(out, kat[0] + 6, sizeof out) == 0);
}

/* Ours is the slow one at counter {column, row, stream, attempt} and key {seed, 0}. */
static void addresses(void) {
    uint64_t a[4], b[4], state = 1;
    for (int i = 0; i < 2000; i++) {
        uint64_t w[5];
        for (int j = 0; j < 5; j++)
            w[j] = state = state * 6364136223846793005u + 1442695040888963407u;
        krein__philox(w[0], w[1], w[2], w[3], w[4], a);
        slow_philox((uint64_t[4]){w[3], w[2], w[1], w[4]}, (uint64_t[2]){w[0], 0}, b);
        CHECK(memcmp(a, b, sizeof a) == 0);
    }
    krein__philox(g.seed, g.stream, 5, 9, 0, a);
    CHECK(krein__rng_bits(g, 5, 9) == a[0]);
    CHECK(krein__rng_normal(g, 5, 9) == krein__rng_normal(g, 5, 9));
    CHECK(krein__rng_normal(g, 5, 9) != krein__rng_normal(g, 9, 5));
}

/* Products of neighbours in row, column, seed and stream have mean zero, variance one. */
static void neighbours(void) {
    const krein_rng seed = {g.seed + 1, g.stream}, stream = {g.seed, g.stream + 1};
    double row = 0, column = 0, by_seed = 0, by_stream = 0;
    for (uint64_t i = 0; i < R; i++) {
        const double z = krein__rng_normal(g, i, 3);
        row += z * krein__rng_normal(g, i + 1, 3);
        column += z * krein__rng_normal(g, i, 4);
        by_seed += z * krein__rng_normal(seed, i, 3);
        by_stream += z * krein__rng_normal(stream, i, 3);
    }
    CHECK_Z(row / R, 0, 1, R);
    CHECK_Z(column / R, 0, 1, R);
    CHECK_Z(by_seed / R, 0, 1, R);
    CHECK_Z(by_stream / R, 0, 1, R);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sqrt(R) times the largest gap between the empirical and the true distribution function;
 * above 2.2 with probability 1.3e-4 (Kolmogorov). */
static double kolmogorov(double (*cdf)(double, double), double parameter) {
    double worst = 0;
    qsort(draws, R, sizeof *draws, ascending);
    for (int i = 0; i < R; i++) {
        const double f = cdf(draws[i], parameter);
        worst = fmax(worst, fmax(f - (double)i / R, (i + 1.0) / R - f));
    }
    return sqrt(R) * worst;
}

static double cdf_uniform(double x, double p) { return (void)p, x; }
static double cdf_normal(double x, double p) { return (void)p, 0.5 * erfc(-x / sqrt(2)); }
static double cdf_exponential(double x, double p) { return (void)p, -expm1(-x); }
static double cdf_laplace(double x, double p) {
    return (void)p, x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}
static double cdf_cauchy(double x, double p) { return (void)p, 0.5 + atan(x) / acos(-1); }
/* Regularised incomplete gamma by its series; all terms positive. */
static double cdf_gamma(double x, double a) {
    double term = exp(a * log(x) - x - lgamma(a + 1)), sum = term;
    for (int k = 1; term > 1e-17 * sum && k < 10000; k++) sum += term *= x / (a + k);
    return sum;
}
static double cdf_chi(double x, double k) { return cdf_gamma(x * x / 2, k / 2); }
/* Student with three degrees of freedom has an elementary distribution function. */
static double cdf_t3(double x, double p) {
    const double q = x / sqrt(3);
    return (void)p, 0.5 + (q / (1 + q * q) + atan(q)) / acos(-1);
}

#define FILL(call)                                                                                 \
    for (uint64_t i = 0; i < R; i++) draws[i] = (call)

static void moments(double mean, double variance, double fourth) {
    double m = 0, v = 0;
    for (int i = 0; i < R; i++) m += draws[i];
    m /= R;
    for (int i = 0; i < R; i++) v += (draws[i] - mean) * (draws[i] - mean);
    v /= R;
    CHECK_Z(m, mean, variance, R);
    CHECK_Z(v, variance, fourth - variance * variance, R);
}

static void continuous(void) {
    FILL(krein__rng_uniform(g, i, 0));
    moments(0.5, 1.0 / 12, 1.0 / 80);
    CHECK(kolmogorov(cdf_uniform, 0) < 2.2);
    CHECK(draws[0] > 0 && draws[R - 1] < 1);
    FILL(krein__rng_normal(g, i, 1));
    moments(0, 1, 3);
    CHECK(kolmogorov(cdf_normal, 0) < 2.2);
    FILL(krein__rng_exponential(g, i, 2));
    moments(1, 1, 9);
    CHECK(kolmogorov(cdf_exponential, 0) < 2.2);
    FILL(krein__rng_laplace(g, i, 3));
    moments(0, 2, 24);
    CHECK(kolmogorov(cdf_laplace, 0) < 2.2);
    FILL(krein__rng_cauchy(g, i, 4));
    CHECK(kolmogorov(cdf_cauchy, 0) < 2.2);
}

static void gammas(void) {
    static const double shapes[] = {0.15, 0.5, 0.97, 1, 1.7, 6.3, 40};
    for (uint64_t k = 0; k < 7; k++) {
        const double a = shapes[k];
        FILL(krein__rng_gamma(g, i, 10 + k, a));
        moments(a, a, 3 * a * a + 6 * a);
        CHECK(kolmogorov(cdf_gamma, a) < 2.2);
    }
    FILL(krein__rng_chi2(g, i, 20, 5));
    moments(5, 10, 3 * 100 + 12 * 5 * 4);
    FILL(krein__rng_chi(g, i, 21, 3));
    CHECK(kolmogorov(cdf_chi, 3) < 2.2);
    FILL(krein__rng_chi(g, i, 22, 1));
    CHECK(kolmogorov(cdf_chi, 1) < 2.2);
    FILL(krein__rng_t(g, i, 23, 3));
    CHECK(kolmogorov(cdf_t3, 0) < 2.2);
    FILL(krein__rng_t(g, i, 24, 1));
    CHECK(kolmogorov(cdf_cauchy, 0) < 2.2);
}

/* Chi-square statistic of m equally likely cells, standardised. */
static double chi_square_z(const int64_t *count, int64_t m, double expected) {
    double sum = 0;
    for (int64_t j = 0; j < m; j++) sum += pow((double)count[j] - expected, 2) / expected;
    return (sum - (double)(m - 1)) / sqrt(2.0 * (double)(m - 1));
}

static void below(void) {
    int64_t count[37] = {0}, high = 0;
    for (uint64_t i = 0; i < R; i++) count[krein__rng_below(g, i, 30, 37)]++;
    CHECK(chi_square_z(count, 37, R / 37.0) < 5);
    /* A bound of three quarters of 2^64 rejects a quarter of the words. */
    for (uint64_t i = 0; i < R; i++) high += krein__rng_below(g, i, 31, 3ull << 62) >= 3ull << 61;
    CHECK_Z((double)high / R, 0.5, 0.25, R);
    CHECK(krein__rng_below(g, 1, 1, 1) == 0);
}

static bool is_subset(const int64_t *s, int64_t n, int64_t k) {
    for (int64_t i = 0; i < k; i++)
        if (s[i] < 0 || s[i] >= n || (i && s[i] <= s[i - 1])) return false;
    return true;
}

static void choose_subsets(void) {
    static const int64_t sizes[][2] = {
        {1, 0},      {1, 1},      {7, 7},          {100, 3},
        {100, 13},   {1000, 125}, {100000, 12500}, {1000000000000, 5000},
        {4000, 3999}};
    static int64_t out[12500], again[12500];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t n = sizes[i][0], k = sizes[i][1];
        krein__rng_choose(g, n, k, out);
        krein__rng_choose(g, n, k, again);
        CHECK(is_subset(out, n, k));
        CHECK(memcmp(out, again, (size_t)k * sizeof *out) == 0);
    }
}

/* All C(6,3) = 20 and C(17,2) = 136 subsets equally often: both algorithms. */
static void choose_uniform(void) {
    int64_t large[64] = {0}, small[17 * 17] = {0}, out[3], cells[136], m = 0;
    enum { N = 60000 };
    for (uint64_t i = 0; i < N; i++) {
        const krein_rng h = {i, 3};
        krein__rng_choose(h, 6, 3, out);
        large[(1 << out[0]) | (1 << out[1]) | (1 << out[2])]++;
        krein__rng_choose(h, 17, 2, out);
        small[out[0] * 17 + out[1]]++;
    }
    for (int j = 0; j < 64; j++)
        if (__builtin_popcount((unsigned)j) == 3) cells[m++] = large[j];
    CHECK(m == 20 && chi_square_z(cells, m, N / 20.0) < 5);
    m = 0;
    for (int a = 0; a < 17; a++)
        for (int b = a + 1; b < 17; b++) cells[m++] = small[a * 17 + b];
    CHECK(m == 136 && chi_square_z(cells, m, N / 136.0) < 5);
    /* Batches of more than 64: every index as often as any other. */
    static int64_t many[100], hits[800];
    for (uint64_t i = 0; i < 8000; i++) {
        krein__rng_choose((krein_rng){i, 4}, 800, 100, many);
        for (int j = 0; j < 100; j++) hits[many[j]]++;
    }
    CHECK(fabs(chi_square_z(hits, 800, 1000)) < 6); /* narrower than chi-square: fixed size */
}

static void permutations(void) {
    int64_t p[4], count[256] = {0}, cells[24], m = 0;
    for (uint64_t i = 0; i < 48000; i++) {
        krein__rng_permute((krein_rng){i, 3}, 4, p);
        count[p[0] + 4 * p[1] + 16 * p[2] + 64 * p[3]]++;
    }
    for (int j = 0; j < 256; j++)
        if (count[j]) cells[m < 24 ? m : 23] = count[j], m++;
    CHECK(m == 24 && chi_square_z(cells, 24, 2000) < 5);
    static int64_t big[1000];
    static bool seen[1000];
    krein__rng_permute(g, 1000, big);
    for (int i = 0; i < 1000; i++) {
        CHECK(big[i] >= 0 && big[i] < 1000 && !seen[big[i]]);
        seen[big[i]] = true;
    }
}

/* A use of random numbers has numbers to itself: those of another stream, or of another substream
 * of the same stream. */
typedef struct use {
    const char *of, *name;
    uint64_t first, count;
} use;

static void streams(void) {
    static const use all[] = {
#define STREAM(name, first, count) {"", #name, first, count},
#define SUBSTREAM(of, name, first, count) {#of, #name, first, count},
#include "base/streams.def"
#undef STREAM
#undef SUBSTREAM
    };
    const int n = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < n; i++) {
        bool known = !all[i].of[0];
        CHECK(all[i].count > 0 && all[i].first + all[i].count <= (uint64_t)1 << 32);
        for (int j = 0; j < i; j++) {
            known |= strcmp(all[i].of, all[j].name) == 0 && !all[j].of[0];
            if (strcmp(all[i].of, all[j].of) != 0) continue;
            bool apart = all[i].first + all[i].count <= all[j].first ||
                         all[j].first + all[j].count <= all[i].first;
            if (!apart)
                printf("streams %s %s and %s share a number\n", all[i].of, all[i].name,
                       all[j].name);
            CHECK(apart);
        }
        CHECK(known); /* a substream follows the line of its stream */
    }
    /* A stream, its number within the use, and roles are in bits of their own. */
    CHECK(krein__substream(5, KREIN_STREAM_PARTS, 3).stream ==
          (KREIN_STREAM_PARTS | (uint64_t)3 << 32));
    krein_rng map = {5, KREIN_STREAM_MAP + 16 * 63 + 15};
    for (uint64_t r = 0; r < KREIN_ROLE_SCALE; r++) {
        krein_rng own = krein__role(map, r), scale = krein__role(own, KREIN_ROLE_SCALE);
        CHECK((own.stream & UINT32_MAX) == map.stream && own.stream >> 40 == r);
        CHECK(scale.stream >> 40 == r + KREIN_ROLE_SCALE && own.seed == 5 && scale.seed == 5);
    }
}

int main(void) {
    RUN(known_answers);
    RUN(addresses);
    RUN(neighbours);
    RUN(continuous);
    RUN(gammas);
    RUN(below);
    RUN(choose_subsets);
    RUN(choose_uniform);
    RUN(permutations);
    RUN(streams);
    return DONE();
}
