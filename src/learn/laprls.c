/* laprls -- Laplacian regularised least squares: ridge regression that a graph of all rows, with
 * labels and without, keeps smooth                                                  (belkin2006)
 *
 *     min over f and b of  (1/W) sum over labelled rows of w_i (y_i - f(x_i))^2
 *                          + lambda |f - b|^2 + lambda_i (f - b)'L(f - b) / n*^2
 * f(x) = sum_j alpha_j k(x, x_j) + b over all rows, or w'z(x) + b; b is not penalised; n* is the
 * number of all rows (the sum of their weights), L the Laplacian of their graph of nearest
 * neighbours (graph/). lambda_i = 0 is krr on the labelled rows. Classes are -1/+1 targets, as
 * there.
 *
 * Departures from belkin2006 and the thesis behind FORMULAS: an intercept; equal rows are one node
 * with a count, on which f has one value, and their labels count by their mean; under
 * laplacian=normalized the constant is left out of the penalty by f - b.
 *
 * Fits: laprls_kernel.c on the kernel matrix of the nodes, laprls_features.c on features; both
 * lambdas, where not given, by leave-one-out (laprls_choice.c). In one process: the graph joins
 * rows wherever they are. */
#include "learn/laprls.h"
#include "learn/given.h"

#include <math.h>
#include <string.h>

enum { LAMBDA, LAMBDA_I, SOLVER, TOL, ITERATIONS, GRAPH };
/* Up to so many nodes, or features, the closed form is the default. */
enum { DIRECT_NODES = 3000, DIRECT_FEATURES = 2048, MANY = 1024 };

static const krein_option options[] = {
    {.name = "lambda",
     .value = NAN,
     .low = 0,
     .low_open = true,
     .high = 1e30,
     .help = "weight of |f|^2, as `lambda`, which it stands in for; chosen when neither is given"},
    {.name = "lambda_i",
     .value = NAN,
     .low = 0,
     .high = 1e30,
     .help = "weight of the graph's term f'Lf/n^2; chosen when not given"},
    {.name = "solver",
     .type = KREIN_OPTION_WORD,
     .value = NAN,
     .words = "auto|direct|cg|pcg",
     .help = "closed form, conjugate gradients, or these with a preconditioner; auto: direct up "
             "to 3,000 rows or 2,048 features, then pcg"},
    {.name = "tol",
     .value = 1e-6,
     .low = 0,
     .low_open = true,
     .high = 1,
     .help = "conjugate gradients end where predictions are off by so much of the labels' "
             "deviation"},
    {.name = "iterations",
     .type = KREIN_OPTION_INTEGER,
     .value = 1000,
     .low = 1,
     .high = 1e9,
     .help = "or after so many"},
    KREIN_OPTION_GRAPH,
    {0}};

static krein_laprls_solver solver_of(const krein_map *map, const krein_values *values, int64_t n) {
    double asked = values->number[SOLVER];
    if (asked > 0) return (krein_laprls_solver)asked;
    if (map->cls->traits & KREIN_MAP_DUAL)
        return n <= DIRECT_NODES ? KREIN_LAPRLS_DIRECT : KREIN_LAPRLS_PCG;
    return map->cls->features(map, n) <= DIRECT_FEATURES ? KREIN_LAPRLS_DIRECT : KREIN_LAPRLS_PCG;
}

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    (void)values;
    if (!map || !(map->cls->traits & KREIN_MAP_DUAL) || !map->kernel ||
        krein__kernel_positive(map->kernel))
        return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "laprls on the kernel matrix needs a positive definite kernel; use "
                       "`map=nystrom`, or another kernel");
}

/* Conjugate gradients need no matrix: tiles are made again where they do not fit. Where they are
 * asked for, any number of rows is taken. */
static int64_t matrix_rows(const krein_ctx *ctx, const krein_values *values, int64_t n,
                           int64_t most) {
    (void)ctx;
    return values->number[SOLVER] > KREIN_LAPRLS_DIRECT ? krein__min(n, most) : n;
}

/* Conjugate gradients on the kernel values at many landmarks. */
static bool raw(const krein_job *job, const krein_map *map, const krein_values *values) {
    int64_t n = job->n + job->unlabelled.n;
    return krein__map_traits(map) & KREIN_MAP_VALUES && krein__kernel_positive(map->kernel) &&
           map->cls->features(map, n) >= MANY && solver_of(map, values, n) != KREIN_LAPRLS_DIRECT;
}

