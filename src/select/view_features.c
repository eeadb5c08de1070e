/* view_features.c -- the view of a kernel from features: K = Z S Z', S = diag(signs), n x n never
 * made
 *
 * With C_1 = Z'V and G = Z'Z,  C_(j+1) = G S C_j  and  P_r = C_a' S C_b, a + b = r + 1. Where
 * nothing needs G itself it is not made: C_(j+1) = Z'(Z S C_j) is a pass of 4 n D m flops over the
 * rows, and P_0 .. P_r take floor(r/2) + 1 passes. Norms and eigenvalues come from G (n D^2 flops):
 * |K|_F^2 = sum s_i s_j G_ij^2, the eigenvalues of K that are not zero are those of G (all signs
 * positive), with V'u_j = q_j'C_1 / sqrt g_j. Held-out errors of ridge regression: view_trials.c.
 *
 * Blocks are float32 less a fixed row o near the mean (learn/blocks.h): G = G0 + o b' + b o' + W o
 * o' in float64, b = Z0'1, so that wide kernels, whose features are almost constant, keep their
 * digits.
 */
#include "stream/together.h"
#include "num/blas.h"
#include "select/view_trials.h"

#include <math.h>
#include <string.h>

struct krein_feature_view {
    krein_ctx *ctx;
    const krein_map *map;
    const krein_labels *labels;
    krein_needs needs;
    krein_feature_trials trials;
    krein_blocks z;
    int64_t D, m, k, pass, passes;
    bool gram;      /* G is made */
    double *offset; /* D: o */
    double *C;      /* order / 2 + 1 matrices D x m: C_j / W^(j-1), within the range of floats */
    float *low;     /* m x D: S C_j / W of the pass before */
    double *shift;  /* m: o' low */
    double *sum;    /* m: sums of the columns beside the features in this pass */
    double *right;  /* rows x (m - 1 + k) */
    float *right32, *u; /* rows x m */
    float *product;     /* D x m */
    krein_ridge ridge;  /* targets: V without the ones, then y */
    krein_view view;
};

static double sign_of(const krein_map *map, int64_t j) {
    return map->sign ? (double)map->sign[j] : 1;
}

static int64_t powers_of(const krein_needs *needs) { return needs->order / 2 + 1; }

static bool needs_gram(const krein_needs *needs, const krein_trial *trial, int64_t trials) {
    bool loo = false;
    for (int64_t t = 0; t < trials; t++) loo = loo || trial[t].folds == 0;
    return needs->square || needs->centred_square || needs->top || needs->spectrum ||
           needs->centred || loo;
}

/* ---- begin -------------------------------------------------------------- */

/* What features cannot tell is left out, and refused by the criteria that want it. */
static void limit_needs(krein_feature_view *f) {
    f->view.mixed = f->map->negative > 0;
    if (!f->view.mixed) return;
    f->needs.top = 0;
    f->needs.spectrum = f->needs.centred = false;
}

/* P_0 of classes from their shares p, since m^2 operations a row are many: W (diag p - pp'), and W
 * for the ones. */
static void square_of_classes(const krein_labels *l, double *P) {
    int64_t m = l->m;
    for (int64_t a = 0; a < m - 1; a++)
        for (int64_t b = 0; b < m - 1; b++)
            P[a * m + b] = l->weight * l->mean[a] * ((a == b) - l->mean[b]);
    P[m * m - 1] = l->weight;
}

krein_status krein__feature_view_begin(const krein_map *map, const krein_labels *labels,
                                       const krein_needs *needs, krein_trial *trial, int64_t trials,
                                       const krein_rows *first, krein_feature_view **out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_feature_view *f = NULL;
    ZNEW(f, 1);
    f->ctx = ctx;
    f->map = map;
    f->labels = labels;
    f->needs = *needs;
    f->D = map->D;
    f->m = labels->m;
    f->k = labels->k;
    limit_needs(f);
    f->gram = needs_gram(&f->needs, trial, trials);
    f->passes = f->gram ? 1 : powers_of(needs);
    if (trials > 0 || needs->inside) f->passes = krein__max(2, f->passes);
    int64_t D = f->D, m = f->m, columns = f->m - 1 + f->k, rows = krein__block_rows(map->d);
    TRY(krein__blocks_begin_at(map, first, false, &f->z));
    NEW(f->offset, D);
    krein__blocks_offset(&f->z, f->offset);
    ZNEW(f->C, powers_of(needs) * D * m);
    NEW(f->low, D * m);
    ZNEW(f->shift, m);
    ZNEW(f->sum, m);
    NEW(f->right, rows * krein__max(m, columns));
    NEW(f->right32, rows * m);
    NEW(f->u, rows * m);
    NEW(f->product, D * m);
    if (f->gram) TRY(krein__ridge_begin(ctx, D, columns, rows, &f->ridge));
    TRY(krein__feature_trials_begin(ctx, labels, D, rows, trial, trials, &f->trials));
    f->view.ctx = ctx;
    f->view.labels = labels;
    f->view.kernel = map->kernel;
    f->view.order = needs->order;
    ZNEW(f->view.power, (needs->order + 1) * m * m);
    if (labels->classes) square_of_classes(labels, f->view.power);
    if (needs->inside) ZNEW(f->view.inside, m);
    *out = f;
    f = NULL;
done:
    krein__feature_view_destroy(f);
    return st;
}

