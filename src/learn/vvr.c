/* vvr -- vector-valued regression and classification: all scores of a row learned together, with
 * the graph of all rows and few directions in the space of scores                 (li2019vector)
 *
 *     min over W and b of  (1/sum w) sum over labelled rows of w_i loss(f(x_i), y_i) + lambda_a
 * |W|^2
 *                          + lambda_i tr((f - b)'L(f - b)) / n*^2
 *                          + lambda_s sum of the singular values of W behind the theta largest
 * f(x) = W'z(x) + b, one column of W for each class, number or label; z are the features of any
 * map; L is the Laplacian of the graph of all n* rows, with labels and without (graph/); b is not
 * penalised. loss=hinge: that of Crammer and Singer for several classes. theta = 0 is the trace
 * norm. With theta > 0 the problem is not convex, and what is found is a stationary point. With
 * lambda_i = lambda_s = 0 and loss=square it is krr, with lambda_s = 0 laprls, with hinge a support
 * vector machine on features. Numbers are divided by their deviation, so that one lambda_s is for
 * all of them.
 *
 * By proximal stochastic gradients (net/fit.c): a step sees a batch of labelled rows and `pairs`
 * edges of the graph, drawn with probabilities in proportion to their weights, so that
 *     lambda_i / n*^2 sum over edges / pairs  times the sum over these of |f(a) - f(b)|^2
 * has the right mean and so has its gradient. A step costs as much as one on batch + 2 pairs rows
 * of features, whatever n* is; the full product Z'LZW of a step would take n* D k, and with Z'LZ
 * made before still D^2 k. Neighbours are near each other, and the noise of few edges is small
 * beside that of few labels. Then W <- U diag(s_1 .. s_theta, max(0, s_j - tau)) V' (net/penalty.c;
 * the papers have it the wrong way round and shrink the first theta).
 *
 * The net's features are g z, with g such that the curvature of the objective in W is at most that
 * in b: the rate is then a number of order one whatever kernel and lambdas are. For adam and
 * adadelta the proximal step is in another metric than the gradient's: sgd is the default.
 *
 * lambda_a and lambda_i, where not given, are those of laprls by leave-one-out in closed form,
 * times half the curvature of the loss (the square has 2, hinge counts as 1, softmax has 1/2).
 * lambda_s is the best of a few, 0 among them, on the tenth of the labelled rows that is held out;
 * of fewer than 40 it is 0. These rows give probabilities and thresholds too. Then all labelled
 * rows are trained on, from the weights that were found. Every fit ends with its last state: its
 * objective is what decides, not the epoch. */
#include "learn/laprls.h"
#include "learn/net_machine.h"

#include "base/rng.h"
#include "num/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LAMBDA_A,
    LAMBDA_I,
    LAMBDA_S,
    THETA,
    LOSS,
    PAIRS,
    OPTIMIZER,
    EPOCHS,
    BATCH,
    RATE,
    SCHEDULE,
    GRAPH
};
enum { SGD = 0 };
enum { STEPS = 3000, LEAST_EPOCHS = 3, MOST_EPOCHS = 3000 };
enum { TAILS = 4 };        /* values of lambda_s */
enum { PART = 4096 };      /* rows of a window, at least */
enum { EDGES = 512 };      /* that the curvature is measured on */
enum { ALL_NODES = 2048 }; /* features up to which the lambdas are chosen by all of them */

