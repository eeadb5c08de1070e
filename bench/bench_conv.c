/* bench_conv.c -- steps of a convolutional network, and meta steps through Hessian-vector products
 *
 *   bench_conv ROWS CLASSES PATHS ARCH n h w c k
 *
 * ROWS has n images h x w x c, float32, CLASSES n int32 below k. The parameters of the start are
 * written to PATHS.start and a subspace (DIMENSIONS directions, one behind the other) to
 * PATHS.subspace, float32. Answers lines of its standard input, until these end:
 *
 *   step BATCH THREADS COUNT    COUNT steps of plain SGD, rate 0.1, on the first rows, batch after
 * batch meta BATCH THREADS COUNT    COUNT meta steps: 5 inner steps th - 0.1 P P'g on the first
 * BATCH rows, the loss of the next 3 BATCH at their end, and its exact gradient by th_0
 *
 * with seconds, CPU seconds and a loss: of the last batch before its step; of the meta step, and
 * the sum of squares of that gradient. bench/conv.py runs it and compares. */
#include "side.h"

#include "base/base.h"
#include "net/fit.h"

#include <math.h>
#include <string.h>

enum { DIMENSIONS = 40, INNER = 5 };
static const float RATE = 0.1f;

typedef struct problem {
    int64_t n, k;
    krein_shape image;
    float *x, *y;
    int32_t *class;
    const char *arch, *paths;
} problem;

static void keep(const char *paths, const char *end, int64_t count, const float *x) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", paths, end);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(x, sizeof *x, (size_t)count, file) != (size_t)count || fclose(file))
        fail(path);
}

static krein_ctx *context(int threads) {
    krein_ctx_options how;
    krein_ctx *ctx;
    krein_ctx_options_init(&how);
    how.threads = threads;
    if (krein_ctx_create(&how, &ctx) != KREIN_OK) fail("no context");
    return ctx;
}

static void make_net(krein_ctx *ctx, const problem *p, krein_net *net) {
    if (krein__net_arch(ctx, p->arch, p->image, p->k, net) != KREIN_OK) fail(krein_message(ctx));
    krein__net_start(net, 1);
}

/* ---- steps --------------------------------------------------------------- */

typedef struct sgd {
    float *p;
} sgd;

static void update(void *user, int64_t layer, int64_t ranges, const krein_range *range, float *g) {
    float *p = ((sgd *)user)->p;
    (void)layer;
    for (int64_t q = 0; q < ranges; q++)
        for (int64_t i = 0; i < range[q].rows; i++, g += range[q].columns)
            krein__saxpy(range[q].columns, -RATE, g, p + range[q].first + i * range[q].ld);
}

static double steps(const problem *p, int64_t batch, int threads, int64_t count, double *seconds,
                    double *cpu) {
    krein_ctx *ctx = context(threads);
    krein_net net;
    krein_net_work w;
    double loss = 0;
    int64_t *index = need(batch, sizeof *index);
    make_net(ctx, p, &net);
    if (krein__net_work_begin(&net, batch, true, &w) != KREIN_OK) fail("no memory");
    krein_rows rows = krein__rows_dense(p->n, net.in, p->x, net.in);
    int64_t last = net.layers - 1, batches = p->n / batch;
    *seconds = krein__clock(), *cpu = cpu_seconds();
    for (int64_t s = 0; s < count; s++) {
        int64_t from = s % batches * batch;
        krein_aims aims = {p->y + from * p->k, p->class + from, NULL};
        for (int64_t i = 0; i < batch; i++) index[i] = from + i;
        krein__net_load(&w, &rows, index, batch);
        const float *f = krein__net_forward(&w, batch);
        loss = krein__loss_rows(&krein__loss_softmax, batch, p->k, f, &aims, 1 / (double)batch,
                                w.gradient[last]) /
               (double)batch;
        krein__net_note_statistics(&w, KREIN_NET_MOMENTUM, net.p);
        for (int64_t l = last; l >= 0; l--) {
            krein__net_backward(&w, l);
            krein__net_gradient(&w, l, update, &(sgd){net.p});
        }
    }
    *seconds = krein__clock() - *seconds, *cpu = cpu_seconds() - *cpu;
    krein__net_work_end(&w);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
    free(index);
    return loss;
}

/* ---- meta steps ----------------------------------------------------------- */

/* out -= rate P P'x */
static void project(int64_t count, const float *P, float rate, const float *x, float *out) {
    for (int64_t d = 0; d < DIMENSIONS; d++) {
        const float *row = P + d * count;
        krein__saxpy(count, -rate * krein__sdot(count, row, x), row, out);
    }
}

/* DIMENSIONS orthonormal directions among the trained parameters. */
static float *subspace(const krein_net *net) {
    float *P = need(DIMENSIONS * net->count, sizeof *P);
    memset(P, 0, (size_t)(DIMENSIONS * net->count) * sizeof *P);
    for (int64_t d = 0; d < DIMENSIONS; d++) {
        float *row = P + d * net->count;
        krein_range range[KREIN_NET_RANGES];
        krein_rng g = {7 + (uint64_t)d, KREIN_STREAM_NET};
        for (int64_t l = 0; l < net->layers; l++)
            for (int64_t part = 0; part < net->layer[l].weights_parts; part++)
                for (int64_t q = net->layer[l].cls->ranges(&net->layer[l], part, range) - 1; q >= 0;
                     q--)
                    for (int64_t i = 0; i < range[q].rows; i++)
                        for (int64_t j = 0; j < range[q].columns; j++) {
                            int64_t at = range[q].first + i * range[q].ld + j;
                            row[at] = (float)krein__rng_normal(g, (uint64_t)at, 0);
                        }
        for (int twice = 0; twice < 2; twice++)
            for (int64_t e = 0; e < d; e++)
                krein__saxpy(net->count, -krein__sdot(net->count, P + e * net->count, row),
                             P + e * net->count, row);
        float length = sqrtf(krein__sdot(net->count, row, row));
        for (int64_t i = 0; i < net->count; i++) row[i] /= length;
    }
    return P;
}

