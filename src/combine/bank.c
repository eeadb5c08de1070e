/* bank.c -- kernels on the training rows: scales, matrices, and moments of their features.
 *
 * Features come in float32 blocks less a fixed row o near their mean (learn/blocks.h). With Z0 the
 * rows less o, b = Z0'1 and W the sum of the weights,
 *     Z'Z = Z0'Z0 + o b' + b o' + W oo',   Z'y = Z0'y + o (1'y)
 * in float64, so that kernels whose features are almost constant keep their digits. */
#include "combine/bank.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

/* ---- scales ------------------------------------------------------------- */

/* sum of w_i k(x_i, x_i) over the rows of a block. */
static krein_status add_diagonal(krein_ctx *ctx, const krein_kernel *kernel,
                                 const krein_block *block, double *buffer, double *sum) {
    krein_status st = krein__gram_diagonal(ctx, kernel, &block->x, buffer);
    for (int64_t i = 0; st == KREIN_OK && i < block->x.n; i++)
        *sum += (block->weight ? block->weight[i] : 1) * buffer[i];
    return st;
}

/* Of a stationary kernel one row tells all. */
static bool same_everywhere(const krein_kernel *kernel) {
    return krein__kernel_all(kernel, krein__is_stationary);
}

static krein_status check_diagonal(krein_ctx *ctx, const krein_kernel *kernel, double mean) {
    if (mean > 0 && isfinite(mean) && isfinite(1 / mean)) return KREIN_OK;
    char *text = krein__kernel_text(ctx, kernel);
    if (!text) return ctx->status;
    krein_status st =
        krein__fail(ctx, KREIN_EDATA,
                    "the mean of %s on the diagonal is %g: it cannot be scaled to one; leave the "
                    "kernel out, or give mkl normalize=no",
                    text, mean);
    krein__free(ctx, text);
    return st;
}

krein_status krein__bank_scales(krein_job *job, krein_kernel *const *kernel, int64_t M,
                                double *scale) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_block block;
    double *buffer = NULL, weight = 0;
    NEW(buffer, krein__block_rows(job->model->encoding.d));
    memset(scale, 0, (size_t)M * sizeof *scale);
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        for (int64_t m = 0; m < M; m++)
            if (!same_everywhere(kernel[m]))
                TRY(add_diagonal(ctx, kernel[m], &block, buffer, &scale[m]));
        for (int64_t i = 0; i < block.x.n; i++) weight += block.weight ? block.weight[i] : 1;
        for (int64_t m = 0; m < M && block.first == 0; m++) {
            krein_rows one = krein__rows_slice(&block.x, 0, 1);
            if (same_everywhere(kernel[m]))
                TRY(krein__gram_diagonal(ctx, kernel[m], &one, &scale[m]));
        }
        TRY(krein__poll(ctx));
    }
    for (int64_t m = 0; m < M; m++) {
        double mean = same_everywhere(kernel[m]) ? scale[m] : scale[m] / weight;
        TRY(check_diagonal(ctx, kernel[m], mean));
        scale[m] = 1 / mean;
    }
done:
    krein__free(ctx, buffer);
    return st;
}

/* ---- matrices ----------------------------------------------------------- */

/* Beyond so many rows a sample of them tells the weights. */
enum { ROWS = 4096 };

int64_t krein__bank_rows(krein_ctx *ctx, int64_t n, int64_t M) {
    /* of the budget alone: not of what happens to be held, so that runs are the same */
    double most = sqrt((double)ctx->budget / 2 / (8 * ((double)M + 3)));
    return krein__max(krein__min(n, 2), krein__min(krein__min(n, ROWS), (int64_t)most));
}

