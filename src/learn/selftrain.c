/* selftrain -- a classifier that is trained on its own sure predictions (yarowsky1995)
 *
 *     repeat, at most `rounds` times
 *         fit `base` to the rows with labels
 *         rows without, whose largest probability is above `threshold`, get that class as a label
 *     until none does; then fit `base` once more
 *
 * as scikit-learn's SelfTrainingClassifier does with criterion="threshold". A label once given
 * stays. Probabilities are those that the base is calibrated to, each time anew: on held-out
 * scores, of given labels too, so that they become surer than they are true.
 *
 * The map is fitted to all rows; the kernel matrix to those that the round trains on. Options of
 * the base that have no value, and lambda, are chosen in every round. */
#include "learn/given.h"
#include "learn/points.h"

#include <math.h>
#include <string.h>

enum { BASE, THRESHOLD, ROUNDS };

static const krein_option options[] = {
    {.name = "base",
     .type = KREIN_OPTION_TEXT,
     .text = "krr",
     .help = "the classifier, one with probabilities, and its options: base=\"svm(C=1)\""},
    {.name = "threshold",
     .value = .75,
     .low = 0,
     .high = 1,
     .high_open = true,
     .help = "probability above which a row gets its predicted class for a label"},
    {.name = "rounds",
     .type = KREIN_OPTION_INTEGER,
     .value = 10,
     .low = 1,
     .high = 1000,
     .help = "times that labels are given, at most"},
    {0}};

typedef struct base {
    const krein_learner_class *cls;
    krein_values values;
} base;

static krein_status base_parse(krein_ctx *ctx, const krein_values *values, base *out) {
    krein_status st = KREIN_OK;
    const char *text = values->text[BASE];
    int64_t which;
    TRY(krein__parse_spec(ctx, text, "learner", krein__learners, krein__learner_count, &which,
                          &out->values));
    out->cls = (const krein_learner_class *)krein__learners[which];
    if (out->cls->expand || out->cls->map || out->cls->unlabelled || !out->cls->probabilities)
        st = krein__fail(ctx, KREIN_ESPEC, "selftrain: base=%s %s; use krr, svm or logistic",
                         out->cls->cls.name,
                         out->cls->unlabelled ? "learns from rows without labels by itself"
                         : out->cls->expand   ? "weighs kernels: take one kernel, or a sum"
                         : out->cls->map      ? "trains its map, which is one for all rounds"
                                              : "has no probabilities");
done:
    return st;
}

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    base b = {0};
    krein_status st = base_parse(ctx, values, &b);
    if (st == KREIN_OK && b.cls->check) st = b.cls->check(ctx, &b.values, map);
    krein__values_clear(ctx, &b.values);
    return st;
}

/* ---- rows --------------------------------------------------------------- */

typedef struct self {
    krein_job *job;
    krein_points p;
    base base;
    int32_t *class; /* n: -1: none yet */
    int64_t has;    /* rows with a label */
} self;

/* The rows with labels, as the base is given them. */
typedef struct trained {
    krein_matrix x;
    double *label, *weight;
} trained;

static krein_status collect(const self *s, trained *out) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL, n = 0;
    NEW(index, s->has);
    NEW(out->label, s->has);
    if (s->job->data->has_weight) NEW(out->weight, s->has);
    for (int64_t i = 0; i < s->p.n; i++) {
        if (s->class[i] < 0) continue;
        out->label[n] = (double)s->class[i];
        if (out->weight) out->weight[n] = s->p.weight[i];
        index[n++] = s->p.node[i];
    }
    TRY(krein__matrix_gather(ctx, &s->p.x, index, n, &out->x));
done:
    krein__free(ctx, index);
    return st;
}

static void trained_clear(krein_ctx *ctx, trained *t) {
    krein__matrix_clear(ctx, &t->x);
    krein__free(ctx, t->label);
    krein__free(ctx, t->weight);
}

/* ---- a round ------------------------------------------------------------ */

/* Gives labels; *given of them. */
static krein_status give(self *s, const krein_model *m, double threshold, int64_t *given) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    krein_predictor predictor = {0};
    int64_t nodes = s->p.nodes, classes = m->encoding.nclass, rows = krein__block_rows(s->p.x.d);
    double *score = NULL, *prob = NULL;
    int32_t *sure = NULL;
    NEW(sure, nodes);
    NEW(score, rows * m->k);
    NEW(prob, rows * classes);
    TRY(krein__predictor_begin(ctx, m, &predictor));
    for (int64_t from = 0; from < nodes; from += rows) {
        krein_rows x = krein__rows_slice(&s->p.x, from, krein__min(rows, nodes - from));
        krein__predictor_run(&predictor, &x, score);
        krein__predictor_probabilities(&predictor, x.n, score, prob);
        for (int64_t i = 0; i < x.n; i++) {
            int64_t best = 0;
            for (int64_t c = 1; c < classes; c++)
                if (prob[i * classes + c] > prob[i * classes + best]) best = c;
            sure[from + i] = prob[i * classes + best] > threshold ? (int32_t)best : -1;
        }
        TRY(krein__poll(ctx));
    }
    *given = 0;
    for (int64_t i = s->p.labelled; i < s->p.n; i++) {
        if (s->class[i] >= 0 || sure[s->p.node[i]] < 0) continue;
        s->class[i] = sure[s->p.node[i]];
        ++*given;
    }
    s->has += *given;