static double metas(const problem *p, int64_t batch, int threads, int64_t count, double *seconds,
                    double *cpu, double *square) {
    krein_ctx *ctx = context(threads);
    krein_net net;
    krein_net_work w, query;
    const krein_loss_class *loss = &krein__loss_softmax;
    double value = 0;
    make_net(ctx, p, &net);
    if (krein__net_work_begin(&net, batch, true, &w) != KREIN_OK ||
        krein__net_work_begin(&net, 3 * batch, true, &query) != KREIN_OK ||
        krein__net_work_second(&w) != KREIN_OK)
        fail("no memory");
    int64_t size = net.count;
    float *P = subspace(&net), *th = need((INNER + 1) * size, sizeof *th);
    float *g = need(size, sizeof *g), *lambda = need(size, sizeof *lambda);
    float *u = need(size, sizeof *u), *Hu = need(size, sizeof *Hu);
    krein_rows support = krein__rows_dense(batch, net.in, p->x, net.in);
    krein_rows rest = krein__rows_dense(3 * batch, net.in, p->x + batch * net.in, net.in);
    krein_aims aims = {p->y, p->class, NULL};
    krein_aims aims_rest = {p->y + batch * p->k, p->class + batch, NULL};
    krein_compute c = krein__compute_begin(); /* OpenBLAS on one thread */
    *seconds = krein__clock(), *cpu = cpu_seconds();
    for (int64_t s = 0; s < count; s++) {
        memcpy(th, net.p, (size_t)size * sizeof *th);
        krein__net_load(&w, &support, NULL, batch);
        krein__net_load(&query, &rest, NULL, 3 * batch);
        for (int64_t t = 0; t < INNER; t++) {
            krein__net_loss_gradient(&w, th + t * size, loss, &aims, batch, g);
            memcpy(th + (t + 1) * size, th + t * size, (size_t)size * sizeof *th);
            project(size, P, RATE, g, th + (t + 1) * size);
        }
        value = krein__net_loss_gradient(&query, th + INNER * size, loss, &aims_rest, 3 * batch,
                                         lambda);
        for (int64_t t = INNER - 1; t >= 0; t--) {
            /* lambda -= rate H P P'lambda */
            if (t < INNER - 1) krein__net_loss_gradient(&w, th + t * size, loss, &aims, batch, g);
            memset(u, 0, (size_t)size * sizeof *u);
            project(size, P, -1, lambda, u);
            krein__net_hessian_vector(&w, loss, &aims, u, Hu);
            krein__saxpy(size, -RATE, Hu, lambda);
        }
    }
    *seconds = krein__clock() - *seconds, *cpu = cpu_seconds() - *cpu;
    *square = (double)krein__sdot(size, lambda, lambda);
    krein__compute_end(c);
    krein__net_work_end(&w);
    krein__net_work_end(&query);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
    free(P), free(th), free(g), free(lambda), free(u), free(Hu);
    return value;
}

static void begin(const problem *p) {
    krein_ctx *ctx = context(1);
    krein_net net;
    make_net(ctx, p, &net);
    float *P = subspace(&net);
    keep(p->paths, "start", net.count, net.p);
    keep(p->paths, "subspace", DIMENSIONS * net.count, P);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
    free(P);
}

int main(int argc, char **argv) {
    char line[128], what[32];
    long long batch, count;
    int threads;
    if (argc != 10) {
        fprintf(stderr, "usage: bench_conv ROWS CLASSES PATHS ARCH n h w c k\n");
        return 2;
    }
    restart(argv);
    problem p = {.paths = argv[3],
                 .arch = argv[4],
                 .n = atoll(argv[5]),
                 .image = {atoll(argv[6]), atoll(argv[7]), atoll(argv[8])},
                 .k = atoll(argv[9])};
    int64_t d = krein__shape_size(p.image);
    p.x = contents(argv[1], p.n * d, sizeof *p.x);
    p.class = contents(argv[2], p.n, sizeof *p.class);
    p.y = need(p.n * p.k, sizeof *p.y);
    for (int64_t i = 0; i < p.n * p.k; i++) p.y[i] = i % p.k == p.class[i / p.k] ? 1 : -1;
    begin(&p);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double seconds, cpu, loss, square = 0;
        if (sscanf(line, "%31s %lld %d %lld", what, &batch, &threads, &count) != 4) fail(line);
        if (strcmp(what, "meta") == 0 ? 4 * batch > p.n : batch > p.n) fail("too few rows");
        if (strcmp(what, "meta") == 0)
            loss = metas(&p, batch, threads, count, &seconds, &cpu, &square);
        else
            loss = steps(&p, batch, threads, count, &seconds, &cpu);
        printf("%.6f %.6f %.6f %.6g\n", seconds, cpu, loss, square);
        fflush(stdout);
    }
    return 0;
}
