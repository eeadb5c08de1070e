/* generate.c -- writes a synthetic data set of any length in constant memory.
 *
 *   .csv     y,x1,x2,...          header, then one line a row, target first
 *   .libsvm  y 1:x1 2:x2 ...      zeros left out
 *   .npy     float32, n x (1 + d), target first
 *
 * Blocks of rows are made and formatted by all threads and written in order, so the
 * bytes do not depend on the number of threads. Numbers are the shortest decimals that
 * read back as the same float32.
 */
#include "data/generate.h"

#include "data/writer.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define GENERATOR(name) extern const krein_generator_class name;
#include "data/generators.def"
#undef GENERATOR

const krein_class *const krein__generators[] = {
#define GENERATOR(name) &name.cls,
#include "data/generators.def"
#undef GENERATOR
};
const int64_t krein__generator_count = KREIN__COUNT(krein__generators);

/* ---- numbers as text ---------------------------------------------------- */

/* x * 10^k; two roundings at most for float32's range, where k <= 53. */
static double scale_ten(double x, int k) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; k > 22; k -= 22) x *= 1e22;
    for (; k < -22; k += 22) x /= 1e22;
    return k < 0 ? x / ten[-k] : x * ten[k];
}

static char *put_digits(char *p, uint64_t m, int n) {
    for (int i = n; i-- > 0; m /= 10) p[i] = (char)('0' + m % 10);
    return p + n;
}

static char *put_integer(char *p, int64_t value) {
    int n = 1;
    if (value < 0) *p++ = '-', value = -value;
    for (int64_t v = value; v >= 10; v /= 10) n++;
    return put_digits(p, (uint64_t)value, n);
}

/* At most 16 characters. X = |f| 10^k has nine digits before the point, which always
 * identify a float32; digits are dropped from the end for as long as the rest lies less
 * than half a unit in the last place from f, with a margin for the rounding of X. Every
 * decimal of more digits is at least as near, so the first refusal ends the search. */
static char *put_float(char *p, float f) {
    if (signbit(f)) *p++ = '-', f = -f;
    if (f == 0) return *p++ = '0', p;
    if (!isfinite(f)) { /* no generator makes one; readers would name it */
        for (const char *c = isnan(f) ? "nan" : "inf"; *c; c++) *p++ = *c;
        return p;
    }
    int exponent;
    const double x = (double)f, mantissa = frexp(x, &exponent);
    int e = (int)floor((exponent - 1) * 0.30102999566398120), k = 8 - e;
    double X = scale_ten(x, k);
    if (X >= 1e9) X = scale_ten(x, --k), e++;
    /* Half the distance to the nearer neighbour; 2^-149 apart below the normal numbers. */
    const int ulp = exponent - 24 - (mantissa == 0.5);
    const double reach = scale_ten(ldexp(0.5, ulp > -149 ? ulp : -149), k) - 1e-6;
    uint64_t m = (uint64_t)(X + 0.5), unit = 1;
    int n = 9;
    while (n > 1) {
        const uint64_t next = unit * 10, shorter = ((uint64_t)X + next / 2) / next;
        if (!(fabs((double)(shorter * next) - X) < reach)) break;
        m = shorter, unit = next, n--;
    }
    if (m * unit >= 1000000000) e++, m = 1, n = 1; /* 9.99... rounded up to 10 */
    if (e >= 9 || e < -5) {                        /* d.ddde-XX */
        char digits[9];
        put_digits(digits, m, n);
        *p++ = digits[0];
        if (n > 1) *p++ = '.', memcpy(p, digits + 1, (size_t)n - 1), p += n - 1;
        *p++ = 'e';
        return put_integer(p, e);
    }
    if (e < 0) {
        memset(p, '0', 6);
        p[1] = '.';
        return put_digits(p + 1 - e, m, n);
    }
    if (n <= e + 1) { /* a whole number */
        p = put_digits(p, m, n);
        for (; n <= e; n++) *p++ = '0';
        return p;
    }
    put_digits(p + 1, m, n);
    memmove(p, p + 1, (size_t)e + 1);
    p[e + 1] = '.';
    return p + n + 1;
}

/* ---- formats ------------------------------------------------------------ */

typedef enum { CSV, LIBSVM, NPY } format;
static const char *const extensions[] = {".csv", ".libsvm", ".npy"};

static bool ends_in(const char *text, size_t length, const char *end) {
    const size_t n = strlen(end);
    return length > n && memcmp(text + length - n, end, n) == 0;
}

static krein_status find_format(krein_ctx *ctx, const char *path, format *out) {
    size_t length = strlen(path);
    *out = CSV;
    if (strcmp(path, "-") == 0) return KREIN_OK;
    if (ends_in(path, length, ".gz")) length -= 3;
    for (int k = 0; k < KREIN__COUNT(extensions); k++) {
        if (!ends_in(path, length, extensions[k])) continue;
        *out = (format)k;
        return KREIN_OK;
    }
    return krein__fail(ctx, KREIN_EARG,
                       "%s: the name does not say the format; end it in .csv, .npy or .libsvm, "
                       "and in .gz after that to compress",
                       path);
}

typedef struct {
    const krein_generator_class *generator;
    const krein_values *values;
    format format;
    int64_t n, d;
    double noise;
    uint64_t seed;
} job;

/* A cell is a number of at most 16 characters with, in LIBSVM, its column's before it. */
enum { CELL = 32 };

