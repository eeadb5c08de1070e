/* test_own_rows.c -- rows in memory of each process's own, over the sockets of wire.h.
 *
 * What is expected is the model of one process with all of the rows, in the order of the ranks;
 * tests/mpi/own_rows.c has more cases, under mpirun. Here every allocation of a rank may fail, and
 * nothing is lost. */
#include "common.h"
#include "wire.h"

#include "ranks.h"

enum { ROWS = 260, D = 2, WORDS = 5 };

static double x[ROWS][D], y[ROWS];
static const char *text[ROWS], *class[ROWS];
static const char *const word[WORDS] = {"red", "blue", "2026-01-02", "late", "last"};

static void make_rows(void) {
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < D; j++) x[i][j] = 2 * det(i, j, 0.3) + 5;
        y[i] = sin(x[i][0]) + 0.1 * det(i, 7, 0.1);
        text[i] = i % 40 == 7 ? NULL : word[i * 7 % (1 + WORDS * i / ROWS)];
        class[i] = i < 20 ? "first" : x[i][0] > 5 ? "up" : "down";
    }
}

/* A table of two numbers and a text, of which rank `none` has no rows. */
static krein_status train(krein_ctx *c, bool all, int none, bool classes, krein_model **out) {
    const int64_t parts = all ? 1 : ranks - (none >= 0),
                  part = all ? 0 : me - (none >= 0 && me > none);
    const int64_t from = ROWS * part / parts,
                  end = me == none && !all ? from : ROWS * (part + 1) / parts;
    krein_column_view column[D + 1];
    krein_data_options o;
    krein_train_options t;
    krein_rows_view v;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    krein_train_options_init(&t);
    krein_rows_view_init(&v);
    for (int j = 0; j <= D; j++) column[j] = KREIN_SIZED(krein_column_view);
    for (int j = 0; j < D; j++) {
        column[j].numbers = &x[from < ROWS ? from : 0][j];
        column[j].type = KREIN_FLOAT64;
        column[j].stride = D;
    }
    column[D].texts = text + from;
    v.n = end - from;
    v.d = D + 1;
    v.columns = column;
    if (classes)
        v.class_names = class + from;
    else
        v.targets = y + from;
    o.own_rows = !all;
    t.kernel = "gaussian(sigma=2)";
    t.features = 8;
    t.lambda = 1e-2;
    *out = NULL;
    krein_status st = krein_data_from_rows(c, &v, &o, &data);
    if (st == KREIN_OK) st = krein_train(c, data, &t, NULL, out);
    krein_data_close(data);
    return st;
}

static double *weights_of(const krein_model *m, int64_t *n) {
    krein_array w = {0};
    *n = krein_model_array(m, "weights", &w) ? w.rows * w.columns : 0;
    double *out = test_new(*n + 1, sizeof *out);
    memcpy(out, w.at, (size_t)*n * sizeof *out);
    return out;
}

static void as_one(void) {
    for (int none = -1; none < ranks; none++)
        for (int classes = 0; classes < 2; classes++) {
            krein_model *m = NULL, *whole = NULL;
            int64_t n = 0, k = -1;
            CHECK(train(ctx, false, none, classes, &m) == KREIN_OK);
            CHECK(train(alone, true, -1, classes, &whole) == KREIN_OK);
            if (m && whole) {
                double *a = weights_of(m, &n), *b = weights_of(whole, &k), most = 0, largest = 0;
                for (int64_t i = 0; i < n && n == k; i++) {
                    most = fmax(most, fabs(a[i] - b[i]));
                    largest = fmax(largest, fabs(b[i]));
                }
                CHECK(n == k && n > 0 && most <= 1e-4 * largest);
                free(a);
                free(b);
            }
            krein_model_destroy(m);
            krein_model_destroy(whole);
        }
}

/* Some allocations of every rank fail, one at a time: all say so. */
static void allocations(void) {
    const int64_t step = test_sanitized() ? 23 : 7;
    for (int rank = 0; rank < ranks; rank++)
        for (int64_t at = rank, more = 1; more; at += step) {
            const int64_t live = test_live(&memory);
            krein_model *m = NULL;
            test_fail_at(&memory, me == rank ? at : -1);
            const krein_status st = krein__comm_agree(ctx, train(ctx, false, ranks - 1, true, &m));
            more = test_has_failed(&memory);
            test_fail_at(&memory, -1);
            krein__comm_clear(ctx);
            CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &more) == KREIN_OK);
            if (st != (more ? KREIN_EMEMORY : KREIN_OK))
                printf("allocation %lld of rank %d: %s\n", (long long)at, rank, krein_message(ctx));
            CHECK(st == (more ? KREIN_EMEMORY : KREIN_OK));
            krein_model_destroy(m);
            CHECK(test_live(&memory) == live);
        }
}

static void all_cases(void) {
    make_rows();
    RUN(as_one);
    RUN(allocations);
}

static void two_ranks(void) { on_ranks(2, all_cases); }
static void three_ranks(void) { on_ranks(3, all_cases); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(two_ranks);
    RUN(three_ranks);
    return DONE();
}