/* The kernels' matrices, scaled. */
static krein_status fill_matrices(krein_bank *b) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_rows x = krein__matrix_rows(&b->rows.x);
    krein_gram_shared shared = {0};
    int64_t n = b->rows.n;
    if (!(b->K = krein__zalloc(ctx, b->M, sizeof *b->K))) return ctx->status;
    for (int64_t m = 0; m < b->M; m++) NEW(b->K[m], n * n);
    TRY(krein__gram_share(ctx, &x, b->kernel, b->M, 0, &shared));
    for (int64_t m = 0; m < b->M; m++) {
        double *K = b->K[m], c = b->scale[m];
        TRY(krein__gram_shared_full(ctx, b->kernel[m], &shared, K));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t i = 0; i < n * n; i++) K[i] *= c;
        krein__progress(ctx, "kernel matrices", (double)(m + 1), (double)b->M);
        TRY(krein__poll(ctx));
    }
done:
    krein__gram_share_end(ctx, &shared);
    return st;
}

krein_status krein__bank_matrices(krein_bank *b) {
    krein_status st = KREIN_OK;
    int64_t n = krein__bank_rows(b->ctx, b->job->n, b->M);
    if (n < b->job->n)
        krein__log(b->ctx, KREIN_LOG_INFO, "weights of the kernels from %lld of the rows",
                   (long long)n);
    TRY(krein__probe_gather(b->job, n, &b->rows));
    TRY(fill_matrices(b));
done:
    return st;
}

void krein__bank_clear(krein_bank *b) {
    if (!b->ctx) return;
    krein__probe_end(b->ctx, &b->rows);
    for (int64_t m = 0; b->K && m < b->M; m++) krein__free(b->ctx, b->K[m]);
    krein__free(b->ctx, b->K);
    krein__free(b->ctx, b->first);
    memset(b, 0, sizeof *b);
}

/* ---- moments ------------------------------------------------------------ */

void krein__moments_clear(krein_ctx *ctx, krein_moments *m) {
    krein__free(ctx, m->G);
    krein__free(ctx, m->mean);
    krein__free(ctx, m->B);
    krein__free(ctx, m->ymean);
    krein__free(ctx, m->ysquare);
    memset(m, 0, sizeof *m);
}

/* Sums of runs of features: of all together, or of each kernel by itself. */
typedef struct sums {
    int64_t runs;
    const int64_t *first; /* runs + 1 */
    krein_ridge *ridge;   /* runs */
    krein_blocks z;
    float *piece;
    double *y;
} sums;

static void sums_end(krein_ctx *ctx, sums *s) {
    for (int64_t r = 0; s->ridge && r < s->runs; r++) krein__ridge_clear(&s->ridge[r]);
    krein__free(ctx, s->ridge);
    krein__free(ctx, s->piece);
    krein__free(ctx, s->y);
    krein__blocks_end(&s->z);
}

static krein_status sums_begin(krein_bank *b, int64_t runs, const int64_t *first, int64_t k,
                               sums *s) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t widest = 0;
    s->runs = runs;
    s->first = first;
    ZNEW(s->ridge, runs);
    TRY(krein__blocks_begin(b->map, b->job->rows, false, &s->z));
    for (int64_t r = 0; r < runs; r++) {
        int64_t D = first[r + 1] - first[r];
        widest = krein__max(widest, D);
        TRY(krein__ridge_begin(ctx, D, k, s->z.rows, &s->ridge[r]));
    }
    if (runs > 1) NEW(s->piece, s->z.rows * widest);
    NEW(s->y, s->z.rows * k);
done:
    return st;
}

static void sums_add(krein_ctx *ctx, sums *s, const krein_block *block) {
    int64_t n = block->x.n, D = s->first[s->runs];
    float *z = krein__blocks_features(&s->z, &block->x);
    for (int64_t r = 0; r < s->runs; r++) {
        int64_t from = s->first[r], width = s->first[r + 1] - from;
        float *run = s->runs > 1 ? s->piece : z;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t i = 0; i < n; i++)
            if (run != z) memcpy(run + i * width, z + i * D + from, (size_t)width * sizeof *run);
        krein__ridge_add(&s->ridge[r], n, run, s->y, block->weight);
    }
}

