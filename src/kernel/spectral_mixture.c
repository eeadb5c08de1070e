/* spectral -- the spectral mixture kernel                                       (wilson2013)
 *     k(x, y) = sum_c w_c exp(-tau'V_c tau / 2) cos(mu_c'tau),   tau = x - y,  V_c diagonal
 *     weights w_c >= 0 of sum one, c = 1 .. q
 *   frequencies  with probability w_c:  w = +-(mu_c + V_c^(1/2) N(0, I)), either sign alike
 *
 * Its spectral density is a mixture of Gaussians and their mirror images; with enough of them it is
 * near any stationary kernel. Drawn: mu_c = N(0, I) / sigma at the address (seed, c, column), V_c =
 * I / (4 sigma^2), w_c = 1 / q. The seed is an option of the kernel, apart from that of a training:
 * the same expression is the same kernel everywhere, and q = 8 has the components of q = 4 and four
 * more. Learned: those of a model (file), whose lengths are multiplied by sigma, which is then 1
 * where it is not given. A model that uses such a kernel holds its numbers and needs no file.
 *
 * Cost of a value: 6 q d flops, q exponentials and q cosines. */
#include "kernel/spectral_mixture.h"

#include "kernel/alike.h"
#include "num/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { Q, SIGMA, SEED, FILE_SLOT };
enum { ROWS = 32, CHUNK = 256 }; /* rows and columns at a time: numbers of type T in the cache */
static const double MOST = 1e30; /* finite in float: 0 times it stays 0 */

krein_spectral_mixture krein__spectral_mixture(const double *p) {
    int64_t q = (int64_t)p[0], d = (int64_t)p[1];
    double *w = (double *)(uintptr_t)(p + 2);
    return (krein_spectral_mixture){q, d, w, w + q, w + q + q * d};
}

krein_spectral_mixture krein__spectral_mixture_begin(double *p, int64_t q, int64_t d) {
    p[0] = (double)q;
    p[1] = (double)d;
    return krein__spectral_mixture(p);
}

/* ---- values ------------------------------------------------------------- */

/* Of turns, in place. */
static double cosine(double t) { return cos(2 * M_PI * (t - rint(t))); }
static void cosines32(int64_t n, float *t) { krein__vcos_turns(n, t, 1, t); }
static void cosines64(int64_t n, double *t) {
    for (int64_t i = 0; i < n; i++) t[i] = cosine(t[i]);
}

/* e += sum_j V_j (x_j - y_j)^2, a += sum_j mu_j (x_j - y_j), in a fixed order. */
#define SUMS(T, name)                                                                              \
    static void name(int64_t d, const T *V, const T *mu, const T *x, const T *y, T *e, T *a) {     \
        T e8[8] = {0}, a8[8] = {0};                                                                \
        int64_t j = 0;                                                                             \
        for (; j + 8 <= d; j += 8)                                                                 \
            for (int64_t k = 0; k < 8; k++) {                                                      \
                T delta = x[j + k] - y[j + k];                                                     \
                e8[k] += V[j + k] * delta * delta;                                                 \
                a8[k] += mu[j + k] * delta;                                                        \
            }                                                                                      \
        for (; j < d; j++) {                                                                       \
            *e += V[j] * (x[j] - y[j]) * (x[j] - y[j]);                                            \
            *a += mu[j] * (x[j] - y[j]);                                                           \
        }                                                                                          \
        for (int64_t k = 0; k < 8; k++) {                                                          \
            *e += e8[k];                                                                           \
            *a += a8[k];                                                                           \
        }                                                                                          \
    }
SUMS(float, sums32)
SUMS(double, sums64)

