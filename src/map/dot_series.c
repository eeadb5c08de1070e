/* dot_series.c -- kernels as power series in <x, y>, degree by degree.
 *
 * SPLIT. Features of degree n estimate a_n <x, y>^n with a variance of about (a_n r^n)^2 / D_n on
 * rows of length sqrt r with <x, y> small; sum_n of it is least for D_n in proportion to |a_n| r^n.
 * r is known for rows of length one. Polynomials are for rows of any length: half of the features
 * are split for r = 1, half for r = d (standardised columns), so that neither case has more than
 * twice the least variance. A constant and, where it pays, the d features of <x, y> are exact.
 * Shares are made whole by systematic sampling: with a uniform u, degree n gets
 * floor(C_n + u) - floor(C_(n-1) + u) features, C the sums of the shares. A share below one is
 * there with that probability and then weighs more, which keeps the mean.
 */
#include "map/dot_series.h"
#include "stream/together.h"

#include <math.h>
#include <string.h>

enum { TERMS = 2 * KREIN_DOT_MAX }; /* looked at; those that are not kept must be small */

static const double KEEP = 1e-7;         /* of sum |a_n| norm^n may be cut off */
static const double WORTH_SAYING = 1e-3; /* cut off with a warning */
static const double UNIT = 1e-4;         /* | |x|^2 - 1 | of rows of length one */

krein_status krein__dot_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                                int64_t degree) {
    krein_status st = KREIN_OK;
    double *a = NULL, reach;
    bool short_enough = true;
    NEW(a, TERMS);
    st = krein__kernel_series(ctx, kernel, true, TERMS, a, &reach);
    if (st != KREIN_OK && st != KREIN_ESPEC) goto done;
    for (int64_t n = degree + 1; st == KREIN_OK && n < TERMS; n++)
        short_enough = short_enough && a[n] == 0;
    if (st == KREIN_ESPEC || !short_enough)
        st = krein__map_refuse(ctx, kernel, name,
                               degree < TERMS ? "kernels that are polynomials in <x, y>"
                                              : "kernels with a power series in <x, y>");
done:
    krein__free(ctx, a);
    return st;
}

static bool is_polynomial(const double *a) {
    for (int64_t n = KREIN_DOT_MAX; n < TERMS; n++)
        if (!(a[n] == 0)) return false;
    return true;
}

/* Keeps what counts at |<x, y>| = norm; all of a polynomial (norm = 0). */
static void cut(const double *a, double norm, krein_dot *s) {
    double r = norm > 0 ? norm : 1, total = 0, rest = 0;
    for (int64_t n = 0; n < TERMS; n++) total += fabs(a[n]) * pow(r, (double)n);
    int64_t n = TERMS - 1;
    double most = norm > 0 ? KEEP * total : 0;
    for (; n > 0; n--) {
        double next = rest + fabs(a[n]) * pow(r, (double)n);
        if (n < KREIN_DOT_MAX && next > most) break;
        rest = next;
    }
    memset(s, 0, sizeof *s);
    s->degree = n;
    s->norm = norm;
    s->rest = total > 0 ? rest / total : 0;
    memcpy(s->a, a, (size_t)(n + 1) * sizeof *a);
}

/* The greatest squared length, the greatest difference of one from 1, and the rows of zeros, which
 * scale unit leaves alone. */
static krein_status measure(krein_stream *rows, double *longest, double *off, int64_t *zeros) {
    krein_status st = KREIN_OK;
    krein_block block;
    *longest = *off = 0;
    *zeros = 0;
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &block));
        const krein_rows *x = &block.x;
        if (x->n == 0) break;
        for (int64_t i = 0; i < x->n; i++) {
            const float *v = x->ptr ? x->val + x->ptr[i] : x->x + i * x->ld;
            int64_t m = x->ptr ? x->ptr[i + 1] - x->ptr[i] : x->d;
            double sum = 0;
            for (int64_t j = 0; j < m; j++) sum += (double)v[j] * (double)v[j];
            *longest = fmax(*longest, sum);
            *zeros += sum == 0;
            if (sum > 0) *off = fmax(*off, fabs(sum - 1));
        }
    }
    TRY(krein__stream_most(rows, 1, longest));
    TRY(krein__stream_most(rows, 1, off));
    TRY(krein__stream_count(rows, 1, zeros));
    TRY(krein__stream_rewind(rows));
done:
    return st;
}

static krein_status too_long(const krein_map *map, double longest, double reach) {
    krein_ctx *ctx = map->ctx;
    char *text = krein__kernel_text(ctx, map->kernel);
    if (!text) return ctx->status;
    krein_status st =
        reach > 0 ? krein__fail(ctx, KREIN_EDATA,
                                "%s: the power series of %s holds for |<x, y>| up to %.6g, rows "
                                "have |x|^2 up to %.6g; try `scale=unit`, or `map=nystrom`",
                                map->cls->cls.name, text, reach, longest)
                  : krein__fail(ctx, KREIN_EDATA,
                                "%s: %s is a power series in <x, y> on rows of length one only, "
                                "these have |x|^2 up to %.6g; try `scale=unit`, or `map=%s`",
                                map->cls->cls.name, text, longest,
                                krein__map_default(map->kernel, map->d, map->D));
    krein__free(ctx, text);
    return st;
}

