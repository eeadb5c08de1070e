/* test_transform_files.c -- the files of transform and gram, number by number. */
#include "train.h"

/* ---- transform and gram ------------------------------------------------- */

/* The data of a little-endian NPY file of version 1, of the type and shape that is said. */
static void *read_npy(const char *path, const char *type, int64_t n, int64_t d, size_t size) {
    test_bytes b = test_slurp(path);
    char shape[60];
    void *out = NULL;
    if (!b.at || b.n < 10 || memcmp(b.at, "\x93NUMPY\x01", 7) != 0) {
        printf("%s is not an NPY file\n", path);
        test_bad++;
        free(b.at);
        return test_new(n * (d < 0 ? 1 : d), size);
    }
    int64_t head = 10 + (unsigned char)b.at[8] + 256 * (unsigned char)b.at[9];
    char *text = test_new(head, 1);
    memcpy(text, b.at + 10, (size_t)head - 10);
    if (d < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n, (long long)d);
    CHECK_HAS(text, type);
    CHECK_HAS(text, shape);
    int64_t want = n * (d < 0 ? 1 : d) * (int64_t)size;
    CHECK(b.n - head == want);
    out = test_new(want, 1);
    if (b.n - head == want) memcpy(out, b.at + head, (size_t)want);
    free(text);
    free(b.at);
    return out;
}

static double distance2(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += pow((double)x[j] - (double)y[j], 2);
    return sum;
}

static krein_data *unscaled(krein_ctx *ctx, const rows *r) {
    krein_data_options d;
    krein_data *data = NULL;
    krein_data_options_init(&d);
    d.scale = KREIN_SCALE_NONE;
    if (krein_data_from_dense(ctx, r->n, r->d, r->x, r->d, NULL, NULL, &d, &data) != KREIN_OK)
        exit(1);
    return data;
}

static void gram_values(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(230, 3, 1, 24), q = make_rows(50, 3, 1, 25);
    krein_train_options o = defaults();
    krein_transform_report report = KREIN_SIZED(krein_transform_report);
    const char *path = test_path("K.npy");
    o.kernel = "2*gaussian(sigma=0.7) - linear";
    for (int two = 0; two < 2; two++) {
        krein_data *a = unscaled(ctx, &r), *b = two ? unscaled(ctx, &q) : NULL;
        const rows *s = two ? &q : &r;
        krein_status st = krein_gram(ctx, a, b, &o, path, &report);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        CHECK(report.n == 230 && report.d == 3 && report.D == s->n);
        double *K = read_npy(path, "<f8", 230, s->n, 8), worst = 0;
        for (int64_t i = 0; i < 230; i++)
            for (int64_t j = 0; j < s->n; j++) {
                const float *x = r.x + i * 3, *y = s->x + j * 3;
                double want = 2 * exp(-distance2(x, y, 3) / (2 * .49));
                for (int c = 0; c < 3; c++) want -= (double)x[c] * (double)y[c];
                worst = fmax(worst, fabs(K[i * s->n + j] - want));
            }
        CHECK_ABS(worst, 0, 1e-12);
        free(K);
        krein_transform_report_clear(ctx, &report);
        krein_data_close(a);
        krein_data_close(b);
    }
    /* Scaled rows: DATA2 with the columns' statistics of DATA. */
    krein_data *a = NULL, *b = NULL;
    double mean[3] = {0}, sd[3] = {0};
    CHECK(krein_data_from_dense(ctx, 230, 3, r.x, 3, NULL, NULL, NULL, &a) == KREIN_OK);
    CHECK(krein_data_from_dense(ctx, 50, 3, q.x, 3, NULL, NULL, NULL, &b) == KREIN_OK);
    o.kernel = "gaussian(sigma=1.5)";
    CHECK(krein_gram(ctx, a, b, &o, path, &report) == KREIN_OK);
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 230; i++) mean[j] += (double)r.x[i * 3 + j] / 230;
        for (int i = 0; i < 230; i++) sd[j] += pow((double)r.x[i * 3 + j] - mean[j], 2) / 230;
    }
    double *K = read_npy(path, "<f8", 230, 50, 8), worst = 0;
    for (int64_t i = 0; i < 230; i++)
        for (int64_t j = 0; j < 50; j++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += pow((double)r.x[i * 3 + c] - (double)q.x[j * 3 + c], 2) / sd[c];
            worst = fmax(worst, fabs(K[i * 50 + j] - exp(-sum / (2 * 2.25))));
        }
    CHECK_ABS(worst, 0, 1e-5);
    free(K);
    krein_transform_report_clear(ctx, &report);
    krein_data_close(a);
    krein_data_close(b);
    drop(&r);
    drop(&q);
    krein_ctx_destroy(ctx);
}

