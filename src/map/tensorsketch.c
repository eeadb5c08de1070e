/* tensorsketch -- sketches of tensor powers, for dot-product kernels
 *     C(x)[b] = sum over j with h(j) = b of s(j) x_j        CountSketch: E <C(x), C(y)> = <x, y>
 *     T(x) = C_1(x) * ... * C_p(x)                          circular convolution of p of them
 * is the CountSketch of the p-fold tensor power of x with the hash h_1 + ... + h_p modulo N and the
 * sign s_1 ... s_p, so E <T(x), T(y)> = <x, y>^p. h and s are fully independent draws (the papers
 * need 2- and 4-wise ones).                                           (pham2013, charikar2002)
 *
 * (c + gamma t)^p = gamma^p <x', y'>^p with x' = [x, sqrt(c / gamma)]: one sketch, found in the
 * coefficients, so that products and factors of such kernels count too. Any other series: one
 * sketch for each degree n with the weight a_n, sign in the signature, D split over the degrees as
 * dot_series.c says; degree 0 is one constant, degree 1 the row itself where there is room for it.
 *
 * Convolution wants lengths that are powers of two. Other D are made of several independent
 * sketches of lengths N_i (the binary digits of D) with factors sqrt(N_i / D): the weighted mean of
 * their estimates, with the variance that one of length D would have.
 *
 * Cost: O(nnz p + D log D) a row and degree; 16 rows side by side (num/convolve.h).
 */
#include "map/tensorsketch.h"

#include "num/convolve.h"

#include <math.h>
#include <string.h>

enum { B = KREIN_LANES };

/* ---- the plan ----------------------------------------------------------- */

/* a_n = a_p C(p, n) r^(p-n) with r >= 0 for all n: *r, else false. */
static bool binomial(const krein_dot *k, double *r) {
    int64_t p = k->degree;
    double top = k->a[p], value = top;
    *r = p > 0 ? k->a[p - 1] / ((double)p * top) : 0;
    if (p < 1 || !(*r >= 0)) return false;
    for (int64_t n = p - 1; n >= 0; n--) {
        value *= *r * (double)(n + 1) / (double)(p - n);
        if (!(fabs(k->a[n] - value) <= 1e-12 * fabs(value))) return false;
    }
    return true;
}

/* One degree for everything, of a row with one more entry. */
static void split_whole(const krein_dot *k, int64_t D, krein_split *out) {
    memset(out, 0, sizeof *out);
    out->total = out->count[k->degree] = D;
    out->mass[k->degree] = fabs(k->a[k->degree]);
}

/* The split of D and the extra entry (0: none). */
static double split(const krein_map *map, const krein_dot *k, int64_t D, krein_split *out) {
    double r;
    if (!krein__dot_affine(k) && binomial(k, &r)) {
        split_whole(k, D, out);
        return sqrt(r);
    }
    krein__dot_split(k, map->d, D, krein__dot_uniform(map), out);
    return 0;
}

static void shares(const krein_map *map, const krein_dot *k, int64_t D, krein_split *out) {
    split(map, k, D, out);
}

static bool exact(const krein_split *s, int64_t n) {
    return (n == 0 && s->constant) || (n == 1 && s->linear);
}

static int64_t digits(int64_t n) {
    int64_t sum = 0;
    for (; n; n &= n - 1) sum++;
    return sum;
}

static int64_t top_digit(int64_t n) {
    int64_t top = 1;
    while (top <= n / 2) top *= 2;
    return top;
}

/* Sketches, CountSketches in them, and the greatest length. */
static void sizes(const krein_split *s, int64_t *parts, int64_t *rows, int64_t *length) {
    *parts = *rows = *length = 0;
    for (int64_t n = 0; n < KREIN_DOT_MAX; n++) {
        if (s->count[n] == 0) continue;
        int64_t m = exact(s, n) ? 1 : digits(s->count[n]);
        *parts += m;
        *rows += exact(s, n) ? 0 : m * n;
        if (!exact(s, n) && n > 0) *length = krein__max(*length, top_digit(s->count[n]));
    }
}

/* ---- state -------------------------------------------------------------- */

static krein_status allocate(krein_map *map, krein_sketch *s, const krein_split *split) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t parts, rows;
    sizes(split, &parts, &rows, &s->length);
    NEW(s->part, parts);
    NEW(s->hash, rows * s->width);
    NEW(s->sign, rows * s->width);
    NEW(s->roots, krein__roots_count(krein__max(1, s->length)));
    krein__roots_fill(krein__max(1, s->length), s->roots);
    map->D = map->R = split->total;
    map->scratch = B * (map->d + 1 + 2 * s->length);