static const krein_option options[] = {
    [LAMBDA_A] = {.name = "lambda_a",
                  .value = NAN,
                  .low = 0,
                  .high = 1e30,
                  .help = "weight of |W|^2, as `lambda`, which it stands in for; chosen when "
                          "neither is given"},
    [LAMBDA_I] = {.name = "lambda_i",
                  .value = NAN,
                  .low = 0,
                  .high = 1e30,
                  .help = "weight of the graph's term f'Lf/n^2; chosen when not given"},
    [LAMBDA_S] = {.name = "lambda_s",
                  .value = NAN,
                  .low = 0,
                  .high = 1e30,
                  .help = "weight of the singular values of W; chosen when not given"},
    [THETA] = {.name = "theta",
               .type = KREIN_OPTION_INTEGER,
               .value = 0,
               .low = 0,
               .high = 1e6,
               .help = "so many of the largest singular values are free; 0: the trace norm"},
    [LOSS] = {.name = "loss",
              .type = KREIN_OPTION_WORD,
              .value = NAN,
              .words = "hinge|hinge2|square|softmax|logistic",
              .help = "hinge for classes, square for numbers and several labels when not given"},
    [PAIRS] = {.name = "pairs",
               .type = KREIN_OPTION_INTEGER,
               .value = NAN,
               .low = 1,
               .high = 1e6,
               .help = "edges of the graph that a step draws; as many as `batch` when not given"},
    [OPTIMIZER] = {.name = "optimizer",
                   .type = KREIN_OPTION_WORD,
                   .value = SGD,
                   .words = "sgd|adam|adadelta",
                   .help = "how steps follow from gradients; lambda_s is exact with sgd alone"},
    [EPOCHS] = {.name = "epochs",
                .type = KREIN_OPTION_INTEGER,
                .value = NAN,
                .low = 1,
                .high = 1e6,
                .help = "visits of every labelled row; when not given 3 to 3,000, so that there "
                        "are about 3,000 steps"},
    [BATCH] = {.name = "batch",
               .type = KREIN_OPTION_INTEGER,
               .value = 64,
               .low = 1,
               .high = 1e6,
               .help = "labelled rows of a step"},
    [RATE] = {.name = "rate",
              .type = KREIN_OPTION_NUMBER,
              .value = NAN,
              .low = 0,
              .low_open = true,
              .high = 1e30,
              .help = "length of the steps; by the curvature of the loss with sgd when not given"},
    [SCHEDULE] = {.name = "schedule",
                  .type = KREIN_OPTION_WORD,
                  .value = KREIN_SCHEDULE_COSINE,
                  .words = KREIN_SCHEDULE_WORDS,
                  .help = "how the rate falls over the epochs"},
    [GRAPH] = KREIN_OPTION_GRAPH,
    [GRAPH + KREIN_GRAPH_LAPLACIAN + 1] = {0}};

/* Rows that are trained on. */
typedef struct part {
    int64_t n;
    int64_t *node; /* of each row */
    float *y, *weight;
    int32_t *class; /* NULL: numbers */
} part;

typedef struct vvr {
    krein_net_machine m; /* the first: give_weights gets it */
    krein_laprls s;
    krein_laprls_nodes z;
    krein_edge_draws draws;
    int64_t *ends;      /* nodes of a step's edges */
    double gain;        /* g */
    double lambda_s;    /* of features as they are */
    const part *from;   /* whose window is in memory; NULL: none is */
    int64_t at, rows;   /* that window; rows of one, at most */
    float *x, *held;    /* rows x D of the window; of the rows held out */
    part all, trained;  /* trained: without those held out */
    int64_t fits, done; /* trainings: to come in all, made */
} vvr;

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    (void)values;
    if (!map || !(map->cls->traits & KREIN_MAP_DUAL)) return KREIN_OK;
    return krein__fail(ctx, KREIN_ESPEC,
                       "vvr works on features, and map=exact has none; use `map=nystrom`, or leave "
                       "`map` out");
}

/* ---- options ------------------------------------------------------------ */

static krein_status take_lambdas(vvr *v, const krein_values *values, double *lambda) {
    krein_job *job = v->m.job;
    double own = values->number[LAMBDA_A];
    *lambda = isnan(own) ? job->lambda : own;
    if (!isnan(own) && job->lambda >= 0 && job->lambda != own)
        return krein__fail(job->ctx, KREIN_EARG, "vvr(lambda_a=%g) and `lambda` %g: give one", own,
                           job->lambda);
    if (*lambda == 0 && isnan(values->number[LAMBDA_I]))
        return krein__fail(job->ctx, KREIN_EARG,
                           "vvr: lambda_i is chosen with lambda_a > 0 alone; give lambda_i too, or "
                           "a small lambda_a");
    return KREIN_OK;
}

