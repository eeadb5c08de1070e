/* posterior.c -- how sure a prediction is
 *
 * Ridge regression is the mean of a Gaussian process with noise sigma^2 / w_i in row i, the
 * prior variance sigma^2 / (W lambda) k(x, x) and a flat prior on the intercept (rasmussen2006).
 * The variance of the mean at x is sigma^2 q(x); that of a new observation sigma^2 (1 + q(x)).
 *
 *   features   A = sum_i w_i (z_i - m)(z_i - m)' + W lambda I,   A^-1 = F F',
 *              q(x) = 1 / W + |F'(z - m)|^2
 *   kernel     M = K + W lambda diag(1 / w),   M^-1 = F F',   a = M^-1 1,
 *              q(x) = (k(x, x) - |F'k_x|^2 + (1 - a'k_x)^2 / (1'a)) / (W lambda)
 *
 * On features z = A'r (map.h) F is one for raw features r, so that prediction needs no mix. Row i
 * left out, with h_i = w_i q(x_i) its leverage in the whole fit:
 *
 *     r_-i = r_i / (1 - h_i),   q_-i(x_i) = q(x_i) / (1 - h_i),
 *     E w_i (1 - h_i) r_-i^2 = sigma^2: the noise is the mean of that over the rows.
 *
 * Intervals use s_i = |r_-i| sqrt(w_i (1 - h_i)), residuals over their deviation, in the place of a
 * normal distribution. On features f(x) +- Q sqrt(1 + q(x)), Q the ceil(p (n + 1))-th smallest of
 * s. On the kernel jackknife+ (barber2021): order statistics of f_-i(x) -+ s_i sqrt(1 + q_-i(x))
 * over the rows i, where with c(x) the weights of the targets in f(x)
 *
 *     c(x) = M^-1 k_x + a (1 - a'k_x) / (1'a),   f_-i(x) = f(x) - c_i(x) r_-i,
 *     q_-i(x) = q(x) + c_i(x)^2 / (w_i (1 - h_i)).
 *
 * Novelty is q(x) over the 0.99 quantile of q_-i(x_i). On landmarks both have (k(x, x) - z'z) / (W
 * lambda) added, what the process with the kernel itself knows less (quinonero2005): far from all
 * landmarks z is zero, and q alone would say that nothing is as sure.
 *
 * Of other learners the model keeps the residuals of rows that it was not trained on. The interval
 * is f(x) +- Q, Q that order statistic of their sizes: split conformal prediction
 * (papadopoulos2002).
 *
 * A set of classes has those with 1 - p_c(x) <= Q, Q that order statistic of 1 - p of the true
 * class of held-out rows (vovk2005), and the best class.
 *
 * Cost of a row: D^2 flops; intervals on the kernel 3 n^2. */
#include "model/posterior.h"

#include "num/blas.h"
#include "num/order.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = KREIN_POSTERIOR_PANEL };

/* ---- the factor --------------------------------------------------------- */

/* Columns from .. from + columns of it, with so many rows. */
typedef struct panel {
    int64_t from, columns, rows;
    const double *at;
} panel;

static panel panel_at(const krein_posterior *p, int64_t from, const double *at) {
    int64_t columns = krein__min(PANEL, p->D - from);
    return (panel){from, columns, p->R - p->D + from + columns, at};
}

int64_t krein__posterior_cells(int64_t R, int64_t D) {
    krein_posterior p = {.R = R, .D = D};
    int64_t cells = 0;
    for (int64_t from = 0; from < D; from += PANEL) {
        panel one = panel_at(&p, from, NULL);
        cells += one.rows * one.columns;
    }
    return cells;
}