done:
    return st;
}

/* Degree n as sketches of the binary digits of its count. */
static void plan_degree(krein_sketch *s, const krein_split *split, int64_t n, int64_t *first,
                        int64_t *rows) {
    int64_t left = split->count[n];
    double mass = split->mass[n], total = (double)left;
    while (left > 0) {
        krein_sketch_part p = {.degree = n, .length = left, .first = *first};
        if (exact(split, n)) {
            p.exact = true;
        } else {
            p.length = top_digit(left);
            p.row = *rows;
            mass = split->mass[n] * (double)p.length / total;
            *rows += n;
        }
        /* degree 0: each feature is the same constant */
        p.scale = (float)sqrt(n == 0 ? split->mass[0] / total : mass);
        s->part[s->parts++] = p;
        *first += p.length;
        left -= p.length;
    }
}

static krein_status draw(const krein_map *map, krein_sketch *s) {
    krein_status st = KREIN_OK;
    krein_rng g = {map->seed, KREIN_STREAM_MAP};
    for (int64_t q = 0; q < s->parts; q++) {
        const krein_sketch_part *p = &s->part[q];
        for (int64_t l = p->row; !p->exact && l < p->row + p->degree; l++) {
            for (int64_t j = 0; j < s->width; j++) {
                uint64_t bits = krein__rng_bits(g, (uint64_t)l, (uint64_t)j);
                s->hash[l * s->width + j] = (int32_t)(bits & (uint64_t)(p->length - 1));
                s->sign[l * s->width + j] = bits >> 63 ? -1.0f : 1.0f;
            }
            TRY(krein__poll(map->ctx));
        }
    }
done:
    return st;
}

/* Everything that follows from the series, D and the seed. */
static krein_status build(krein_map *map, int64_t D) {
    krein_status st = KREIN_OK;
    krein_sketch *s = map->state;
    krein_split parts;
    int64_t first = 0, rows = 0;
    s->extra = (float)split(map, &s->kernel, D, &parts);
    s->width = map->d + (s->extra > 0);
    TRY(allocate(map, s, &parts));
    for (int64_t n = 0; n < KREIN_DOT_MAX; n++) plan_degree(s, &parts, n, &first, &rows);
    TRY(draw(map, s));
    TRY(krein__dot_signs(map, &s->kernel, &parts));
done:
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)n;
    return krein__dot_fit(map, rows, sizeof(krein_sketch), build);
}

static krein_status io(krein_map *map, krein_archive *a) {
    return krein__dot_io(map, a, sizeof(krein_sketch), build);
}

/* ---- rows --------------------------------------------------------------- */

/* x[j * B + i] = entry j of row first + i, and the extra one; zeros behind the last row. */
static void gather(const krein_sketch *s, const krein_rows *rows, int64_t first, float *x) {
    int64_t n = krein__min(B, rows->n - first), d = rows->d;
    for (int64_t j = 0; j < d; j++) {
        for (int64_t i = 0; i < n; i++) x[j * B + i] = rows->x[(first + i) * rows->ld + j];
        for (int64_t i = n; i < B; i++) x[j * B + i] = 0;
    }
    for (int64_t i = 0; s->extra > 0 && i < B; i++) x[d * B + i] = s->extra;
}

static void count_dense(const krein_sketch *s, int64_t row, const float *x, float *c) {
    const int32_t *h = s->hash + row * s->width;
    const float *sign = s->sign + row * s->width;
    for (int64_t j = 0; j < s->width; j++)
        for (int64_t i = 0; i < B; i++) c[h[j] * B + i] += sign[j] * x[j * B + i];
}

static void count_sparse(const krein_sketch *s, int64_t row, const krein_rows *rows, int64_t first,
                         float *c) {
    const int32_t *h = s->hash + row * s->width;
    const float *sign = s->sign + row * s->width;
    for (int64_t i = 0; i < krein__min(B, rows->n - first); i++) {
        for (int64_t k = rows->ptr[first + i]; k < rows->ptr[first + i + 1]; k++)
            c[h[rows->col[k]] * B + i] += sign[rows->col[k]] * rows->val[k];
        if (s->extra > 0) c[h[rows->d] * B + i] += sign[rows->d] * s->extra;
    }
}

/* CountSketch `row` of up to B rows; x is NULL for sparse ones. */
static void count(const krein_sketch *s, int64_t row, int64_t length, const krein_rows *rows,
                  int64_t first, const float *x, float *c) {
    memset(c, 0, (size_t)(length * B) * sizeof *c);
    if (x)
        count_dense(s, row, x, c);
    else
        count_sparse(s, row, rows, first, c);
}

