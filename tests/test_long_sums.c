/* test_long_sums.c -- sums of hundreds of kernels: text and tree, their terms, kernel values
 * against those of the kernels one by one, the maps they get, models on their matrices and
 * features. */
#include "maps.h"

#include "kernel/gram_shared.h"
#include "map/parts.h"
#include "model/model.h"

enum { TERMS = 200, ROOM = 1 << 18 };

/* 0.001*k1 + 0.002*k2 + ..., of all kinds or of Gaussians alone. */
static char *sum_of(int terms, bool mixed) {
    static const char *const kind[] = {"gaussian(sigma=%.15g)",
                                       "laplacian(sigma=%.15g)",
                                       "linear*rq(alpha=1.25, sigma=%.15g)",
                                       "(linear + matern(nu=1.5, sigma=%.15g))",
                                       "poly(degree=2, c=%.15g)",
                                       "tl1(rho=%.15g)"};
    char *text = test_new(ROOM, 1), *at = text;
    for (int t = 0; t < terms; t++) {
        at += sprintf(at, "%s%.15g*", t ? " + " : "", 0.001 * (t + 1) / 3);
        at += sprintf(at, kind[mixed ? t % 6 : 0], 1 + (double)t / 7);
    }
    return text;
}

static bool same_tree(const krein_kernel *a, const krein_kernel *b) {
    if (!a || !b) return a == b;
    return a->node == b->node && a->kernel == b->kernel &&
           (a->node != KREIN_NODE_SCALE || a->number == b->number) &&
           (a->node != KREIN_NODE_LEAF ||
            memcmp(a->values.number, b->values.number, sizeof a->values.number) == 0) &&
           same_tree(a->left, b->left) && same_tree(a->right, b->right);
}

static void texts(void) {
    static const int sizes[] = {65, TERMS, 512, 1000};
    for (int i = 0; i < 4; i++) {
        char *text = sum_of(sizes[i], true);
        krein_kernel *k = kernel_on(ctx, text), *again = NULL, *copy = NULL;
        char *printed = krein__kernel_text(ctx, k);
        CHECK(printed && strlen(printed) > (size_t)sizes[i] * 20);
        if (printed) CHECK(krein__kernel_parse(ctx, printed, &again) == KREIN_OK);
        CHECK(again && same_tree(k, again));
        CHECK(krein__kernel_copy(ctx, k, &copy) == KREIN_OK && same_tree(k, copy));
        CHECK(krein__gram_spares(k) <= 2); /* however long */
        krein__free(ctx, printed);
        krein__kernel_destroy(ctx, k);
        krein__kernel_destroy(ctx, again);
        krein__kernel_destroy(ctx, copy);
        free(text);
    }
}

/* In one form: what the text of the sum parses to. */
static void weighted_sums(void) {
    static const char *const some[] = {"gaussian(sigma=1)", "linear + poly(degree=2)", "4*linear",
                                       "-linear*gaussian(sigma=2) - tl1(rho=3)",
                                       "2*(linear + arccos)"};
    static const double weight[] = {1, 1, 0.25, 3, 0.5};
    krein_kernel *k[5], *sum = NULL, *again = NULL;
    for (int i = 0; i < 5; i++) k[i] = kernel_on(ctx, some[i]);
    for (int n = 1; n <= 5; n++) {
        CHECK(krein__kernel_weighted_sum(ctx, k, weight, n, &sum) == KREIN_OK);
        char *text = krein__kernel_text(ctx, sum);
        CHECK(text && krein__kernel_parse(ctx, text, &again) == KREIN_OK);
        CHECK(same_tree(sum, again));
        if (n == 5)
            CHECK_HAS(text ? text : "",
                      "gaussian(sigma=1) + linear + poly(degree=2, c=1, gamma=1) + linear + "
                      "3*(-1*linear*gaussian(sigma=2) - tl1(rho=3)) + linear + arccos");
        krein__free(ctx, text);
        krein__kernel_destroy(ctx, sum);
        krein__kernel_destroy(ctx, again);
    }
    const double large[] = {1e300, 1e300};
    krein_kernel *scaled[2] = {k[0], kernel_on(ctx, "1e300*linear")};
    CHECK(krein__kernel_weighted_sum(ctx, scaled, large, 2, &sum) == KREIN_ESPEC && !sum);
    krein__kernel_destroy(ctx, scaled[1]);
    for (int i = 0; i < 5; i++) krein__kernel_destroy(ctx, k[i]);
}

