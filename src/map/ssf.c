/* ssf -- spherical structured features, for radial kernels that are mixtures of Gaussians
 *     w_f = r_f Q v_f: directions v_f that are spread evenly over the sphere of R^d, d = 2m, Haar
 *     rotations Q, lengths r_f = mixture(u_f) times the chi_d quantile at stratified levels.
 * The directions are, in sets of POINTS d and with a rotation Q for each set, the columns of
 *     V = [[Re E, -Im E], [Im E, Re E]] / sqrt(m),   E_jk = exp(2 pi i lambda_j k / n), k < n = F/2
 * with whole numbers lambda_j chosen so that the logarithmic energy -sum log |v - v'| is small
 * (coordinate descent). The structure makes it a function of the differences k alone:
 *     -sum_{k>0} log(1 - a_k) - sum_k log(1 - b_k),
 *     a_k = (1/m) sum_j cos(2 pi lambda_j k / n),   b_k the same with sin.
 * This is our variant of lyu2017 (there: another search and energy). An odd d uses d + 1 and leaves
 * the last coordinate of the rotated points out, brought back to length one.
 * Sets. One rotation of one set of all F points (sets=one, as in 0.1) is not even enough for the
 * error to vanish: it stops falling where independent frequencies go on. Error of K relative to K,
 * median Gaussian, 10 draws, at D = 128, 512, 2048, 8192:
 *               cadata (d = 8)            letter (d = 16)
 *     one set   .045 .031 .025 .024       .042 .014 .0085 .0071
 *     sets      .045 .021 .011 .0054      .042 .016 .0082 .0039
 *     rff       .099 .046 .023 .011       .095 .048 .022 .012
 * With 2, 4, 8, 16 points a column the error at D = 8192 is .0060, .0062, .0054, .0056 on
 * cadata and .0048, .0054, .0039, .0035 on letter. Each w_f by itself has the kernel's law, so the
 * features are unbiased; about a tenth of rff's variance at short distances (d = 16, F = 64). Cost:
 * O(d D) a row; the search and the rotations O(D d (d + CANDIDATES)) once.
 */
#include "map/fourier.h"

#include "map/draw.h"
#include "num/blas.h"
#include "num/quantile.h"

#include <math.h>
#include <string.h>

enum { D_SLOT = 0, SETS = 1, MANY = 0, ONE = 1 };
enum { SWEEPS = 3, CANDIDATES = 64 };
enum { POINTS = 8 };    /* of a set, for each column; see the note on sets */
enum { PIECE = 16384 }; /* frequencies between two polls */

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    return krein__mixture_accepts(ctx, kernel, "ssf");
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    (void)n;
    double d = (double)map->d + 1, F = (double)map->D / 2 + 2;
    krein__fourier_cost(map, false, KREIN_DRAWN_TOGETHER, out);
    out->bytes += 16 * d * F + 16 * d * d + 64 * F + 4 * d + 65536;
    out->fit_flops += 4 * F * d * d + 4 * d * d * d + SWEEPS * CANDIDATES * 20 * F * d;
}

/* ---- the directions ----------------------------------------------------- */

typedef struct points {
    int64_t m, n;        /* half the dimension, half the number of points */
    int64_t *lambda;     /* m */
    double *cos1, *sin1; /* n: of 2 pi k / n */
    double *a, *b;       /* n: m a_k, m b_k */
} points;

static double energy(const points *s) {
    double sum = 0, m = (double)s->m;
    for (int64_t k = 0; k < s->n; k++) {
        /* points that fall together: a large finite price */
        if (k > 0) sum -= log(fmax(1 - s->a[k] / m, 1e-12));
        sum -= log(fmax(1 - s->b[k] / m, 1e-12));
    }
    return sum;
}

/* Adds sign times the part of lambda to a and b. */
static void add(points *s, int64_t lambda, double sign) {
    for (int64_t k = 0; k < s->n; k++) {
        int64_t at = lambda * k % s->n;
        s->a[k] += sign * s->cos1[at];
        s->b[k] += sign * s->sin1[at];
    }
}

/* The best of the candidates for lambda_j while the others stay. */
static krein_status descend(krein_ctx *ctx, points *s, int64_t j, krein_rng g, uint64_t sweep) {
    krein_status st = KREIN_OK;
    int64_t tries = krein__min(CANDIDATES, s->n - 1), best = s->lambda[j];
    double least = energy(s);
    add(s, s->lambda[j], -1);
    for (int64_t t = 0; t < tries; t++) {
        int64_t lambda =
            s->n - 1 <= CANDIDATES
                ? 1 + t
                : 1 + (int64_t)krein__rng_below(g, (uint64_t)j, sweep * CANDIDATES + (uint64_t)t,
                                                (uint64_t)(s->n - 1));
        add(s, lambda, 1);
        double e = energy(s);
        add(s, lambda, -1);
        if (e < least) {
            least = e;
            best = lambda;
        }
        TRY(krein__poll(ctx));
    }
    s->lambda[j] = best;
    add(s, best, 1);
done:
    return st;
}

