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

/* The context, rows, columns of tables and sources: a field of a newer header must be zero. */
static void structs_of_a_newer_header(void) {
    struct {
        krein_ctx_options o;
        int64_t more;
    } context = {0};
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&context.o);
    context.o.size = sizeof context;
    context.more = 1;
    CHECK(krein_ctx_create(&context.o, &ctx) == KREIN_EARG && !ctx);
    CHECK_HAS(krein_message(NULL), "newer");
    context.more = 0;
    CHECK(krein_ctx_create(&context.o, &ctx) == KREIN_OK);

    struct {
        krein_column_view c;
        int64_t more;
    } column[2] = {{{0}, 0}};
    struct {
        krein_rows_view v;
        int64_t more;
    } view = {{0}, 0};
    static const double x[] = {1, 2, 3};
    krein_data *data = NULL;
    for (int j = 0; j < 2; j++)
        column[j].c =
            (krein_column_view){.size = sizeof *column, .numbers = x, .type = KREIN_FLOAT64};
    krein_rows_view_init(&view.v);
    view.v.size = sizeof view;
    view.v.n = 3;
    view.v.d = 2;
    view.v.columns = &column[0].c;
    CHECK(krein_data_from_rows(ctx, &view.v, NULL, &data) == KREIN_OK);
    krein_data_close(data);
    column[1].more = 1;
    CHECK(krein_data_from_rows(ctx, &view.v, NULL, &data) == KREIN_EARG && !data);
    CHECK_HAS(krein_message(ctx), "krein_column_view of a newer");
    column[1].more = 0;
    view.more = 1;
    CHECK(krein_data_from_rows(ctx, &view.v, NULL, &data) == KREIN_EARG && !data);
    CHECK_HAS(krein_message(ctx), "krein_rows_view of a newer");

    struct {
        krein_rows_source s;
        int64_t more;
    } source = {{.size = sizeof source}, 1};
    CHECK(krein_data_from_source(ctx, &source.s, NULL, &data) == KREIN_EARG && !data);
    CHECK_HAS(krein_message(ctx), "krein_rows_source of a newer");
    krein_ctx_destroy(ctx);
}

/* What is filled without a context: a struct without a size is left alone, and said to be past the
 * end. */
static void lists_without_size(void) {
    krein_entry entry = {0}, sized = KREIN_SIZED(krein_entry);
    krein_option_info option = {0}, filled = KREIN_SIZED(krein_option_info);
    krein_model_info info = {0};
    CHECK(!krein_list(0, &entry) && !entry.name);
    CHECK(krein_list(0, &sized) && sized.name);
    CHECK(!krein_list_option(0, 0, &option) && !option.name);
    CHECK(krein_list_option(0, 0, &filled) && filled.name);
    krein_ctx *ctx = test_ctx(1);
    rows r = friedman(60, .1, 5);
    krein_data *data = open_rows(ctx, &r, NULL, KREIN_TASK_REGRESSION);
    krein_train_options o = defaults();
    krein_model *m = NULL;
    o.kernel = "gaussian(sigma=1)";
    CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
    krein_model_describe(m, &info);
    CHECK(!info.learner && info.n == 0);
    krein_model_destroy(m);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    drop(&r);
}

/* The bounds of krein_limit are those of the checks. */
static void limits(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_train_options o = defaults();
    krein_data_options d;
    krein_data *data = NULL;
    float x[4] = {1, 2, 3, 4};
    double low, high;
    CHECK(!krein_limit("nothing", &low, &high));
    CHECK(krein_limit("holdout", &low, &high));
    o.holdout = high;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`holdout` takes a number of at least 0 that is less than 1");
    o.holdout = nextafter(high, low);
    CHECK(krein_train_check(ctx, &o) == KREIN_OK);
    o.holdout = nextafter(low, -1);
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    o.holdout = NAN;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    o.holdout = low;
    CHECK(krein_limit("lambda", &low, &high));
    o.lambda = high;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "`lambda` takes a finite number of at least 0");
    o.lambda = NAN;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    o.lambda = low;
    CHECK(krein_train_check(ctx, &o) == KREIN_OK);
    CHECK(krein_limit("features", &low, &high));
    o.features = (int64_t)high + 1;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    o.features = -1;
    CHECK(krein_train_check(ctx, &o) == KREIN_EARG);
    o.features = 0;
    CHECK(krein_train_check(ctx, &o) == KREIN_OK);
    krein_data_options_init(&d);
    CHECK(krein_limit("targets", &low, &high));
    d.targets = (int64_t)high + 1;
    CHECK(krein_data_from_dense(ctx, 4, 1, x, 1, NULL, NULL, &d, &data) == KREIN_EARG && !data);
    CHECK_HAS(krein_message(ctx), "`targets` takes a number from 1 to 64");
    d.targets = -1;
    CHECK(krein_data_from_dense(ctx, 4, 1, x, 1, NULL, NULL, &d, &data) == KREIN_EARG && !data);
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
    RUN(structs_of_a_newer_header);
    RUN(lists_without_size);
    RUN(limits);
    RUN(report_of_an_older_header);
    return DONE();
}