static void transform_values(void) {
    krein_ctx *ctx = test_ctx(2);
    rows r = make_rows(120, 3, 1, 26);
    static const struct {
        const char *kernel, *map;
        double tolerance;
    } all[] = {
        {"gaussian(sigma=0.4)", "nystrom(D=120)", 2e-3}, /* all rows are landmarks: exact */
        {"gaussian(sigma=0.3) - 0.4*gaussian(sigma=0.9)", "nystrom(D=120)", 2e-2}, /* one half */
        {"gaussian(sigma=0.4)", "rff(D=8192)", .09}, /* about 6 / sqrt(4096) */
        {"gaussian(sigma=0.4)", "orf(D=8192)", .09},
        {"gaussian(sigma=0.4) - 0.5*gaussian(sigma=1)", "rff(D=8192)", .2}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        krein_data *data = unscaled(ctx, &r);
        krein_train_options o = defaults();
        krein_transform_report report = KREIN_SIZED(krein_transform_report);
        const char *path = test_path("z.npy"), *beside = test_path("z.sign.npy");
        bool minus = strchr(all[k].kernel, '-') != NULL;
        unlink(beside);
        o.kernel = all[k].kernel;
        o.map = all[k].map;
        krein_status st = krein_transform(ctx, data, &o, path, &report);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        if (st != KREIN_OK) {
            krein_data_close(data);
            continue;
        }
        int64_t D = report.D, negative = 0;
        CHECK(report.n == 120 && report.d == 3 && D > 0);
        CHECK((report.negative > 0) == minus);
        CHECK((access(beside, F_OK) == 0) == minus);
        float *z = read_npy(path, "<f4", 120, D, 4);
        signed char *sign = minus ? read_npy(beside, "|i1", D, -1, 1) : NULL;
        for (int64_t f = 0; sign && f < D; f++) {
            CHECK(sign[f] == 1 || sign[f] == -1);
            negative += sign[f] == -1;
        }
        CHECK(negative == report.negative);
        double worst = 0;
        for (int64_t i = 0; i < 120; i++)
            for (int64_t j = 0; j < 120; j++) {
                double d2 = distance2(r.x + i * 3, r.x + j * 3, 3), sum = 0, want;
                for (int64_t f = 0; f < D; f++)
                    sum += (sign ? sign[f] : 1) * (double)z[i * D + f] * (double)z[j * D + f];
                want = k == 1 ? exp(-d2 / (2 * .09)) - .4 * exp(-d2 / (2 * .81))
                              : exp(-d2 / (2 * .16));
                if (k == 4) want -= .5 * exp(-d2 / 2);
                worst = fmax(worst, fabs(sum - want));
            }
        CHECK_ABS(worst, 0, all[k].tolerance);
        free(z);
        free(sign);
        krein_transform_report_clear(ctx, &report);
        krein_data_close(data);
    }
    krein_data *data = unscaled(ctx, &r);
    krein_train_options o = defaults();
    krein_transform_report report = KREIN_SIZED(krein_transform_report);
    o.map = "exact";
    CHECK(krein_transform(ctx, data, &o, test_path("no.npy"), &report) == KREIN_EARG);
    CHECK_HAS(krein_message(ctx), "gram");
    CHECK(access(test_path("no.npy"), F_OK) != 0);
    krein_data_close(data);
    drop(&r);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(gram_values);
    RUN(transform_values);
    return DONE();
}
