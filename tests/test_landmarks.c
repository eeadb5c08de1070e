/* test_landmarks.c -- which rows nystrom takes: k-means, ridge leverage, a file. */
#include "fitted.h"

#include "num/centres.h"
#include "map/landmarks.h"
#include "map/pick.h"

/* |Z S Z' - K|_F / |K|_F */
static double frobenius(const krein_map *map, const krein_rows *x) {
    double *K = test_new(x->n * x->n, sizeof *K), off = 0, all = 0;
    float *z = features(map, x);
    CHECK(krein__gram_full(ctx, map->kernel, x, x, K) == KREIN_OK);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < x->n; j++) {
            double k = K[i * x->n + j], t = inner(map, z + i * map->D, z + j * map->D) - k;
            off += t * t;
            all += k * k;
        }
    free(K);
    free(z);
    return sqrt(off / all);
}
/* Mean over seeds. */
static double mean_error(const char *spec, const char *kernel, int seeds, source *s,
                         const krein_rows *x) {
    double sum = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        krein_map *map = need(spec, kernel, (uint64_t)seed, s);
        if (map) sum += frobenius(map, x) / seeds;
        krein__map_destroy(map);
    }
    return sum;
}

static void source_file(source *s, const char *path, double holdout) {
    krein_data_options o;
    memset(s, 0, sizeof *s);
    krein_data_options_init(&o);
    CHECK(krein_data_open(ctx, path, &o, &s->data) == KREIN_OK);
    krein_status st = source_open(s, true, holdout);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
}

/* ---- leverage scores and k-means ---------------------------------------- */

/* The estimate from all rows is [K(K + rI)^-1]_ii; from fewer it is larger on average. */
static void row_scores(void) {
    enum { ROWS = 60, D3 = 3, FEW = 30 };
    static const char *const some[] = {"gaussian(sigma=0.7)", "laplacian(sigma=1)",
                                       "poly(degree=2, c=0.5) + gaussian(sigma=1)"};
    float *x = test_dense(ROWS, D3, .4);
    krein_rows all = krein__rows_dense(ROWS, D3, x, D3);
    for (int k = 0; k < 3; k++) {
        double K[ROWS * ROWS], A[ROWS * ROWS], score[ROWS], ridge, sum = 0, part = 0;
        krein_kernel *kernel = kernel_of(some[k]);
        CHECK(krein__row_scores(ctx, kernel, &all, &all, 20, &ridge, score) == KREIN_OK);
        CHECK(krein__gram_full(ctx, kernel, &all, &all, K) == KREIN_OK);
        memcpy(A, K, sizeof A);
        for (int i = 0; i < ROWS; i++) A[i * ROWS + i] += ridge;
        test_solve(ROWS, ROWS, A, K); /* K becomes (K + rI)^-1 K */
        for (int i = 0; i < ROWS; i++) {
            CHECK_ABS(score[i], K[i * ROWS + i], 1e-8);
            sum += score[i];
        }
        CHECK_REL(sum, 20, 1e-6);
        /* half of the rows: the ridge of the whole is twice that of the sample */
        krein_rows half = krein__rows_slice(&all, 0, FEW);
        double few[ROWS], half_ridge;
        CHECK(krein__row_scores(ctx, kernel, &all, &half, 10, &half_ridge, few) == KREIN_OK);
        CHECK(krein__gram_full(ctx, kernel, &all, &all, K) == KREIN_OK);
        memcpy(A, K, sizeof A);
        for (int i = 0; i < ROWS; i++) A[i * ROWS + i] += half_ridge * ROWS / FEW;
        test_solve(ROWS, ROWS, A, K);
        sum = 0;
        for (int i = 0; i < ROWS; i++) {
            CHECK(few[i] >= 0 && few[i] <= 1);
            part += few[i];
            sum += K[i * ROWS + i];
        }
        CHECK(part > .9 * sum && part < 2.5 * sum);
        krein__kernel_destroy(ctx, kernel);
    }
    double score[ROWS], ridge;
    krein_kernel *kernel = kernel_of("gaussian(sigma=1) - gaussian(sigma=3)");
    CHECK(krein__row_scores(ctx, kernel, &all, &all, 20, &ridge, score) == KREIN_ENUMERIC);
    krein__kernel_destroy(ctx, kernel);
    free(x);
}