/* Component c for m <= ROWS rows: e and a of each. */
#define COMPONENT(T, name, sums)                                                                   \
    static void name(const double *p, int64_t c, const T *x, int64_t m, const T *y, int64_t ldy,   \
                     T *e, T *a) {                                                                 \
        krein_spectral_mixture s = krein__spectral_mixture(p);                                     \
        T V[CHUNK], mu[CHUNK];                                                                     \
        memset(e, 0, (size_t)m * sizeof *e);                                                       \
        memset(a, 0, (size_t)m * sizeof *a);                                                       \
        for (int64_t from = 0; from < s.d; from += CHUNK) {                                        \
            int64_t n = krein__min(CHUNK, s.d - from), at = c * s.d + from;                        \
            for (int64_t j = 0; j < n; j++) {                                                      \
                V[j] = (T)s.V[at + j];                                                             \
                mu[j] = (T)s.mu[at + j];                                                           \
            }                                                                                      \
            for (int64_t i = 0; i < m; i++)                                                        \
                sums(n, V, mu, x + from, y + i * ldy + from, &e[i], &a[i]);                        \
        }                                                                                          \
    }
COMPONENT(float, component32, sums32)
COMPONENT(double, component64, sums64)

#define VALUES(T, name, component, vexp, cosines)                                                  \
    static void name(const double *p, int64_t d, const T *x, int64_t n, const T *y, int64_t ldy,   \
                     T *out) {                                                                     \
        krein_spectral_mixture s = krein__spectral_mixture(p);                                     \
        T e[ROWS], a[ROWS];                                                                        \
        (void)d;                                                                                   \
        for (int64_t from = 0; from < n; from += ROWS) {                                           \
            int64_t m = krein__min(ROWS, n - from);                                                \
            for (int64_t c = 0; c < s.q; c++) {                                                    \
                T weight = (T)s.w[c];                                                              \
                component(p, c, x, m, y + from * ldy, ldy, e, a);                                  \
                for (int64_t i = 0; i < m; i++) e[i] *= (T)-0.5;                                   \
                vexp(m, e, e);                                                                     \
                cosines(m, a);                                                                     \
                for (int64_t i = 0; i < m; i++) {                                                  \
                    T v = weight * e[i] * a[i];                                                    \
                    out[from + i] = c > 0 ? out[from + i] + v : v;                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
VALUES(float, rows32, component32, krein__vexpf, cosines32)
VALUES(double, rows64, component64, krein__vexp, cosines64)

static int64_t sums(const double *p) { return 2 * krein__spectral_mixture(p).q; }

/* Sums 0 .. q-1 have the squares, q .. 2q-1 the angles: V and mu stand behind each other. */
static double coordinate(const double *p, int64_t at, double x, double y) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    return s.V[at] * (x - y) * (at < s.q * s.d ? x - y : 1);
}

static double finish(const double *p, const double *sum) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    double value = 0;
    for (int64_t c = 0; c < s.q; c++)
        value += s.w[c] * exp(-0.5 * fmax(sum[c], 0)) * cosine(sum[s.q + c]);
    return value;
}

static double flops(const double *p) {
    double q = isnan(p[Q]) ? 1 : p[Q];
    return 6 * q + 40; /* the waves, on columns that are few */
}

/* ---- frequencies -------------------------------------------------------- */

/* One uniform number a row says which component, and which of its two images. */
static void frequency(const double *p, krein_rng g, uint64_t row, int64_t d, double *w) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    double u = 2 * krein__rng_uniform(krein__role(g, KREIN_ROLE_SCALE), row, 0);
    double sign = u < 1 ? 1 : -1, left = u < 1 ? u : u - 1;
    int64_t c = 0;
    while (c < s.q - 1 && left >= s.w[c]) left -= s.w[c++];
    const double *V = s.V + c * d, *mu = s.mu + c * d;
    for (int64_t j = 0; j < d; j++)
        w[j] = sign * (2 * M_PI * mu[j] + sqrt(V[j]) * krein__rng_normal(g, row, (uint64_t)j));
}

/* ---- the numbers -------------------------------------------------------- */

bool krein__spectral_mixture_there(const krein_archive *a) {
    return krein__archive_has(a, "mixture.q");
}

/* A mixture: weights of sum one, variances that are not negative. */
static bool sound(const double *p) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    double sum = 0;
    for (int64_t c = 0; c < s.q; c++) {
        if (!(s.w[c] >= 0)) return false;
        sum += s.w[c];
    }
    for (int64_t i = 0; i < s.q * s.d; i++)
        if (!(s.V[i] >= 0)) return false;
    return fabs(sum - 1) < 1e-6;
}

