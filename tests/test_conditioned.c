/* test_conditioned.c -- Nystrom ridge regression where the plain normal equations in float32,
 *     (R'R + n lambda K_mm) w = R'y,      R = (k(x_i, l_j)),
 * have no Cholesky factor any more, from a large lambda to a tiny one. */
#include "common.h"

#include "num/blas.h"

#include <zlib.h>

typedef struct rows {
    int64_t n, d;
    float *x; /* columns of mean 0 and variance 1, so that the test knows the kernel values */
    double *y;
} rows;

static rows make_rows(int64_t n, int64_t d) {
    return (rows){n, d, test_new(n * d, sizeof(float)), test_new(n, sizeof(double))};
}
static void drop(rows *r) {
    free(r->x);
    free(r->y);
}

static void standardise(rows *r) {
    for (int64_t j = 0; j < r->d; j++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < r->n; i++) mean += (double)r->x[i * r->d + j] / (double)r->n;
        for (int64_t i = 0; i < r->n; i++)
            square += pow((double)r->x[i * r->d + j] - mean, 2) / (double)r->n;
        for (int64_t i = 0; i < r->n; i++) {
            float *x = &r->x[i * r->d + j];
            *x = (float)(((double)*x - mean) / sqrt(square));
        }
    }
}

/* ---- the plain way ------------------------------------------------------ */

/* Cholesky in float32, row by row: false where a pivot is not positive. */
static bool factor(int64_t m, float *a) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            float s = a[i * m + j];
            for (int64_t k = 0; k < j; k++) s -= a[i * m + k] * a[j * m + k];
            if (i == j && !(s > 0)) return false;
            a[i * m + j] = i == j ? sqrtf(s) : s / a[j * m + j];
        }
    return true;
}

/* The first n rows, with the first m of them as landmarks. Where this matrix has no factor, none
 * that contains it has one: with more landmarks it only gets worse. */
static bool plain_solves(const rows *r, int64_t n, int64_t m, double sigma, double lambda) {
    float *R = test_new(n * m, sizeof *R), *A = test_new(m * m, sizeof *A);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float square = 0;
            for (int64_t c = 0; c < r->d; c++) {
                float by = r->x[i * r->d + c] - r->x[j * r->d + c];
                square += by * by;
            }
            R[i * m + j] = expf(-square / (float)(2 * sigma * sigma));
        }
    memcpy(A, R, (size_t)(m * m) * sizeof *A); /* the landmarks are the first rows */
    krein__sgemm(true, false, m, m, n, 1, R, m, R, m, (float)((double)n * lambda), A, m);
    bool solves = factor(m, A);
    free(R);
    free(A);
    return solves;
}

/* ---- the library -------------------------------------------------------- */

/* Trains on the first n rows and predicts the others: R2 against the mean of the training rows. */
static double held_out(krein_ctx *ctx, const rows *r, int64_t n, const krein_train_options *o) {
    krein_data_options d;
    krein_data *data = NULL;
    krein_model *model = NULL;
    int64_t rest = r->n - n;
    double *score = test_new(rest, sizeof *score), mean = 0, loss = 0, constant = 0;
    krein_data_options_init(&d);
    d.task = KREIN_TASK_REGRESSION;
    d.scale = KREIN_SCALE_NONE;
    krein_status st = krein_data_from_dense(ctx, n, r->d, r->x, r->d, r->y, NULL, &d, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, o, NULL, &model);
    if (st == KREIN_OK)
        st = krein_predict_dense(ctx, model, rest, r->d, r->x + n * r->d, r->d, score);
    if (st != KREIN_OK) printf("lambda %g: %s\n", o->lambda, krein_message(ctx));
    CHECK(st == KREIN_OK);
    for (int64_t i = 0; i < n; i++) mean += r->y[i] / (double)n;
    for (int64_t i = 0; i < rest; i++) {
        loss += pow(score[i] - r->y[n + i], 2);
        constant += pow(mean - r->y[n + i], 2);
    }
    free(score);
    krein_model_destroy(model);
    krein_data_close(data);
    return st == KREIN_OK ? 1 - loss / constant : NAN; /* NaN as well where a score is not finite */
}

static void check(const rows *r, int64_t n, const char *map, double least) {
    krein_ctx *ctx = test_ctx(2);
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=3)";
    o.map = map;
    static const double lambda[] = {1e-3, 1e-6, 1e-9};
    for (int k = 0; k < 3; k++) {
        o.lambda = lambda[k];
        CHECK(!plain_solves(r, n, 500, 3, lambda[k]));
        double r2 = held_out(ctx, r, n, &o);
        if (!(r2 > least)) printf("lambda %g: R2 %.4f\n", lambda[k], r2);
        CHECK(r2 > least);
    }
    krein_ctx_destroy(ctx);
}

static void smooth_plane(void) {
    rows r = make_rows(3000, 2);
    for (int64_t i = 0; i < r.n; i++) {
        double a = test_random(), b = test_random();
        r.x[2 * i] = (float)a;
        r.x[2 * i + 1] = (float)b;
        r.y[i] = sin(3 * a) * cos(2 * b) + a * b + .05 * test_random();
    }
    standardise(&r);
    check(&r, 2000, "nystrom(D=500)", .6); /* 1e-3 smooths much: .72 */
    drop(&r);
}

static void protein(void) {
    const char *path = test_set("protein");
    if (!path) SKIP("protein.csv.gz is not there");
    if (test_sanitized()) SKIP("too slow under a sanitizer");
    rows r = make_rows(12000, 9);
    gzFile in = gzopen(path, "rb");
    char line[1024];
    int64_t n = 0;
    for (; n < r.n && in && gzgets(in, line, sizeof line); n++) {
        char *at = line;
        r.y[n] = strtod(at, &at);
        for (int64_t j = 0; j < r.d; j++) r.x[n * r.d + j] = strtof(at + (*at == ','), &at);
    }
    if (in) gzclose(in);
    CHECK(n == r.n);
    standardise(&r);
    check(&r, 10000, "nystrom(D=1100)", .2);
    drop(&r);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(smooth_plane);
    RUN(protein);
    return DONE();
}
