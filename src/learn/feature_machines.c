/* feature_machines.c -- support vector machines on features of the training rows
 *
 * C is chosen by cross-validation on a sample of the rows: the features of the sample are made
 * once, every fold trains on the rows outside it along a path of growing C, each solution the start
 * of the next (a beta at its bound stays at it), and the held-out errors are compared, with the
 * weights that rows and classes have in training. All machines of a step (folds times classes) are
 * trained at once. */
#include "learn/feature_machines.h"

#include "learn/examples.h"
#include "learn/conformal.h"
#include "num/blas.h"
#include "solve/crammer.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

/* C in units of the recipe's: 2^LOW, 2^(LOW + 2), ... up to 2^HIGH; up to 2^HIGH_JOINT for the one
 * machine of all classes, which takes long where C is large. */
enum { LOW = -4, HIGH = 12, HIGH_JOINT = 6, STEP = 2 };

/* Held-out errors of a step of the path: no need of more digits, nor of more passes where C is
 * large and the steps before have come near. */
static const double PATH_TOL = 1e-2, PATH_WORK = 20;

/* Models of several folds (or one, of all rows) on the same examples. */
typedef struct set {
    krein_ctx *ctx;
    const krein_recipe *recipe;
    const krein_job *job;
    krein_examples *ex;
    int64_t folds, k;     /* models; scores of each */
    double scale;         /* machines of numbers / scale: solvers know nothing of units */
    const int32_t *fold;  /* a model's fold is left out, NULL: nothing is */
    double *unit;         /* n: weights of the rows at C = 1 */
    krein_machine *m;     /* folds x k, or NULL */
    krein_crammer *joint; /* folds, or NULL */
    float *w;             /* folds x k x D */
    double *b;            /* folds x k */
} set;

/* ---- making machines ---------------------------------------------------- */

static bool of_labels(const set *s) { return krein__job_labels(s->job); }

static bool has_label(const set *s, int64_t i, int64_t c) {
    return krein__set_has(s->job->data->sets, (int64_t)s->ex->label[i], c);
}

/* Targets of regression less their mean, which the intercept gives back (without one as they are),
 * over the scale. */
static double label_of(const set *s, int64_t i, int64_t c) {
    double mean = s->recipe->intercept ? s->job->data->label_mean[c] : 0;
    return (s->ex->label[i * s->k + c] - mean) / s->scale;
}

static int64_t classes_of(const set *s) { return s->job->model->encoding.nclass; }

/* The target of row i in machine c; false: it has no part in it. */
static bool target(const set *s, int64_t i, int64_t c, const int64_t pair[2], float *out) {
    const krein_examples *ex = s->ex;
    if (s->recipe->loss == KREIN_LOSS_EPSILON) {
        *out = (float)label_of(s, i, c);
        return true;
    }
    if (of_labels(s)) {
        *out = has_label(s, i, c) ? 1 : -1;
        return true;
    }
    int64_t class = ex->class[i];
    if (s->recipe->multi == KREIN_MULTI_OVO && s->k > 1) {
        *out = class == pair[1] ? 1 : -1;
        return class == pair[0] || class == pair[1];
    }
    *out = class == (s->k == 1 ? 1 : c) ? 1 : -1;
    return true;
}

static krein_status machine_begin(set *s, int64_t f, int64_t c, const int64_t pair[2]) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_machine *m = &s->m[f * s->k + c];
    int64_t n = 0;
    float y;
    for (int64_t i = 0; i < s->ex->n; i++)
        n += !(s->fold && s->fold[i] == f) && target(s, i, c, pair, &y);
    NEW(m->dual, krein__max(1, n));
    ZNEW(m->w, s->ex->features.D);
    for (int64_t i = 0; i < s->ex->n; i++)
        if (!(s->fold && s->fold[i] == f) && target(s, i, c, pair, &y))
            m->dual[m->n++] = (krein_dual){(int32_t)i, y, 0, 0};
done:
    return st;
}

static krein_status joint_begin(set *s, int64_t f) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_crammer *m = &s->joint[f];
    int32_t *row = NULL, *class = NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < s->ex->n; i++) n += !(s->fold && s->fold[i] == f);
    NEW(row, n);
    m->row = row;
    NEW(class, n);
    m->class = class;
    m->classes = classes_of(s);
    ZNEW(m->cost, n);
    ZNEW(m->alpha, n * m->classes);
    ZNEW(m->w, s->ex->features.D * m->classes);
    ZNEW(m->b, m->classes);
    for (int64_t i = 0; i < s->ex->n; i++) {
        if (s->fold && s->fold[i] == f) continue;
        row[m->n] = (int32_t)i;
        class[m->n++] = s->ex->class[i];
    }
