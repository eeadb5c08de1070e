/* logistic -- logistic regression on features: two classes, softmax for more, or a regression of
 * two classes for each of several labels a row
 *
 *     min  sum_i w_i loss(y_i, W'z(x_i) + b) / sum_i w_i  +  lambda |W|^2      (solve/logistic.c)
 *
 * In other conventions C = 1 / (2 n lambda). With two classes the score is the log odds of the
 * second; with k there are k of them, which sum to zero. class_weights=balanced multiplies w_i by
 * (sum of all weights) / (k times that of the row's class).
 *
 * Probabilities need no calibration: they are the softmax of the scores, so the model always has
 * them (slope 1, shift 0), whether they were asked for or not. With balanced classes they are those
 * of a population in which all classes are as frequent.
 *
 * Several labels a row have one lambda, by the sum of their losses, and thresholds from the scores
 * of the same folds (model/thresholds.c).
 *
 * lambda is chosen by cross-validation on a sample of rows, all folds on the same
 * features, from large to small in steps of ten, by the mean log loss of the held-out rows; the
 * path ends where that no longer improves, and a parabola through the last three gives the choice.
 * Each fold's solution is the next start, and is followed until the gradient is a tenth of what the
 * smaller lambda made it. The sample's C is kept, not its lambda: C = 1 / (2 n lambda) is the
 * variance of the Gaussian prior on W whose most probable model this is, and a prior does not
 * depend on the number of rows. (On all rows of letter that is the better of the two by log loss,
 * on those of ijcnn1 the sample's lambda is; test errors are within 0.4 and 0.1 points.)
 */
#include "learn/examples.h"
#include "model/probability.h"
#include "solve/logistic.h"

#include <math.h>
#include <string.h>

enum { LAMBDA, CLASS_WEIGHTS, INTERCEPT, TOL };
enum { STARTS = 16, PER_DECADE = 1, PATIENCE = 1 };

static const krein_option options[] = {
    {.name = "lambda",
     .type = KREIN_OPTION_NUMBER,
     .value = NAN,
     .low = 0,
     .high = 1e15,
     .low_open = true,
     .help = "regularisation, as `lambda`; by cross-validation when not given"},
    {.name = "class_weights",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "equal|balanced",
     .help = "balanced: every class counts as much as any other"},
    {.name = "intercept",
     .type = KREIN_OPTION_YESNO,
     .value = 1,
     .help = "a constant in the score"},
    {.name = "tol",
     .type = KREIN_OPTION_NUMBER,
     .value = 1e-3,
     .low = 1e-7,
     .high = .1,
     .help = "ends where the gradient is this much of the one at zero weights"},
    {.name = NULL}};

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    (void)values;
    if (!map || !(map->cls->traits & KREIN_MAP_DUAL)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "logistic works on features, not on the kernel matrix: use `map=nystrom` or "
                       "`map=orf` in the place of %s",
                       map->cls->cls.name);
}

/* ---- rows --------------------------------------------------------------- */

static int64_t classes_of(int64_t k) { return k == 1 ? 2 : k; }

/* One problem, or one of two classes for each label; scores of each. */
static int64_t problems_of(const krein_job *job) {
    return krein__job_labels(job) ? job->model->k : 1;
}
static int64_t scores_of(const krein_job *job) { return job->model->k / problems_of(job); }

/* Classes of the rows in problem q: their own, or whether they have label q. */
static void take_classes(const krein_job *job, const krein_examples *ex, int64_t q,
                         int32_t *class) {
    bool labels = krein__job_labels(job);
    for (int64_t i = 0; i < ex->n; i++) {
        int64_t code = (int64_t)ex->label[i];
        class[i] = labels ? krein__set_has(job->data->sets, code, q) : (int32_t)code;
    }
}

/* Weights of the rows outside a fold (-1: of all), with those of their classes, sum one; false
 * where there are none. `share` (classes): what each class has of it. */