/* Points in tight clusters far apart, of very different sizes. */
static float *clusters(int64_t n, int64_t d, int64_t k, double width) {
    float *x = test_new(n * d, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i % 4 ? 0 : i / 4 % k; /* three in four are in the first */
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = (float)(4 * det(c, j, 1.3) + width * test_random());
    }
    return x;
}

static void kmeans(void) {
    enum { ROWS = 400, D2 = 2, M = 8 };
    float *x = clusters(ROWS, D2, M, .05);
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    int64_t seed[M + 1], got;
    float centre[M * D2];
    CHECK(krein__centres_seeds(ctx, (krein_rng){3, 1}, &rows, M, seed, &got) == KREIN_OK);
    CHECK(got == M);
    for (int k = 0; k < M; k++) krein__row_copy(&rows, seed[k], centre + k * D2);
    CHECK(krein__centres_lloyd(ctx, &rows, M, 30, centre) == KREIN_OK);
    double worst = 0; /* every row is near a centre: all clusters were found */
    for (int i = 0; i < ROWS; i++) {
        double near = INFINITY;
        for (int k = 0; k < M; k++)
            near = fmin(near, hypot((double)(x[2 * i] - centre[2 * k]),
                                    (double)(x[2 * i + 1] - centre[2 * k + 1])));
        worst = fmax(worst, near);
    }
    CHECK(worst < .2);
    /* fewer different rows than seeds */
    float few[20 * D2];
    for (int i = 0; i < 20; i++) few[2 * i] = few[2 * i + 1] = (float)(i % 3);
    krein_rows twins = krein__rows_dense(20, D2, few, D2);
    CHECK(krein__centres_seeds(ctx, (krein_rng){3, 1}, &twins, M, seed, &got) == KREIN_OK);
    CHECK(got == 3);
    /* the same rows as CSR: the same seeds */
    int64_t ptr[ROWS + 1], csr[M];
    int32_t col[ROWS * D2];
    for (int i = 0; i <= ROWS; i++) ptr[i] = D2 * i;
    for (int i = 0; i < ROWS * D2; i++) col[i] = i % D2;
    krein_rows sparse = {.n = ROWS, .d = D2, .ptr = ptr, .col = col, .val = x};
    CHECK(krein__centres_seeds(ctx, (krein_rng){3, 1}, &rows, M, seed, &got) == KREIN_OK);
    CHECK(krein__centres_seeds(ctx, (krein_rng){3, 1}, &sparse, M, csr, &got) == KREIN_OK);
    CHECK(memcmp(seed, csr, sizeof csr) == 0);
    free(x);
}

/* On clustered rows, k-means and leverage landmarks are better than uniform ones. */
static void landmarks_pay(void) {
    enum { ROWS = 600, D5 = 5 };
    float *x = clusters(ROWS, D5, 30, .1);
    krein_rows rows = krein__rows_dense(ROWS, D5, x, D5);
    source s;
    source_dense(&s, ROWS, D5, x, NULL, KREIN_TASK_AUTO);
    int seeds = test_sanitized() ? 3 : 10;
    const char *kernel = "gaussian(sigma=1)";
    double uniform = mean_error("nystrom(D=30)", kernel, seeds, &s, &rows);
    double means = mean_error("nystrom(D=30, landmarks=kmeans)", kernel, seeds, &s, &rows);
    double leverage = mean_error("nystrom(D=30, landmarks=leverage)", kernel, seeds, &s, &rows);
    printf("nystrom, 30 clusters: uniform %.4f, kmeans %.4f, leverage %.4f\n", uniform, means,
           leverage);
    CHECK(means < .5 * uniform);
    CHECK(leverage < .7 * uniform);
    source_close(&s);
    free(x);
}

