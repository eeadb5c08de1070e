/* test_real.c -- models of real data, where the folder of data sets is there. The thresholds lie
 * well below what good methods reach. */
#include "common.h"

#include <zlib.h>

/* The first score of each row, SCORES rows at most. */
enum { SCORES = 256 };
typedef struct first_scores {
    int n;
    double score[SCORES];
} first_scores;

static krein_status keep_score(void *user, const krein_prediction *p) {
    first_scores *s = user;
    if (s->n < SCORES && p->nscores > 0) s->score[s->n++] = p->scores[0];
    return KREIN_OK;
}

/* Metrics of held-out rows with the defaults; scores: of all rows, or NULL. With scores, numbers
 * are as they stand in the file: rows of LIBSVM have no logarithms. */
static krein_metrics held_out(krein_ctx *ctx, const char *path, const char *map, uint64_t seed,
                              first_scores *scores) {
    krein_data_options d;
    krein_train_options o;
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_report r = KREIN_SIZED(krein_report);
    krein_metrics out = KREIN_SIZED(krein_metrics);
    krein_data_options_init(&d);
    krein_train_options_init(&o);
    d.label = strstr(path, ".libsvm") ? NULL : "first";
    if (scores) d.types = KREIN_TYPES_PLAIN;
    o.holdout = .3;
    o.seed = seed;
    o.map = map;
    krein_status st = krein_data_open(ctx, path, &d, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, &r, &m);
    if (st == KREIN_OK) {
        out = *r.test;
        *r.test = KREIN_SIZED(krein_metrics); /* moved */
        krein_report_clear(ctx, &r);
        if (scores) st = krein_predict(ctx, m, data, keep_score, scores);
    }
    if (st != KREIN_OK) printf("%s: %s\n", path, krein_message(ctx));
    CHECK(st == KREIN_OK);
    krein_model_destroy(m);
    krein_data_close(data);
    return out;
}

static double accuracy(const char *name, const char *map, int64_t classes) {
    krein_ctx *ctx = test_ctx(2);
    double mean = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        krein_metrics m = held_out(ctx, test_set(name), map, seed, NULL);
        CHECK(m.task == KREIN_TASK_CLASSIFICATION && m.classes == classes);
        mean += m.accuracy / 3;
        krein_metrics_clear(ctx, &m);
    }
    krein_ctx_destroy(ctx);
    return mean;
}

static void at_least(double value, double least, const char *what) {
    if (!(value >= least)) printf("%s: %.4f\n", what, value);
    CHECK(value >= least);
}

static void iris(void) {
    if (!test_set("iris")) SKIP("iris.csv.gz is not there");
    at_least(accuracy("iris", NULL, 3), .92, "iris");
    at_least(accuracy("iris", "orf(D=200)", 3), .9, "iris, orf");
}

static void sonar(void) {
    if (!test_set("sonar")) SKIP("sonar.csv.gz is not there");
    at_least(accuracy("sonar", NULL, 2), .78, "sonar");
}

static void glass(void) {
    if (!test_set("glass")) SKIP("glass.csv.gz is not there");
    at_least(accuracy("glass", NULL, 6), .6, "glass");
}

static void boston(void) {
    if (!test_set("boston")) SKIP("boston.csv.gz is not there");
    krein_ctx *ctx = test_ctx(2);
    double r2 = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        krein_metrics m = held_out(ctx, test_set("boston"), NULL, seed, NULL);
        CHECK(m.task == KREIN_TASK_REGRESSION);
        r2 += m.r2 / 3;
        krein_metrics_clear(ctx, &m);
    }
    at_least(r2, .8, "boston");
    krein_ctx_destroy(ctx);
}

/* The same numbers as LIBSVM text: divided by the deviations, not centred, which no kernel of
 * differences can tell; so the same held-out predictions but for rounding. */
static void sparse(void) {
    if (!test_set("sonar")) SKIP("sonar.csv.gz is not there");
    krein_ctx *ctx = test_ctx(2);
    gzFile in = gzopen(test_set("sonar"), "rb");
    char line[4096], path[256];
    snprintf(path, sizeof path, "%s", test_path("sonar.libsvm"));
    FILE *out = fopen(path, "w");
    if (!in || !out) exit(1);
    while (gzgets(in, line, sizeof line)) {
        char *at = line;
        for (int column = 0; *at && *at != '\n' && *at != '\r'; column++) {
            size_t n = strcspn(at, ",\r\n");
            if (column == 0)
                fprintf(out, "%.*s", (int)n, at);
            else if (strtod(at, NULL) != 0)
                fprintf(out, " %d:%.*s", column, (int)n, at);
            at += n + (at[n] == ',');
        }
        fprintf(out, "\n");
    }
    gzclose(in);
    fclose(out);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        first_scores a = {0}, b = {0};
        double most = 0, off = 0;
        krein_metrics dense = held_out(ctx, test_set("sonar"), NULL, seed, &a);
        krein_metrics thin = held_out(ctx, path, NULL, seed, &b);
        CHECK(dense.n == thin.n && a.n == b.n && a.n == 208);
        for (int i = 0; i < a.n; i++) {
            most = fmax(most, fabs(a.score[i]));
            off = fmax(off, fabs(a.score[i] - b.score[i]));
        }
        CHECK(most > .1);
        CHECK_ABS(off, 0, 1e-5 * most); /* float32 rows: 1e-7 of it is usual */
        krein_metrics_clear(ctx, &dense);
        krein_metrics_clear(ctx, &thin);
    }
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(iris);
    RUN(sonar);
    RUN(glass);
    RUN(boston);
    RUN(sparse);
    return DONE();
}