static bool weigh(const krein_examples *ex, const int32_t *class, int64_t k, bool balanced,
                  const int32_t *fold, int64_t held, double *weight, double *share) {
    int64_t classes = classes_of(k);
    double sum = 0;
    memset(share, 0, (size_t)classes * sizeof *share);
    for (int64_t i = 0; i < ex->n; i++) {
        weight[i] = fold && fold[i] == held ? 0 : ex->weight ? ex->weight[i] : 1;
        share[class[i]] += weight[i];
    }
    for (int64_t i = 0; balanced && i < ex->n; i++)
        if (weight[i] > 0) weight[i] /= share[class[i]];
    for (int64_t i = 0; i < ex->n; i++) sum += weight[i];
    for (int64_t i = 0; sum > 0 && i < ex->n; i++) weight[i] /= sum;
    return sum > 0;
}

/* ---- the choice of lambda ----------------------------------------------- */

typedef struct chooser {
    const krein_job *job;
    krein_examples ex;
    krein_newton *newton;
    krein_logistic problem;
    bool balanced;
    int64_t folds;
    int32_t *fold;          /* n */
    double *weight, *share; /* n; classes */
    double *held_weight;    /* n: weight of a row when it is held out */
    double *start[STARTS];  /* solutions so far, (D + 1) x k each; more folds share them */
    int32_t *class;         /* n, of the problem at hand */
    int64_t problems;
    double *score; /* n x problems: held-out log odds, where they are wanted; else NULL */
} chooser;

static void chooser_end(krein_ctx *ctx, chooser *c) {
    krein__newton_destroy(c->newton);
    krein__free(ctx, c->fold);
    krein__free(ctx, c->weight);
    krein__free(ctx, c->share);
    krein__free(ctx, c->held_weight);
    krein__free(ctx, c->class);
    krein__free(ctx, c->score);
    for (int64_t i = 0; i < STARTS; i++) krein__free(ctx, c->start[i]);
    krein__examples_close(&c->ex);
}

static krein_status chooser_begin(krein_job *job, const krein_values *values, chooser *c) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t k = scores_of(job);
    bool intercept = values->number[INTERCEPT] > 0;
    memset(c, 0, sizeof *c);
    c->job = job;
    c->problems = problems_of(job);
    c->balanced = values->number[CLASS_WEIGHTS] > 0;
    TRY(krein__examples_open(job, krein__choice_rows(job->n, job->model->k), intercept, &c->ex));
    c->folds = krein__fold_count(job->folds, c->ex.n);
    TRY(krein__newton_create(&c->ex.features, k, &c->newton));
    NEW(c->fold, c->ex.n);
    NEW(c->weight, c->ex.n);
    NEW(c->held_weight, c->ex.n);
    NEW(c->share, classes_of(k));
    NEW(c->class, c->ex.n);
    take_classes(job, &c->ex, 0, c->class);
    for (int64_t i = 0; i < krein__min(c->folds, STARTS); i++)
        NEW(c->start[i], (c->ex.features.D + 1) * job->model->k);
    TRY(krein__folds(ctx, job->seed, c->ex.n, c->folds, c->ex.group, c->ex.class, c->fold));
    weigh(&c->ex, c->class, k, c->balanced, NULL, -1, c->held_weight, c->share);
    c->problem = (krein_logistic){.features = &c->ex.features,
                                  .k = k,
                                  .class = c->class,
                                  .weight = c->weight,
                                  .intercept = intercept,
                                  .tol = .1};
    /* Half of the time at most: the fit on all rows needs the rest. */
    if (job->deadline > 0)
        c->problem.deadline = krein__clock() + (job->deadline - krein__clock()) / 2;
done:
    return st;
}

static bool right(const krein_logistic *p, const float *probability, int64_t row) {
    const float *q = probability + row * p->k;
    double score[1] = {(double)*q - .5};
    int64_t best = 0;
    if (p->k == 1) return krein__decide(KREIN_HEAD_BEST, 2, score) == p->class[row];
    for (int64_t c = 1; c < p->k; c++)
        if (q[c] > q[best]) best = c;
    return best == p->class[row];
}

/* Log odds of a probability in float32, which is no nearer to 1 than that. */
static double log_odds(float p) {
    double q = fmin((double)p, 1 - 6e-8);
    return log(fmax(q, 1e-38) / (1 - q));
}