static krein_status search(krein_ctx *ctx, points *s, krein_rng g) {
    krein_status st = KREIN_OK;
    for (int64_t k = 0; k < s->n; k++) {
        s->cos1[k] = cos(2 * M_PI * (double)k / (double)s->n);
        s->sin1[k] = sin(2 * M_PI * (double)k / (double)s->n);
    }
    for (int64_t j = 0; j < s->m; j++) {
        s->lambda[j] = 1 + j % krein__max(1, s->n - 1);
        add(s, s->lambda[j], 1);
    }
    for (uint64_t sweep = 0; sweep < SWEEPS && s->n > 2; sweep++)
        for (int64_t j = 0; j < s->m; j++) TRY(descend(ctx, s, j, g, sweep));
done:
    return st;
}

/* V as rows (F x 2m, F <= 2n). */
static krein_status spread(krein_ctx *ctx, krein_rng g, int64_t F, int64_t even, double *V) {
    krein_status st = KREIN_OK;
    points s = {.m = even / 2, .n = (F + 1) / 2};
    NEW(s.lambda, s.m);
    NEW(s.cos1, s.n);
    NEW(s.sin1, s.n);
    ZNEW(s.a, s.n);
    ZNEW(s.b, s.n);
    TRY(search(ctx, &s, g));
    double one = 1 / sqrt((double)s.m);
    for (int64_t f = 0; f < F; f++)
        for (int64_t j = 0; j < s.m; j++) {
            int64_t at = s.lambda[j] * (f / 2) % s.n;
            double re = one * s.cos1[at], im = one * s.sin1[at];
            V[f * even + j] = f % 2 ? -im : re;
            V[f * even + s.m + j] = f % 2 ? re : im;
        }
done:
    krein__free(ctx, s.lambda);
    krein__free(ctx, s.cos1);
    krein__free(ctx, s.sin1);
    krein__free(ctx, s.a);
    krein__free(ctx, s.b);
    return st;
}

/* ---- frequencies -------------------------------------------------------- */

/* Points of a set: all F, or so many that the sets are independent of each other. */
static int64_t set_size(const krein_map *map, int64_t F) {
    int64_t even = map->d + map->d % 2;
    return (int)map->values.number[SETS] == ONE ? F : krein__min(F, POINTS * even);
}

/* U (n x even): the points V, in sets of `size`, each turned by a rotation of its own. */
static krein_status rotate(krein_ctx *ctx, krein_rng g, int64_t n, int64_t size, int64_t even,
                           const double *V, double *U) {
    krein_status st = KREIN_OK;
    double *Q = NULL;
    NEW(Q, even * even);
    for (int64_t from = 0; from < n; from += size) {
        TRY(krein__normal_rows(ctx, g, from / size * even, even, even, Q));
        TRY(krein__haar_rows(ctx, even, even, Q));
        krein__pgemm(ctx, false, false, krein__min(size, n - from), even, even, 1, V, even, Q, even,
                     0, U + from * even, even);
    }
done:
    krein__free(ctx, Q);
    return st;
}

static krein_status draw(krein_map *map, const krein_kernel *leaf, krein_rng g, int64_t first,
                         int64_t n, double *w) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d, even = d + d % 2, size = set_size(map, n), *level = NULL;
    double *V = NULL, *U = NULL;
    (void)first; /* all of them */
    NEW(V, size * even);
    NEW(U, n * even);
    NEW(level, n);
    TRY(spread(ctx, krein__role(g, 2), size, even, V));
    TRY(rotate(ctx, krein__role(g, 1), n, size, even, V, U));
    krein__rng_permute(krein__role(g, 4), n, level);
    const krein_kernel_class *c = leaf->kernel;
    for (int64_t from = 0; from < n; from += PIECE) {
        int64_t end = krein__min(n, from + PIECE);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t f = from; f < end; f++) {
            double u = ((double)level[f] + krein__rng_uniform(g, (uint64_t)f, 0)) / (double)n;
            double length = 0;
            for (int64_t j = 0; j < d; j++) length += U[f * even + j] * U[f * even + j];
            double r = krein__chi_quantile((double)d, u) / sqrt(length) *
                       c->mixture(leaf->values.number, krein__rng_uniform(g, (uint64_t)f, 1));
            for (int64_t j = 0; j < d; j++) w[f * d + j] += r * U[f * even + j];
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, V);
    krein__free(ctx, U);
    krein__free(ctx, level);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    (void)rows, (void)n;
    return krein__fourier_fit(map, false, KREIN_DRAWN_TOGETHER, draw);
}

static const krein_option options[] = {KREIN_OPTION_D,
                                       {.name = "sets",
                                        .type = KREIN_OPTION_WORD,
                                        .words = "many|one",
                                        .value = MANY,
                                        .added = true,
                                        .old = ONE,
                                        .help = "directions in many sets with a rotation each, or "
                                                "in one, as version 0.1 drew them"},
                                       {0}};

const krein_map_class krein__map_ssf = {
    .cls = {"ssf", "spherical structured features", "lyu2017", options,
            "Directions spread evenly over the sphere by a structured search, stratified lengths, "
            "random rotations of sets of them. For radial kernels that are mixtures of Gaussians "
            "(gaussian, matern, "
            "exponential, rq), their sums, differences, products and factors. Unbiased."},
    .kernels = "radial",
    .time = "n d D + D d^2",
    .traits = KREIN_MAP_UNBIASED,
    .accepts = accepts,
    .features = krein__fourier_pairs,
    .cost = cost,
    .fit = fit,
    .tile = krein__fourier_tile,
    .waves = krein__fourier_waves,
    .array = krein__fourier_array,
    .clear = krein__fourier_clear};