done:
    krein__predictor_end(&predictor);
    krein__free(ctx, sure);
    krein__free(ctx, score);
    krein__free(ctx, prob);
    return st;
}

/* last: for the model itself; else probabilities, and *given labels by them. */
static krein_status train(self *s, double threshold, bool last, int64_t *given) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    trained t = {0};
    krein_given g = {0};
    krein_values values = {0}; /* those of the base, which the fit may fill in */
    bool dual = s->job->model->map->cls->traits & KREIN_MAP_DUAL;
    TRY(collect(s, &t));
    krein_rows x = krein__matrix_rows(&t.x);
    TRY(krein__values_copy(ctx, &s->base.values, &values));
    TRY(krein__given_begin(s->job, &x, 0, t.label, t.weight, &g));
    TRY(krein__given_map(&g, dual));
    g.job.probabilities = !last || s->job->probabilities;
    TRY(krein__given_learn(&g, s->base.cls, &values));
    if (last)
        krein__given_take(&g);
    else
        TRY(give(s, &g.model, threshold, given));
done:
    krein__given_end(&g);
    trained_clear(ctx, &t);
    krein__values_clear(ctx, &values);
    return st;
}

/* Features of all rows; the kernel matrix is made in each round. */
static krein_status fit_map(self *s) {
    krein_status st = KREIN_OK;
    krein_given g = {0};
    if (s->job->model->map->cls->traits & KREIN_MAP_DUAL) return KREIN_OK;
    TRY(krein__given_begin(s->job, &s->p.x, 0, NULL, NULL, &g));
    TRY(krein__given_map(&g, false));
done:
    krein__given_end(&g);
    return st;
}

static krein_status rounds(self *s, const krein_values *values) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t most = (int64_t)values->number[ROUNDS], given = 1;
    for (int64_t r = 0; r < most && s->has < s->p.n && given > 0; r++) {
        if (krein__enough(ctx)) {
            krein__log(ctx, KREIN_LOG_INFO, "time limit: labels were given %lld times",
                       (long long)r);
            break;
        }
        TRY(train(s, values->number[THRESHOLD], false, &given));
        krein__log(ctx, KREIN_LOG_INFO,
                   "selftrain: round %lld gives %lld rows a label, %lld are without",
                   (long long)r + 1, (long long)given, (long long)(s->p.n - s->has));
    }
    TRY(train(s, 0, true, &given));
done:
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    self s = {.job = job};
    krein_model *m = job->model;
    TRY(base_parse(ctx, values, &s.base));
    if (s.base.cls->head) {
        m->head = s.base.cls->head(&s.base.values, &m->encoding);
        m->k = krein__head_scores(m->head, &m->encoding);
    }
    TRY(krein__job_points(job, &s.p));
    NEW(s.class, s.p.n);
    TRY(krein__job_targets(job, NULL, s.class, NULL, NULL));
    for (int64_t i = s.p.labelled; i < s.p.n; i++) s.class[i] = -1;
    s.has = s.p.labelled;
    if (s.p.n == s.p.labelled)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "selftrain: every row has a label, so that it is %s; rows without labels come "
                   "by `unlabeled`, or with an empty label",
                   s.base.cls->cls.name);
    TRY(fit_map(&s));
    TRY(rounds(&s, values));
done:
    krein__points_clear(ctx, &s.p);
    krein__values_clear(ctx, &s.base.values);
    krein__free(ctx, s.class);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    base b = {0};
    double held = krein__points_bytes(n, map->d, map->sparse), N = (double)n;
    double times = values->number[ROUNDS] + 1;
    if (base_parse(map->ctx, values, &b) == KREIN_OK) {
        out->probabilities = true;
        b.cls->cost(map, &b.values, n, k, path, out, passes);
    }
    krein__values_clear(map->ctx, &b.values);
    out->bytes += 2 * held + N * (40 + 4) + 8 * (double)krein__block_rows(map->d) * 2 * (double)k;
    out->flops *= times;
    *passes = 3;
}

const krein_learner_class krein__learner_selftrain = {
    .cls = {"selftrain", "a classifier trained on its own sure predictions", "yarowsky1995",
            options,
            "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
            "Those that the base is sure of get its prediction for a label, and it is trained "
            "again. base is krr, svm or logistic with its options in quotes. See "
            "docs/semisupervised.md."},
    .tasks = KREIN_FOR_CLASSES,
    .matrix = KREIN_MATRIX_FEW,
    .probabilities = true,
    .unlabelled = true,
    .fits_map = true,
    .check = check,
    .fit = fit,
    .cost = cost};