done:
    return st;
}

/* Weights of rows: those of the data, times those that balance the classes. */
static krein_status weigh(set *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_examples *ex = s->ex;
    double *count = NULL, total = 0;
    NEW(s->unit, ex->n);
    for (int64_t i = 0; i < ex->n; i++) s->unit[i] = ex->weight ? ex->weight[i] : 1;
    if (!s->recipe->balanced || !ex->class) goto done;
    ZNEW(count, classes_of(s));
    for (int64_t i = 0; i < ex->n; i++) {
        count[ex->class[i]] += s->unit[i];
        total += s->unit[i];
    }
    for (int64_t i = 0; i < ex->n; i++)
        if (s->unit[i] > 0) s->unit[i] *= total / ((double)classes_of(s) * count[ex->class[i]]);
done:
    krein__free(ctx, count);
    return st;
}

static krein_status set_begin(const krein_job *job, const krein_recipe *recipe, krein_examples *ex,
                              const int32_t *fold, int64_t folds, set *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    *s = (set){.ctx = ctx, .recipe = recipe, .job = job, .ex = ex, .folds = folds, .fold = fold};
    s->k = job->model->k;
    s->scale = recipe->loss == KREIN_LOSS_EPSILON ? exp2(rint(log2(recipe->unit))) : 1;
    TRY(weigh(s));
    NEW(s->w, folds * s->k * ex->features.D);
    NEW(s->b, folds * s->k);
    if (recipe->multi == KREIN_MULTI_CRAMMER && (s->k > 1 || recipe->sparse)) {
        ZNEW(s->joint, folds);
        for (int64_t f = 0; f < folds; f++) TRY(joint_begin(s, f));
        goto done;
    }
    ZNEW(s->m, folds * s->k);
    for (int64_t f = 0; f < folds; f++) {
        int64_t pair[2] = {0, 1};
        for (int64_t c = 0; c < s->k; c++) {
            TRY(machine_begin(s, f, c, pair));
            if (++pair[1] >= classes_of(s)) pair[1] = ++pair[0] + 1;
        }
    }
done:
    return st;
}

static void set_end(set *s) {
    krein_ctx *ctx = s->ctx;
    for (int64_t i = 0; s->m && i < s->folds * s->k; i++) {
        krein__free(ctx, s->m[i].dual);
        krein__free(ctx, s->m[i].w);
    }
    for (int64_t f = 0; s->joint && f < s->folds; f++) {
        krein_crammer *m = &s->joint[f];
        krein__free(ctx, (void *)(uintptr_t)m->row);
        krein__free(ctx, (void *)(uintptr_t)m->class);
        krein__free(ctx, m->cost);
        krein__free(ctx, m->alpha);
        krein__free(ctx, m->w);
        krein__free(ctx, m->b);
    }
    krein__free(ctx, s->m);
    krein__free(ctx, s->joint);
    krein__free(ctx, s->unit);
    krein__free(ctx, s->w);
    krein__free(ctx, s->b);
    memset(s, 0, sizeof *s);
}

/* ---- training ----------------------------------------------------------- */

/* A beta at its bound stays there when C changes. The scale: 1/2 |w|^2 + C sum losses is that of
 * w / scale and C / scale, times scale^2. */
static void set_cost(set *s, double cost) {
    double C = cost / s->scale;
    for (int64_t k = 0; s->m && k < s->folds * s->k; k++)
        for (int64_t i = 0; i < s->m[k].n; i++) {
            krein_dual *d = &s->m[k].dual[i];
            double old = d->cost;
            d->cost = C * s->unit[d->row];
            if (s->recipe->loss != KREIN_LOSS_HINGE2 && old > 0 && fabs(d->beta) >= old)
                d->beta = copysign(d->cost, d->beta);
        }
    for (int64_t f = 0; s->joint && f < s->folds; f++)
        for (int64_t i = 0; i < s->joint[f].n; i++) {
            krein_crammer *m = &s->joint[f];
            double old = m->cost[i];
            m->cost[i] = C * s->unit[m->row[i]];
            for (int64_t c = 0; old > 0 && m->cost[i] < old && c < m->classes; c++)
                m->alpha[i * m->classes + c] *= m->cost[i] / old;
        }
}