/* Centres of rows of length one have length one; wide sparse rows keep their own. */
static void landmark_shapes(void) {
    char *text = test_new(1 << 18, 1);
    size_t used = 0;
    for (int i = 0; i < 120; i++) {
        used += (size_t)sprintf(text + used, "%d", i % 2);
        for (int j = 0; j < 4; j++)
            used += (size_t)sprintf(text + used, " %d:%.7g", 1 + j * 1000 + i % 7, det(i, j, .3));
        used += (size_t)sprintf(text + used, "\n");
    }
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_UNIT;
    source s = {0};
    CHECK(krein_data_open(ctx, test_write("wide.libsvm", text), &o, &s.data) == KREIN_OK);
    CHECK(source_open(&s, true, 0) == KREIN_OK);
    free(text);
    CHECK(s.e.sparse && s.e.d > 3000);
    krein_map *map = need("nystrom(D=10, landmarks=kmeans)", "gaussian(sigma=1)", 1, &s);
    if (map) {
        krein_rows marks = krein__map_landmarks(map);
        CHECK(marks.n == 10 && marks.ptr && marks.ptr[10] == 40);
    }
    krein__map_destroy(map);
    source_close(&s);

    float *x = test_dense(90, 3, .1);
    CHECK(krein_data_from_dense(ctx, 90, 3, x, 3, NULL, NULL, &o, &s.data) == KREIN_OK);
    CHECK(source_open(&s, false, 0) == KREIN_OK);
    map = need("nystrom(D=12, landmarks=kmeans)", "gaussian(sigma=1)", 1, &s);
    if (map) {
        krein_rows marks = krein__map_landmarks(map);
        for (int64_t i = 0; i < marks.n; i++) {
            const float *m = marks.x + i * marks.ld;
            CHECK_ABS((double)(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]), 1, 1e-6);
        }
    }
    krein__map_destroy(map);
    source_close(&s);
    free(x);
}

/* An indefinite kernel: uniform, and it says so. */
static void leverage_needs_definite(void) {
    test_log log;
    krein_ctx *before = ctx;
    float *x = test_dense(80, 3, .1);
    ctx = test_ctx_full(1, NULL, &log);
    source s;
    source_dense(&s, 80, 3, x, NULL, KREIN_TASK_AUTO);
    krein_map *map =
        need("nystrom(D=20, landmarks=leverage)", "gaussian(sigma=1) - gaussian(sigma=3)", 1, &s);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "positive definite");
    krein__map_destroy(map);
    source_close(&s);
    krein_ctx_destroy(ctx);
    ctx = before;
    free(x);
}

/* ---- landmarks from a file ---------------------------------------------- */

static krein_status fit_file(const char *path, const char *more, source *s, krein_map **map) {
    char spec[400];
    snprintf(spec, sizeof spec, "nystrom(file=\"%s\"%s)", path, more);
    return make(spec, "gaussian(sigma=1)", 1, s, map);
}
static void refused(const char *path, const char *more, source *s, const char *why) {
    krein_map *map = NULL;
    CHECK(fit_file(path, more, s, &map) != KREIN_OK && !map);
    CHECK_HAS(krein_message(ctx), why);
}