/* One fold's fit of problem q at the problem's lambda; loss and error of its rows are added. Rows
 * of a class that the fit has not seen say nothing about lambda. */
static krein_status try_fold(chooser *c, int64_t q, int64_t f, bool first, double *loss,
                             double *error, double *weight) {
    krein_status st = KREIN_OK;
    krein_logistic *p = &c->problem;
    krein_logistic_result result;
    double *w = c->start[f % STARTS] + q * (c->ex.features.D + 1);
    if (c->problems > 1) take_classes(c->job, &c->ex, q, c->class);
    if (!weigh(&c->ex, c->class, p->k, c->balanced, c->fold, f, c->weight, c->share))
        return KREIN_OK;
    if (first) TRY(krein__logistic_start(c->ex.ctx, p, w));
    TRY(krein__logistic_solve(c->newton, p, w, &result));
    const float *probability = krein__newton_probability(c->newton);
    for (int64_t i = 0; i < c->ex.n; i++) {
        if (c->fold[i] != f) continue;
        if (c->score) c->score[i * c->problems + q] = log_odds(probability[i]);
        if (c->share[c->class[i]] <= 0) continue;
        *loss += c->held_weight[i] * krein__newton_loss(c->newton)[i];
        *error += c->held_weight[i] * !right(p, probability, i);
        *weight += c->held_weight[i];
    }
done:
    return st;
}

/* Down the path; p->n is how far it got, at least one. */
static krein_status descend(chooser *c, krein_path *p) {
    static const double GAIN = 1e-3; /* of the loss: less is not worth a smaller lambda */
    krein_status st = KREIN_OK;
    krein_ctx *ctx = c->ex.ctx;
    int64_t all = p->n, waited = 0;
    double best = INFINITY;
    p->best = 0;
    for (p->n = 0; p->n < all && waited < PATIENCE; p->n++) {
        double loss = 0, error = 0, weight = 0;
        c->problem.lambda = p->lambda[p->n];
        for (int64_t f = 0; f < c->folds; f++) {
            for (int64_t q = 0; q < c->problems; q++)
                TRY(try_fold(c, q, f, p->n == 0 && f < STARTS, &loss, &error, &weight));
            krein__progress(ctx, "cross-validation", (double)(p->n * c->folds + f + 1),
                            (double)(all * c->folds));
        }
        bool late = krein__late(c->problem.deadline);
        if (late && p->n > 0) break; /* some of the fits were cut short */
        if (!(weight > 0)) {
            st = krein__fail(
                ctx, KREIN_EDATA,
                "lambda cannot be chosen: no row with a weight can be held out while others of its "
                "class are fitted (one group, one row a class?); give `lambda`");
            goto done;
        }
        p->loss[p->n] = loss / weight;
        p->error[p->n] = error / weight;
        krein__log(ctx, KREIN_LOG_DEBUG, "logistic: lambda %.3g: log loss %.5f, error %.4f",
                   p->lambda[p->n], p->loss[p->n], p->error[p->n]);
        waited = p->loss[p->n] < (1 - GAIN) * best ? 0 : waited + 1;
        if (waited == 0) {
            p->best = p->n;
            best = p->loss[p->n];
        }
        if (late) break;
    }
done:
    return st;
}

/* Where the parabola through the best loss and its neighbours is least, over log lambda. */
static double between(const krein_path *p) {
    int64_t b = p->best;
    if (b == 0 || b + 1 >= p->n) return p->lambda[b];
    double left = p->loss[b - 1] - p->loss[b], right = p->loss[b + 1] - p->loss[b];
    double slope = left + right > 0 ? (left - right) / (2 * (left + right)) : 0;
    slope = fmax(-.5, fmin(.5, slope));
    return p->lambda[b] * pow(p->lambda[b + 1] / p->lambda[b], slope);
}

