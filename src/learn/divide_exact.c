/* divide_exact.c -- ridge regression on the kernel matrices of parts
 *
 *     (K_jj + W_j lambda I) a_j = y_j (with weights and intercept as in solve/dual.c),
 *     f = sum_j s_j (sum over i in part j of a_ji k(., x_i) + b_j),   s_j = W_j / sum W
 *
 * so that the model has a coefficient s_j a_ji on every row, and no matrix is larger than a part's.
 * n_j^3 / 3 flops a part; parts run side by side where memory allows.
 *
 * Lambda by leave-one-out of the average (divide.h). Of parts up to KREIN_EIGEN_MAX rows a whole
 * path from eigendecompositions; of larger ones by steps (solve/path.c) of Cholesky factorisations,
 * from the lambda that is best for a sample of the first part.
 */
#include "stream/together.h"
#include "learn/divide.h"
#include "learn/krr.h"
#include "solve/dual.h"

#include <math.h>
#include <string.h>

typedef struct divide {
    krein_job *job;
    const krein_cut *cut;
    krein_rows x;
    double *y, *weight; /* of all rows */
    int32_t *class;
    int workers;
    double total;        /* weight of all rows */
    int64_t turn, turns; /* every `turns`-th part is this process's; all have all rows */
} divide;

/* ---- a part ------------------------------------------------------------- */

/* Its rows, copied where they are scattered. */
typedef struct part {
    int64_t n, k, *index;
    krein_matrix copy;
    krein_rows x;
    krein_subset own;
    krein_targets rows;
    double weight, *K;
} part;

static void part_end(krein_ctx *ctx, part *p) {
    krein__free(ctx, p->index);
    krein__free(ctx, p->K);
    krein__matrix_clear(ctx, &p->copy);
    krein__subset_end(ctx, &p->own);
}

static krein_status part_begin(krein_ctx *ctx, const divide *d, int64_t j, part *p) {
    krein_status st = KREIN_OK;
    const krein_cut *cut = d->cut;
    krein_targets all = {cut->n, d->job->model->k, d->y,
                         d->job->data->has_weight ? d->weight : NULL,
                         krein__job_classes(d->job) ? d->class : NULL};
    *p = (part){.n = cut->bound[j + 1] - cut->bound[j], .k = all.k};
    krein_targets some = {.n = p->n, .k = all.k};
    NEW(p->index, p->n);
    NEW(p->K, p->n * p->n);
    krein__cut_rows(cut, j, p->index);
    TRY(krein__subset_begin(ctx, &some, &p->own));
    p->rows = krein__subset_pick(&all, p->index, p->n, &p->own);
    p->weight = krein__total_weight(&p->rows);
    if (cut->owner) {
        TRY(krein__matrix_gather(ctx, &d->x, p->index, p->n, &p->copy));
        p->x = krein__matrix_rows(&p->copy);
    } else {
        p->x = krein__rows_slice(&d->x, cut->bound[j], p->n);
    }
done:
    return st;
}

static krein_status part_matrix(krein_ctx *ctx, const divide *d, part *p) {
    return krein__gram_full(ctx, d->job->model->map->kernel, &p->x, &p->x, p->K);
}

/* ---- the fit ------------------------------------------------------------ */

typedef struct average {
    const divide *d;
    double *b; /* parts x k, weighted */
} average;

static krein_status solve_part(krein_ctx *ctx, void *state, int64_t item) {
    krein_status st = KREIN_OK;
    const average *a = state;
    const divide *d = a->d;
    int64_t j = d->turn + item * d->turns;
    krein_model *m = d->job->model;
    double *alpha = NULL, *b = a->b + j * m->k;
    part p = {0};
    TRY(part_begin(ctx, d, j, &p));
    if (!(p.weight > 0)) goto done; /* its coefficients stay zero */
    NEW(alpha, p.n * m->k);
    TRY(part_matrix(ctx, d, &p));
    TRY(krein__dual_solve(ctx, p.K, &p.rows, d->job->lambda, alpha, b));
    double share = p.weight / d->total;
    for (int64_t c = 0; c < m->k; c++) b[c] *= share;
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t c = 0; c < m->k; c++)
            m->w[p.index[i] * m->k + c] = share * alpha[i * m->k + c];
done:
    krein__free(ctx, alpha);
    part_end(ctx, &p);
    return st;
}