/* The options of net_machine.h, in its order. */
static krein_status take_net(vvr *v, krein_values *values) {
    krein_status st = KREIN_OK;
    krein_job *job = v->m.job;
    krein_values net = {0};
    double *to = net.number;
    int64_t batch = krein__min((int64_t)values->number[BATCH], job->n);
    bool classes = krein__job_classes(job);
    if (isnan(values->number[LOSS]))
        for (int64_t i = 0; i < krein__loss_count; i++)
            if (krein__losses[i] == (classes ? &krein__loss_hinge.cls : &krein__loss_square.cls))
                values->number[LOSS] = (double)i;
    if (isnan(values->number[EPOCHS])) {
        int64_t each = (job->n + batch - 1) / batch;
        values->number[EPOCHS] =
            (double)krein__max(LEAST_EPOCHS, krein__min(MOST_EPOCHS, (STEPS + each - 1) / each));
    }
    to[KREIN_NET_LOSS] = values->number[LOSS];
    to[KREIN_NET_OPTIMIZER] = values->number[OPTIMIZER];
    to[KREIN_NET_EPOCHS] = values->number[EPOCHS];
    to[KREIN_NET_BATCH] = values->number[BATCH];
    to[KREIN_NET_RATE] = values->number[RATE];
    to[KREIN_NET_SCHEDULE] = values->number[SCHEDULE];
    to[KREIN_NET_FREQUENCY_RATE] = NAN;
    TRY(krein__net_machine_begin(&v->m, &net, 0, 1));
    v->m.o.last = true;
    v->m.o.report = 500; /* an epoch may be a step or two */
done:
    return st;
}

/* ---- rows --------------------------------------------------------------- */

static void scale(int64_t n, double by, float *x) {
    for (int64_t i = 0; i < n; i++) x[i] = (float)(by * (double)x[i]);
}

static krein_status window(void *user, int64_t which, krein_window *out) {
    vvr *v = user;
    krein_status st = KREIN_OK;
    const part *p = v->from;
    int64_t first = which * v->rows, n = krein__min(v->rows, p->n - first), D = v->z.features.D,
            k = v->m.w.k;
    if (v->at != which) {
        v->at = -1;
        TRY(krein__laprls_nodes_features(&v->z, n, p->node + first, v->x));
        scale(n * D, v->gain, v->x);
        v->at = which;
    }
    *out =
        (krein_window){krein__rows_dense(n, D, v->x, D),
                       {p->y + first * k, p->class ? p->class + first : NULL, p->weight + first}};
done:
    return st;
}

static krein_fit_rows rows_of(vvr *v, const part *p) {
    v->from = p;
    v->at = -1;
    return (krein_fit_rows){
        .n = p->n, .windows = (p->n + v->rows - 1) / v->rows, .window = window, .user = v};
}

/* Where they come in several windows, rows are in an order of their own: windows are alike. */
static krein_status make_part(vvr *v, bool held, part *p) {
    krein_job *job = v->m.job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_windows *w = &v->m.w;
    int64_t k = w->k, *order = NULL;
    double sum = 0;
    NEW(order, job->n);
    NEW(p->node, job->n);
    NEW(p->y, job->n * k);
    NEW(p->weight, job->n);
    if (krein__job_classes(job)) NEW(p->class, job->n);
    for (int64_t i = 0; i < job->n; i++) order[i] = i;
    if (job->n > v->rows)
        krein__rng_permute(krein__substream(job->seed, KREIN_STREAM_BATCHES, KREIN_BATCHES_WINDOWS),
                           job->n, order);
    for (int64_t q = 0; q < job->n; q++) {
        int64_t i = order[q], to = p->n;
        if (!held && w->is_held[i]) continue;
        p->node[to] = v->s.points.node[i];
        for (int64_t c = 0; c < k; c++) p->y[to * k + c] = (float)(v->s.y[i * k + c] / w->unit[c]);
        if (p->class) p->class[to] = v->s.class[i];
        p->weight[to] = (float)v->s.weight[i];
        sum += v->s.weight[i];
        p->n++;
    }
    scale(p->n, (double)p->n / sum, p->weight);
done:
    krein__free(ctx, order);
    return st;
}