static krein_status put_header(krein_writer *w, const job *j) {
    krein_status st = KREIN_OK;
    if (j->format == NPY) return krein__npy_header(w, "<f4", j->n, j->d + 1);
    if (j->format == LIBSVM) return st;
    TRY(krein__writer_put(w, "y", 1));
    for (int64_t k = 1; k <= j->d; k++) {
        char name[CELL] = ",x";
        TRY(krein__writer_put(w, name, (size_t)(put_integer(name + 2, k) - name)));
    }
    TRY(krein__writer_put(w, "\n", 1));
done:
    return st;
}

static char *put_row(char *p, const job *j, int64_t i, float *x) {
    double target;
    j->generator->row(j->seed, i, j->d, j->noise, j->values, x, &target);
    const float y = (float)target;
    if (j->format == NPY) {
        memcpy(p, &y, sizeof y);
        memcpy(p + sizeof y, x, (size_t)j->d * sizeof *x);
        return p + (size_t)(j->d + 1) * sizeof *x;
    }
    p = j->generator->classification ? put_integer(p, (int64_t)target) : put_float(p, y);
    for (int64_t k = 0; k < j->d; k++) {
        if (j->format == CSV) {
            *p++ = ',';
        } else {
            if (x[k] == 0) continue;
            *p++ = ' ';
            p = put_integer(p, k + 1);
            *p++ = ':';
        }
        p = put_float(p, x[k]);
    }
    *p++ = '\n';
    return p;
}

/* ---- the stream --------------------------------------------------------- */

/* Each thread fills a buffer of its own and waits for its turn to write it, while the
 * others go on. Every few blocks all meet, for progress and a look at the cancel flag on
 * the thread that entered the library. */
static krein_status put_rows(krein_ctx *ctx, krein_writer *w, const job *j) {
    krein_status st = KREIN_OK;
    const int64_t rows = krein__max(1, krein__min(4096, 32768 / (j->d + 1)));
    const int64_t blocks = (j->n - 1) / rows + 1, threads = krein__min(ctx->threads, blocks);
    const int64_t capacity = rows * (j->d + 1) * CELL, round = 16 * threads;
    char *text = NULL;
    float *x = NULL;
    NEW(text, threads * capacity);
    NEW(x, threads * j->d);
    for (int64_t first = 0; first < blocks; first += round) {
        const int64_t last = krein__min(blocks, first + round);
        TRY(krein__poll(ctx));
        krein__progress(ctx, "generating", (double)(first * rows), (double)j->n);
#pragma omp parallel for ordered schedule(static, 1) num_threads((int)threads)
        for (int64_t b = first; b < last; b++) {
            char *start = text + omp_get_thread_num() * capacity, *p = start;
            float *row = x + omp_get_thread_num() * j->d;
            const int64_t end = b == blocks - 1 ? j->n : (b + 1) * rows;
            for (int64_t i = b * rows; i < end; i++) p = put_row(p, j, i, row);
#pragma omp ordered
            if (st == KREIN_OK) st = krein__writer_put(w, start, (size_t)(p - start));
        }
        if (st != KREIN_OK) goto done;
    }
    krein__progress(ctx, "generating", (double)j->n, (double)j->n);
done:
    krein__free(ctx, x);
    krein__free(ctx, text);
    return st;
}

void krein_generate_options_init(krein_generate_options *options) {
    *options = (krein_generate_options){
        .size = sizeof *options, .n = 1000, .d = 0, .noise = -1, .seed = 1};
}

static krein_status check(krein_ctx *ctx, const krein_generate_options *o, job *j) {
    const krein_generator_class *g = j->generator;
    const char *name = g->cls.name;
    j->n = o->n;
    j->d = o->d == 0 ? g->d : o->d;
    j->noise = o->noise < 0 ? g->noise : o->noise;
    j->seed = o->seed;
    if (j->n < 1)
        return krein__fail(ctx, KREIN_EARG, "%s: the number of rows must be at least 1, got %lld",
                           name, (long long)j->n);
    if (j->d < g->d_min || j->d > g->d_max) {
        if (g->d_min == g->d_max)
            return krein__fail(ctx, KREIN_EARG, "%s: the number of inputs is %lld, got %lld", name,
                               (long long)g->d_min, (long long)j->d);
        return krein__fail(ctx, KREIN_EARG,
                           "%s: the number of inputs must be from %lld to %lld, got %lld", name,
                           (long long)g->d_min, (long long)g->d_max, (long long)j->d);
    }
    /* Far above that, targets are no longer float32 numbers. */
    if (!(o->noise > -INFINITY && j->noise <= 1e30))
        return krein__fail(ctx, KREIN_EARG, "%s: the noise must be from 0 to 1e30, got %g", name,
                           o->noise);
    return KREIN_OK;
}

krein_status krein_generate(krein_ctx *ctx, const char *spec, const krein_generate_options *options,
                            const char *path) {
    krein_status st = KREIN_OK;
    krein_generate_options o;
    krein_values values = {0};
    krein_writer *w = NULL;
    int64_t which = 0;
    job j = {.values = &values};
    krein_generate_options_init(&o);
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (!spec || !path)
        return krein__fail(ctx, KREIN_EARG, "generate: the generator and the file are required");
    TRY(krein__parse_spec(ctx, spec, "generator", krein__generators, krein__generator_count, &which,
                          &values));
    /* cls is the first member, so the pointers are the same. */
    j.generator = (const krein_generator_class *)(const void *)krein__generators[which];
    TRY(check(ctx, &o, &j));
    TRY(find_format(ctx, path, &j.format));
    TRY(krein__writer_open(ctx, path, &w));
    TRY(put_header(w, &j));
    TRY(put_rows(ctx, w, &j));
    st = krein__writer_commit(w);
    w = NULL;
done:
    krein__writer_abort(w);
    krein__values_clear(ctx, &values);
    return st;
}