/* The row o put back into the sums of one run. */
static void put_back(const krein_ridge *r, const double *o, int64_t from, krein_moments *out) {
    int64_t R = r->R, k = r->k, c = k + 1, D = out->D;
    double W = r->weight;
    for (int64_t i = 0; i < R; i++) {
        double bi = r->B[i * c + k];
        out->mean[from + i] = bi / W + o[i];
        for (int64_t q = 0; q < k; q++)
            out->B[(from + i) * k + q] = r->B[i * c + q] + o[i] * r->ysum[q];
        for (int64_t j = i; j < R; j++) {
            double g = r->G[i * R + j] + o[i] * r->B[j * c + k] + bi * o[j] + W * o[i] * o[j];
            out->G[(from + i) * D + from + j] = out->G[(from + j) * D + from + i] = g;
        }
    }
}

static krein_status moments_from(krein_ctx *ctx, const sums *s, krein_moments *out) {
    krein_status st = KREIN_OK;
    double *offset = NULL;
    const krein_ridge *any = &s->ridge[0];
    NEW(offset, out->D);
    krein__blocks_offset(&s->z, offset);
    ZNEW(out->G, out->D * out->D);
    NEW(out->mean, out->D);
    NEW(out->B, out->D * out->k);
    out->weight = any->weight;
    for (int64_t q = 0; q < out->k; q++) out->ymean[q] = any->ysum[q] / any->weight;
    for (int64_t r = 0; r < s->runs; r++)
        put_back(&s->ridge[r], offset + s->first[r], s->first[r], out);
done:
    krein__free(ctx, offset);
    return st;
}

krein_status krein__moments_of(krein_bank *b, bool cross, krein_moments *out) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = b->job;
    int64_t k = krein__scored_targets(job), all[2] = {0, b->first[b->M]};
    krein_block block;
    sums s = {0};
    memset(out, 0, sizeof *out);
    out->D = all[1];
    out->k = k;
    ZNEW(out->ymean, k);
    ZNEW(out->ysquare, k);
    TRY(sums_begin(b, cross ? 1 : b->M, cross ? all : b->first, k, &s));
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        krein__scored_fill(job, block.x.n, block.label, s.y, NULL);
        for (int64_t i = 0; i < block.x.n; i++)
            for (int64_t q = 0; q < k; q++)
                out->ysquare[q] +=
                    (block.weight ? block.weight[i] : 1) * s.y[i * k + q] * s.y[i * k + q];
        sums_add(ctx, &s, &block);
        krein__progress(ctx, "weighing kernels", (double)(block.first + block.x.n), (double)job->n);
        TRY(krein__poll(ctx));
    }
    TRY(moments_from(ctx, &s, out));
done:
    sums_end(ctx, &s);
    if (st != KREIN_OK) krein__moments_clear(ctx, out);
    return st;
}

void krein__moments_centre(krein_moments *m) {
    int64_t D = m->D, k = m->k;
    for (int64_t i = 0; i < D; i++) {
        for (int64_t j = 0; j < D; j++) m->G[i * D + j] -= m->weight * m->mean[i] * m->mean[j];
        for (int64_t q = 0; q < k; q++) m->B[i * k + q] -= m->weight * m->mean[i] * m->ymean[q];
    }
    for (int64_t q = 0; q < k; q++) m->ysquare[q] -= m->weight * m->ymean[q] * m->ymean[q];
}

krein_bank_size krein__bank_size(const krein_map *map, int64_t n, int64_t M, int64_t k) {
    bool matrices = map->cls->traits & KREIN_MAP_DUAL;
    double rows = (double)(matrices ? krein__bank_rows(map->ctx, n, M) : n);
    double side = matrices ? rows : (double)map->cls->features(map, n);
    return (krein_bank_size){map, n, M, k, matrices, rows, side};
}