static void terms(void) {
    char *text = sum_of(TERMS, true);
    krein_kernel *k = kernel_on(ctx, text);
    krein_term *all = test_new(KREIN_PARTS_MAX, sizeof *all);
    int64_t n, count = TERMS + TERMS / 6 + 0; /* every sixth has two */
    CHECK(krein__kernel_term_count(k) == count);
    CHECK(krein__kernel_expand(ctx, k, KREIN_PARTS_MAX, all, &n) == KREIN_OK && n == count);
    for (int64_t t = 0; t < n; t += 29) {
        krein_term one = {.coefficient = 1};
        CHECK(krein__kernel_term(k, t, &one) && one.n == all[t].n);
        CHECK(one.leaf[0] == all[t].leaf[0] && one.coefficient == all[t].coefficient);
    }
    CHECK_REL(all[n - 1].coefficient, 0.001 * TERMS / 3, 1e-14);
    CHECK(krein__kernel_terms(ctx, k, all, &n) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "64 terms");
    free(all);
    free(text);
    krein__kernel_destroy(ctx, k);
}

/* Kernel values, float64 and float32, dense and sparse, against those of the summands. */
static void values(void) {
    enum { ROWS = 200, D5 = 5 };
    char *text = sum_of(TERMS, true);
    krein_kernel *k = kernel_on(ctx, text);
    krein_rows x = krein__rows_dense(ROWS, D5, points, D5);
    double *K = test_new(ROWS * ROWS, sizeof *K), *want = test_new(ROWS * ROWS, sizeof *want);
    double *one = test_new(ROWS * ROWS, sizeof *one);
    krein_gram_shared s;
    for (const krein_kernel *sum = k; sum; sum = sum->node == KREIN_NODE_SUM ? sum->left : NULL) {
        const krein_kernel *term = sum->node == KREIN_NODE_SUM ? sum->right : sum;
        CHECK(krein__gram_full(ctx, term, &x, &x, one) == KREIN_OK);
        for (int i = 0; i < ROWS * ROWS; i++) want[i] += one[i];
    }
    CHECK(krein__gram_full(ctx, k, &x, &x, K) == KREIN_OK);
    for (int i = 0; i < ROWS * ROWS; i++) CHECK_REL(K[i], want[i], 1e-11);
    CHECK(krein__gram_share(ctx, &x, &k, 1, 0, &s) == KREIN_OK);
    CHECK(krein__gram_shared_full(ctx, k, &s, K) == KREIN_OK);
    for (int i = 0; i < ROWS * ROWS; i++) CHECK_REL(K[i], want[i], 1e-11);
    krein__gram_share_end(ctx, &s);
    krein_gram_rows g;
    CHECK(krein__gram_begin(ctx, k, x, false, &g) == KREIN_OK);
    CHECK(g.scratch <= KREIN_TILE * (D5 + ROWS) + 3 * ROWS);
    float *tile = test_new(KREIN_TILE * ROWS, sizeof *tile);
    float *scratch = test_new(g.scratch, sizeof *scratch);
    krein_rows some = krein__rows_slice(&x, 0, 50);
    krein__gram_tile32(&g, &some, tile, ROWS, scratch);
    for (int i = 0; i < 50 * ROWS; i++) CHECK_REL((double)tile[i], want[i], 1e-4);
    krein__gram_end(ctx, &g);
    int64_t ptr[ROWS + 1];
    int32_t *col = test_new(ROWS * D5, sizeof *col);
    for (int64_t i = 0; i <= ROWS; i++) ptr[i] = i * D5;
    for (int i = 0; i < ROWS * D5; i++) col[i] = i % D5;
    krein_rows sparse = {.n = ROWS, .d = D5, .ptr = ptr, .col = col, .val = points};
    CHECK(krein__gram_full(ctx, k, &sparse, &sparse, K) == KREIN_OK);
    for (int i = 0; i < ROWS * ROWS; i++) CHECK_REL(K[i], want[i], 1e-11);
    free(col);
    free(tile);
    free(scratch);
    free(K);
    free(want);
    free(one);
    free(text);
    krein__kernel_destroy(ctx, k);
}