krein_status krein__posterior_pack(krein_ctx *ctx, const krein_posterior *p, const double *from,
                                   int64_t row_stride, int64_t column_stride, double **out) {
    krein_status st = KREIN_OK;
    NEW(*out, krein__posterior_cells(p->R, p->D));
    double *to = *out;
    for (int64_t c = 0; c < p->D; c += PANEL) {
        panel one = panel_at(p, c, to);
        for (int64_t r = 0; r < one.rows; r++)
            for (int64_t j = 0; j < one.columns; j++) {
                bool zero = r > p->R - p->D + c + j;
                *to++ = zero ? 0 : from[r * row_stride + (c + j) * column_stride];
            }
    }
done:
    return st;
}

void krein__posterior_destroy(krein_ctx *ctx, krein_posterior *p) {
    if (!p) return;
    double *all[] = {p->factor, p->inner, p->centre, p->noise, p->score, p->left, p->rest};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__free(ctx, p);
}

/* ---- the file ----------------------------------------------------------- */

static bool all_above(int64_t n, const double *x, double low) {
    bool fine = true;
    for (int64_t i = 0; i < n; i++) fine = fine && x[i] >= low;
    return fine;
}

static bool ascends(int64_t n, const double *x) {
    bool fine = true;
    for (int64_t i = 1; i < n; i++) fine = fine && x[i] >= x[i - 1];
    return fine;
}

static bool counts(const krein_posterior *p) {
    int64_t rows = 0;
    for (int64_t i = 0; i < p->R; i++) rows += p->rest[i] > 0;
    return rows == p->rows && all_above(p->R, p->rest, 0);
}

static bool sound(const krein_posterior *p) {
    bool fine = p->flat >= 0 && p->ridge >= 0 && p->reach > 0 && isfinite(p->flat) &&
                isfinite(p->ridge) && isfinite(p->reach) && all_above(p->k, p->noise, 0);
    if (p->kernel || p->inner) fine = fine && p->ridge > 0;
    if (p->kernel) return fine && (p->k == 0 || counts(p));
    for (int64_t c = 0; c < p->k; c++)
        fine = fine && ascends(p->rows, p->score + c * p->rows) && p->score[c * p->rows] >= 0;
    return fine;
}

krein_status krein__posterior_io(krein_archive *a, krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    krein_posterior *p = m->posterior;
    if (reading ? !krein__archive_has(a, "posterior.features") : !p) return KREIN_OK;
    if (reading) {
        ZNEW(p, 1);
        m->posterior = p;
        p->kernel = m->map->cls->traits & KREIN_MAP_DUAL;
        p->R = m->map->R;
        p->k = m->encoding.task == KREIN_TASK_REGRESSION ? m->k : 0;
    }
    TRY(krein__archive_int(a, "posterior.features", &p->D, p->kernel ? p->R : 1, p->R));
    TRY(krein__archive_int(a, "posterior.rows", &p->rows, 1, p->kernel ? p->R : INT32_MAX));
    TRY(krein__archive_array(a, "posterior.factor", KREIN_TYPE_F64, &p->factor,
                             krein__posterior_cells(p->R, p->D)));
    if (reading ? krein__archive_has(a, "posterior.inner") : p->inner != NULL)
        TRY(krein__archive_array(a, "posterior.inner", KREIN_TYPE_F64, &p->inner,
                                 krein__posterior_cells(p->R, p->D)));
    TRY(krein__archive_array(a, "posterior.centre", KREIN_TYPE_F64, &p->centre,
                             p->kernel ? p->R : p->D));
    TRY(krein__archive_double(a, "posterior.flat", &p->flat));
    TRY(krein__archive_double(a, "posterior.ridge", &p->ridge));
    TRY(krein__archive_double(a, "posterior.reach", &p->reach));
    if (p->k > 0) {
        TRY(krein__archive_array(a, "posterior.noise", KREIN_TYPE_F64, &p->noise, p->k));
        if (p->kernel) {
            TRY(krein__archive_array(a, "posterior.left", KREIN_TYPE_F64, &p->left, p->R * p->k));
            TRY(krein__archive_array(a, "posterior.rest", KREIN_TYPE_F64, &p->rest, p->R));
        } else {
            TRY(krein__archive_array(a, "posterior.scores", KREIN_TYPE_F64, &p->score,
                                     p->k * p->rows));
        }
    }
    if (reading && !sound(p))
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its uncertainty)");
done:
    return st;
}