static void landmarks_from_a_file(void) {
    static const int chosen[] = {2, 5, 33};
    char *text = test_new(1 << 16, 1);
    size_t used = (size_t)sprintf(text, "y,a,colour,b\n");
    for (int i = 0; i < 50; i++)
        used += (size_t)sprintf(text + used, "%.7g,%.7g,%s,%.7g\n", det(i, 9, 0), 3 * det(i, 0, 0),
                                i % 3 ? "red" : "blue", 7 + det(i, 1, 0));
    char path[300]; /* test_write's own is used again */
    snprintf(path, sizeof path, "%s", test_write("marks_data.csv", text));
    for (int hold = 0; hold < 2; hold++) {
        source s;
        source_file(&s, path, hold * .2);
        /* numbers of training rows */
        int64_t rows[3], at[3], have = 0, streamed = 0;
        char numbers[100] = "", *to = numbers;
        for (int64_t i = 0; i < 50 && have < 3; i++) {
            if (s.data->part && s.data->part[i] != KREIN_PART_TRAIN) continue;
            if (i >= chosen[have]) at[have] = streamed, rows[have++] = i + 1;
            streamed++;
        }
        CHECK(have == 3);
        for (int k = 2; k >= 0; k--) to += sprintf(to, "%lld\n", (long long)rows[k]);
        to += sprintf(to, "%lld\n", (long long)rows[1]); /* twice is once */
        krein_map *map = NULL;
        krein_status st = fit_file(test_write("numbers.csv", numbers), ", D=20", &s, &map);
        if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        krein_matrix want = {0};
        CHECK(krein__stream_gather(s.stream, at, 3, &want, NULL, NULL, NULL) == KREIN_OK);
        size_t size = (size_t)(3 * s.e.d) * sizeof *want.x;
        if (map) {
            krein_rows marks = krein__map_landmarks(map);
            CHECK(marks.n == 3 && memcmp(marks.x, want.x, size) == 0);
        }
        krein__map_destroy(map);
        /* the rows themselves: other order of columns, no label; encoded the same way */
        char given[400] = "b,a,colour\n";
        for (int k = 0; k < 3; k++) {
            int64_t i = rows[k] - 1;
            snprintf(given + strlen(given), 100, "%.7g,%.7g,%s\n", 7 + det(i, 1, 0),
                     3 * det(i, 0, 0), i % 3 ? "red" : "blue");
        }
        CHECK(fit_file(test_write("rows.csv", given), ", D=3", &s, &map) == KREIN_OK);
        if (map) {
            krein_rows marks = krein__map_landmarks(map);
            CHECK(marks.n == 3 && memcmp(marks.x, want.x, size) == 0);
            char *spec = krein__map_text(map);
            CHECK(spec != NULL);
            if (spec) CHECK_HAS(spec, "file=\"");
            krein__free(ctx, spec);
        }
        krein__map_destroy(map);
        refused(test_path("rows.csv"), ", D=2", &s, "raise");
        refused(test_path("numbers.csv"), ", D=3", &s, "raise");
        refused(test_write("bad.csv", "51\n1\n"), ", D=9", &s, "from 1 to 50");
        refused(test_write("bad.csv", "0\n1\n"), ", D=9", &s, "from 1 to 50");
        refused(test_write("bad.csv", "2.5\n1\n"), ", D=9", &s, "2.5");
        refused(test_write("bad.csv", "one\ntwo\nx\n"), ", D=9", &s, "row numbers");
        refused(test_write("bad.csv", "a,b\n1,2\n"), ", D=9", &s, "colour");
        refused(test_path("no_such_file.csv"), ", D=9", &s, "no_such_file");
        for (int64_t i = 0; hold && i < 50; i++)
            if (s.data->part[i] == KREIN_PART_HELD) {
                snprintf(numbers, sizeof numbers, "%lld\n", (long long)i + 1);
                refused(test_write("bad.csv", numbers), ", D=9", &s, "held out");
                break;
            }
        krein__matrix_clear(ctx, &want);
        source_close(&s);
    }
    free(text);
    CHECK(atomic_load(&ctx->held) == 0);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(row_scores);
    RUN(kmeans);
    RUN(landmarks_pay);
    RUN(landmark_shapes);
    RUN(leverage_needs_definite);
    RUN(landmarks_from_a_file);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
