/* test_sized.c -- structs that carry their size: options without one are refused, newer ones that
 * say something unknown too; reports are filled as far as the caller knows them, and leak nothing.
 */
#include "train.h"

#include "base/sized.h"

/* A report as a caller of an older header has it: up to the field `seconds_total`. */
enum { OLD = offsetof(krein_report, loo) };

static void options_without_size(void) {
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(60, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION), *other = NULL;
    krein_model *m = NULL;
    krein_train_options train = {0};
    krein_pca_options pca = {0};
    krein_cluster_options cluster = {0};
    krein_select_options select = {0};
    krein_approx_options approx = {0};
    krein_advise_options advise = {0};
    krein_generate_options generate = {0};
    krein_data_options read = {0};
    krein_ctx_options none = {0};
    krein_ctx *c = NULL;
    CHECK(krein_train(ctx, data, &train, NULL, &m) == KREIN_EARG && !m);
    CHECK_HAS(krein_message(ctx), "krein_train_options_init");
    CHECK(krein_plan(ctx, data, &train, NULL) == KREIN_EARG);
    CHECK(krein_transform(ctx, data, &train, "no.npy", NULL) == KREIN_EARG);
    CHECK(krein_gram(ctx, data, NULL, &train, "no.npy", NULL) == KREIN_EARG);
    CHECK(krein_gram_check(ctx, data, &train, KREIN_REPAIR_NONE, NULL, NULL, NULL) == KREIN_EARG);
    CHECK(krein_fit(ctx, data, &train, NULL, &m) == KREIN_EARG && !m);
    CHECK(krein_pca(ctx, data, &pca, NULL, NULL, NULL) == KREIN_EARG);
    CHECK(krein_cluster(ctx, data, &cluster, NULL, NULL, NULL, NULL) == KREIN_EARG);
    CHECK(krein_select(ctx, data, &select, NULL) == KREIN_EARG);
    CHECK(krein_approx(ctx, data, &approx, NULL) == KREIN_EARG);
    CHECK(krein_advise(ctx, data, &advise, NULL) == KREIN_EARG);
    CHECK(krein_generate(ctx, "arm", &generate, "no.csv") == KREIN_EARG);
    CHECK(krein_data_from_dense(ctx, 2, 1, r.x, 1, NULL, NULL, &read, &other) == KREIN_EARG);
    CHECK(!other && krein_ctx_create(&none, &c) == KREIN_EARG && !c);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

static void options_of_a_newer_header(void) {
    krein_ctx *ctx = test_ctx(1);
    struct {
        krein_train_options o;
        int64_t more;
    } newer = {0};
    krein_train_options mine;
    krein_train_options_init(&newer.o);
    krein_train_options_init(&mine);
    newer.o.size = sizeof newer;
    newer.o.seed = 7;
    CHECK(krein__options_copy(ctx, &newer, &mine, "krein_train_options") == KREIN_OK);
    CHECK(mine.seed == 7 && mine.size == sizeof mine);
    newer.more = 1;
    CHECK(krein__options_copy(ctx, &newer, &mine, "krein_train_options") == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "newer");
    krein_ctx_destroy(ctx);
}

/* Nothing is written behind what the caller knows, and what it does not know is freed. */
static void report_of_an_older_header(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    rows r = friedman(80, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    krein_report report, full = KREIN_SIZED(krein_report);
    o.kernel = "gaussian(sigma=1)";
    o.holdout = .25;
    memset(&report, 0x5a, sizeof report);
    report.size = OLD;
    CHECK(krein_train(ctx, data, &o, &report, &m) == KREIN_OK);
    CHECK(report.n == 60 && report.kernel && report.seconds_total > 0);
    for (size_t i = OLD; i < sizeof report; i++) CHECK(((char *)&report)[i] == 0x5a);
    krein_report_clear(ctx, &report);
    CHECK(report.size == OLD && !report.kernel);
    krein_model_destroy(m);
    CHECK(krein_train(ctx, data, &o, &full, &m) == KREIN_OK && full.test && full.test->n == 20);
    krein_report_clear(ctx, &full);
    krein_model_destroy(m);
    krein_report none = {0};
    CHECK(krein_train(ctx, data, &o, &none, &m) == KREIN_EARG && !m);
    CHECK_HAS(krein_message(ctx), "KREIN_SIZED");
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
    drop(&r);
}

int main(void) {
    RUN(options_without_size);
    RUN(options_of_a_newer_header);
    RUN(report_of_an_older_header);
    return DONE();
}