krein_status krein__conformal_io(krein_archive *a, krein_model *m) {
    krein_status st = KREIN_OK;
    krein_conformal *r = &m->conformal;
    bool reading = krein__archive_reading(a), fine = true;
    if (reading ? !krein__archive_has(a, "conformal.rows") : !r->residual) return KREIN_OK;
    TRY(krein__archive_int(a, "conformal.rows", &r->rows, 1, INT32_MAX));
    TRY(krein__archive_array(a, "conformal.residuals", KREIN_TYPE_F64, &r->residual,
                             m->k * r->rows));
    for (int64_t c = 0; c < m->k; c++)
        fine = fine && ascends(r->rows, r->residual + c * r->rows) && r->residual[c * r->rows] >= 0;
    if (!fine || m->posterior || m->encoding.task != KREIN_TASK_REGRESSION)
        st = krein__fail(m->ctx, KREIN_EMODEL, "the model is damaged (its residuals)");
done:
    return st;
}

krein_status krein__doubt_io(krein_archive *a, krein_ctx *ctx, krein_calibration *c) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    if (reading ? !krein__archive_has(a, "calibration.held") : !c->doubt) return KREIN_OK;
    TRY(krein__archive_int(a, "calibration.held", &c->held, 1, INT32_MAX));
    TRY(krein__archive_array(a, "calibration.doubt", KREIN_TYPE_F64, &c->doubt, c->held));
    if (reading && (!ascends(c->held, c->doubt) || c->doubt[0] < 0 || c->doubt[c->held - 1] > 1))
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its held-out rows)");
done:
    return st;
}

/* ---- order statistics --------------------------------------------------- */

/* A little less than p (n + 1): 0.9 times 10 is 9, whatever the digits say. */
int64_t krein__cover_rank(int64_t n, double level) {
    double rank = ceil(level * ((double)n + 1) * (1 - 1e-12));
    return krein__max(1, rank > (double)n ? n + 1 : (int64_t)rank);
}

/* ---- what can be told --------------------------------------------------- */

int krein__model_says(const krein_model *m) {
    int says = 0;
    const krein_posterior *p = m->posterior;
    if (p) says |= KREIN_SAYS_NOVELTY;
    if (p && p->k > 0) says |= KREIN_SAYS_STD | KREIN_SAYS_INTERVAL;
    if (m->calibration.doubt || m->conformal.residual) says |= KREIN_SAYS_INTERVAL;
    return says;
}

krein_status krein__asked_check(krein_ctx *ctx, const krein_model *m, const krein_asked *asked) {
    int says = krein__model_says(m);
    if (asked->interval != 0 && !(asked->interval > 0 && asked->interval < 1))
        return krein__fail(ctx, KREIN_EARG, "`interval` is the coverage, between 0 and 1, not %g",
                           asked->interval);
    if (says == 0 && (asked->std || asked->novelty || asked->interval > 0))
        return krein__fail(ctx, KREIN_EARG,
                           "the model does not know how sure it is; train it with `uncertainty`");
    if (asked->std && !(says & KREIN_SAYS_STD) && m->conformal.residual)
        return krein__fail(
            ctx, KREIN_EARG,
            "`std` is known to models of krr on a positive definite kernel, and this "
            "one is %s on %s; it has intervals (`interval`)",
            m->learner, m->kernel_text);
    if (asked->std && !(says & KREIN_SAYS_STD))
        return krein__fail(ctx, KREIN_EARG,
                           "`std` is of numbers and the model predicts classes; use probabilities, "
                           "or sets of classes (`interval`)");
    if (asked->novelty && !(says & KREIN_SAYS_NOVELTY))
        return krein__fail(ctx, KREIN_EARG,
                           "`novelty` is known to models of krr on a positive definite kernel, and "
                           "this one is %s on %s; train krr with `uncertainty`",
                           m->learner, m->kernel_text);
    return KREIN_OK;
}