/* Back to where all machines begin. */
static void restart(set *s) {
    for (int64_t k = 0; s->m && k < s->folds * s->k; k++) {
        krein_machine *m = &s->m[k];
        for (int64_t i = 0; i < m->n; i++) m->dual[i].beta = m->dual[i].cost = 0;
        m->b = 0;
    }
    for (int64_t f = 0; s->joint && f < s->folds; f++) {
        krein_crammer *m = &s->joint[f];
        memset(m->cost, 0, (size_t)m->n * sizeof *m->cost);
        memset(m->alpha, 0, (size_t)(m->n * m->classes) * sizeof *m->alpha);
        memset(m->b, 0, (size_t)m->classes * sizeof *m->b);
    }
}

/* Of score q (fold by fold) and feature j. One score of two classes is the second's less the
 * first's. */
static double weight_of(const set *s, int64_t q, int64_t j) {
    if (s->m) return s->m[q].w[j];
    const krein_crammer *m = &s->joint[q / s->k];
    const double *w = m->w + j * m->classes;
    return s->k == m->classes ? w[q % s->k] : w[1] - w[0];
}
static double intercept_of(const set *s, int64_t q) {
    if (s->m) return s->m[q].b;
    const krein_crammer *m = &s->joint[q / s->k];
    return s->k == m->classes ? m->b[q % s->k] : m->b[1] - m->b[0];
}

/* work: as in krein_machine_options. */
static krein_status set_train(set *s, double tol, double work, double deadline, const char *what) {
    krein_status st = KREIN_OK;
    int64_t D = s->ex->features.D;
    krein_machine_options o = {.loss = s->recipe->loss,
                               .epsilon = s->recipe->epsilon / s->scale,
                               .intercept = s->recipe->intercept,
                               .tol = tol,
                               .deadline = deadline,
                               .work = work,
                               .seed = s->job->seed,
                               .what = what};
    if (s->m) TRY(krein__machines_train(&s->ex->features, s->m, s->folds * s->k, &o));
    for (int64_t f = 0; s->joint && f < s->folds; f++)
        TRY(s->recipe->sparse ? krein__crammer_l1(&s->ex->features, &s->joint[f], &o)
                              : krein__crammer(&s->ex->features, &s->joint[f], &o));
    for (int64_t q = 0; q < s->folds * s->k; q++) {
        for (int64_t j = 0; j < D; j++) s->w[q * D + j] = (float)weight_of(s, q, j);
        s->b[q] = intercept_of(s, q);
    }
done:
    return st;
}

/* score (n x k), over the scale: each row by the model of its fold, which has not seen it. */
static krein_status held_out(set *s, double *score) {
    krein_status st = KREIN_OK;
    krein_features *x = &s->ex->features;
    for (int64_t b = 0; b < x->blocks; b++) {
        const float *z;
        int64_t n, first = b * x->rows;
        TRY(krein__features_block(x, b, &z, &n));
        krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic, CHUNK)
        for (int64_t i = 0; i < n; i++) {
            krein__worker_begin();
            for (int64_t c = 0; c < s->k; c++) {
                int64_t q = s->fold[first + i] * s->k + c;
                score[(first + i) * s->k + c] =
                    (double)krein__sdot(x->D, z + i * x->D, s->w + q * x->D) + s->b[q];
            }
            krein__worker_end(compute);
        }
        krein__compute_end(compute);
    }
done:
    return st;
}

/* ---- choosing C --------------------------------------------------------- */

/* Weighted share of wrong classes or labels, or mean square over rows and outputs, over scale^2. */
static double error_of(const set *s, const double *score) {
    const krein_examples *ex = s->ex;
    const krein_model *m = s->job->model;
    double sum = 0, total = 0;
    for (int64_t i = 0; i < ex->n; i++) {
        double e = 0;
        if (ex->class) e = krein__decide(m->head, classes_of(s), score + i * s->k) != ex->class[i];
        for (int64_t c = 0; of_labels(s) && c < s->k; c++)
            e += ((score[i * s->k + c] > 0) != has_label(s, i, c)) / (double)s->k;
        for (int64_t c = 0; s->recipe->loss == KREIN_LOSS_EPSILON && c < s->k; c++)
            e += pow(label_of(s, i, c) - score[i * s->k + c], 2) / (double)s->k;
        sum += s->unit[i] * e;
        total += s->unit[i];
    }
    return sum / total;
}