static void drop_part(krein_ctx *ctx, part *p) {
    krein__free(ctx, p->node);
    krein__free(ctx, p->y);
    krein__free(ctx, p->weight);
    krein__free(ctx, p->class);
}

static krein_status open_rows(vvr *v) {
    krein_ctx *ctx = v->m.job->ctx;
    krein_status st = KREIN_OK;
    krein_windows *w = &v->m.w;
    int64_t D = v->z.features.D, *node = NULL;
    double room = ((double)ctx->budget - (double)atomic_load(&ctx->held)) / 3;
    v->rows = krein__max(PART, (int64_t)(room / (4 * (double)D)));
    v->rows = krein__min(v->rows, v->m.job->n);
    TRY(make_part(v, true, &v->all));
    TRY(make_part(v, false, &v->trained));
    NEW(v->x, v->rows * D);
    if (w->held == 0) goto done;
    NEW(v->held, w->held * D);
    NEW(node, w->held);
    for (int64_t i = 0; i < w->held; i++) node[i] = v->s.points.node[w->held_row[i]];
    TRY(krein__laprls_nodes_features(&v->z, w->held, node, v->held));
    scale(w->held * D, v->gain, v->held);
    w->fit.held.x = krein__rows_dense(w->held, D, v->held, D);
done:
    krein__free(ctx, node);
    return st;
}

/* ---- the graph's term --------------------------------------------------- */

/* Features of the ends of `pairs` edges, for which there is room in v->ends. */
static krein_status draw_edges(vvr *v, int64_t step, int64_t pairs, float *x) {
    int64_t D = v->z.features.D;
    for (int64_t q = 0; q < pairs; q++)
        krein__edge_draw(&v->draws, v->m.job->seed, step, q, &v->ends[2 * q], &v->ends[2 * q + 1]);
    krein_status st = krein__laprls_nodes_features(&v->z, 2 * pairs, v->ends, x);
    for (int64_t q = 0; st == KREIN_OK && q < 2 * pairs; q++)
        scale(D, v->gain * krein__laplacian_factor(&v->s.laplacian, v->ends[q]), x + q * D);
    return st;
}

static krein_status draw(void *user, int64_t step, float *x) {
    vvr *v = user;
    return draw_edges(v, step, v->m.o.pairs.n, x);
}

static krein_status open_pairs(vvr *v, krein_values *values) {
    krein_ctx *ctx = v->m.job->ctx;
    krein_status st = KREIN_OK;
    krein_fit_pairs *p = &v->m.o.pairs;
    const krein_laplacian *l = &v->s.laplacian;
    int64_t n = (int64_t)values->number[isnan(values->number[PAIRS]) ? BATCH : PAIRS];
    if (!l->g || v->s.lambda_i == 0) return KREIN_OK;
    TRY(krein__edge_draws_begin(ctx, l, &v->draws));
    if (!(v->draws.before[l->g->n] > 0)) goto done;
    NEW(v->ends, 2 * krein__max(n, EDGES));
    *p = (krein_fit_pairs){.n = n, .draw = draw, .user = v};
    p->scale = v->s.lambda_i / v->s.square * v->draws.before[l->g->n] / (double)n;
    values->number[PAIRS] = (double)n;
done:
    return st;
}

/* ---- the length of steps ------------------------------------------------ */

/* Of the loss in a score, at most; the hinge has none, and moves as if it had this. */
static double curvature(const krein_loss_class *loss) {
    if (loss == &krein__loss_square || loss == &krein__loss_hinge2) return 2;
    if (loss == &krein__loss_softmax) return 0.5;
    return loss == &krein__loss_logistic ? 0.25 : 1;
}

/* A bound of the curvature of a step on so many rows like those of x (n x D), over that in a score:
 * the largest eigenvalue of x'x / n, by the power method, and what the rows of a step, few of them,
 * may have beyond it. That is noise, of which momentum keeps as much as of the gradient. */