static krein_status solve_parts(const divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = d->job->model;
    average a = {.d = d};
    ZNEW(a.b, d->cut->parts * m->k);
    krein__progress(ctx, "parts", 0, (double)d->cut->parts);
    int64_t mine = (d->cut->parts - d->turn + d->turns - 1) / d->turns;
    TRY(krein__parts_each(ctx, mine, (int)krein__min(d->workers, krein__max(1, mine)), solve_part,
                          &a));
    TRY(krein__stream_sum(d->job->rows, m->map->R * m->k, m->w));
    TRY(krein__stream_sum(d->job->rows, d->cut->parts * m->k, a.b));
    for (int64_t e = 0; e < d->cut->parts * m->k; e++) m->intercept[e % m->k] += a.b[e];
done:
    krein__free(ctx, a.b);
    return st;
}

/* ---- lambda ------------------------------------------------------------- */

enum { STRIP = 512 }; /* rows that are scored at once */

typedef struct choice {
    const divide *d;
    krein_loo_sample sample;
    krein_path path;
    double *score; /* n x (L k): the average without the row, weighted */
    double *part;  /* the same of each worker's part alone */
    double *share; /* of the parts of the sample */
    int64_t first; /* of the group */
} choice;

/* Scores of rows outside the part. */
static krein_status score_others(krein_ctx *ctx, const choice *t, part *p, int64_t s, double *out) {
    krein_status st = KREIN_OK;
    int64_t wide = t->path.n * p->k, n = 0, *index = NULL;
    double *Kt = NULL, *score = NULL;
    krein_rows all = krein__matrix_rows(&t->sample.x);
    krein_matrix x = {0};
    NEW(index, t->sample.n);
    for (int64_t i = 0; i < t->sample.n; i++)
        if (t->sample.owner[i] != s) index[n++] = i;
    NEW(Kt, n * p->n);
    NEW(score, n * wide);
    for (int64_t i = 0; i < n; i += STRIP) {
        int64_t m = krein__min(STRIP, n - i);
        TRY(krein__matrix_gather(ctx, &all, index + i, m, &x));
        krein_rows rows = krein__matrix_rows(&x);
        TRY(krein__gram_full(ctx, t->d->job->model->map->kernel, &rows, &p->x, Kt + i * p->n));
        krein__matrix_clear(ctx, &x);
    }
    if (n == 0) goto done;
    TRY(part_matrix(ctx, t->d, p));
    TRY(krein__dual_others(ctx, p->K, &p->rows, true, Kt, n, &t->path, score));
    for (int64_t i = 0; i < n; i++)
        memcpy(out + index[i] * wide, score + i * wide, (size_t)wide * sizeof *out);
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, index);
    krein__free(ctx, Kt);
    krein__free(ctx, score);
    return st;
}

/* Scores of its own rows, each without itself. */
static krein_status score_own(krein_ctx *ctx, const choice *t, part *p, int64_t s, double *out) {
    krein_status st = KREIN_OK;
    int64_t wide = t->path.n * p->k;
    double *score = NULL;
    krein_frame f = {0};
    krein_path path = t->path;
    NEW(score, p->n * wide);
    TRY(part_matrix(ctx, t->d, p));
    if (path.n == 1) {
        TRY(krein__dual_loo_at(ctx, p->K, &p->rows, path.lambda[0], true, &path, score));
    } else {
        TRY(krein__frame_begin(ctx, p->K, &p->rows, true, &f));
        TRY(krein__frame_loo_path(ctx, p->K, &p->rows, &f, &path, score));
    }
    for (int64_t i = 0, at = 0; i < t->sample.n; i++) {
        if (t->sample.owner[i] != s) continue;
        while (p->index[at] != t->sample.row[i]) at++;
        memcpy(out + i * wide, score + at * wide, (size_t)wide * sizeof *out);
    }
done:
    krein__free(ctx, score);
    krein__frame_clear(ctx, &f);
    return st;
}

static krein_status score_part(krein_ctx *ctx, void *state, int64_t i) {
    krein_status st = KREIN_OK;
    const choice *t = state;
    int64_t s = t->first + i * t->d->turns;
    double *out = t->part + i * t->sample.n * t->path.n * t->d->job->model->k;
    part p = {0};
    TRY(part_begin(ctx, t->d, t->sample.part[s], &p));
    t->share[s] = p.weight;
    if (!(p.weight > 0)) goto done;
    TRY(score_own(ctx, t, &p, s, out));
    TRY(score_others(ctx, t, &p, s, out));
done:
    part_end(ctx, &p);
    return st;
}

