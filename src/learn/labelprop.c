/* labelprop -- labels carried over the graph of nearest neighbours, then a model of them
 *
 * On the graph (graph/, equal rows one node), by solve/propagate.c:
 *     harmonic    labels stay as they are, other rows are the mean of their neighbours (zhu2003);
 *                 numbers, or a share for each class
 *     spreading   f = alpha S f + (1 - alpha) y (zhou2004); classes only
 * Shares of a row are divided by their sum. Rows in pieces of the graph without a label get no
 * value, and no part in what follows; predictions for them come from the model.
 *
 * The graph knows its own rows. For new ones, and for a model file, the values of the nodes are
 * targets of ridge regression on the map of the model (krr; 2 p - 1 for a share p): features of
 * rows with and without labels, or their kernel matrix where rows are few. lambda by leave-one-out
 * over the nodes, so that it is small: a label that the graph is sure of is kept. The papers have
 * no new rows. What scikit-learn does for them, sum_i k(x, x_i) f_i over all rows, needs all rows
 * to predict and a kernel as narrow as the graph's. Above 64 classes, which is what a regression
 * takes, the targets are the classes of the largest shares. */
#include "learn/given.h"
#include "learn/krr.h"
#include "learn/points.h"
#include "solve/propagate.h"

#include <math.h>
#include <string.h>

extern const krein_learner_class krein__learner_krr;

enum { METHOD, ALPHA, GRAPH };
enum { HARMONIC = 0, SPREADING = 1 };
enum { TARGETS = 64, STEPS = 5000 };

static const krein_option options[] = {
    {.name = "method",
     .type = KREIN_OPTION_WORD,
     .words = "harmonic|spreading",
     .help = "labels stay and others are the mean of their neighbours; or all give way, by alpha"},
    {.name = "alpha",
     .value = .2,
     .low = 0,
     .high = 1,
     .low_open = true,
     .high_open = true,
     .help = "method=spreading: the share that comes from the neighbours"},
    KREIN_OPTION_NEIGHBOURS,
    {0}};

/* ---- values of the nodes ------------------------------------------------ */

/* Of a node, the means over its labelled rows: numbers less their mean, or one for the class. */
static krein_status known_values(krein_job *job, const krein_points *p, int64_t k, double *f,
                                 double *known) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    bool classes = krein__job_classes(job);
    int32_t *class = NULL;
    double *y = NULL;
    if (classes) NEW(class, p->labelled);
    if (!classes) NEW(y, p->labelled * k);
    TRY(krein__job_targets(job, y, class, NULL, NULL));
    memset(f, 0, (size_t)(p->nodes * k) * sizeof *f);
    memset(known, 0, (size_t)p->nodes * sizeof *known);
    for (int64_t i = 0; i < p->labelled; i++) {
        int64_t to = p->node[i];
        known[to] += p->weight[i];
        for (int64_t c = 0; c < k; c++)
            f[to * k + c] += p->weight[i] * (classes ? class[i] == c : y[i * k + c]);
    }
    for (int64_t i = 0; i < p->nodes; i++) {
        for (int64_t c = 0; c < k && known[i] > 0; c++) f[i * k + c] /= known[i];
        if (known[i] > 0) known[i] /= p->count[i];
    }
done:
    krein__free(ctx, class);
    krein__free(ctx, y);
    return st;
}

static void say(krein_job *job, const krein_points *p, const krein_propagated *r) {
    krein_ctx *ctx = job->ctx;
    krein__log(ctx, KREIN_LOG_INFO, "labelprop: %lld steps of conjugate gradients, residual %.2g",
               (long long)r->steps, r->residual);
    if (!r->converged)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "labelprop: the residual is %.2g after %lld steps; values far from labels are "
                   "not exact",
                   r->residual, (long long)r->steps);
    if (p->n == p->labelled)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "labelprop: every row has a label, so that it is ridge regression; rows without "
                   "labels come by `unlabeled`, or with an empty label");
    if (r->lost > 0)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "labelprop: the graph falls into %lld pieces, and %lld of its %lld nodes are in "
                   "pieces without a label: they take no part; raise k, or label some of them",
                   (long long)r->pieces, (long long)r->lost, (long long)p->nodes);
}

/* f: nodes x k, shares or numbers less their mean; NaN where no label reaches. */
static krein_status propagate(krein_job *job, const krein_values *values, const krein_points *p,
                              int64_t k, double *f) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_graph g = {0};
    krein_propagated r;
    double *known = NULL;
    krein_graph_options graph = krein__graph_options(values, GRAPH, job->seed);
    krein_propagate_options o = {.spreading = values->number[METHOD] == SPREADING,
                                 .alpha = values->number[ALPHA],
                                 .tol = 1e-8,
                                 .steps = STEPS};
    NEW(known, p->nodes);
    TRY(known_values(job, p, k, f, known));
    TRY(krein__job_graph(job, p, &graph, &g));
    TRY(krein__propagate(ctx, &g, p->count, known, k, f, &o, &r));
    say(job, p, &r);
    for (int64_t i = 0; krein__job_classes(job) && i < p->nodes; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) sum += fmax(0, f[i * k + c]);
        for (int64_t c = 0; c < k; c++) f[i * k + c] = sum > 0 ? fmax(0, f[i * k + c]) / sum : NAN;
    }
done:
    krein__graph_clear(ctx, &g);
    krein__free(ctx, known);
    return st;
}

/* ---- the model ---------------------------------------------------------- */