static krein_status spread(krein_ctx *ctx, int64_t n, int64_t D, const float *x, int64_t rows,
                           double reach, double *out) {
    enum { TURNS = 30 };
    krein_status st = KREIN_OK;
    double *wide = NULL, *u = NULL, *t = NULL, top = 0, most = 0;
    krein_rng g = {1, KREIN_STREAM_START};
    NEW(wide, n * D);
    NEW(u, D);
    NEW(t, n);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < D; j++) {
            wide[i * D + j] = (double)x[i * D + j];
            sum += wide[i * D + j] * wide[i * D + j];
        }
        most = fmax(most, sum);
    }
    for (int64_t j = 0; j < D; j++) u[j] = krein__rng_normal(g, 0, (uint64_t)j);
    for (int64_t turn = 0; turn < TURNS && most > 0; turn++) {
        double length = 0;
        for (int64_t j = 0; j < D; j++) length += u[j] * u[j];
        top = turn > 0 ? sqrt(length) / (double)n : 0;
        if (!(length > 0)) break;
        for (int64_t j = 0; j < D; j++) u[j] /= sqrt(length);
        krein__pgemm(ctx, false, false, n, 1, D, 1, wide, D, u, 1, 0, t, 1);
        krein__pgemm(ctx, true, false, D, 1, n, 1, wide, D, t, 1, 0, u, 1);
    }
    *out = top + reach * most / (double)rows;
done:
    krein__free(ctx, wide);
    krein__free(ctx, u);
    krein__free(ctx, t);
    return st;
}

/* The gain of the features, the rate, and where W begins to leave 0: the largest singular value of
 * the gradient there. */