/* ---- the fit ------------------------------------------------------------ */

static krein_status take_lambda(krein_job *job, const krein_values *values) {
    double own = values->number[LAMBDA];
    if (!isnan(own) && job->lambda >= 0 && job->lambda != own)
        return krein__fail(job->ctx, KREIN_EARG, "laprls(lambda=%g) and `lambda` %g: give one", own,
                           job->lambda);
    if (!isnan(own)) job->lambda = own;
    if (job->lambda == 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "laprls needs lambda > 0; give a small `lambda`, or none");
    return KREIN_OK;
}

/* The graph of all nodes, unless lambda_i = 0 has no use for it. */
static krein_status make_graph(krein_laprls *s, const krein_values *values, int64_t graph) {
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_graph_options o = krein__graph_options(values, graph, job->seed);
    int32_t *piece = NULL;
    if (s->lambda_i == 0) return KREIN_OK;
    if (job->unlabelled.n == 0)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s: every row has a label; the graph is of these alone (rows without "
                   "labels come by `unlabeled`, or with an empty label)",
                   s->name);
    TRY(krein__job_graph(job, &s->points, &o, &s->graph));
    TRY(krein__laplacian_begin(ctx, &s->graph, s->points.count,
                               values->number[graph + KREIN_GRAPH_LAPLACIAN] == 1, &s->laplacian));
    s->form.laplacian = &s->laplacian;
    NEW(piece, s->points.nodes);
    int64_t pieces = krein__graph_pieces(ctx, &s->graph, piece), labelled = 0;
    if (pieces < 0) TRY(ctx->status);
    for (int64_t p = 0; pieces > 1 && p < pieces; p++) {
        bool any = false;
        for (int64_t i = 0; !any && i < s->points.labelled; i++)
            any = piece[s->points.node[i]] == p;
        labelled += any;
        if (pieces > 1000) break;
    }
    if (pieces > 1000)
        krein__log(ctx, KREIN_LOG_INFO, "graph: %lld pieces", (long long)pieces);
    else if (pieces > 1 && labelled == pieces)
        krein__log(ctx, KREIN_LOG_INFO, "graph: %lld pieces, each with a label", (long long)pieces);
    else if (pieces > 1)
        krein__log(ctx, KREIN_LOG_INFO,
                   "graph: %lld pieces, %lld of them without a label: there the kernel alone "
                   "says what is near",
                   (long long)pieces, (long long)(pieces - labelled));
done:
    krein__free(ctx, piece);
    return st;
}

krein_status krein__laprls_begin(krein_laprls *s, const krein_values *values, int64_t graph) {
    krein_job *job = s->job;
    krein_model *m = job->model;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_given given = {0};
    double all = 0;
    TRY(krein__job_points(job, &s->points));
    TRY(krein__given_begin(job, &s->points.x, 0, NULL, s->points.count, &given));
    TRY(krein__given_map(&given, false));
    ZNEW(m->w, m->map->R * m->k);
    ZNEW(m->intercept, m->k);
    NEW(s->y, job->n * m->k);
    NEW(s->weight, job->n);
    NEW(s->class, job->n);
    TRY(krein__job_targets(job, s->y, s->class, s->weight, NULL));
    s->rows = (krein_targets){job->n, m->k, s->y, job->data->has_weight ? s->weight : NULL,
                              krein__job_classes(job) ? s->class : NULL};
    TRY(krein__manifold_begin(ctx, true, s->points.nodes, job->n, m->k, s->y, s->rows.weight,
                              s->points.node, &s->form));
    for (int64_t i = 0; i < s->points.nodes; i++) all += s->points.count[i];
    s->square = all * all;
    TRY(make_graph(s, values, graph));
    s->nsome = krein__min(job->n, KREIN_LAPRLS_CHOICE_ROWS);
    NEW(s->some, s->nsome);
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA), job->n,
                      s->nsome, s->some);
done:
    krein__given_end(&given);
    return st;
}

void krein__laprls_end(krein_laprls *s) {
    krein_ctx *ctx = s->job->ctx;
    krein__manifold_end(&s->form);
    krein__laplacian_end(ctx, &s->laplacian);
    krein__graph_clear(ctx, &s->graph);
    krein__points_clear(ctx, &s->points);
    krein__free(ctx, s->y);
    krein__free(ctx, s->weight);
    krein__free(ctx, s->class);
    krein__free(ctx, s->some);
}