static krein_status choose(krein_job *job, const krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    chooser c;
    krein_path path = {0}, down = {0};
    TRY(chooser_begin(job, values, &c));
    double size = fmax(krein__newton_mean_square(c.newton), 1e-30); /* lambda is measured in it */
    double fitted = (double)c.ex.n * (1 - 1 / (double)c.folds), most = size / (2 * fitted);
    krein__path_grid(&path, 1e-6 * most, 50 * most, PER_DECADE); /* C from 0.02 / size */
    down.n = path.n;
    for (int64_t i = 0; i < path.n; i++) down.lambda[i] = path.lambda[path.n - 1 - i];
    TRY(descend(&c, &down));
    job->lambda = krein__round_digits(between(&down) * fitted / (double)job->n, 3);
    krein__log(ctx, KREIN_LOG_DEBUG, "logistic: held-out log loss %.4g at C = %.3g",
               down.loss[down.best], 1 / (2 * (double)job->n * job->lambda));
    /* Of labels the squared error of the decided codes. */
    for (int64_t i = 0; krein__job_labels(job) && i < down.n; i++) down.loss[i] = 4 * down.error[i];
    job->loo = krein__job_labels(job) ? sqrt(down.loss[down.best]) : down.error[down.best];
    job->cv_folds = c.folds;
    for (int64_t i = 0; i < down.n; i++) down.lambda[i] *= fitted / (double)job->n;
    krein__job_path(job, &down);
done:
    chooser_end(ctx, &c);
    return st;
}

/* Thresholds of the labels, from held-out scores at job->lambda. */
static krein_status find_thresholds(krein_job *job, const krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    chooser c;
    double *y = NULL, loss = 0, error = 0, weight = 0;
    TRY(chooser_begin(job, values, &c));
    double fitted = (double)c.ex.n * (1 - 1 / (double)c.folds);
    c.problem.lambda = job->lambda * (double)job->n / fitted;
    ZNEW(c.score, c.ex.n * c.problems);
    NEW(y, c.ex.n * c.problems);
    krein__targets_fill(m, job->data, c.ex.n, c.ex.label, y, NULL);
    for (int64_t f = 0; f < c.folds; f++) {
        krein__progress(ctx, "thresholds", (double)f, (double)c.folds);
        for (int64_t q = 0; q < c.problems; q++)
            TRY(try_fold(&c, q, f, true, &loss, &error, &weight));
    }
    NEW(m->threshold, m->k);
    TRY(krein__thresholds(ctx, c.ex.n, m->k, c.score, y, c.ex.weight, m->threshold));
done:
    chooser_end(ctx, &c);
    krein__free(ctx, y);
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

static krein_status settle_lambda(krein_job *job, const krein_values *values) {
    double own = values->number[LAMBDA];
    if (job->lambda == 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "logistic needs lambda > 0: where the features separate the classes, no "
                           "weights are best without it; give a small one, or auto");
    if (isnan(own)) return KREIN_OK;
    if (job->lambda > 0 && job->lambda != own)
        return krein__fail(job->ctx, KREIN_EARG,
                           "`lambda=%g` and logistic(lambda=%g) differ; give one of them",
                           job->lambda, own);
    job->lambda = own;
    return KREIN_OK;
}

static void report(krein_ctx *ctx, const krein_logistic *p, const krein_logistic_result *r) {
    double relative = r->scale > 0 ? r->gradient / r->scale : 0;
    if (r->stop == KREIN_STOP_TIME)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "logistic: time limit: best so far, gradient %.1e of the first (tol is %.1e)",
                   relative, p->tol);
    else if (r->stop != KREIN_STOP_GRADIENT)
        krein__log(ctx, KREIN_LOG_WARNING,
                   r->stop == KREIN_STOP_STEPS
                       ? "logistic: not converged after %lld steps, gradient %.1e of the first; "
                         "raise lambda or tol"
                       : "logistic: rounding ends it after %lld steps, gradient %.1e of the first; "
                         "raise lambda or tol",
                   (long long)r->steps, relative);
    krein__log(ctx, KREIN_LOG_INFO,
               "logistic: objective %.8g, gradient %.1e of the first, %lld steps, %lld passes",
               r->objective, relative, (long long)r->steps, (long long)r->passes);
}

