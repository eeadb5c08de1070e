/* test_rows_bad.c -- rows in the caller's memory that are refused, and what is said then. */
#include "rows.h"

static void refused(const krein_rows_view *v, const krein_data_options *o, krein_status want,
                    const char *part) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_data *data = NULL;
    krein_model *m = NULL;
    krein_train_options t = small_train(false);
    krein_status st = krein_data_from_rows(ctx, v, o, &data);
    CHECK((st == KREIN_OK) == (data != NULL));
    if (st == KREIN_OK) st = krein_train(ctx, data, &t, NULL, &m);
    if (st != want) printf("%s -> %d %s\n", part, (int)st, krein_message(ctx));
    CHECK(st == want && !m);
    if (st == want) CHECK_HAS(krein_message(ctx), part);
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

static void bad_views(void) {
    static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float nan_cell[8] = {1, 2, 3, 4, 5, NAN, 7, 8}, inf_cell[4] = {1, 2, INFINITY, 4};
    static const double huge[4] = {1, 2, 3, 1e300}, y[4] = {1, 2.5, 3, 4},
                        no_label[4] = {1, NAN, 3, 4}, inf_label[4] = {1, 2.5, 3, INFINITY},
                        bad_weight[4] = {1, -1, 1, 1};
    static const int32_t classes[4] = {0, 1, 0, 1};
    static const int64_t far[4] = {1, 2, INT64_MAX, 4}, group[4] = {1, 1, 2, 2};
    static const char *const word[4] = {"a", "b", NULL, "b"};
    krein_rows_view good, v;
    krein_data_options o;
    krein_data_options_init(&o);
    krein_rows_view_init(&good);
    good.n = 4;
    good.d = 2;
    good.x = x;
    good.type = KREIN_FLOAT32;
    good.targets = y;
    memset(&v, 0, sizeof v);
    refused(&v, NULL, KREIN_EARG, "krein_rows_view_init");
    refused(NULL, NULL, KREIN_EARG, "krein_rows_view_init");
#define REFUSED(change, status, part)                                                              \
    do {                                                                                           \
        v = good;                                                                                  \
        change;                                                                                    \
        refused(&v, &o, status, part);                                                             \
        krein_data_options_init(&o);                                                               \
    } while (0)
    REFUSED(v.n = -1, KREIN_EARG, "n >= 0 and d >= 1");
    REFUSED(v.d = 0, KREIN_EARG, "n >= 0 and d >= 1");
    REFUSED(v.x = NULL, KREIN_EARG, "exactly one of x, indptr and columns, not 0");
    REFUSED(v.indptr = group, KREIN_EARG, "exactly one of x, indptr and columns, not 2");
    REFUSED(v.type = 0, KREIN_EARG, "`type` says");
    REFUSED(v.column_stride = 4, KREIN_EARG, "`row_stride` must be given");
    REFUSED((v.x = nan_cell, o.missing = KREIN_MISSING_ERROR), KREIN_EDATA,
            "row 3, column 2 is NaN");
    REFUSED((v.x = inf_cell, v.n = 2), KREIN_EDATA, "row 2, column 1 is infinite");
    REFUSED((v.x = huge, v.n = 2, v.type = KREIN_FLOAT64), KREIN_EDATA,
            "row 2, column 2 is 1e+300, too large");
    REFUSED(v.classes = classes, KREIN_EARG, "labels of 2 kinds");
    REFUSED((v.classes = classes, v.targets = NULL), KREIN_EARG, "`class_type`");
    REFUSED((v.classes = far, v.targets = NULL, v.class_type = KREIN_INT64), KREIN_EDATA,
            "row 3 has the class");
    REFUSED((v.class_names = word, v.targets = NULL), KREIN_EDATA, "row 3 has no label");
    REFUSED(v.targets = no_label, KREIN_EDATA, "row 2 has no label (NaN)");
    REFUSED(v.targets = inf_label, KREIN_EDATA, "row 4 has a label that is infinite");
    REFUSED(v.targets = NULL, KREIN_EARG, "needs a label");
    REFUSED(v.ntargets = 65, KREIN_EARG, "`ntargets` takes");
    REFUSED((v.ntargets = 2, v.targets = NULL), KREIN_EARG, "`ntargets` is for targets");
    REFUSED(o.targets = 2, KREIN_EARG, "`targets=2`, but the rows have 1");
    REFUSED(v.weights = bad_weight, KREIN_EARG, "row 2: a weight");
    REFUSED((v.groups = group, v.group_names = word), KREIN_EARG, "groups are given twice");
    REFUSED(v.group_names = word, KREIN_EDATA, "row 3 has no group");
    REFUSED(v.names = word + 1, KREIN_EARG, "column 2 has no name");
    REFUSED(o.labels_file = "y.npy", KREIN_EARG, "`labels_file` is for files");
    REFUSED(o.id = "1", KREIN_EARG, "`id` is for files");
    REFUSED(o.label = "1", KREIN_EARG, "labels are given, and `label` names");
    REFUSED((v.weights = y, o.weights = "1"), KREIN_EARG, "weights are given");
    REFUSED((v.groups = group, o.group = "1"), KREIN_EARG, "groups are given");
    REFUSED(o.ignore = "3", KREIN_EARG, "give a number from 1 to 2");
    REFUSED((o.ignore = "2", o.label = "none"), KREIN_EARG, "label");
}