static double moments_bytes(const krein_bank_size *s) {
    const krein_map *map = s->map;
    double D = s->side, rows = (double)krein__block_rows(map->d), k = (double)s->k, c = k + 1;
    double tile = (double)krein__syrk_tile((int64_t)D);
    /* a sum of its own for every kernel, with tiles no wider than its features */
    double all = 8 * D * D + 12 * D * c + 4 * D * tile * map->ctx->threads +
                 (double)s->M * (4 * rows * c + 8 * c + sizeof(krein_ridge));
    return all + 16 * D * D + 32 * D * k + krein__blocks_bytes(map, s->n) + 4 * rows * (D + 2 * k);
}

void krein__bank_cost(const krein_bank_size *s, krein_cost *out) {
    double M = (double)s->M, rows = s->rows, d = (double)s->map->d;
    double matrices = 8 * rows * rows * (M + 3) + rows * (4 * d + 64 * (double)s->k);
    /* and a few numbers for every pair of kernels */
    out->bytes += (s->matrices ? matrices : moments_bytes(s)) + 128 * M * M;
    out->flops += s->matrices ? M * rows * rows * (2 * d + 20) : rows * s->side * s->side / M;
}

double krein__bank_cross_flops(const krein_bank_size *s) {
    double M = (double)s->M;
    return s->matrices ? s->rows * s->rows * M * M : s->rows * s->side * s->side;
}

/* Each has its matrix, eigenvectors, workspace and errors; they share inner products and distances.
 */
double krein__bank_sample_bytes(const krein_bank_size *s, int64_t at_once) {
    enum { BAND = 192 };
    krein_ctx *ctx = s->map->ctx;
    double N = (double)krein__min(s->n, KREIN_BANK_SAMPLE), d = (double)s->map->d;
    double each = 8 * N * (6 * N + 100 * (double)(s->k + 1) + 2 * BAND) + (1 << 20);
    double shared = 8 * (N + BAND) * (N + BAND + d) + 8 * d * ctx->threads + (1 << 20);
    return shared + N * (12 * d + 32 * (double)s->k + 64) +
           krein__score_workers(ctx, shared, each, at_once) * each;
}

/* ---- what the methods share --------------------------------------------- */

krein_status krein__bank_lambda(krein_bank *b, double *lambda) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_probe s = {0};
    krein_path path = {0};
    double *K = NULL, *sum = NULL;
    *lambda = b->job->lambda;
    if (*lambda >= 0) return KREIN_OK;
    TRY(krein__probe_gather(b->job, krein__min(b->job->n, KREIN_BANK_SAMPLE), &s));
    krein_rows x = krein__matrix_rows(&s.x);
    NEW(K, s.n * s.n);
    ZNEW(sum, s.n * s.n);
    for (int64_t m = 0; m < b->M; m++) {
        TRY(krein__gram_full(ctx, b->kernel[m], &x, &x, K));
        for (int64_t i = 0; i < s.n * s.n; i++) sum[i] += b->scale[m] / (double)b->M * K[i];
        TRY(krein__poll(ctx));
    }
    krein_targets rows = {s.n, s.k, s.y, s.weight, s.class};
    TRY(krein__dual_loo_path(ctx, sum, &rows, true, &path));
    *lambda = path.lambda[path.best];
done:
    krein__free(ctx, K);
    krein__free(ctx, sum);
    krein__probe_end(ctx, &s);
    return st;
}

int64_t krein__bank_problems(const krein_bank *b) {
    int64_t classes = b->job->model->encoding.nclass;
    return classes == 2 ? 1 : classes;
}

void krein__bank_signs(const krein_bank *b, int64_t p, int64_t n, const int32_t *class, double *y) {
    int64_t positive = krein__bank_problems(b) == 1 ? 1 : p;
    for (int64_t i = 0; i < n; i++) y[i] = class[i] == positive ? 1 : -1;
}
