/* path_subspace.c -- the subspace of a training on some rows
 *
 * Gradient descent with momentum from the start that all tasks have, in batches of 32, with a
 * constant rate; the principal components of the parameters behind every step (net/trail.c). */
#include "fewshot/fewshot.h"

#include "net/fit.h"

#include <string.h>

enum { BATCH = 32 };
static const double RATE = 0.02;

typedef struct rows {
    krein_window all;
} rows;

static krein_status window(void *user, int64_t which, krein_window *out) {
    (void)which;
    *out = ((rows *)user)->all;
    return KREIN_OK;
}

static krein_status record(void *user, int64_t step, const float *p) {
    return krein__trail_note(user, step, p);
}

krein_status krein__path_subspace(krein_ctx *ctx, const krein_fewshot_run *f,
                                  const krein_images *im, int64_t n, const int64_t *row,
                                  const int32_t *label, double **P, int64_t *s) {
    krein_status st = KREIN_OK;
    krein_net net = {0};
    krein_trail trail = {0};
    krein_subspace found = {0};
    krein_matrix x = {0};
    krein_fit_report report;
    krein_optimizer sgd = {0};
    float *y = NULL;
    int64_t which, ways = f->size.ways;
    krein_rows from = krein__matrix_rows(&im->x);
    krein_net_kind kind = {f->arch, im->shape, ways};
    TRY(krein__net_arch(ctx, f->arch, im->shape, ways, &net));
    memcpy(net.p, f->net.p, (size_t)net.count * sizeof *net.p);
    TRY(krein__parse_spec(ctx, "sgd", "optimizer", krein__optimizers, krein__optimizer_count,
                          &which, &sgd.values));
    sgd.cls = (const krein_optimizer_class *)krein__optimizers[which];
    TRY(krein__matrix_gather(ctx, &from, row, n, &x));
    ZNEW(y, n * ways);
    rows all = {{krein__matrix_rows(&x), {y, label, NULL}}};
    krein_fit_rows fit = {.n = n, .windows = 1, .window = window, .user = &all};
    int64_t steps = f->o.path_epochs * ((n + BATCH - 1) / BATCH);
    TRY(krein__trail_begin(ctx, &net, krein__max(1, steps / 200), 0, &trail));
    krein_fit_options o = {.loss = &krein__loss_softmax,
                           .optimizer = sgd,
                           .rate = RATE,
                           .schedule = KREIN_SCHEDULE_CONSTANT,
                           .epochs = f->o.path_epochs,
                           .batch = krein__min(BATCH, n),
                           .seed = f->o.seed,
                           .record = record,
                           .record_user = &trail};
    TRY(krein__net_fit(&net, &fit, &o, &report));
    TRY(krein__trail_components(&trail, &kind, f->o.dimensions, &found));
    *s = found.s;
    NEW(*P, found.s * found.m);
    for (int64_t i = 0; i < found.s * found.m; i++) (*P)[i] = (double)found.basis[i];
done:
    krein__values_clear(ctx, &sgd.values);
    krein__subspace_clear(&found);
    krein__trail_end(&trail);
    krein__matrix_clear(ctx, &x);
    krein__net_clear(&net);
    krein__free(ctx, y);
    return st;
}