static void report(krein_laprls *s) {
    krein_job *job = s->job;
    const krein_cg_result *r = &s->result;
    if (r->iterations == 0) return;
    static const char *const name[] = {"", "refined", "cg", "pcg"};
    if (!r->converged && r->residual > 100 * s->limits.tol)
        krein__log(job->ctx, KREIN_LOG_WARNING,
                   "laprls: residual %.1e after %lld iterations; raise `lambda`, `iterations` or "
                   "`time_limit`%s",
                   r->residual, (long long)r->iterations,
                   s->solver == KREIN_LAPRLS_CG ? ", or use solver=pcg" : "");
    krein__log(job->ctx, KREIN_LOG_INFO, "%s: %lld iterations, residual %.1e, condition %.3g",
               name[s->solver], (long long)r->iterations, r->residual, r->condition);
    job->iterations = r->iterations;
    job->residual = r->residual;
    job->condition = r->condition;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    bool dual = m->map->cls->traits & KREIN_MAP_DUAL;
    krein_laprls s = {.name = "laprls", .job = job, .lambda_i = values->number[LAMBDA_I]};
    TRY(take_lambda(job, values));
    TRY(krein__laprls_begin(&s, values, GRAPH));
    s.solver = solver_of(m->map, values, s.points.nodes);
    if (m->map->unmixed && s.solver == KREIN_LAPRLS_DIRECT) s.solver = KREIN_LAPRLS_PCG;
    s.limits = (krein_pcg_limits){values->number[TOL], (int64_t)values->number[ITERATIONS],
                                  job->deadline, "fitting"};
    TRY(dual ? krein__laprls_kernel(&s) : krein__laprls_features(&s));
    report(&s);
    values->number[LAMBDA_I] = s.lambda_i;
    values->number[LAMBDA] = NAN;
    values->number[SOLVER] = (double)s.solver;
    m->lambda = job->lambda;
    for (int64_t c = 0; c < m->k; c++) m->intercept[c] += krein__job_mean(job, c);
done:
    krein__laprls_end(&s);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    krein_laprls_solver solver = solver_of(map, values, n);
    krein_graph_options o = krein__graph_options(values, GRAPH, 0);
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    int64_t d = map->sparse ? krein__min(map->d, 1024) : map->d;
    double N = (double)n, K = (double)k,
           graph = krein__graph_bytes(NULL, n, d, map->sparse, o.k, map->ctx->threads);
    double kept =
        krein__points_bytes(n, map->d, map->sparse) + N * (40 * K + 64) + 20 * 2 * N * (double)o.k;
    out->bytes += kept + fmax(graph, dual ? krein__laprls_kernel_bytes(map, solver, n, k)
                                          : krein__laprls_features_bytes(map, solver, n, k));
    double kernel =
        N * N * krein__gram_flops(map->kernel, map->d) +
        (solver == KREIN_LAPRLS_DIRECT ? N * N * N * (path ? 6 : 3) : 60 * 2 * N * N * K);
    out->flops = krein__graph_flops(n, d, &o) +
                 (dual ? kernel : krein__laprls_features_flops(map, solver, n, k));
    *passes = 2;
}

const krein_learner_class krein__learner_laprls = {
    .cls = {"laprls", "ridge regression that a graph of all rows keeps smooth", "belkin2006",
            options,
            "Laplacian regularised least squares: rows without labels (`unlabeled`, or with an "
            "empty label or \"?\") take part through the graph of nearest neighbours, on which "
            "predictions are to differ little along edges. On the kernel matrix of all distinct "
            "rows (`map=exact`), on landmarks, or on any features. lambda and lambda_i, where not "
            "given, by leave-one-out over the labelled rows; lambda_i = 0 is krr on these. "
            "Probabilities, and thresholds of labels, come from leave-one-out scores. See "
            "docs/semisupervised.md."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .matrix = KREIN_MATRIX_FEW,
    .matrix_rows = matrix_rows,
    .probabilities = true,
    .held_out = true,
    .unlabelled = true,
    .graph = true,
    .fits_map = true,
    .check = check,
    .fit = fit,
    .raw = raw,
    .cost = cost};