static void bad_sparse(void) {
    static const int32_t ptr[4] = {0, 2, 3, 4}, down[4] = {0, 2, 1, 4}, below[4] = {-1, 2, 3, 4},
                         col[4] = {0, 1, 0, 2}, twice[4] = {1, 1, 0, 2}, beyond[4] = {0, 3, 0, 2},
                         negative[4] = {0, -2, 0, 2};
    static const float val[4] = {1, 2, 3, 4}, nans[4] = {1, 2, NAN, 4};
    static const double huge[4] = {1, 2, 1e39, 4}, inf[4] = {1, INFINITY, 3, 4}, y[3] = {1, 2.5, 3};
    static const char *const name[3] = {"a", "b", "c"};
    krein_rows_view good, v;
    krein_data_options o;
    krein_data_options_init(&o);
    krein_rows_view_init(&good);
    good.n = 3;
    good.d = 3;
    good.indptr = ptr;
    good.indices = col;
    good.values = val;
    good.indptr_type = good.index_type = KREIN_INT32;
    good.type = KREIN_FLOAT32;
    good.targets = y;
    REFUSED(v.indptr = down, KREIN_EARG, "row 2: indptr goes down from 2 to 1");
    REFUSED(v.indptr = below, KREIN_EARG, "indptr[0] is negative");
    REFUSED(v.index_type = KREIN_FLOAT32, KREIN_EARG, "`index_type`");
    REFUSED(v.indptr_type = 0, KREIN_EARG, "`indptr_type`");
    REFUSED(v.type = KREIN_INT32, KREIN_EARG, "`type` of the values");
    REFUSED(v.indices = NULL, KREIN_EARG, "need indices and values");
    REFUSED(v.values = NULL, KREIN_EARG, "need indices and values");
    REFUSED(v.indices = beyond, KREIN_EDATA, "row 1: column index 3 of a sparse row");
    REFUSED(v.indices = negative, KREIN_EDATA, "row 1: column index -2");
    REFUSED(v.indices = twice, KREIN_EDATA, "row 1: column index 1 comes twice");
    REFUSED(v.values = nans, KREIN_EDATA, "row 2, column 1 is NaN");
    REFUSED((v.values = inf, v.type = KREIN_FLOAT64), KREIN_EDATA, "row 1, column 2 is infinite");
    REFUSED((v.values = huge, v.type = KREIN_FLOAT64), KREIN_EDATA, "too large");
    REFUSED(v.names = name, KREIN_EARG, "have no names");
    REFUSED(o.ignore = "1", KREIN_EARG, "sparse rows have no columns");
}

static void bad_tables(void) {
    static const double x[4] = {1, 2, 3, 4}, y[4] = {1, 2.5, 3, 4};
    static const char *const word[4] = {"a", "b", "a", NULL};
    static const int32_t code[4] = {0, 1, 2, -1};
    krein_column_view c[2] = {
        {.size = sizeof *c, .numbers = x, .type = KREIN_FLOAT64},
        {.size = sizeof *c, .codes = code, .words = word, .nwords = 3},
    };
    const krein_column_view as_given = c[1];
    krein_rows_view good, v;
    krein_data_options o;
    krein_data_options_init(&o);
    krein_rows_view_init(&good);
    good.n = 4;
    good.d = 2;
    good.columns = c;
    good.targets = y;
    REFUSED((v.n = 4, o.missing = KREIN_MISSING_ERROR), KREIN_EDATA, "row 4, column 2 is missing");
    REFUSED(c[1].nwords = 2, KREIN_EDATA, "row 3, column 2: code 2, but the words are 0 to 1");
    REFUSED(c[1].words = NULL, KREIN_EARG, "column 2: codes need words");
    c[1] = as_given;
    REFUSED(c[1].size = 0, KREIN_EARG, "column 2: size must be");
    c[1] = as_given;
    REFUSED(c[1].texts = word, KREIN_EARG, "column 2: exactly one of numbers, texts and codes");
    c[1] = (krein_column_view){.size = sizeof *c};
    REFUSED(v.n = 4, KREIN_EARG, "not 0 of them");
    c[1].numbers = x;
    REFUSED(v.n = 4, KREIN_EARG, "column 2: `type`");
    c[1] = (krein_column_view){.size = sizeof *c, .texts = word};
    REFUSED((v.n = 4, o.missing = KREIN_MISSING_ERROR), KREIN_EDATA, "row 4, column 2 is missing");
    REFUSED((v.n = 3, o.weights = "2"), KREIN_EDATA, "row weights must be numbers");
}

int main(void) {
    RUN(bad_views);
    RUN(bad_sparse);
    RUN(bad_tables);
    return DONE();
}