void krein__teller_end(krein_teller *t) {
    if (!t->ctx) return;
    void *all[] = {t->told.std, t->told.lower, t->told.upper, t->told.novelty, t->told.set,
                   t->q,        t->beyond,     t->own,        t->scratch};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(t->ctx, all[i]);
    memset(t, 0, sizeof *t);
}

/* The weights of the targets are needed. */
static bool jackknife(const krein_teller *t) {
    const krein_posterior *p = t->model->posterior;
    return p && p->kernel && p->k > 0 && t->asked.interval > 0;
}

static void say_few(const krein_teller *t) {
    const krein_model *m = t->model;
    int64_t n = m->conformal.residual ? m->conformal.rows : m->posterior ? m->posterior->rows : 0;
    if (t->told.lower && krein__cover_rank(n, t->asked.interval) > n)
        krein__log(t->ctx, KREIN_LOG_WARNING,
                   "%lld rows are too few for intervals of coverage %g: their bounds are infinite; "
                   "%g and less are possible",
                   (long long)n, t->asked.interval, (double)n / ((double)n + 1));
}

krein_status krein__teller_begin(krein_ctx *ctx, const krein_model *m, const krein_asked *asked,
                                 int64_t rows, krein_teller *t) {
    krein_status st = KREIN_OK;
    const krein_map *map = m->map;
    const krein_posterior *p = m->posterior;
    memset(t, 0, sizeof *t);
    TRY(krein__asked_check(ctx, m, asked));
    t->ctx = ctx;
    t->model = m;
    t->asked = *asked;
    bool interval = asked->interval > 0;
    if (asked->std) NEW(t->told.std, rows * m->k);
    if (asked->novelty) NEW(t->told.novelty, rows);
    if (interval && m->calibration.doubt) NEW(t->told.set, rows * m->encoding.nclass);
    if (interval && (m->conformal.residual || (p && p->k > 0))) {
        NEW(t->told.lower, rows * m->k);
        NEW(t->told.upper, rows * m->k);
    }
    say_few(t);
    if (!p) goto done;
    NEW(t->q, rows);
    NEW(t->beyond, rows);
    if (p->kernel || p->inner) NEW(t->own, rows);
    /* raw features as doubles, products, weights of the targets, two lists; the map's own */
    int64_t doubles =
        KREIN_TILE * (p->R + p->D) + (jackknife(t) ? KREIN_TILE * p->R + 2 * p->R : 0);
    int64_t own = map->cls->tile64 ? 8 * map->scratch : 4 * (map->scratch + KREIN_TILE * p->R);
    t->each = (8 * doubles + own + 63) / 64 * 64;
    NEW(t->scratch, ctx->threads * t->each);
done:
    if (st != KREIN_OK) krein__teller_end(t);
    return st;
}

/* ---- numbers ------------------------------------------------------------ */

/* Raw features of a tile, zeros behind its rows. */
static void raw_tile(const krein_map *map, const krein_rows *rows, double *x, void *own) {
    int64_t R = map->R, n = rows->n * R;
    if (map->cls->tile64) {
        map->cls->tile64(map, rows, x, R, own);
    } else {
        float *narrow = own;
        map->cls->tile(map, rows, narrow, R, narrow + KREIN_TILE * R);
        for (int64_t i = 0; i < n; i++) x[i] = (double)narrow[i];
    }
    memset(x + n, 0, (size_t)(KREIN_TILE * R - n) * sizeof *x);
}

/* y = X F, for the factor or the inner one. */
static void project(const krein_posterior *p, const double *at, const double *x, double *y) {
    for (int64_t c = 0; c < p->D; c += PANEL) {
        panel one = panel_at(p, c, at);
        krein__dgemm(false, false, KREIN_TILE, one.columns, one.rows, 1, x, p->R, at, one.columns,
                     0, y + c, p->D);
        at += one.rows * one.columns;
    }
}