/* The path is set; scores (n x (L k)) of all parts of the sample, added in their order. */
static krein_status score_all(choice *t, double *score) {
    krein_ctx *ctx = t->d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t size = t->sample.n * t->path.n * t->d->job->model->k;
    double weight = 0;
    memset(score, 0, (size_t)size * sizeof *score);
    int64_t turns = t->d->turns;
    memset(t->share, 0, (size_t)t->sample.parts * sizeof *t->share);
    for (t->first = t->d->turn; t->first < t->sample.parts; t->first += turns * t->d->workers) {
        int64_t count = krein__min(t->d->workers, (t->sample.parts - t->first + turns - 1) / turns);
        krein__progress(ctx, "leave-one-out", (double)t->first, (double)t->sample.parts);
        TRY(krein__parts_each(ctx, count, (int)count, score_part, t));
        for (int64_t i = 0; i < count; i++) {
            double share = t->share[t->first + i * turns];
            weight += share;
            for (int64_t e = 0; share > 0 && e < size; e++)
                score[e] += share * t->part[i * size + e];
        }
    }
    TRY(krein__stream_sum(t->d->job->rows, size, score));
    TRY(krein__stream_sum(t->d->job->rows, 1, &weight));
    if (!(weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t e = 0; e < size; e++) score[e] /= weight;
done:
    return st;
}

/* A path for parts like the first one that has weight: K is off by rounding, W lambda must be well
 * above (see dual_frame.c). */
static krein_status set_path(choice *t) {
    krein_ctx *ctx = t->d->job->ctx;
    krein_status st = KREIN_OK;
    double *diagonal = NULL, trace = 0, most = 0;
    part p = {0};
    for (int64_t s = 0; s < t->sample.parts && !(p.weight > 0); s++) {
        part_end(ctx, &p);
        TRY(part_begin(ctx, t->d, t->sample.part[s], &p));
    }
    NEW(diagonal, p.n);
    TRY(krein__gram_diagonal(ctx, t->d->job->model->map->kernel, &p.x, diagonal));
    for (int64_t i = 0; i < p.n; i++) {
        double v = fabs(diagonal[i]) * (p.rows.weight ? p.rows.weight[i] : 1);
        trace += v;
        most = fmax(most, v);
    }
    double weight = fmax(p.weight, 1e-300), top = fmax(trace, 1e-30) / weight;
    krein__path_grid(&t->path, fmax(top * 1e-11, 1e-15 * most * (double)p.n / weight), top * 10, 4);
done:
    krein__free(ctx, diagonal);
    part_end(ctx, &p);
    return st;
}

static krein_status choose_path(choice *t) {
    krein_ctx *ctx = t->d->job->ctx;
    krein_status st = KREIN_OK;
    krein_tally tally = {0};
    TRY(set_path(t));
    int64_t size = t->sample.n * t->path.n * t->d->job->model->k;
    NEW(t->score, size);
    NEW(t->part, t->d->workers * size);
    TRY(score_all(t, t->score));
    krein__tally_add(&tally, &t->sample.targets, t->path.n, t->score);
    krein__tally_end(&tally, krein__job_classes(t->d->job), &t->path);
done:
    return st;
}

/* ---- steps -------------------------------------------------------------- */

static krein_status score_at(void *state, double lambda, double *score) {
    choice *t = state;
    t->path = (krein_path){.n = 1, .lambda = {lambda}};
    return score_all(t, score);
}

/* The best lambda of a sample of the first part, whose W lambda all rows share (dual.c). */
static krein_status first_guess(choice *t, double *lambda) {
    krein_ctx *ctx = t->d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t m, *some = NULL;
    double *K = NULL;
    krein_path path = {0};
    krein_subset own = {0};
    krein_matrix x = {0};
    part p = {0};
    TRY(part_begin(ctx, t->d, t->sample.part[0], &p));
    m = krein__min(p.n, KREIN_EIGEN_MAX / 2);
    NEW(some, m);
    NEW(K, m * m);
    for (int64_t i = 0; i < m; i++) some[i] = i * p.n / m;
    TRY(krein__subset_begin(ctx, &p.rows, &own));
    krein_targets few = krein__subset_pick(&p.rows, some, m, &own);
    TRY(krein__matrix_gather(ctx, &p.x, some, m, &x));
    krein_rows rows = krein__matrix_rows(&x);
    TRY(krein__gram_full(ctx, t->d->job->model->map->kernel, &rows, &rows, K));
    *lambda = 1e-3;
    if (!(krein__total_weight(&few) > 0)) goto done;
    TRY(krein__dual_path(ctx, K, &few, &path));
    *lambda = path.lambda[krein__path_least(&path)] * krein__total_weight(&few) / p.weight;
done:
    krein__matrix_clear(ctx, &x);
    krein__subset_end(ctx, &own);
    krein__free(ctx, some);
    krein__free(ctx, K);
    part_end(ctx, &p);
    return st;
}

static krein_status choose_steps(choice *t) {
    krein_ctx *ctx = t->d->job->ctx;
    krein_status st = KREIN_OK;
    krein_path path = {0};
    double lambda = 0;
    TRY(first_guess(t, &lambda));
    NEW(t->part, t->d->workers * t->sample.n * t->d->job->model->k);
    TRY(krein__path_walk(ctx, &t->sample.targets, lambda, 0, score_at, t, &path));
    t->path = path;
done:
    return st;
}

static bool by_steps(int64_t rows) { return rows > KREIN_EIGEN_MAX; }

static int64_t sample_rows(int64_t n, int64_t k) {
    return krein__min(n, krein__max(1024, krein__min(4096, 32768 / k)));
}

static krein_status choose(const divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = d->job;
    choice t = {.d = d};
    bool steps = by_steps(krein__cut_most(d->cut));
    TRY(krein__loo_sample_begin(job, d->cut, steps ? KREIN_LOO_PARTS / 4 : KREIN_LOO_PARTS,
                                sample_rows(job->n, job->model->k), &t.sample));
    ZNEW(t.share, t.sample.parts);
    TRY(steps ? choose_steps(&t) : choose_path(&t));
    krein__krr_report(job, &t.path);
done:
    krein__loo_sample_end(ctx, &t.sample);
    krein__free(ctx, t.score);
    krein__free(ctx, t.part);
    krein__free(ctx, t.share);
    return st;
}

/* ---- set-up ------------------------------------------------------------- */

/* Of one part while lambda is chosen (three matrices in an eigendecomposition), or solved. */
static double part_bytes(const krein_map *map, double n, double k, bool path) {
    double L = path && !by_steps((int64_t)n) ? KREIN_PATH_MAX : 1, N = 4096;
    bool eigen = (path && !by_steps((int64_t)n)) || !krein__kernel_positive(map->kernel);
    double rows = map->sparse ? 8 * fmin((double)map->d, 1024) : 4 * (double)map->d;
    return 8 * n * n * (eigen ? 3.1 : 1.1) + 16 * 256 * (n + 256) + n * (rows + 8 * k + 80) +
           krein__gram_full_bytes(map->kernel, (int64_t)n, map->sparse ? 1024 : map->d, 1) +
           (path ? 8 * N * (n + 2 * L * k) + 8 * n * L * (3 * k + 1) + STRIP * rows : 0);
}

krein_status krein__divide_exact(krein_job *job, const krein_cut *cut) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    divide d = {.job = job,
                .cut = cut,
                .x = krein__map_landmarks(m->map),
                .turn = krein__stream_turn(job->rows),
                .turns = krein__stream_turns(job->rows)};
    NEW(d.y, job->n * m->k);
    NEW(d.weight, job->n);
    NEW(d.class, job->n);
    TRY(krein__job_targets(job, d.y, d.class, d.weight, NULL));
    for (int64_t i = 0; i < job->n; i++) d.total += d.weight[i];
    if (!(d.total > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    d.workers = krein__parts_workers(
        ctx, cut->parts,
        part_bytes(m->map, (double)krein__cut_most(cut), (double)m->k, job->lambda < 0));
    if (job->lambda < 0) TRY(choose(&d));
    TRY(solve_parts(&d));
done:
    krein__free(ctx, d.y);
    krein__free(ctx, d.weight);
    krein__free(ctx, d.class);
    return st;
}

double krein__divide_exact_bytes(const krein_map *map, int64_t n, int64_t rows, int64_t parts,
                                 int64_t k, bool path) {
    double K = (double)k, bytes = part_bytes(map, (double)rows, K, path);
    int workers = krein__parts_workers(map->ctx, parts, bytes);
    double one =
        krein__gram_full_bytes(map->kernel, rows, map->sparse ? 1024 : map->d, map->ctx->threads);
    return workers * bytes + one + (double)n * (8 * K + 24) + 4096 * (4 * (double)map->d + 64 * K) +
           16 * (double)parts * (K + 1);
}