/* Lanes to rows of features. */
static void scatter(int64_t n, int64_t length, float scale, const float *c, float *out,
                    int64_t ld) {
    for (int64_t k = 0; k < length; k += 16)
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = k; e < krein__min(k + 16, length); e++)
                out[i * ld + e] = scale * c[e * B + i];
}

static void exact_part(const krein_sketch_part *p, const krein_rows *rows, int64_t first, int64_t n,
                       float *out, int64_t ld) {
    for (int64_t i = 0; i < n; i++) {
        float *z = out + i * ld;
        if (p->degree == 0) {
            for (int64_t e = 0; e < p->length; e++) z[e] = p->scale;
            continue;
        }
        krein__row_copy(rows, first + i, z);
        for (int64_t e = 0; e < p->length; e++) z[e] *= p->scale;
    }
}

/* c and w hold length x B numbers each. */
static void sketch_part(const krein_sketch *s, const krein_sketch_part *p, const krein_rows *rows,
                        int64_t first, const float *x, float *c, float *w) {
    count(s, p->row, p->length, rows, first, x, c);
    if (p->degree == 1) return;
    krein__lanes_forward(p->length, s->roots, c);
    for (int64_t l = 1; l < p->degree; l++) {
        count(s, p->row + l, p->length, rows, first, x, w);
        krein__lanes_forward(p->length, s->roots, w);
        krein__lanes_multiply(p->length, w, c);
    }
    krein__lanes_inverse(p->length, s->roots, c);
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const krein_sketch *s = map->state;
    float *c = scratch, *w = c + B * s->length, *lanes = w + B * s->length;
    for (int64_t first = 0; first < rows->n; first += B) {
        int64_t n = krein__min(B, rows->n - first);
        const float *x = rows->ptr ? NULL : lanes;
        if (x) gather(s, rows, first, lanes);
        for (int64_t q = 0; q < s->parts; q++) {
            const krein_sketch_part *p = &s->part[q];
            float *to = out + first * ld + p->first;
            if (p->exact || p->degree == 0) {
                exact_part(p, rows, first, n, to, ld);
                continue;
            }
            sketch_part(s, p, rows, first, x, c, w);
            scatter(n, p->length, p->scale, c, to, ld);
        }
    }
}

/* ---- description -------------------------------------------------------- */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__dot_accepts(ctx, kernel, "tensorsketch", KREIN_DOT_ANY);
}

static int64_t features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__dot_features(map, shares);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein_dot k;
    krein_split s;
    int64_t parts, rows, length;
    double d = (double)map->d, D = (double)map->D, threads = map->ctx->threads;
    (void)n;
    if (!krein__dot_guess(map, &k)) { /* a free parameter: the most there can be */
        memset(&k, 0, sizeof k);
        k.degree = KREIN_DOT_MAX / 4;
        for (int64_t i = 0; i <= k.degree; i++) k.a[i] = k.norm = 1;
    }
    split(map, &k, map->D, &s);
    sizes(&s, &parts, &rows, &length);
    double N = (double)length;
    out->bytes = 8 * (double)rows * (d + 1) + 2 * N + D + 64 * (double)parts +
                 threads * 4 * (B * (d + 1 + 2 * N) + KREIN_TILE * D) + 32768;
    out->flops = 0;
    for (int64_t i = 0; i < KREIN_DOT_MAX; i++)
        if (s.count[i] > 0) {
            double m = (double)s.count[i], degree = (double)i;
            out->flops += m + degree * (2 * d + m * (6 + 2.5 * log2(m)));
        }
    out->fit_flops = 60 * (double)rows * d;
}

static void clear(krein_map *map) {
    krein_sketch *s = map->state;
    krein__free(map->ctx, s->part);
    krein__free(map->ctx, s->hash);
    krein__free(map->ctx, s->sign);
    krein__free(map->ctx, s->roots);
}

static const krein_option options[] = {KREIN_OPTION_D, {0}};

const krein_map_class krein__map_tensorsketch = {
    .cls = {"tensorsketch", "sketches of tensor powers", "pham2013", options,
            "For polynomial kernels and every other kernel with a power series in <x, y>, some of "
            "them on rows of length one only (`scale=unit`). Powers of two are the fastest D."},
    .terms = KREIN_EXPANSION_MAX,
    .kernels = "dot-product",
    .time = "n p (d + D log D)",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .io = io,
    .clear = clear,
    .fact = krein__dot_fact};