void krein__feature_view_destroy(krein_feature_view *f) {
    if (!f) return;
    krein_ctx *ctx = f->ctx;
    void *all[] = {f->offset, f->C,       f->low, f->shift,  f->sum,
                   f->right,  f->right32, f->u,   f->product};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__feature_trials_clear(&f->trials);
    krein__blocks_end(&f->z);
    krein__ridge_clear(&f->ridge);
    krein__view_clear(&f->view);
    krein__free(ctx, f);
}

/* ---- one block ---------------------------------------------------------- */

/* Few columns are taken one at a time, in chunks of rows that stay in the cache: products with a
 * vector read the features once, where a product of matrices would copy them first. */
enum { FEW = 12, CHUNK = 64, STRIP = 256 };

/* product (strip x m) = z' right for columns from .. from + strip - 1 of the features. */
static void cross_strip(const krein_feature_view *f, const float *z, int64_t n, int64_t from,
                        int64_t strip, float *product) {
    int64_t D = f->D, m = f->m;
    if (m > FEW) {
        krein__sgemm(true, false, strip, m, n, 1, z + from, D, f->right32, m, 0, product, m);
        return;
    }
    memset(product, 0, (size_t)(strip * m) * sizeof *product);
    for (int64_t i = 0; i < n; i += CHUNK)
        for (int64_t c = 0; c < m; c++)
            krein__sgemv(true, krein__min(CHUNK, n - i), strip, 1, z + i * D + from, D,
                         f->right32 + i * m + c, m, 1, product + c, m);
}

/* C (D x m) += z' right, strips of D on all threads, each in the same order. */
static void cross_add(krein_feature_view *f, const float *z, int64_t n, double *C) {
    int64_t D = f->D, m = f->m;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(f->ctx->threads) schedule(dynamic)
    for (int64_t j = 0; j < D; j += STRIP) {
        krein__worker_begin();
        int64_t strip = krein__min(STRIP, D - j);
        float *product = f->product + j * m;
        cross_strip(f, z, n, j, strip, product);
        for (int64_t i = 0; i < strip * m; i++) C[j * m + i] += (double)product[i];
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* P_0 += w vv', v a row of V. */
static void add_square(const double *v, int64_t m, double weight, double *P) {
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++) P[a * m + b] += weight * v[a] * v[b];
}

/* Tr K = sum_i w_i sum_j s_j z_ij^2 with the row o put back: one number a row, added up in order.
 */
static void add_trace(krein_feature_view *f, const float *z, const krein_targets *rows) {
    int64_t n = rows->n, D = f->D;
#pragma omp parallel for num_threads(f->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < D; j++) {
            double e = (double)z[i * D + j] + f->offset[j];
            sum += sign_of(f->map, j) * e * e;
        }
        f->right[i] = rows->weight ? rows->weight[i] * sum : sum;
    }
    for (int64_t i = 0; i < n; i++) f->view.trace += f->right[i];
}