krein_status krein__spectral_mixture_io(krein_ctx *ctx, krein_archive *a, int64_t d, double **p) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    krein_spectral_mixture s = {0};
    double *made = NULL;
    if (!reading) s = krein__spectral_mixture(*p);
    TRY(krein__archive_int(a, "mixture.q", &s.q, 1, KREIN_COMPONENTS_MAX));
    TRY(krein__archive_array(a, "mixture.w", KREIN_TYPE_F64, &s.w, s.q));
    TRY(krein__archive_array(a, "mixture.V", KREIN_TYPE_F64, &s.V, s.q * d));
    TRY(krein__archive_array(a, "mixture.mu", KREIN_TYPE_F64, &s.mu, s.q * d));
    if (!reading) return KREIN_OK;
    NEW(made, krein__spectral_mixture_count(s.q, d));
    krein_spectral_mixture to = krein__spectral_mixture_begin(made, s.q, d);
    memcpy(to.w, s.w, (size_t)s.q * sizeof *to.w);
    memcpy(to.V, s.V, (size_t)(s.q * d) * sizeof *to.V);
    memcpy(to.mu, s.mu, (size_t)(s.q * d) * sizeof *to.mu);
    *p = made;
    if (!sound(made)) st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its mixture)");
done:
    if (reading) {
        krein__free(ctx, s.w);
        krein__free(ctx, s.V);
        krein__free(ctx, s.mu);
    }
    return st;
}

static krein_status read_file(krein_ctx *ctx, const char *path, int64_t d, const krein_encoding *e,
                              double **p) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    int64_t width = 0;
    char what[400];
    st = krein__archive_load(ctx, path, &a);
    if (st != KREIN_OK) return krein__prefix(ctx, st, "spectral(file): ");
    if (!krein__spectral_mixture_there(a)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "spectral(file): %.300s has no spectral mixture; give a model that was "
                         "trained with the learner askl(form=mixture)",
                         path);
        goto done;
    }
    TRY(krein__archive_int(a, "map.d", &width, 1, INT32_MAX));
    if (width != d) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "spectral(file): %.300s has a mixture for %lld encoded columns, and the "
                         "data have %lld; take the columns that it was trained on",
                         path, (long long)width, (long long)d);
        goto done;
    }
    TRY(krein__spectral_mixture_io(ctx, a, d, p));
    snprintf(what, sizeof what, "spectral(file): %.300s", path);
    if (e) TRY(krein__encoding_alike(ctx, a, e, what));
done:
    krein__archive_destroy(a);
    return st;
}

static const char *file(const krein_kernel *leaf) { return leaf->values.text[FILE_SLOT]; }

static krein_status settle(krein_ctx *ctx, krein_kernel *leaf, int64_t d, const krein_encoding *e) {
    krein_status st = KREIN_OK;
    double *p = leaf->values.number;
    if (!file(leaf) || leaf->own) return KREIN_OK;
    TRY(read_file(ctx, file(leaf), d, e, &leaf->own));
    int64_t q = krein__spectral_mixture(leaf->own).q;
    leaf->owned = krein__spectral_mixture_count(q, d);
    if (!isnan(p[Q]) && (int64_t)p[Q] != q)
        st =
            krein__fail(ctx, KREIN_EARG,
                        "spectral: %.300s has %lld components, and q=%g was asked for; leave q out",
                        file(leaf), (long long)q, p[Q]);
    p[Q] = (double)q;
done:
    return st;
}

static krein_status io(krein_ctx *ctx, krein_archive *a, krein_kernel *leaf, int64_t d) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    if (reading ? !krein__spectral_mixture_there(a) : !leaf->own) return KREIN_OK;
    TRY(krein__spectral_mixture_io(ctx, a, d, &leaf->own));
    if (reading)
        leaf->owned = krein__spectral_mixture_count(krein__spectral_mixture(leaf->own).q, d);
done:
    return st;
}