/* The standard error of a weighted error rate; a hundredth of a mean square. */
static double doubt(const set *s, double error) {
    double sum = 0, squares = 0;
    if (s->recipe->loss == KREIN_LOSS_EPSILON) return error / 100;
    for (int64_t i = 0; i < s->ex->n; i++) {
        sum += s->unit[i];
        squares += s->unit[i] * s->unit[i];
    }
    return sqrt(fmax(error * (1 - error), 1e-12) * squares) / sum;
}

/* Mean squared distance of the rows of the first block from their mean. */
static krein_status spread_of(set *s, double *spread) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_features *x = &s->ex->features;
    const float *z;
    double *mean = NULL, square = 0;
    int64_t n;
    TRY(krein__features_block(x, 0, &z, &n));
    ZNEW(mean, x->D);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < x->D; j++) {
            double e = (double)z[i * x->D + j];
            mean[j] += e / (double)n;
            square += e * e / (double)n;
        }
    for (int64_t j = 0; j < x->D; j++) square -= mean[j] * mean[j];
    *spread = fmax(square, 1e-300);
done:
    krein__free(ctx, mean);
    return st;
}

/* Half of the time at most: a C without machines is nothing. */
static double half_of(double deadline) {
    double now = krein__clock();
    return deadline > 0 ? now + (deadline - now) / 2 : 0;
}

/* Walks up the path until two steps in a row are clearly worse than the best, but not before
 * KREIN_SATURATED. Of values within half a standard error of the least the smallest is taken. Where
 * time ended the walk below C = 1 and the last was the best, it is 1. */
static krein_status choose(set *s, double *score, double *C, double *best_error) {
    krein_status st = KREIN_OK;
    double error[(HIGH - LOW) / STEP + 1], least = INFINITY, spread = 1;
    double deadline = half_of(s->job->deadline);
    int64_t n = 0, worse = 0;
    bool late = false;
    TRY(spread_of(s, &spread));
    for (int e = LOW; e <= (s->joint ? HIGH_JOINT : HIGH); e += STEP, n++) {
        if (worse >= 2 && ldexp(1, e - STEP) >= KREIN_SATURATED / spread) break;
        krein__progress(s->ctx, "choosing C", (double)n, (double)KREIN__COUNT(error));
        late = n > 0 && krein__late(deadline);
        if (late) break;
        set_cost(s, ldexp(s->recipe->unit, e));
        TRY(set_train(s, PATH_TOL, PATH_WORK, deadline, NULL));
        TRY(held_out(s, score));
        error[n] = error_of(s, score);
        krein__log(s->ctx, KREIN_LOG_DEBUG, "C = %g on %lld rows: %s %.6g",
                   ldexp(s->recipe->unit, e), (long long)s->ex->n,
                   s->recipe->loss == KREIN_LOSS_EPSILON ? "mean square" : "error",
                   error[n] * s->scale * s->scale);
        worse = error[n] > least + doubt(s, least) ? worse + 1 : 0;
        least = fmin(least, error[n]);
    }
    for (int64_t i = 0; i < n; i++)
        if (error[i] <= least + doubt(s, least) / 2) {
            *C = ldexp(s->recipe->unit, (int)(LOW + STEP * i));
            *best_error = error[i];
            if (late && i == n - 1) *C = fmax(*C, s->recipe->unit);
            break;
        }
done:
    return st;
}

/* C where it is not given, and the calibration where it is wanted, from held-out scores. */
static krein_status cross_validate(krein_job *job, const krein_recipe *recipe, double *C) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_examples ex = {0};
    set s = {0};
    int32_t *fold = NULL;
    double *score = NULL, *y = NULL;
    krein_model *m = job->model;
    TRY(krein__examples_open(job, krein__choice_rows(job->n, m->k), recipe->intercept, &ex));
    int64_t folds = krein__fold_count(job->folds, ex.n);
    NEW(fold, ex.n);
    NEW(score, ex.n * m->k);
    TRY(krein__folds(ctx, job->seed, ex.n, folds, ex.group, ex.class, fold));
    TRY(set_begin(job, recipe, &ex, fold, folds, &s));
    if (isnan(*C)) {
        double error = NAN;
        TRY(choose(&s, score, C, &error));
        job->loo = ex.class ? error : sqrt(error) * (of_labels(&s) ? 2 : s.scale);
        job->cv_folds = folds;
    }
    if (job->probabilities) {
        restart(&s); /* the same for a C that is given */
        set_cost(&s, *C);
        TRY(set_train(&s, PATH_TOL, PATH_WORK, job->deadline, NULL));
        TRY(held_out(&s, score));
        if (of_labels(&s)) {
            NEW(y, ex.n * m->k);
            krein__targets_fill(m, job->data, ex.n, ex.label, y, NULL);
        }
        TRY(krein__job_calibrate(job, ex.n, score, ex.class, y, ex.weight));
    }
