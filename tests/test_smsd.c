/* test_smsd.c -- smsd and ufo on the rows of a bank: tails, matrices against features, weights that
 * make sense. */
#include "train.h"

#include "weighings.h"
#include "combine/tails.h"
#include "map/joint.h"
#include "num/blas.h"
#include "solve/mirror.h"

enum { MOST = 8 };

/* ---- banks -------------------------------------------------------------- */

typedef struct setting {
    krein_ctx *ctx;
    krein_data *data;
    krein_model model;
    krein_job job;
    krein_kernel_list list;
    double scale[MOST];
    krein_bank matrices, features;
} setting;

static void must(krein_ctx *ctx, krein_status st) {
    if (st == KREIN_OK) return;
    printf("%s\n", krein_message(ctx));
    exit(1);
}

/* maps: one for each kernel, or NULL: by matrices alone. */
static void open_setting(krein_ctx *ctx, const rows *r, const double *weight, const char *kernels,
                         const char *const *maps, setting *s) {
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->data = open_rows(ctx, r, weight, KREIN_TASK_CLASSIFICATION);
    krein_encoding *e = &s->model.encoding;
    must(ctx, krein__data_scan(s->data, KREIN_LABELS_WANTED, 0, 1, e));
    s->model.ctx = ctx;
    s->model.k = e->nclass == 2 ? 1 : e->nclass;
    s->job = (krein_job){
        .ctx = ctx, .data = s->data, .model = &s->model, .n = r->n, .lambda = -1, .seed = 5};
    must(ctx, krein__stream_open(s->data, e, KREIN_PART_TRAIN, &s->job.rows));
    must(ctx, krein__kernels_parse(ctx, kernels, &s->list));
    must(ctx, krein__bank_scales(&s->job, s->list.kernel, s->list.n, s->scale));
    s->matrices = (krein_bank){
        .ctx = ctx, .job = &s->job, .M = s->list.n, .kernel = s->list.kernel, .scale = s->scale};
    s->features = s->matrices;
    must(ctx, krein__bank_matrices(&s->matrices));
    if (!maps) return;
    krein_map *map = NULL;
    krein_joint joint = {
        .n = s->list.n, .kernel = s->list.kernel, .coefficient = s->scale, .spec = maps};
    must(ctx, krein__joint_create(ctx, &joint, 64, e->d, e->sparse, 5, &map));
    must(ctx, krein__map_fit(map, e->d, e->sparse, s->job.rows, r->n));
    s->features.map = map;
    s->features.first = krein__alloc(ctx, s->list.n + 1, sizeof *s->features.first);
    krein__joint_first(map, s->features.first);
}

static void close_setting(setting *s) {
    krein__map_destroy((krein_map *)(uintptr_t)s->features.map);
    krein__bank_clear(&s->features);
    krein__bank_clear(&s->matrices);
    krein__kernels_clear(s->ctx, &s->list);
    krein__stream_close(s->job.rows);
    krein__encoding_clear(s->ctx, &s->model.encoding);
    krein_data_close(s->data);
}

static const weighing_options plain = {.theta = NAN, .alpha = NAN, .beta = NAN, .epochs = 20};

static void shares(const krein_weighing_class *method, krein_bank *bank, weighing_options o,
                   double *mu) {
    double sum = 0;
    must(bank->ctx, find_weights(method, bank, o, mu));
    for (int64_t m = 0; m < bank->M; m++) sum += mu[m];
    for (int64_t m = 0; m < bank->M; m++) mu[m] /= sum;
}

/* ---- tails -------------------------------------------------------------- */

