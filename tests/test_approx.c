/* test_approx.c -- krein_approx and krein_gram_check: definitions, refusals, failing memory. */
#include "common.h"

static krein_ctx *ctx;

enum { N = 40, D = 4 };

static krein_data *data_on(krein_ctx *on, const float *x, krein_status *st) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    *st = krein_data_from_dense(on, N, D, x, D, NULL, NULL, &o, &data);
    return data;
}

static krein_approx_options asked(const char *const *maps, int64_t n, const int64_t *sizes,
                                  int64_t nsizes) {
    krein_approx_options o;
    krein_approx_options_init(&o);
    o.kernel = "gaussian(sigma=1.5)";
    o.maps = maps;
    o.nmaps = n;
    o.features = sizes;
    o.nfeatures = nsizes;
    o.rows = N;
    o.repeats = 3;
    return o;
}

/* Nystrom with every row as a landmark is the kernel itself; the error of rff falls as
 * D^(-1/2): its square has the mean (1/(n^2 F)) sum of variances per frequency. */
static void errors(void) {
    static const char *const maps[] = {"nystrom(D=40)", "rff"};
    static const int64_t sizes[] = {200};
    krein_status st;
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(ctx, x, &st);
    krein_approx_options o = asked(maps, 2, sizes, 1);
    o.repeats = 50;
    CHECK(krein_approx(ctx, data, &o, &r) == KREIN_OK);
    CHECK(r.count == 2 && r.rows == N && r.n == N && r.d == D && r.repeats == 50);
    CHECK(r.results[0]->error_mean < 1e-4 && r.results[0]->series == 0);
    double top = 0, bottom = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double square = 0;
            for (int c = 0; c < D; c++) {
                double delta = (double)x[i * D + c] - (double)x[j * D + c];
                square += delta * delta;
            }
            double k = exp(-square / (2 * 1.5 * 1.5));
            top += (1 - k * k) * (1 - k * k) / 2 / 100; /* 100 frequencies */
            bottom += k * k;
        }
    /* The mean of the error is a little below the root of the mean square, by its variance. */
    double rms = sqrt(top / bottom), mean = r.results[1]->error_mean, sd = r.results[1]->error_sd;
    double square = mean * mean + sd * sd;
    CHECK(fabs(square - rms * rms) < 5 * 2 * mean * sd / sqrt(50));
    CHECK(r.results[1]->series == 1 && r.results[1]->worst > r.results[1]->error_mean / 10);
    krein_approx_report_clear(ctx, &r);
    krein_data_close(data);
    free(x);
}

static void refusals(void) {
    static const char *const one[] = {"rff"}, *const wrong[] = {"orff"}, *const dual[] = {"exact"};
    static const int64_t sizes[] = {8};
    static const struct {
        const char *const *maps;
        int64_t nsizes, rows, repeats, max_exact;
        const char *kernel, *says;
        krein_status status;
    } cases[] = {{one, 0, N, 3, 100, NULL, "`features`", KREIN_EARG},
                 {wrong, 1, N, 3, 100, NULL, "orf", KREIN_ESPEC},
                 {dual, 1, N, 3, 100, NULL, "exact", KREIN_EARG},
                 {one, 1, 1, 3, 100, NULL, "`rows`", KREIN_EARG},
                 {one, 1, N, 0, 100, NULL, "`repeats`", KREIN_EARG},
                 {one, 1, N, 3, 10, NULL, "`max_exact`", KREIN_EARG},
                 {one, 1, N, 3, 100, "linear", "rff", KREIN_ESPEC},
                 {one, 1, N, 3, 100, "0*gaussian(sigma=1)", "zero", KREIN_EDATA}};
    krein_status st;
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(ctx, x, &st);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_approx_options o = asked(cases[i].maps, 1, sizes, cases[i].nsizes);
        o.rows = cases[i].rows;
        o.repeats = cases[i].repeats;
        o.max_exact = cases[i].max_exact;
        if (cases[i].kernel) o.kernel = cases[i].kernel;
        CHECK(krein_approx(ctx, data, &o, &r) == cases[i].status);
        CHECK_HAS(krein_message(ctx), cases[i].says);
        CHECK(r.results == NULL && r.count == 0);
    }
    /* One size too small for the terms of the kernel is a line of the result. */
    static const int64_t two[] = {1, 8};
    krein_approx_options o = asked(one, 1, two, 2);
    o.kernel = "gaussian(sigma=1) + gaussian(sigma=2)";
    CHECK(krein_approx(ctx, data, &o, &r) == KREIN_OK);
    CHECK(r.count == 2 && r.results[0]->refused && isnan(r.results[0]->error_mean));
    CHECK(r.results[0]->D == 1 && !r.results[1]->refused && r.results[1]->error_mean > 0);
    krein_approx_report_clear(ctx, &r);
    krein_data_close(data);
    free(x);
}