/* a, and the norm it is for, from the rows where the kernel depends on their length. */
static krein_status coefficients(const krein_map *map, krein_stream *rows, double *a,
                                 double *norm) {
    krein_ctx *ctx = map->ctx;
    double longest = 1, off = 0, reach = 0;
    int64_t zeros = 0;
    krein_status st = krein__kernel_series(ctx, map->kernel, false, TERMS, a, &reach);
    if (st == KREIN_EMEMORY) return st;
    bool any = st == KREIN_OK;
    *norm = 0;
    if (any && reach == INFINITY && is_polynomial(a)) return KREIN_OK;
    if (rows && (st = measure(rows, &longest, &off, &zeros)) != KREIN_OK) return st;
    *norm = longest;
    if (off <= UNIT) {
        if (zeros > 0)
            krein__log(ctx, KREIN_LOG_WARNING,
                       "%s: %lld rows are zero, not of length one: their kernel values are those "
                       "of the series at <x, y> = 0; drop them, or use `map=nystrom`",
                       map->cls->cls.name, (long long)zeros);
        *norm = 1;
        return krein__kernel_series(ctx, map->kernel, true, TERMS, a, &reach);
    }
    if (!any || longest > reach) return too_long(map, longest, any ? reach : 0);
    return KREIN_OK;
}

static krein_status find_series(krein_map *map, krein_stream *rows, krein_dot *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *a = NULL, norm;
    NEW(a, TERMS);
    TRY(coefficients(map, rows, a, &norm));
    cut(a, norm, out);
    if (out->degree == 0 && out->a[0] == 0) {
        st = krein__fail(ctx, KREIN_ESPEC, "%s: the kernel is zero", map->cls->cls.name);
        goto done;
    }
    if (out->rest > WORTH_SAYING)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s: the series is cut at degree %lld and misses up to %.2g of the kernel; "
                   "nystrom has no such error",
                   map->cls->cls.name, (long long)out->degree, out->rest);
done:
    krein__free(ctx, a);
    return st;
}

static krein_status series_io(krein_map *map, krein_archive *a, krein_dot *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    double *own = NULL, *values = s->a;
    TRY(krein__archive_int(a, "series.degree", &s->degree, 0, KREIN_DOT_MAX - 1));
    TRY(krein__archive_double(a, "series.norm", &s->norm));
    TRY(krein__archive_double(a, "series.rest", &s->rest));
    if (reading && !(s->norm >= 0 && s->rest >= 0 && s->rest <= 1)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its series is wrong)");
        goto done;
    }
    TRY(krein__archive_array(a, "series.a", KREIN_TYPE_F64, reading ? &own : &values,
                             s->degree + 1));
    if (reading) memcpy(s->a, own, (size_t)(s->degree + 1) * sizeof *own);
done:
    krein__free(ctx, own);
    return st;
}

static int64_t asked(const krein_map *map) {
    int64_t slot = krein__option_index(&map->cls->cls, "D");
    double D = slot >= 0 ? map->values.number[slot] : NAN;
    return isnan(D) ? map->D : (int64_t)D;
}

static krein_status make_state(krein_map *map, size_t bytes) {
    map->state = krein__zalloc(map->ctx, 1, bytes);
    return map->state ? KREIN_OK : map->ctx->status;
}

krein_status krein__dot_fit(krein_map *map, krein_stream *rows, size_t state,
                            krein_dot_build build) {
    krein_status st = make_state(map, state);
    if (st == KREIN_OK) st = find_series(map, rows, map->state);
    return st == KREIN_OK ? build(map, map->D) : st;
}

krein_status krein__dot_io(krein_map *map, krein_archive *a, size_t state, krein_dot_build build) {
    krein_status st = KREIN_OK;
    int64_t D = map->D;
    bool reading = krein__archive_reading(a);
    if (reading) TRY(make_state(map, state));
    TRY(series_io(map, a, map->state));
    if (!reading) goto done;
    TRY(build(map, asked(map))); /* what was once asked for; D is what came of it */
    if (map->D != D)
        st = krein__fail(map->ctx, KREIN_EMODEL, "the model is damaged (its map does not fit)");
done:
    return st;
}

bool krein__dot_guess(const krein_map *map, krein_dot *out) {
    double a[TERMS], reach;
    if (krein__kernel_series(map->ctx, map->kernel, true, TERMS, a, &reach) != KREIN_OK)
        return false;
    for (int64_t n = 0; n < TERMS; n++)
        if (!isfinite(a[n])) return false;
    /* what holds on rows of length one is the same polynomial where there is one for all rows */
    bool any = krein__kernel_series(map->ctx, map->kernel, false, TERMS, a, &reach) == KREIN_OK &&
               reach == INFINITY && is_polynomial(a);
    if (!any) (void)krein__kernel_series(map->ctx, map->kernel, true, TERMS, a, &reach);
    cut(a, any ? 0 : 1, out);
    return true;
}