static krein_status find_scales(vvr *v, double *edge) {
    krein_job *job = v->m.job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_fit_options *o = &v->m.o;
    const krein_laprls *s = &v->s;
    int64_t D = v->z.features.D, k = job->model->k, n = s->nsome, *node = NULL;
    float *x = NULL, *y = NULL, *f = NULL, *g = NULL;
    double *G = NULL, *S = NULL, *values = NULL, most = 0, curved = curvature(o->loss);
    krein_step first = o->optimizer.cls->step(&o->optimizer, 1, o->rate);
    double reach = first.reach > 0 ? (double)first.reach : 1;
    NEW(node, n);
    NEW(x, n * D);
    for (int64_t i = 0; i < n; i++) node[i] = s->points.node[s->some[i]];
    TRY(krein__laprls_nodes_features(&v->z, n, node, x));
    TRY(spread(ctx, n, D, x, o->batch, reach, &most));
    double all = curved * most + 2 * job->lambda;
    /* the gradient of the loss at f = 0 */
    NEW(y, n * k);
    ZNEW(f, n * k);
    NEW(g, n * k);
    ZNEW(G, D * k);
    NEW(S, k * k);
    NEW(values, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            y[i * k + c] = (float)(s->y[s->some[i] * k + c] / v->m.w.unit[c]);
    for (int64_t i = 0; i < n; i++) {
        krein_aims one = {y + i * k, s->rows.class ? s->class + s->some[i] : NULL, NULL};
        krein__loss_rows(o->loss, 1, k, f, &one, 1 / (double)n, g);
        for (int64_t j = 0; j < D; j++)
            for (int64_t c = 0; c < k; c++) G[j * k + c] += (double)x[i * D + j] * (double)g[c];
    }
    krein__pgemm(ctx, true, false, k, k, D, 1, G, k, G, k, 0, S, k);
    TRY(krein__eigenvalues(ctx, k, S, k, values));
    *edge = sqrt(fmax(0, values[k - 1]));
    if (o->pairs.n > 0) {
        int64_t pairs = EDGES;
        v->gain = 1;
        krein__free(ctx, x);
        x = NULL;
        NEW(x, 2 * pairs * D);
        TRY(draw_edges(v, 0, pairs, x)); /* no step has the number 0 */
        for (int64_t q = 0; q < pairs; q++)
            for (int64_t j = 0; j < D; j++)
                x[q * D + j] = x[2 * q * D + j] - x[(2 * q + 1) * D + j];
        TRY(spread(ctx, pairs, D, x, o->pairs.n, reach, &most));
        all += 2 * o->pairs.scale * (double)o->pairs.n * most;
    }
    v->gain = all > 0 ? sqrt(curved / all) : 1;
    o->lambda_w = job->lambda * v->gain * v->gain;
done:
    krein__free(ctx, node);
    krein__free(ctx, x);
    krein__free(ctx, y);
    krein__free(ctx, f);
    krein__free(ctx, g);
    krein__free(ctx, G);
    krein__free(ctx, S);
    krein__free(ctx, values);
    return st;
}

/* ---- the fits ----------------------------------------------------------- */

static krein_status train(vvr *v, const part *p) {
    krein_fit_rows rows = rows_of(v, p);
    krein_fit_options *o = &v->m.o;
    double now = krein__clock(), end = v->m.job->deadline;
    o->penalty = v->lambda_s > 0 ? KREIN_PENALTY_TRACE : KREIN_PENALTY_NONE;
    o->lambda_a = v->lambda_s * v->gain;
    if (end > 0) o->deadline = now + (end - now) / (double)(v->fits - v->done);
    v->done++;
    return krein__net_fit(&v->m.net, &rows, o, &v->m.r);
}

/* The state of the least error on the rows held out, and its lambda_s. */
static krein_status choose_tail(vvr *v, double edge) {
    krein_ctx *ctx = v->m.job->ctx;
    krein_status st = KREIN_OK;
    krein_net_machine *m = &v->m;
    float *best = NULL;
    double least = INFINITY, loss = INFINITY, found = 0;
    size_t bytes = (size_t)m->net.count * sizeof *best;
    NEW(best, m->net.count);
    for (int64_t i = 0; i < TAILS; i++) {
        v->lambda_s = i == 0 ? 0 : krein__round_digits(edge * pow(10, (double)i - TAILS), 3);
        memset(m->net.p, 0, bytes);
        TRY(train(v, &v->trained));
        TRY(krein__net_machine_measure(m));
        krein__log(ctx, KREIN_LOG_DEBUG, "vvr: lambda_s %g: held out: loss %.5g, error %.5g",
                   v->lambda_s, m->mean, m->error);
        if (!(m->error < least || (m->error == least && m->mean < loss))) continue;
        least = m->error;
        loss = m->mean;
        found = v->lambda_s;
        memcpy(best, m->net.p, bytes);
    }
    v->lambda_s = found;
    memcpy(m->net.p, best, bytes);
    TRY(krein__net_machine_measure(m)); /* its scores */
    krein__log(ctx, KREIN_LOG_INFO, "vvr: lambda_s %g: error %.4g on %lld rows held out",
               v->lambda_s, m->error, (long long)m->w.held);
done:
    krein__free(ctx, best);
    return st;
}

static krein_status run(vvr *v, const krein_values *values, double edge) {
    krein_status st = KREIN_OK;
    krein_net_machine *m = &v->m;
    bool open = isnan(values->number[LAMBDA_S]), held = m->w.held > 0;
    v->fits = 1 + (held ? open ? TAILS : 1 : 0);
    v->lambda_s = open ? 0 : values->number[LAMBDA_S];
    m->error = NAN;
    if (open && held) {
        TRY(choose_tail(v, edge));
    } else if (held) {
        TRY(train(v, &v->trained));
        TRY(krein__net_machine_measure(m));
    } else if (open) {
        krein__log(m->job->ctx, KREIN_LOG_INFO,
                   "vvr: too few labelled rows to hold some out: lambda_s is 0");
    }
    TRY(train(v, &v->all));
    krein__net_machine_report(m);
done:
    return st;
}

/* How many directions of scores there are. */
static krein_status say_rank(const vvr *v) {
    krein_ctx *ctx = v->m.job->ctx;
    krein_status st = KREIN_OK;
    int64_t k = v->m.w.k, D = v->z.features.D, rank = 0;
    const float *W = v->m.net.p;
    double *wide = NULL, *S = NULL, *s = NULL;
    NEW(wide, D * k);
    NEW(S, k * k);
    NEW(s, k);
    for (int64_t i = 0; i < D * k; i++) wide[i] = (double)W[i];
    krein__pgemm(ctx, true, false, k, k, D, 1, wide, k, wide, k, 0, S, k);
    TRY(krein__eigenvalues(ctx, k, S, k, s));
    for (int64_t c = 0; c < k; c++) rank += s[c] > 1e-10 * s[k - 1] && s[k - 1] > 0;
    krein__log(ctx, KREIN_LOG_INFO, "vvr: the rank of W is %lld of %lld", (long long)rank,
               (long long)krein__min(k, D));
done:
    krein__free(ctx, wide);
    krein__free(ctx, S);
    krein__free(ctx, s);
    return st;
}

static krein_status give_weights(krein_net_machine *m) {
    vvr *v = (vvr *)m;
    krein_ctx *ctx = m->job->ctx;
    krein_status st = KREIN_OK;
    krein_krr b = {.z = v->z.z};
    double *w = NULL;
    NEW(w, v->z.features.D * m->w.k);
    krein__net_weights(m, 1 / v->gain, w, m->job->model->intercept);
    krein__krr_weights(m->job, &b, w);
    TRY(say_rank(v));
done:
    krein__free(ctx, w);
    return st;
}

/* The features, and both lambdas where they are open: as laprls does it, by the Laplacian of all
 * nodes where that is quick. Theirs are for a loss of curvature 2. */
static krein_status choose(vvr *v, const krein_values *values) {
    krein_job *job = v->m.job;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    bool a = job->lambda < 0, i = isnan(values->number[LAMBDA_I]);
    double flat = curvature(v->m.o.loss) / 2, n = (double)v->s.points.nodes;
    bool quick = map->D <= ALL_NODES && 4 * n * (double)map->D < (double)job->ctx->budget / 4;
    v->s.solver = (a || i) && quick ? KREIN_LAPRLS_DIRECT : KREIN_LAPRLS_CG;
    TRY(krein__laprls_nodes_begin(&v->s, &v->z));
    if (a) job->lambda = krein__round_digits(flat * job->lambda, 3);
    if (i) v->s.lambda_i = krein__round_digits(flat * v->s.lambda_i, 3);
    if ((a || i) && flat != 1)
        krein__log(job->ctx, KREIN_LOG_INFO, "vvr: for loss=%s lambda_a %g, lambda_i %g",
                   v->m.o.loss->cls.name, job->lambda, v->s.lambda_i);
done:
    return st;
}

static krein_status begin(vvr *v, krein_values *values) {
    krein_job *job = v->m.job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    char spec[48];
    double lambda;
    int64_t D, k = job->model->k, theta = (int64_t)values->number[THETA];
    TRY(take_lambdas(v, values, &lambda));
    job->lambda = -1; /* the net has none of its own */
    TRY(take_net(v, values));
    job->lambda = lambda;
    TRY(krein__laprls_begin(&v->s, values, GRAPH));
    TRY(choose(v, values));
    D = v->z.features.D;
    if (theta > 0 && theta >= krein__min(D, k)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "vvr: theta=%lld leaves all singular values of W free: it has %lld, one "
                         "for each score; give a smaller theta",
                         (long long)theta, (long long)krein__min(D, k));
        goto done;
    }
    v->m.o.theta = theta;
    TRY(krein__windows_open(job, false, &v->m.w));
    krein__matrix_clear(ctx, &v->m.w.x); /* windows are of features */
    krein__net_begin(ctx, D, &v->m.net);
    snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)k);
    TRY(krein__net_add(&v->m.net, spec));
    TRY(krein__net_ready(&v->m.net));
    TRY(open_pairs(v, values));