/* All rows at job->lambda. */
static krein_status fit_all(krein_job *job, const krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    krein_examples ex = {0};
    krein_newton *newton = NULL;
    krein_logistic_result result;
    double *weight = NULL, *share = NULL, *w = NULL, *all = NULL;
    int32_t *class = NULL;
    int64_t k = scores_of(job), problems = problems_of(job);
    krein_logistic p = {.k = k,
                        .intercept = values->number[INTERCEPT] > 0,
                        .lambda = job->lambda,
                        .tol = values->number[TOL],
                        .deadline = job->deadline};
    TRY(krein__examples_open(job, job->n, p.intercept, &ex));
    int64_t size = ex.features.D + 1;
    p.features = &ex.features;
    NEW(share, classes_of(k));
    NEW(weight, ex.n);
    NEW(class, ex.n);
    p.weight = weight;
    p.class = class;
    NEW(w, size * k);
    NEW(all, size * m->k);
    TRY(krein__newton_create(&ex.features, k, &newton));
    for (int64_t q = 0; q < problems; q++) {
        take_classes(job, &ex, q, class);
        if (!weigh(&ex, class, k, values->number[CLASS_WEIGHTS] > 0, NULL, -1, weight, share)) {
            st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
            goto done;
        }
        krein__progress(ctx, "fitting", (double)q, (double)(problems > 1 ? problems : 0));
        TRY(krein__logistic_start(ctx, &p, w));
        TRY(krein__logistic_solve(newton, &p, w, &result));
        if (problems == 1 || result.stop != KREIN_STOP_GRADIENT) report(ctx, &p, &result);
        for (int64_t j = 0; j < size; j++)
            memcpy(all + j * m->k + q * k, w + j * k, (size_t)k * sizeof *w);
    }
    TRY(krein__examples_finish(&ex, all, all + (size - 1) * m->k, m));
done:
    krein__newton_destroy(newton);
    krein__free(ctx, weight);
    krein__free(ctx, share);
    krein__free(ctx, class);
    krein__free(ctx, w);
    krein__free(ctx, all);
    krein__examples_close(&ex);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    TRY(settle_lambda(job, values));
    if (krein__job_labels(job) && values->number[CLASS_WEIGHTS] > 0) {
        st = krein__fail(ctx, KREIN_EARG,
                         "logistic: class_weights are of classes, one a row; leave it out");
        goto done;
    }
    if (job->lambda < 0) TRY(choose(job, values));
    if (krein__job_labels(job)) TRY(find_thresholds(job, values));
    TRY(fit_all(job, values));
    NEW(m->calibration.slope, m->k);
    ZNEW(m->calibration.shift, m->k);
    for (int64_t c = 0; c < m->k; c++) m->calibration.slope[c] = 1;
    m->lambda = values->number[LAMBDA] = job->lambda;
done:
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    int64_t D = map->cls->features(map, n), some = krein__choice_rows(n, k);
    int64_t rows = krein__min(krein__block_rows(map->d), n);
    int threads = map->ctx->threads;
    double unknowns = 8 * ((double)D + 1) * (double)k, N = (double)n;
    bool choosing = path && isnan(values->number[LAMBDA]);
    double final = krein__examples_bytes(map, n) + krein__newton_bytes(n, D, k, rows, threads) +
                   8 * N + unknowns;
    double search = krein__examples_bytes(map, some) +
                    krein__newton_bytes(some, D, k, rows, threads) + 20 * (double)some +
                    STARTS * unknowns + 32 * (double)some;
    out->bytes += fmax(final, choosing ? search : 0) + 4096;
    double pass = 4 * (double)D * (double)k, factor = 3 * pow((double)D, 3);
    out->flops =
        60 * N * pass + 2 * factor + (choosing ? 600 * (double)some * pass + 20 * factor : 0);
    *passes = choosing ? 2 : 1;
}

const krein_learner_class krein__learner_logistic = {
    .cls = {"logistic", "logistic regression; softmax for more than two classes", "lin2008",
            options,
            "For classes, on the features of any map but exact; has probabilities. Minimises the "
            "mean log loss + lambda |w|^2; C of other programs is 1 / (2 n lambda). lambda by "
            "cross-validation (5 folds, or those of `select=cv`) on a sample of the rows, unless "
            "given here or with `lambda`."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .probabilities = true,
    .check = check,
    .fit = fit,
    .cost = cost};