/* c = Y F' */
static void back(const krein_posterior *p, const double *y, double *c) {
    const double *at = p->factor;
    memset(c, 0, (size_t)(KREIN_TILE * p->R) * sizeof *c);
    for (int64_t from = 0; from < p->D; from += PANEL) {
        panel one = panel_at(p, from, at);
        krein__dgemm(false, true, KREIN_TILE, one.rows, one.columns, 1, y + from, p->D, at,
                     one.columns, 1, c, p->R);
        at += one.rows * one.columns;
    }
}

static double q_features(const krein_posterior *p, const double *y) {
    double sum = 0;
    for (int64_t j = 0; j < p->D; j++) sum += (y[j] - p->centre[j]) * (y[j] - p->centre[j]);
    return p->flat + sum;
}

/* 1 - a'k_x */
static double outside(const krein_posterior *p, const double *x) {
    return 1 - krein__ddot(p->R, p->centre, x);
}

static double q_kernel(const krein_posterior *p, const double *x, const double *y, double own) {
    double out = outside(p, x);
    double q = own - krein__ddot(p->D, y, y) + out * out * p->flat;
    return fmax(0, q) / p->ridge;
}

/* Jackknife+ for output c of a row with the weights w of the targets. */
static void jackknife_bounds(const krein_teller *t, const double *w, double q, double f, int64_t c,
                             double *list, double *lower, double *upper) {
    const krein_posterior *p = t->model->posterior;
    int64_t n = 0, rank = krein__cover_rank(p->rows, t->asked.interval);
    double *low = list, *high = list + p->R;
    if (rank > p->rows) {
        *lower = -INFINITY;
        *upper = INFINITY;
        return;
    }
    for (int64_t i = 0; i < p->R; i++) {
        double rest = p->rest[i], left = p->left[i * p->k + c];
        if (!(rest > 0)) continue;
        double mean = f - w[i] * left;
        double half = fabs(left) * sqrt(rest * (1 + q) + w[i] * w[i]);
        low[n] = mean - half;
        high[n++] = mean + half;
    }
    *lower = krein__order_statistic(n, low, n + 1 - rank);
    *upper = krein__order_statistic(n, high, rank);
}

static void bounds_features(const krein_teller *t, double q, double f, int64_t c, double *lower,
                            double *upper) {
    const krein_posterior *p = t->model->posterior;
    int64_t rank = krein__cover_rank(p->rows, t->asked.interval);
    double half = rank > p->rows ? INFINITY : p->score[c * p->rows + rank - 1] * sqrt(1 + q);
    *lower = f - half;
    *upper = f + half;
}

/* What novelty adds to q. y has room for a tile. */
static void tell_beyond(const krein_teller *t, int64_t n, const double *own, const double *x,
                        double *y, double *beyond) {
    const krein_posterior *p = t->model->posterior;
    memset(beyond, 0, (size_t)n * sizeof *beyond);
    if (!p->inner) return;
    project(p, p->inner, x, y);
    for (int64_t i = 0; i < n; i++) {
        const double *z = y + i * p->D;
        beyond[i] = fmax(0, own[i] - krein__ddot(p->D, z, z)) / p->ridge;
    }
}