done:
    return st;
}

static void end(vvr *v) {
    krein_ctx *ctx = v->m.job->ctx;
    krein__edge_draws_end(ctx, &v->draws);
    krein__free(ctx, v->ends);
    krein__free(ctx, v->x);
    krein__free(ctx, v->held);
    drop_part(ctx, &v->all);
    drop_part(ctx, &v->trained);
    krein__laprls_nodes_end(&v->z);
    krein__laprls_end(&v->s);
    krein__net_machine_clear(&v->m);
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_status st = KREIN_OK;
    double edge = 0;
    vvr v = {.m = {.name = "vvr", .job = job},
             .s = {.name = "vvr", .job = job, .lambda_i = values->number[LAMBDA_I]},
             .gain = 1};
    bool probabilities = job->probabilities;
    job->probabilities = false; /* of the rows held out, not by leave-one-out */
    st = begin(&v, values);
    job->probabilities = probabilities;
    TRY(st);
    TRY(find_scales(&v, &edge));
    if (values->number[OPTIMIZER] == SGD && isnan(values->number[RATE]))
        v.m.o.rate = 1 / curvature(v.m.o.loss);
    TRY(open_rows(&v));
    TRY(run(&v, values, edge));
    TRY(krein__net_machine_end(&v.m, give_weights));
    values->number[LAMBDA_A] = job->lambda;
    values->number[LAMBDA_I] = v.s.lambda_i;
    values->number[LAMBDA_S] = v.lambda_s;
    values->number[RATE] = v.m.o.rate;
    job->model->lambda = job->lambda;
done:
    end(&v);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    krein_graph_options o = krein__graph_options(values, GRAPH, 0);
    int64_t d = map->sparse ? krein__min(map->d, 1024) : map->d;
    double N = (double)n, K = (double)k, D = (double)map->cls->features(map, n);
    double batch = fmin(values->number[BATCH], N),
           pairs = isnan(values->number[PAIRS]) ? batch : values->number[PAIRS],
           epochs = isnan(values->number[EPOCHS])
                        ? fmax(LEAST_EPOCHS, fmin(MOST_EPOCHS, STEPS * batch / N))
                        : values->number[EPOCHS];
    double steps = epochs * N / batch * (isnan(values->number[LAMBDA_S]) ? TAILS + 1 : 2);
    double room = (double)map->ctx->budget / 3, held = fmin(N / 5 + 1, 10000);
    double sample = fmin(N, KREIN_LAPRLS_CHOICE_ROWS);
    bool open = (path && isnan(values->number[LAMBDA_A])) || isnan(values->number[LAMBDA_I]);
    double features = open ? krein__laprls_features_bytes(map, KREIN_LAPRLS_PCG, n, k)
                           : krein__blocks_bytes(map, n) + 16 * N * K + fmin(4 * N * D, room);
    out->bytes += krein__points_bytes(n, map->d, map->sparse) + N * (72 * K + 128) +
                  20 * 2 * N * (double)o.k + 8 * N +
                  krein__graph_bytes(NULL, n, d, map->sparse, o.k, map->ctx->threads) + features +
                  krein__windows_bytes(map, n, k) + fmin(4 * N * D, fmax(room, 4.0 * PART * D)) +
                  4 * held * D + 12 * sample * D + 4 * (batch + 2 * pairs) * (2 * D + 3 * K) +
                  40 * D * K + 16 * K * K + 65536;
    out->flops = krein__graph_flops(n, d, &o) +
                 (open ? krein__laprls_features_flops(map, KREIN_LAPRLS_PCG, n, k) : 0) +
                 steps * (batch + 2 * pairs) * 4 * D * K;
    *passes = 5;
}

const krein_learner_class krein__learner_vvr = {
    .cls = {"vvr", "all scores together, on a graph of all rows, with few singular values",
            "li2019vector", options,
            "Vector-valued learning, for many classes, several numbers or several labels a row, on "
            "features of any map: the loss of the labelled rows, |W|^2, the Laplacian of the graph "
            "of all rows (those without labels come by `unlabeled`, or with an empty label or "
            "\"?\"), and the singular values of W but the theta largest, by proximal stochastic "
            "gradients. lambda_a and lambda_i, where not given, are those of laprls; lambda_s is "
            "chosen on a tenth of the labelled rows. loss=square without lambda_s is laprls, "
            "without lambda_i too it is krr. See docs/semisupervised.md."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .probabilities = true,
    .unlabelled = true,
    .graph = true,
    .fits_map = true,
    .check = check,
    .fit = fit,
    .cost = cost};