/* K = k(0) I on rows far apart: eigenvalues are known; with a minus all are negative. */
static void spectra(void) {
    static const struct {
        const char *kernel;
        double low, high, mass;
        int64_t negative;
    } cases[] = {{"gaussian(sigma=1e-3)", 1, 1, 0, 0},
                 {"-2*gaussian(sigma=1e-3)", -2, -2, 1, N},
                 {"linear", 0, INFINITY, 0, 0}};
    krein_status st;
    krein_train_options o;
    krein_gram_spectrum s = KREIN_SIZED(krein_gram_spectrum);
    krein_transform_report r = KREIN_SIZED(krein_transform_report);
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(ctx, x, &st);
    krein_train_options_init(&o);
    for (int i = 0; i < 3; i++) {
        o.kernel = cases[i].kernel;
        CHECK(krein_gram_check(ctx, data, &o, KREIN_REPAIR_NONE, NULL, &s, &r) == KREIN_OK);
        CHECK(s.asymmetry == 0 && s.negative == cases[i].negative);
        CHECK_ABS(s.low, cases[i].low, 1e-12);
        if (isfinite(cases[i].high)) CHECK_ABS(s.high, cases[i].high, 1e-12);
        CHECK_ABS(s.negative_mass, cases[i].mass, 1e-12);
        CHECK(r.n == N && r.D == N && r.kernel);
        krein_transform_report_clear(ctx, &r);
    }
    krein_data_close(data);
    free(x);
}

static void every_allocation_fails(void) {
    static const char *const maps[] = {"rff", "nystrom"};
    static const int64_t sizes[] = {8};
    char path[256];
    snprintf(path, sizeof path, "%s", test_path("k.npy"));
    float *x = test_dense(N, D, 0.2);
    test_memory m;
    krein_ctx *on = test_ctx_with(2, &m);
    krein_train_options t;
    krein_train_options_init(&t);
    t.kernel = "gaussian(sigma=1) - gaussian(sigma=3)";
    for (int which = 0; which < 2; which++) TEST_EVERY_ALLOCATION(&m, k) {
            krein_status st;
            krein_approx_report r = KREIN_SIZED(krein_approx_report);
            krein_transform_report g = KREIN_SIZED(krein_transform_report);
            krein_gram_spectrum s = KREIN_SIZED(krein_gram_spectrum);
            krein_data *data = data_on(on, x, &st);
            krein_approx_options o = asked(maps, 2, sizes, 1);
            o.repeats = 2;
            if (st == KREIN_OK && which == 0) {
                st = krein_approx(on, data, &o, &r);
                krein_approx_report_clear(on, &r);
            } else if (st == KREIN_OK) {
                st = krein_gram_check(on, data, &t, KREIN_REPAIR_FLIP, path, &s, &g);
                krein_transform_report_clear(on, &g);
            }
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
            krein_data_close(data);
        }
    krein_ctx_destroy(on);
    free(x);
}

/* The error of independent sets falls with D; one set of all directions stops. */
static void ssf_converges(void) {
    static const char *const maps[] = {"ssf", "rff", "ssf(sets=one)"};
    static const int64_t sizes[] = {128, 8192};
    krein_status st;
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(ctx, x, &st);
    krein_approx_options o = asked(maps, 3, sizes, 2);
    o.repeats = 10;
    CHECK(krein_approx(ctx, data, &o, &r) == KREIN_OK && r.count == 6);
    double many = r.results[1]->error_mean, rff = r.results[3]->error_mean;
    CHECK(many < 0.7 * rff);
    CHECK(many < r.results[0]->error_mean / 5); /* 8 at the rate of D^(-1/2) */
    CHECK(many < r.results[5]->error_mean / 2);
    if (getenv("TEST_TIMES"))
        for (int i = 0; i < 6; i++)
            printf("%s %.4g\n", r.results[i]->map, r.results[i]->error_mean);
    krein_approx_report_clear(ctx, &r);
    krein_data_close(data);
    free(x);
}

/* What a map says of one draw it says of all: once. Facts are those of the first. */
static void says_it_once(void) {
    static const char *const maps[] = {"nystrom", "gorf"};
    static const int64_t sizes[] = {60};
    test_log log;
    krein_status st;
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    krein_ctx *on = test_ctx_full(2, NULL, &log);
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(on, x, &st);
    krein_approx_options o = asked(maps, 2, sizes, 1);
    memset(&log, 0, sizeof log);
    CHECK(krein_approx(on, data, &o, &r) == KREIN_OK && r.count == 2);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "60 landmarks asked for");
    CHECK(r.results[0]->D <= N && r.results[0]->nfacts == 1 && r.results[0]->facts[0].value == N);
    CHECK(r.results[1]->nfacts == 9);
    if (r.results[1]->nfacts == 9) CHECK(strcmp(r.results[1]->facts[8].text, "finite masses") == 0);
    krein_approx_report_clear(on, &r);
    krein_data_close(data);
    krein_ctx_destroy(on);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(errors);
    RUN(refusals);
    RUN(spectra);
    RUN(ssf_converges);
    RUN(says_it_once);
    RUN(every_allocation_fails);
    krein_ctx_destroy(ctx);
    return DONE();
}