done:
    set_end(&s);
    krein__free(ctx, fold);
    krein__free(ctx, score);
    krein__free(ctx, y);
    krein__examples_close(&ex);
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

static void report(const set *s, const krein_recipe *recipe) {
    double worst = 0;
    int64_t passes = 0, support = 0, count = s->m ? s->k : 1;
    for (int64_t i = 0; i < count; i++) {
        double primal = s->m ? s->m[i].primal : s->joint[i].primal;
        double dual = s->m ? s->m[i].dual_value : s->joint[i].dual_value;
        worst = fmax(worst, primal > 0 ? (primal - dual) / primal : 0);
        passes = krein__max(passes, s->m ? s->m[i].passes : s->joint[i].passes);
        support += s->m ? s->m[i].support : s->joint[i].support;
    }
    krein__log(s->ctx, KREIN_LOG_INFO, "%lld passes, relative gap %.2g, %lld support vectors",
               (long long)passes, worst, (long long)support);
    if (worst > 2 * recipe->tol)
        krein__log(
            s->ctx, KREIN_LOG_WARNING,
            "stopped at a relative duality gap of %.2g, above tol = %g: more time, a smaller "
            "C or fewer features would reach it",
            worst, recipe->tol);
}

krein_status krein__machines_fit(krein_job *job, const krein_recipe *recipe, double *C) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *model = job->model;
    krein_examples ex = {0};
    set s = {0};
    double *w = NULL;
    if (job->n > INT32_MAX)
        return krein__fail(ctx, KREIN_EARG,
                           "support vector machines take at most 2,147,483,647 rows; use krr");
    if (isnan(*C) || job->probabilities) TRY(cross_validate(job, recipe, C));
    TRY(krein__examples_open(job, job->n, recipe->intercept, &ex));
    TRY(set_begin(job, recipe, &ex, NULL, 1, &s));
    set_cost(&s, *C);
    TRY(set_train(&s, recipe->tol, 0, job->deadline, "fitting"));
    report(&s, recipe);
    NEW(w, ex.features.D * model->k);
    for (int64_t j = 0; j < ex.features.D; j++)
        for (int64_t c = 0; c < model->k; c++) w[j * model->k + c] = weight_of(&s, c, j) * s.scale;
    for (int64_t c = 0; c < model->k; c++) s.b[c] *= s.scale;
    TRY(krein__examples_finish(&ex, w, s.b, model));
    bool centred = recipe->loss == KREIN_LOSS_EPSILON && recipe->intercept;
    for (int64_t c = 0; centred && c < model->k; c++)
        model->intercept[c] += job->data->label_mean[c];
done:
    krein__free(ctx, w);
    set_end(&s);
    krein__examples_close(&ex);
    return st;
}

/* Probabilities take the folds too, and are not known of here: always counted. */
void krein__machines_cost(const krein_map *map, int64_t n, int64_t k, bool choose,
                          krein_cost *out) {
    int64_t D = map->cls->features(map, n), sample = krein__choice_rows(n, k);
    int64_t folds = krein__fold_count(out->folds, sample);
    double fit = krein__examples_bytes(map, n) + krein__machines_bytes(map->ctx, n, D, k) +
                 16 * (double)n * (double)k + 20 * (double)D * (double)k;
    double path = krein__examples_bytes(map, sample) +
                  krein__machines_bytes(map->ctx, sample, D, folds * k) +
                  (double)(sample * k) * 24 + 48 * (double)sample + 20 * (double)(D * k * folds);
    double m = (double)k, d = (double)D, N = (double)n;
    out->bytes += fmax(fit, path);
    /* coordinate descent's passes, and half as many Newton steps */
    out->flops = m * (30 * 4 * N * d + 15 * (4 * N * d + 4 * d * d * d)) +
                 (choose ? 9.0 * (double)folds * m * 30 * 4 * (double)sample * d : 0);
}