/* First pass: C_1 of the features less o, or G with it, and P_0 = V'V. */
static void first_pass(krein_feature_view *f, float *z, const krein_targets *rows) {
    int64_t n = rows->n, m = f->m, k = f->k, columns = m - 1 + k;
    krein_targets plain = *rows;
    plain.weight = NULL;
    krein__labels_rows(f->labels, &plain, f->right);
    for (int64_t i = 0; i < n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        if (!f->labels->classes) add_square(f->right + i * m, m, w, f->view.power);
        for (int64_t c = 0; c < m; c++) {
            f->right32[i * m + c] = (float)(w * f->right[i * m + c]);
            f->sum[c] += w * f->right[i * m + c];
        }
    }
    if (!f->gram) {
        cross_add(f, z, n, f->C);
        if (f->needs.trace) add_trace(f, z, rows);
        return;
    }
    /* The ones give way to the targets (from the right: it happens in place). */
    for (int64_t i = 0; k == 0 && i < n; i++)
        memmove(f->right + i * columns, f->right + i * m, (size_t)columns * sizeof *f->right);
    for (int64_t i = n - 1; k > 0 && i >= 0; i--) {
        memmove(f->right + i * columns, f->right + i * m, (size_t)(m - 1) * sizeof *f->right);
        memcpy(f->right + i * columns + m - 1, rows->y + i * k, (size_t)k * sizeof *f->right);
    }
    krein__ridge_add(&f->ridge, n, z, f->right, rows->weight);
}