/* Maps that expand a kernel refuse; the default takes it. */
static void default_maps(void) {
    static const struct {
        int terms;
        bool mixed;
        const char *map;
    } all[] = {{64, false, "orf"},  {65, false, "auto"},     {TERMS, false, "auto"},
               {300, true, "auto"}, {600, false, "nystrom"}, {600, true, "nystrom"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text = sum_of(all[i].terms, all[i].mixed);
        krein_kernel *k = kernel_on(ctx, text);
        const char *got = krein__map_default(k, DIM, 2000);
        if (strcmp(got, all[i].map) != 0) printf("%d: %s\n", all[i].terms, got);
        CHECK(strcmp(got, all[i].map) == 0);
        krein__kernel_destroy(ctx, k);
        free(text);
    }
    char *text = sum_of(TERMS, false);
    krein_map *map = NULL;
    krein_kernel *k = kernel_on(ctx, text); /* fewer than two for each term */
    CHECK(strcmp(krein__map_default(k, DIM, 2 * TERMS - 1), "nystrom") == 0);
    CHECK(strcmp(krein__map_default(k, DIM, 2 * TERMS), "auto") == 0);
    krein__kernel_destroy(ctx, k);
    CHECK(make(ctx, "rff", text, 2000, 1, DIM, NULL, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "64 terms");
    CHECK(make(ctx, "binning", text, 2000, 1, DIM, NULL, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "...; try auto"); /* the whole sum would push it out */
    CHECK(make(ctx, "auto", text, TERMS, 1, DIM, NULL, &map) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "too few");
    map = need(ctx, "auto", text, 2000, 1, DIM, NULL);
    CHECK(map && map->D == 2000 && ((const krein_parts *)map->state)->n == TERMS);
    krein__map_destroy(map);
    free(text);
}

/* Trained by -k and saved: the matrix, features side by side, landmarks. */
static void models(void) {
    static const char *const maps[] = {"exact", NULL, "nystrom(D=40)", "auto(D=1200)"};
    const char *path = test_path("long.krein");
    double y[FIT], first[FIT], again[FIT];
    for (int i = 0; i < FIT; i++) y[i] = sin((double)points[i * DIM]) + det(i, 3, 0.7) / 5;
    for (int m = 0; m < 4; m++) {
        char *text = sum_of(TERMS, m < 3);
        krein_data_options o;
        krein_train_options t;
        krein_report r = KREIN_SIZED(krein_report);
        krein_data *data = NULL;
        krein_model *model = NULL, *loaded = NULL;
        krein_data_options_init(&o);
        krein_train_options_init(&t);
        o.scale = KREIN_SCALE_NONE;
        t.kernel = text;
        t.map = maps[m];
        t.lambda = 1e-3;
        CHECK(krein_data_from_dense(ctx, FIT, DIM, points, DIM, y, NULL, &o, &data) == KREIN_OK);
        krein_status st = krein_train(ctx, data, &t, &r, &model);
        if (st != KREIN_OK) printf("%s: %s\n", maps[m] ? maps[m] : "", krein_message(ctx));
        CHECK(st == KREIN_OK);
        if (st == KREIN_OK) {
            CHECK(krein_predict_dense(ctx, model, FIT, DIM, points, DIM, first) == KREIN_OK);
            double off = 0;
            for (int i = 0; i < FIT; i++) off += fabs(first[i] - y[i]) / FIT;
            CHECK(off < 0.2);
            CHECK(krein_model_save(ctx, model, path) == KREIN_OK);
            CHECK(krein_model_load(ctx, path, &loaded) == KREIN_OK);
            CHECK(loaded && krein_predict_dense(ctx, loaded, FIT, DIM, points, DIM, again) == 0);
            CHECK(memcmp(first, again, sizeof first) == 0);
        }
        krein_model_destroy(loaded);
        krein_model_destroy(model);
        krein_report_clear(ctx, &r);
        krein_data_close(data);
        free(text);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    maps_start(argv);
    RUN(texts);
    RUN(weighted_sums);
    RUN(terms);
    RUN(values);
    RUN(default_maps);
    RUN(models);
    return maps_done();
}
