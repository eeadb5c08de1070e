/* bench_smo.c -- support vector machines on the same kernel matrix: ours and LIBSVM's
 *
 *   bench_smo K.npy Y.npy EPSILON C ...      EPSILON < 0: classes, of -1 and +1
 *
 * Both at LIBSVM's default tolerance, 1e-3, with shrinking, on one thread. One line of JSON for
 * each C: seconds of the CPU (the least of RUNS, the two in turn), objectives of the dual computed
 * here in float64 from the coefficients of each, support vectors. LIBSVM's kernel rows all fit into
 * its cache; that they must be copied to nodes of 16 bytes a value first is said apart. */
#include "solve/smo.h"

#include "npy.h"

#include <libsvm/svm.h>
#include <math.h>
#include <time.h>

enum { RUNS = 3 };
static const double TOL = 1e-3;

typedef struct problem {
    int64_t n;
    const double *K;
    double *y, epsilon, C; /* epsilon < 0: classes */
} problem;

typedef struct result {
    double seconds, nodes, intercept, *alpha;
} result;

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(size_t bytes) {
    void *p = calloc(bytes, 1);
    if (!p) exit(1);
    return p;
}

static void check(krein_ctx *ctx, krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_smo: %s\n", krein_message(ctx));
    exit(1);
}

static void ours(krein_ctx *ctx, const problem *p, result *r) {
    int64_t *row = need((size_t)p->n * sizeof *row);
    double *cost = need((size_t)p->n * sizeof *cost);
    krein_smo *s = NULL;
    for (int64_t i = 0; i < p->n; i++) row[i] = i, cost[i] = p->C;
    krein_smo_machine m = {.m = p->n,
                           .row = row,
                           .y = p->y,
                           .cost = cost,
                           .regression = p->epsilon >= 0,
                           .epsilon = fmax(p->epsilon, 0),
                           .tol = TOL,
                           .alpha = r->alpha};
    double start = cpu();
    check(ctx, krein__smo_begin(ctx, p->n, &s));
    check(ctx, krein__smo(ctx, s, p->n, p->K, &m));
    krein__smo_end(s);
    r->seconds = fmin(r->seconds, cpu() - start);
    r->intercept = m.intercept;
    free(row);
    free(cost);
}

static void silent(const char *text) { (void)text; }

static void libsvm(const problem *p, result *r) {
    int64_t n = p->n;
    double start = cpu();
    struct svm_node *node = need((size_t)(n * (n + 1)) * sizeof *node);
    struct svm_node **row = need((size_t)n * sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        row[i] = node + i * (n + 1);
        row[i][0] = (struct svm_node){0, (double)(i + 1)};
        for (int64_t j = 0; j < n; j++)
            row[i][j + 1] = (struct svm_node){(int)j + 1, p->K[i * n + j]};
    }
    r->nodes = fmin(r->nodes, cpu() - start);
    struct svm_problem rows = {.l = (int)n, .y = p->y, .x = row};
    struct svm_parameter o = {.svm_type = p->epsilon < 0 ? C_SVC : EPSILON_SVR,
                              .kernel_type = PRECOMPUTED,
                              .cache_size = 1000,
                              .eps = TOL,
                              .C = p->C,
                              .p = fmax(p->epsilon, 0),
                              .shrinking = 1};
    svm_set_print_string_function(silent);
    start = cpu();
    struct svm_model *m = svm_train(&rows, &o);
    r->seconds = fmin(r->seconds, cpu() - start);
    double sign = p->epsilon < 0 && m->label[0] != 1 ? -1 : 1;
    memset(r->alpha, 0, (size_t)n * sizeof *r->alpha);
    for (int i = 0; i < m->l; i++) r->alpha[m->sv_indices[i] - 1] = sign * m->sv_coef[0][i];
    r->intercept = -sign * m->rho[0];
    svm_free_and_destroy_model(&m);
    free(node);
    free(row);
}

/* Of the dual, to be minimised, and of the primal, which is not below its negative. */
static void objectives(const problem *p, const result *r, double *dual, double *primal) {
    double e = fmax(p->epsilon, 0);
    *dual = *primal = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double f = 0, a = r->alpha[i];
        for (int64_t j = 0; j < p->n; j++) f += r->alpha[j] * p->K[i * p->n + j];
        double miss = p->y[i] - f - r->intercept;
        miss = p->epsilon < 0 ? p->y[i] * miss : fabs(miss) - e;
        *dual += a * f / 2 - p->y[i] * a + e * fabs(a);
        *primal += a * f / 2 + p->C * fmax(0, miss);
    }
}

static int64_t support(const problem *p, const result *r) {
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++) count += r->alpha[i] != 0;
    return count;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: bench_smo K.npy Y.npy EPSILON C ...\n");
        return 2;
    }
    krein_ctx *ctx = NULL;
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    o.threads = 1;
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
    int64_t n, d, rows;
    problem p = {.K = npy_load(argv[1], true, &n, &d)};
    p.y = npy_load(argv[2], true, &rows, &d);
    p.n = n;
    p.epsilon = strtod(argv[3], NULL);
    if (rows != n) return 1;
    for (int k = 4; k < argc; k++) {
        result own = {INFINITY, 0, 0, need((size_t)n * sizeof(double))};
        result peer = {INFINITY, INFINITY, 0, need((size_t)n * sizeof(double))};
        double dual[2], primal[2];
        p.C = strtod(argv[k], NULL);
        for (int run = 0; run < RUNS; run++) {
            ours(ctx, &p, &own);
            libsvm(&p, &peer);
        }
        objectives(&p, &own, &dual[0], &primal[0]);
        objectives(&p, &peer, &dual[1], &primal[1]);
        printf(
            "{\"n\": %lld, \"C\": %g, \"krein\": {\"seconds\": %.4f, \"dual\": %.12g, \"primal\": "
            "%.12g, \"support\": %lld}, \"libsvm\": {\"seconds\": %.4f, \"nodes\": %.4f, \"dual\": "
            "%.12g, \"primal\": %.12g, \"support\": %lld}}\n",
            (long long)n, p.C, own.seconds, dual[0], primal[0], (long long)support(&p, &own),
            peer.seconds, peer.nodes, dual[1], primal[1], (long long)support(&p, &peer));
        fflush(stdout);
        free(own.alpha);
        free(peer.alpha);
    }
    krein_ctx_destroy(ctx);
    return 0;
}