static int64_t count(const krein_kernel *leaf, int64_t d) {
    double q = leaf->values.number[Q];
    return leaf->own ? leaf->owned : krein__spectral_mixture_count(isnan(q) ? 1 : (int64_t)q, d);
}

static void draw(const double *values, int64_t d, double *p) {
    int64_t q = (int64_t)values[Q];
    krein_rng g = {(uint64_t)values[SEED], KREIN_STREAM_MIXTURE};
    krein_spectral_mixture s = krein__spectral_mixture_begin(p, q, d);
    for (int64_t c = 0; c < q; c++) s.w[c] = 1 / (double)q;
    for (int64_t i = 0; i < q * d; i++) {
        s.V[i] = 0.25;
        s.mu[i] = krein__rng_normal(g, (uint64_t)(i / d), (uint64_t)(i % d)) * (0.5 / M_PI);
    }
}

/* Drawn, or its own, with all lengths times sigma. */
static krein_status numbers(krein_ctx *ctx, const krein_kernel *leaf, int64_t d, double *out) {
    const double *values = leaf->values.number;
    double rate = 1 / values[SIGMA];
    if (file(leaf) &&
        !(leaf->own && krein__spectral_mixture(leaf->own).d == d)) /* not settled for d */
        return krein__fail(ctx, KREIN_EDATA, "spectral: %.300s is not read for %lld columns",
                           file(leaf), (long long)d);
    if (leaf->own)
        memcpy(out, leaf->own, (size_t)leaf->owned * sizeof *out);
    else
        draw(values, d, out);
    krein_spectral_mixture s = krein__spectral_mixture(out);
    for (int64_t i = 0; i < s.q * d; i++) {
        s.V[i] = fmin(s.V[i] * rate * rate, MOST);
        s.mu[i] = fmax(-MOST, fmin(s.mu[i] * rate, MOST));
    }
    return KREIN_OK;
}

/* A mixture of a file has its own components, at its own scale. */
static const char *complete(krein_values *v) {
    if (!v->text[FILE_SLOT]) return NULL;
    if (v->given[SEED]) return "seed is of means that are drawn, and these stand in a file";
    if (!v->given[Q]) v->number[Q] = NAN;
    if (!v->given[SIGMA]) v->number[SIGMA] = 1;
    v->number[SEED] = NAN;
    return NULL;
}

static const krein_option options[] = {
    {.name = "q",
     .type = KREIN_OPTION_INTEGER,
     .value = 4,
     .low = 1,
     .high = KREIN_COMPONENTS_MAX,
     .help = "components; those of the file where there is one"},
    KREIN_OPTION_SIGMA("length: means are N(0, 1) / sigma, deviations 1 / (2 sigma); of a file: a "
                       "factor of its lengths, 1 when not given"),
    {.name = "seed",
     .type = KREIN_OPTION_INTEGER,
     .value = 1,
     .low = 0,
     .high = 9007199254740992,
     .help = "of the means; another seed is another kernel"},
    {.name = "file",
     .type = KREIN_OPTION_TEXT,
     .help = "the mixture of this model, which the learner askl(form=mixture) found"},
    {0}};

const krein_kernel_class krein__kernel_spectral = {
    .cls = {"spectral", "sum_c w_c exp(-(x-y)'V_c (x-y) / 2) cos(mu_c'(x-y))", "wilson2013",
            options,
            "The spectral mixture kernel. Without a file its q components have the same weight and "
            "means that are drawn by the kernel's own seed, not by that of a training: the same "
            "expression is the same kernel everywhere. With file=MODEL weights, means and "
            "deviations are those that askl(form=mixture) has learned, on columns that are encoded "
            "as there; a model that is trained with it holds them and does without the file."},
    .family = KREIN_FAMILY_STATIONARY,
    .map = "rff",
    .complete = complete,
    .rows32 = rows32,
    .rows64 = rows64,
    .flops = flops,
    .sums = sums,
    .coordinate = coordinate,
    .finish = finish,
    .frequency = frequency,
    .settle = settle,
    .count = count,
    .numbers = numbers,
    .io = io,
    .metric = 2,
    .spread = 1.118033988749895}; /* E w_j^2 = 5 / (4 sigma^2) */