/* u = Z S C_p / W of the rows, features less o. */
static void products(krein_feature_view *f, const float *z, int64_t n) {
    int64_t m = f->m, D = f->D;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(f->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK) {
        krein__worker_begin();
        int64_t rows = krein__min(CHUNK, n - i);
        if (m > FEW)
            krein__sgemm(false, true, rows, m, D, 1, z + i * D, D, f->low, D, 0, f->u + i * m, m);
        else
            memset(f->u + i * m, 0, (size_t)(rows * m) * sizeof *f->u);
        for (int64_t c = 0; m <= FEW && c < m; c++)
            krein__sgemv(false, rows, D, 1, z + i * D, D, f->low + c * D, 1, 1, f->u + i * m + c,
                         m);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* Later passes: C_(p+1) = Z'u, and sums over the rows of the classes. */
static void later_pass(krein_feature_view *f, const float *z, const krein_targets *rows) {
    int64_t n = rows->n, m = f->m;
    bool power = !f->gram && f->pass < powers_of(&f->needs),
         inside = f->view.inside && f->pass == 1;
    if (!power && !inside) return;
    products(f, z, n);
    for (int64_t i = 0; i < n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        for (int64_t c = 0; c < m; c++) {
            double u = (double)f->u[i * m + c] + f->shift[c];
            if (inside && c == rows->class[i])
                f->view.inside[c] += w * u * u * f->labels->weight * f->labels->weight;
            f->right32[i * m + c] = (float)(w * u);
            f->sum[c] += w * u;
        }
    }
    if (power) cross_add(f, z, n, f->C + f->pass * f->D * m);
}

krein_status krein__feature_view_add(krein_feature_view *f, const krein_rows *x, int64_t at,
                                     const krein_targets *rows) {
    krein_status st = KREIN_OK;
    float *z = krein__blocks_features(&f->z, x);
    TRY(krein__feature_trials_add(&f->trials, z, at, rows));
    /* last: it may scale the features by the weights */
    if (f->pass == 0)
        first_pass(f, z, rows);
    else
        later_pass(f, z, rows);
    st = krein__poll(f->ctx);
done:
    return st;
}

/* ---- after a pass ------------------------------------------------------- */

/* The features' row o put back: C += o sum'. Then S C / W and its product with o for the next. */
static void close_power(krein_feature_view *f, int64_t p) {
    int64_t D = f->D, m = f->m;
    double *C = f->C + p * D * m;
    memset(f->shift, 0, (size_t)m * sizeof *f->shift);
    for (int64_t j = 0; j < D; j++)
        for (int64_t c = 0; c < m; c++) {
            C[j * m + c] += f->offset[j] * f->sum[c];
            double low = sign_of(f->map, j) * C[j * m + c] / f->labels->weight;
            f->low[c * D + j] = (float)low;
            f->shift[c] += f->offset[j] * low;
        }
    memset(f->sum, 0, (size_t)m * sizeof *f->sum);
}

/* G of the features themselves, both triangles. */
static krein_status whole_gram(krein_feature_view *f, double **out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const krein_ridge *r = &f->ridge;
    int64_t D = f->D, columns = r->k + 1;
    double *G, W = r->weight;
    NEW(*out, D * D);
    G = *out;
    for (int64_t i = 0; i < D; i++) {
        double bi = r->B[i * columns + columns - 1], oi = f->offset[i];
        for (int64_t j = i; j < D; j++) {
            double bj = r->B[j * columns + columns - 1], oj = f->offset[j];
            G[j * D + i] = G[i * D + j] = r->G[i * D + j] + oi * bj + bi * oj + W * oi * oj;
        }
    }
done:
    return st;
}

static double signed_square(const krein_map *map, const double *G, bool triangle) {
    int64_t D = map->D;
    double sum = 0;
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = triangle ? i : 0; j < D; j++) {
            double e = sign_of(map, i) * sign_of(map, j) * G[i * D + j] * G[i * D + j];
            sum += triangle && j > i ? 2 * e : e;
        }
    return sum;
}

/* Eigenvalues of K = those of A (D x D, overwritten), and V'u_j = q_j'C / sqrt(value). */
static krein_status decompose(krein_feature_view *f, double *A, const double *C,
                              krein_spectrum *out) {
    int64_t D = f->D, m = f->m, n = 0;
    krein_status st = krein__view_decompose(f->ctx, D, m, A, C, out);
    if (st != KREIN_OK) return st;
    /* the others are rounding of float32 products, and count as zero */
    double noise = 1e-7 * fmax(out->value[0], 0);
    while (n < krein__min(D, f->labels->n) && out->value[n] > noise) n++;
    for (int64_t j = 0; j < n; j++)
        for (int64_t c = 0; c < m; c++) out->part[j * m + c] /= sqrt(out->value[j]);
    out->n = n;
    return KREIN_OK;
}

/* C_1 from the right sides of the ridge problem: V's columns, then the targets, then the ones. */
static void first_power(krein_feature_view *f) {
    int64_t D = f->D, m = f->m, columns = f->ridge.k + 1;
    for (int64_t j = 0; j < D; j++) {
        for (int64_t c = 0; c < m - 1; c++) f->C[j * m + c] = f->ridge.B[j * columns + c];
        f->C[j * m + m - 1] = f->ridge.B[j * columns + columns - 1];
    }
}

/* All of the view that comes from the uncentred G. */
static krein_status from_gram(krein_feature_view *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_view *v = &f->view;
    int64_t D = f->D, m = f->m;
    double *G = NULL, *low = NULL;
    NEW(low, D * m);
    TRY(whole_gram(f, &G));
    for (int64_t i = 0; i < D; i++) v->trace += sign_of(f->map, i) * G[i * D + i];
    v->floor = 1e-7 * v->trace / f->labels->weight / sqrt((double)D);
    v->square = signed_square(f->map, G, false);
    for (int64_t p = 1; p < powers_of(&f->needs); p++) {
        const double *C = f->C + (p - 1) * D * m;
        for (int64_t i = 0; i < D * m; i++)
            low[i] = sign_of(f->map, i / m) * C[i] / f->labels->weight;
        krein__pgemm(ctx, false, false, D, m, D, 1, G, D, low, m, 0, f->C + p * D * m, m);
    }
    if (f->needs.spectrum || f->needs.top) {
        TRY(decompose(f, G, f->C, &v->spectrum));
        v->ntop = v->spectrum.n;
        NEW(v->top, krein__max(1, v->ntop));
        memcpy(v->top, v->spectrum.value, (size_t)v->ntop * sizeof *v->top);
    }
done:
    krein__free(ctx, G);
    krein__free(ctx, low);
    return st;
}

/* The same system for the targets alone. */
static krein_status target_system(krein_feature_view *f, const krein_system *all,
                                  krein_system *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t from = f->m - 1, k = f->k;
    *out = *all;
    out->k = k;
    out->B = out->ymean = NULL;
    NEW(out->B, f->D * k);
    NEW(out->ymean, k);
    for (int64_t j = 0; j < f->D; j++)
        for (int64_t c = 0; c < k; c++) out->B[j * k + c] = all->B[j * all->k + from + c];
    for (int64_t c = 0; c < k; c++) out->ymean[c] = all->ymean[from + c];
done:
    return st;
}

/* All of it that comes from the centred G, which the ridge problem turns into. */
static krein_status from_centred(krein_feature_view *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_system all = {0}, own = {0};
    int64_t D = f->D, m = f->m;
    double *A = NULL, *C = NULL;
    TRY(krein__ridge_system(&f->ridge, NULL, D, D, &all));
    if (f->needs.centred_square) f->view.centred_square = signed_square(f->map, all.G, true);
    if (f->needs.centred) {
        NEW(A, D * D);
        ZNEW(C, D * m);
        memcpy(A, all.G, (size_t)(D * D) * sizeof *A);
        for (int64_t j = 0; j < D; j++)
            for (int64_t c = 0; c < m - 1; c++) C[j * m + c] = all.B[j * all.k + c];
        TRY(decompose(f, A, C, &f->view.centred));
    }
    if (f->k > 0) TRY(target_system(f, &all, &own));
    TRY(krein__feature_trials_leave_one_out(&f->trials, &own));
done:
    krein__free(ctx, A);
    krein__free(ctx, C);
    krein__free(ctx, own.B);
    krein__free(ctx, own.ymean);
    krein__system_clear(ctx, &all);
    return st;
}

krein_status krein__feature_view_together(krein_feature_view *f, krein_stream *rows) {
    krein_status st = KREIN_OK;
    krein_view *v = &f->view;
    int64_t size = f->D * f->m;
    TRY(krein__stream_sum(rows, f->m, f->sum));
    if (f->pass == 0 && f->gram) TRY(krein__ridge_together(&f->ridge, rows));
    if (f->pass == 0 && !f->labels->classes) TRY(krein__stream_sum(rows, f->m * f->m, v->power));
    if (f->pass == 0 && !f->gram) TRY(krein__stream_sum(rows, 1, &v->trace));
    if (!f->gram && f->pass < powers_of(&f->needs))
        TRY(krein__stream_sum(rows, size, f->C + f->pass * size));
    if (v->inside && f->pass == 1) TRY(krein__stream_sum(rows, f->m, v->inside));
    TRY(krein__feature_trials_together(&f->trials, rows));
done:
    return st;
}

krein_status krein__feature_view_end_pass(krein_feature_view *f, bool *more) {
    krein_status st = KREIN_OK;
    int64_t pass = f->pass++;
    *more = f->pass < f->passes;
    if (pass == 0 && f->gram) first_power(f);
    if (pass == 0 || (!f->gram && pass < powers_of(&f->needs))) close_power(f, pass);
    if (pass == 0 && f->gram) {
        TRY(from_gram(f));
        TRY(from_centred(f));
    }
    TRY(krein__feature_trials_end_pass(&f->trials));
done:
    return st;
}

/* P_r = W^(r-1) C_a' S C_b */
static void powers(krein_feature_view *f) {
    int64_t D = f->D, m = f->m;
    for (int64_t r = 1; r <= f->needs.order; r++) {
        const double *a = f->C + ((r + 1) / 2 - 1) * D * m, *b = f->C + (r / 2) * D * m;
        double *P = f->view.power + r * m * m, scale = pow(f->labels->weight, (double)(r - 1));
        for (int64_t j = 0; j < D; j++)
            for (int64_t x = 0; x < m; x++)
                for (int64_t y = 0; y < m; y++)
                    P[x * m + y] += scale * sign_of(f->map, j) * a[j * m + x] * b[j * m + y];
    }
}

krein_status krein__feature_view_finish(krein_feature_view *f, krein_view *out) {
    powers(f);
    krein__feature_trials_finish(&f->trials);
    *out = f->view;
    memset(&f->view, 0, sizeof f->view);
    return KREIN_OK;
}

double krein__feature_view_bytes(const krein_map *map, int64_t n, int64_t k, int64_t m,
                                 const krein_needs *needs, const krein_trial *trial,
                                 int64_t trials) {
    int64_t features = map->cls->features(map, n), block = krein__block_rows(map->d);
    double D = (double)features, rows = (double)block, M = (double)m, K = (double)k;
    double order = (double)needs->order, powers = (double)powers_of(needs);
    bool gram = needs_gram(needs, trial, trials);
    /* what is kept beside the blocks: C, low and product; right, right32, u; P and the codes */
    double bytes = krein__blocks_bytes(map, n) + 8 * D * (M * (powers + 1) + 1) +
                   rows * (8 * (M + K) + 8 * M) + 8 * (order + 2) * M * (M + 2);
    /* both spectra */
    if (gram)
        bytes +=
            krein__ridge_bytes(features, m - 1 + k, block, map->ctx->threads) + 16 * D * (M + 2);
    bytes += krein__feature_trials_bytes(map, features, k, trial, trials);
    /* a decomposition: matrix, copy, LAPACK's workspace of two; right sides */
    if (gram || trials > 0) bytes += 8 * D * (4 * D + 4 * M + 4 * K + 32);
    /* rows of a tile as the map pads them, and a little */
    return bytes + 4.0 * KREIN_TILE * map->ctx->threads * (double)map->d + (1 << 20);
}