static double slow_tail(const krein_bank *b, int64_t k, int64_t theta) {
    int64_t n = b->rows.n;
    double *a = test_new(n * n, sizeof *a), *w = test_new(n, sizeof *w), sum = 0, total = 0;
    for (int64_t i = 0; i < n; i++) total += b->rows.weight ? b->rows.weight[i] : 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = b->K[k][i * n + j] *
                           (b->rows.weight ? sqrt(b->rows.weight[i] * b->rows.weight[j]) : 1);
    CHECK(krein__eigenvalues(b->ctx, n, a, n, w) == KREIN_OK);
    for (int64_t j = 0; j < n - theta; j++) sum += w[j];
    free(a);
    free(w);
    return sum / total;
}

static const char *const exact_maps[] = {"explicit", "explicit", "explicit"};
static const char polynomials[] = "linear; poly(degree=2); poly(degree=3)";

static void tails(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(90, 3, 1);
    double *weight = test_new(90, sizeof *weight);
    for (int64_t i = 0; i < 90; i++) weight[i] = (double)(i % 4);
    for (int weighted = 0; weighted < 2; weighted++) {
        setting s;
        double a[3], b[3];
        open_setting(ctx, &r, weighted ? weight : NULL, polynomials, exact_maps, &s);
        for (int64_t theta = 0; theta <= 12; theta += 4) {
            CHECK(krein__bank_tails(&s.matrices, (double)theta, a) == KREIN_OK);
            CHECK(krein__bank_tails(&s.features, (double)theta, b) == KREIN_OK);
            for (int64_t m = 0; m < 3; m++) {
                CHECK_ABS(a[m], slow_tail(&s.matrices, m, theta), 2e-9);
                CHECK_ABS(b[m], a[m], 1e-6);
            }
            CHECK_ABS(a[0], theta ? 0 : 1, 1e-6); /* three columns */
            CHECK((a[0] == 0) == (theta > 0) && (b[0] == 0) == (theta > 0));
        }
        CHECK(krein__bank_tails(&s.matrices, NAN, a) == KREIN_OK);
        CHECK_ABS(a[2], slow_tail(&s.matrices, 2, 9), 2e-9);
        CHECK(krein__bank_tails(&s.matrices, 1e6, a) == KREIN_OK);
        CHECK(a[0] == 0 && a[1] == 0 && a[2] == 0);
        close_setting(&s);
    }
    free(weight);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* The way of few eigenvalues of a large matrix. */
static void large_tails(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = rings(700, 2, 2);
    setting s;
    double a[2];
    open_setting(ctx, &r, NULL, "gaussian(sigma=0.3); gaussian(sigma=1)", NULL, &s);
    CHECK(krein__bank_tails(&s.matrices, 10, a) == KREIN_OK);
    for (int64_t m = 0; m < 2; m++) CHECK_ABS(a[m], slow_tail(&s.matrices, m, 10), 1e-9);
    CHECK(a[0] > a[1]);
    close_setting(&s);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- both routes -------------------------------------------------------- */

static void matrices_and_features(void) {
    krein_ctx *ctx = test_ctx(2);
    const krein_weighing_class *const method[] = {&krein__weigh_smsd, &krein__weigh_ufo};
    for (int64_t classes = 2; classes <= 3; classes++) {
        rows r = rings(150, (int)classes, 3);
        setting s;
        open_setting(ctx, &r, NULL, polynomials, exact_maps, &s);
        for (int way = 0; way < 2; way++) {
            double a[3], b[3];
            weighing_options o = plain;
            o.theta = 5;
            shares(method[way], &s.matrices, o, a);
            shares(method[way], &s.features, o, b);
            for (int m = 0; m < 3; m++) CHECK_ABS(b[m], a[m], 2e-6);
            CHECK(a[0] >= 0 && a[1] > 0 && a[2] > 0);
        }
        close_setting(&s);
        drop(&r);
    }
    krein_ctx_destroy(ctx);
}

/* smsd is mirror descent with the tails as r, ufo with ones. */
static void by_the_definition(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(60, 3, 4);
    setting s;
    double tail[3], one[3] = {1, 1, 1}, mu[3], want[3];
    int64_t order[60];
    weighing_options o = {.theta = 3, .alpha = 0.02, .beta = 0.1, .epochs = 1};
    open_setting(ctx, &r, NULL, polynomials, NULL, &s);
    CHECK(krein__bank_tails(&s.matrices, 3, tail) == KREIN_OK);
    krein__rng_permute(krein__substream(s.job.seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LEARN), 60,
                       order);
    for (int way = 0; way < 2; way++) {
        krein_mirror m = {.ctx = ctx,
                          .n = 60,
                          .M = 3,
                          .classes = 3,
                          .K = s.matrices.K,
                          .order = order,
                          .class = s.matrices.rows.class,
                          .r = way ? one : tail,
                          .alpha = 0.02,
                          .beta = 0.1,
                          .epochs = 1,
                          .mu = want};
        CHECK(krein__mirror(&m) == KREIN_OK);
        const krein_weighing_class *c = way ? &krein__weigh_ufo : &krein__weigh_smsd;
        CHECK(find_weights(c, &s.matrices, o, mu) == KREIN_OK);
        CHECK(memcmp(mu, want, sizeof mu) == 0);
        CHECK(c->tasks == KREIN_FOR_CLASSES && !c->indefinite && c->row_weights);
    }
    close_setting(&s);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Kernels without eigenvalues after theta have no penalty, and that is said. */
static void nothing_to_penalise(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = rings(60, 3, 8);
    setting s;
    double a[3], b[3];
    weighing_options o = plain;
    open_setting(ctx, &r, NULL, polynomials, exact_maps, &s);
    o.theta = 40;
    shares(&krein__weigh_smsd, &s.features, o, a);
    CHECK_HAS(log.text, "nothing is penalised");
    o.beta = 0;
    shares(&krein__weigh_ufo, &s.features, o, b);
    for (int m = 0; m < 3; m++) CHECK(a[m] == b[m]);
    close_setting(&s);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- what the weights are ----------------------------------------------- */

/* Kernels that are too narrow, or cannot tell the classes apart, get next to nothing, and the same
 * twice the same. */
static void sensible_weights(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = rings(400, 3, 5);
    setting s;
    double mu[5];
    open_setting(ctx, &r, NULL,
                 "gaussian(sigma=0.3); gaussian(sigma=0.3); gaussian(sigma=0.01); linear; "
                 "gaussian(sigma=1)",
                 NULL, &s);
    for (int way = 0; way < 2; way++) {
        shares(way ? &krein__weigh_ufo : &krein__weigh_smsd, &s.matrices, plain, mu);
        CHECK(mu[0] == mu[1]);
        CHECK(mu[0] > 0.1 && mu[4] > mu[0]); /* inputs have unit variance */
        CHECK(mu[2] < 0.05);
        CHECK(mu[3] < 0.05); /* rings are not linear */
    }
    /* a penalty that leaves nothing is the caller's to report */
    weighing_options o = plain;
    o.beta = 1e6;
    CHECK(find_weights(&krein__weigh_ufo, &s.matrices, o, mu) == KREIN_OK);
    for (int m = 0; m < 5; m++) CHECK(mu[m] == 0);
    close_setting(&s);
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = rings(30, 3, 6);
    ctx->keep_rows = KREIN_KEEP_MEMORY; /* a stream then holds nothing between passes */
    setting s;
    double mu[3];
    weighing_options o = plain;
    o.epochs = 2;
    open_setting(ctx, &r, NULL, polynomials, exact_maps, &s);
    for (int way = 0; way < 2; way++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_bank *bank = way ? &s.features : &s.matrices;
            krein_status st = find_weights(&krein__weigh_smsd, bank, o, mu);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        }
    close_setting(&s);
    CHECK(test_live(&memory) == 0);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(tails);
    RUN(large_tails);
    RUN(matrices_and_features);
    RUN(by_the_definition);
    RUN(nothing_to_penalise);
    RUN(sensible_weights);
    RUN(every_allocation_fails);
    return DONE();
}