/* Rows from .. of the block, of which a tile is `rows`; score NULL: q and beyond alone. */
static void tell_tile(const krein_teller *t, const krein_rows *rows, int64_t from,
                      const double *score, double *q, double *beyond, char *scratch) {
    const krein_model *m = t->model;
    const krein_posterior *p = m->posterior;
    const krein_told *told = &t->told;
    double *x = (double *)scratch, *y = x + KREIN_TILE * p->R, *w = y + KREIN_TILE * p->D;
    double *list = w + (jackknife(t) ? KREIN_TILE * p->R : 0);
    raw_tile(m->map, rows, x, list + (jackknife(t) ? 2 * p->R : 0));
    if (!score || told->novelty)
        tell_beyond(t, rows->n, t->own ? t->own + from : NULL, x, y, beyond + from);
    project(p, p->factor, x, y);
    if (score && jackknife(t)) back(p, y, w);
    for (int64_t i = 0; i < rows->n; i++) {
        const double *xi = x + i * p->R, *yi = y + i * p->D;
        double one = p->kernel ? q_kernel(p, xi, yi, t->own[from + i]) : q_features(p, yi);
        q[from + i] = one;
        if (!score) continue;
        if (told->novelty) told->novelty[from + i] = (one + beyond[from + i]) / p->reach;
        for (int64_t c = 0; told->std && c < p->k; c++)
            told->std[(from + i) * p->k + c] = p->noise[c] * sqrt(one + !t->asked.mean);
        if (!told->lower) continue;
        double *wi = w + i * p->R, flat = p->kernel ? outside(p, xi) * p->flat : 0;
        for (int64_t j = 0; p->kernel && j < p->R; j++) wi[j] += p->centre[j] * flat;
        for (int64_t c = 0; c < p->k; c++) {
            int64_t at = (from + i) * p->k + c;
            if (p->kernel)
                jackknife_bounds(t, wi, one, score[at], c, list, told->lower + at,
                                 told->upper + at);
            else
                bounds_features(t, one, score[at], c, told->lower + at, told->upper + at);
        }
    }
}

static krein_status tell_numbers(const krein_teller *t, const krein_rows *x, const double *score,
                                 double *q, double *beyond) {
    krein_status st = KREIN_OK;
    int64_t tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE;
    int threads = (int)krein__max(1, krein__min(t->ctx->threads, tiles));
    if (t->own) TRY(krein__gram_diagonal(t->ctx, t->model->map->kernel, x, t->own));
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < tiles; i++) {
        krein__worker_begin();
        int64_t from = i * KREIN_TILE;
        krein_rows rows = krein__rows_slice(x, from, krein__min(KREIN_TILE, x->n - from));
        tell_tile(t, &rows, from, score, q, beyond, t->scratch + omp_get_thread_num() * t->each);
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    return st;
}

/* ---- classes ------------------------------------------------------------ */

static void tell_set(const krein_teller *t, const double *score, const double *p, int8_t *set) {
    const krein_model *m = t->model;
    const krein_calibration *c = &m->calibration;
    int64_t rank = krein__cover_rank(c->held, t->asked.interval);
    double most = rank > c->held ? 1 : c->doubt[rank - 1];
    for (int64_t j = 0; j < m->encoding.nclass; j++) set[j] = 1 - p[j] <= most;
    set[krein__model_decide(m, score)] = 1;
}

/* ---- residuals of other rows -------------------------------------------- */

static void tell_residuals(const krein_teller *t, int64_t n, const double *score) {
    const krein_conformal *r = &t->model->conformal;
    int64_t k = t->model->k, rank = krein__cover_rank(r->rows, t->asked.interval);
    for (int64_t e = 0; e < n * k; e++) {
        double half = rank > r->rows ? INFINITY : r->residual[e % k * r->rows + rank - 1];
        t->told.lower[e] = score[e] - half;
        t->told.upper[e] = score[e] + half;
    }
}

krein_status krein__teller_run(krein_teller *t, const krein_rows *x, const double *score,
                               const double *p) {
    const krein_model *m = t->model;
    if (t->told.lower && m->conformal.residual) {
        tell_residuals(t, x->n, score);
        return KREIN_OK;
    }
    for (int64_t i = 0; t->told.set && i < x->n; i++)
        tell_set(t, score + i * m->k, p + i * m->encoding.nclass,
                 t->told.set + i * m->encoding.nclass);
    if (!t->told.std && !t->told.lower && !t->told.novelty) return KREIN_OK;
    return tell_numbers(t, x, score, t->q, t->beyond);
}

krein_status krein__teller_q(krein_teller *t, const krein_rows *x, double *q, double *beyond) {
    return tell_numbers(t, x, NULL, q, beyond);
}