static int64_t largest(int64_t k, const double *f) {
    int64_t best = 0;
    for (int64_t c = 1; c < k; c++)
        if (f[c] > f[best]) best = c;
    return best;
}

/* Targets of ridge regression (outputs numbers a node; 0: a class) and the weights of the nodes. */
static void fill_targets(const krein_job *job, const krein_points *p, int64_t k, const double *f,
                         int64_t outputs, double *y, double *weight) {
    bool classes = krein__job_classes(job);
    int64_t each = outputs ? outputs : 1;
    for (int64_t i = 0; i < p->nodes; i++) {
        const double *from = f + i * k;
        bool lost = isnan(from[0]);
        weight[i] = lost ? 0 : p->count[i];
        for (int64_t c = 0; c < each; c++) {
            double v = !outputs       ? (double)largest(k, from)
                       : !classes     ? from[c]
                       : outputs == 1 ? 2 * from[1] - 1
                                      : 2 * from[c] - 1;
            y[i * each + c] = lost ? 0 : v;
        }
    }
}

/* Of how many rows the model says what the graph says. */
static krein_status compare(krein_job *job, const krein_points *p, int64_t k, const double *f) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_predictor s = {0};
    const krein_model *m = job->model;
    double *score = NULL, same = 0, all = 0;
    NEW(score, p->nodes * m->k);
    TRY(krein__predictor_begin(ctx, m, &s));
    krein__predictor_run(&s, &p->x, score);
    for (int64_t i = 0; i < p->nodes; i++) {
        if (isnan(f[i * k])) continue;
        all += p->count[i];
        if (krein__model_decide(m, score + i * m->k) == largest(k, f + i * k)) same += p->count[i];
    }
    krein__log(
        ctx, KREIN_LOG_INFO,
        "labelprop: the model gives %.4g %% of the rows the label that they have on the graph",
        100 * same / all);
done:
    krein__predictor_end(&s);
    krein__free(ctx, score);
    return st;
}

static krein_status regress(krein_job *job, const krein_points *p, int64_t k, const double *f) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_given g = {0};
    krein_values values = {0};
    const krein_model *m = job->model;
    bool classes = krein__job_classes(job);
    int64_t outputs = m->k <= TARGETS ? m->k : 0, which;
    double *y = NULL, *weight = NULL;
    TRY(krein__parse_spec(ctx, krein__learner_krr.cls.name, "learner", krein__learners,
                          krein__learner_count, &which, &values));
    NEW(y, p->nodes * krein__max(1, outputs));
    NEW(weight, p->nodes);
    fill_targets(job, p, k, f, outputs, y, weight);
    TRY(krein__given_begin(job, &p->x, outputs, y, weight, &g));
    krein__given_raw(&g, &krein__learner_krr, &values);
    TRY(krein__given_map(&g, false));
    TRY(krein__given_learn(&g, &krein__learner_krr, &values));
    krein__given_take(&g);
    for (int64_t c = 0; !classes && c < k; c++)
        job->model->intercept[c] += job->data->label_mean[c];
    job->loo = NAN; /* of the nodes' values, not of labels */
    if (classes) TRY(compare(job, p, k, f));
done:
    krein__given_end(&g);
    krein__values_clear(ctx, &values);
    krein__free(ctx, y);
    krein__free(ctx, weight);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_points p = {0};
    const krein_encoding *e = &job->model->encoding;
    bool classes = krein__job_classes(job);
    int64_t k = classes ? e->nclass : e->outputs;
    double *f = NULL;
    if (!classes && values->number[METHOD] == SPREADING) {
        st = krein__fail(ctx, KREIN_EARG,
                         "labelprop(method=spreading) is for classes, and the labels are numbers; "
                         "use method=harmonic");
        goto done;
    }
    TRY(krein__job_points(job, &p));
    NEW(f, p.nodes * k);
    TRY(propagate(job, values, &p, k, f));
    TRY(regress(job, &p, k, f));
done:
    krein__points_clear(ctx, &p);
    krein__free(ctx, f);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    int64_t d = map->sparse ? krein__min(map->d, 1024) : map->d;
    double N = (double)n, K = (double)k + 1, held = krein__points_bytes(n, map->d, map->sparse);
    krein_graph_options o = krein__graph_options(values, GRAPH, 0);
    double graph = krein__graph_bytes(NULL, n, d, map->sparse, o.k, map->ctx->threads) +
                   24 * N * (double)o.k + krein__propagate_bytes(n, k + 1);
    krein_values plain = {0}; /* krr as it is without options */
    krein_cost ridge = *out;
    krein__learner_krr.cost(map, &plain, n, k, path, &ridge, passes);
    out->bytes = fmax(ridge.bytes, out->bytes + graph) + held + N * (24 * K + 32);
    out->flops = ridge.flops + krein__graph_flops(n, d, &o) + 500 * N * (double)o.k * K;
    *passes += 2;
}

const krein_learner_class krein__learner_labelprop = {
    .cls = {"labelprop", "labels carried over a graph of neighbours to rows without labels",
            "zhu2003", options,
            "Unlabelled rows come by `unlabeled`, or have an empty label or \"?\" in the data. "
            "Labels are carried over the graph of nearest neighbours of all rows, by distances of "
            "the encoded rows; then ridge regression on the map learns them from all rows, so that "
            "new rows can be predicted. lambda by leave-one-out unless `lambda` is given. See "
            "docs/semisupervised.md."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .matrix = KREIN_MATRIX_FEW,
    .unlabelled = true,
    .graph = true,
    .fits_map = true,
    .fit = fit,
    .cost = cost};