int64_t krein__dot_features(const krein_map *map, krein_split_fn split) {
    krein_dot k;
    krein_split s;
    if (!krein__dot_guess(map, &k)) return map->D;
    split(map, &k, map->D, &s);
    return s.total;
}

bool krein__dot_fact(const krein_map *map, int64_t i, krein_fact *out) {
    const krein_dot *s = map->state;
    *out = i == 0 ? (krein_fact){.name = "series degree", .value = (double)s->degree}
                  : (krein_fact){.name = "series cut off", .value = s->rest};
    return i < 1 + (s->norm > 0);
}

bool krein__dot_mixed(const krein_dot *s) {
    bool negative = false;
    for (int64_t n = 0; n <= s->degree; n++) negative = negative || s->a[n] < 0;
    return negative;
}

bool krein__dot_affine(const krein_dot *s) { return s->degree <= 1; }

double krein__dot_uniform(const krein_map *map) {
    return krein__rng_uniform(krein__role((krein_rng){map->seed, KREIN_STREAM_MAP}, 2), 0, 0);
}

/* |a_n| r^n for the degrees from `first` on, as parts of their sum, added to p. */
static void add_shares(const krein_dot *s, double r, int64_t first, double factor, double *p) {
    double sum = 0;
    /* powers relative to the greatest one, which may be too large for a double */
    double top = (double)(r > 1 ? s->degree : first);
    for (int64_t n = first; n <= s->degree; n++) sum += fabs(s->a[n]) * pow(r, (double)n - top);
    for (int64_t n = first; n <= s->degree && sum > 0; n++)
        p[n] += factor * fabs(s->a[n]) * pow(r, (double)n - top) / sum;
}

static void shares(const krein_dot *s, int64_t d, int64_t first, double *p) {
    memset(p, 0, KREIN_DOT_MAX * sizeof *p);
    if (s->norm > 0) {
        add_shares(s, s->norm, first, 1, p);
    } else {
        add_shares(s, 1, first, 0.5, p);
        add_shares(s, (double)d, first, 0.5, p);
    }
}

/* Degrees from `first` on. */
static int64_t degrees(const krein_dot *s, int64_t first) {
    int64_t m = 0;
    for (int64_t n = first; n <= s->degree; n++) m += s->a[n] != 0;
    return m;
}

/* The features of degree 1 are exact where the others do not suffer for it. */
static bool linear_pays(const krein_dot *s, const double *p, int64_t d, int64_t left) {
    int64_t others = degrees(s, 2);
    if (s->degree < 1 || s->a[1] == 0) return false;
    if (others == 0) return left >= d;
    double rest = 1 - p[1];
    return left - d >= 2 * others && rest * rest / (double)(left - d) < 1 / (double)left;
}

void krein__dot_split(const krein_dot *s, int64_t d, int64_t D, double u, krein_split *out) {
    double p[KREIN_DOT_MAX], sum = 0;
    memset(out, 0, sizeof *out);
    int64_t first = 0, left = D;
    if (s->a[0] != 0 && D >= 2 * degrees(s, 0) - (s->degree == 0)) {
        out->constant = true;
        out->count[first++] = 1;
        out->mass[0] = fabs(s->a[0]);
        left--;
    }
    shares(s, d, first, p);
    if ((out->constant || s->a[0] == 0) && linear_pays(s, p, d, left)) {
        out->linear = true;
        out->count[1] = d;
        out->mass[1] = fabs(s->a[1]);
        left -= d;
        first = 2;
        shares(s, d, first, p);
    }
    int64_t m = degrees(s, first), each = left >= 2 * m; /* one for each degree first */
    double more = (double)(left - each * m);
    for (int64_t n = first; n <= s->degree; n++) {
        if (s->a[n] == 0) continue;
        double before = floor(sum + u), share = more * p[n];
        sum += share;
        m--;
        double to = m == 0 ? more + floor(u) : floor(sum + u); /* the last one: all that is left */
        out->count[n] = each + (int64_t)(to - before);
        out->mass[n] = fabs(s->a[n]) / (each ? 1 : fmin(1, share));
    }
    for (int64_t n = 0; n <= s->degree; n++) out->total += out->count[n];
}

krein_status krein__dot_signs(krein_map *map, const krein_dot *s, const krein_split *split) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    if (!krein__dot_mixed(s)) return KREIN_OK;
    NEW(map->sign, split->total);
    int64_t at = 0;
    for (int64_t n = 0; n <= s->degree; n++)
        for (int64_t i = 0; i < split->count[n]; i++) map->sign[at++] = s->a[n] < 0 ? -1 : 1;
done:
    return st;
}
