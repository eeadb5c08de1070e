/* test_data.c -- from files and arrays to encoded blocks: categories, missing cells, scaling.
 * Labels and roles of columns are in test_labels.c, a second file and blocks in test_blocks.c. */
#include "data.h"

/* ---- categories --------------------------------------------------------- */

static void one_hot_in_column_order(void) {
    krein_ctx *ctx = test_ctx(1);
    learned l = learn_text(ctx,
                           "colour,size,label,shape,height\n"
                           "red,1,a,round,10\n"
                           "blue,2,b,square,20\n"
                           "red,3,a,square,30\n"
                           "green,4,b,round,40\n",
                           NULL);
    CHECK(l.st == KREIN_OK);
    CHECK(l.e.d == 3 + 1 + 2 + 1 && l.e.header && !l.e.sparse && l.e.ninput == 5);
    CHECK(l.t.n == 4);
    CHECK_ROW(l.t, 0, 1, 0, 0, 1, 1, 0, 10);
    CHECK_ROW(l.t, 1, 0, 1, 0, 2, 0, 1, 20);
    CHECK_ROW(l.t, 2, 1, 0, 0, 3, 0, 1, 30);
    CHECK_ROW(l.t, 3, 0, 0, 1, 4, 1, 0, 40);
    CHECK(l.e.input[0].dict.n == 3 && strcmp(l.e.input[0].dict.word[2], "green") == 0);
    CHECK(l.e.input[0].at == 0 && l.e.input[1].at == 3 && l.e.input[2].at == -1 &&
          l.e.input[3].at == 4 && l.e.input[4].at == 6);
    CHECK(l.e.input[2].role == KREIN_ROLE_LABEL);
    CHECK(l.t.label[0] == 0 && l.t.label[1] == 1 && l.t.label[2] == 0);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void category_scaling(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o;
    krein_data_options_init(&o);
    learned l = learn_text(ctx, "y,c\n1.5,u\n2.5,v\n3.5,u\n4.5,u\n", &o);
    CHECK(l.st == KREIN_OK);
    double s = sqrt(.75 * .25);
    CHECK_ABS((double)l.t.x[0], .25 / s, 1e-6);
    CHECK_ABS((double)l.t.x[1], -.25 / s, 1e-6);
    CHECK_ABS((double)l.t.x[2], -.75 / s, 1e-6);
    CHECK_ABS((double)l.t.x[3], .75 / s, 1e-6);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void unknown_category(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int ignore = 0; ignore < 2; ignore++) {
        krein_data_options o = plain();
        o.unknown_ignore = ignore;
        learned l = learn_text(ctx, "y,c,x\n1.5,u,1\n2.5,v,2\n3.5,u,3\n", &o);
        CHECK(l.st == KREIN_OK);
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("new.csv", "c,x\nv,1\nw,2\n"), NULL, &other) ==
              KREIN_OK);
        CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
        krein_status st = take(other, &l.e, -1, &t);
        if (ignore) {
            CHECK(st == KREIN_OK && t.n == 2);
            CHECK_ROW(t, 0, 0, 1, 1);
            CHECK_ROW(t, 1, 0, 0, 2);
        } else {
            CHECK(st == KREIN_EDATA);
            CHECK_HAS(krein_message(ctx), "new.csv:3: column 1 (c)");
            CHECK_HAS(krein_message(ctx), "\"w\"");
            CHECK_HAS(krein_message(ctx), "`unknown_ignore`");
        }
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

/* ---- missing cells ------------------------------------------------------ */

static const char *holes = "y,x,c\n1.5,1,u\n2.5,,u\n3.5,4,?\n4.5,4,v\n5.5,NaN,u\n";

static void missing_error(void) {
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_ERROR;
    refused(holes, &o, KREIN_EDATA, "data.csv:3", "`missing=");
    o.missing = KREIN_MISSING_MEAN;
    refused("y,x\n1,1\n,2\n3,3\n", &o, KREIN_EDATA, "data.csv:3", "y"); /* no label */
    refused("y,x,z\n1,,1\n2,,2\n3,,3\n", &o, KREIN_EDATA, "column 2", "`ignore=2`");
}

static void missing_mean(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_MEAN;
    learned l = learn_text(ctx, holes, &o);
    CHECK(l.st == KREIN_OK && l.t.n == 5);
    CHECK_ROW(l.t, 0, 1, 1, 0);
    CHECK_ROW(l.t, 1, 3, 1, 0);     /* (1 + 4 + 4) / 3 */
    CHECK_ROW(l.t, 2, 4, .75, .25); /* three u, one v among the cells that are there */
    CHECK_ROW(l.t, 4, 3, 1, 0);
    forget(&l);
    /* A missing cell is the centre after scaling. */
    o.scale = KREIN_SCALE_STANDARD;
    l = learn_text(ctx, "y,x\n1.5,1e9\n2.5,\n3.5,1000000004\n4.5,1000000004\n", &o);
    CHECK(l.st == KREIN_OK);
    CHECK_ROW(l.t, 1, 0);
    CHECK_ABS((double)l.t.x[0], -sqrt(2), 1e-6);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void missing_drop(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.missing = KREIN_MISSING_DROP;
    learned l = learn_text(ctx, holes, &o);
    CHECK(l.st == KREIN_OK);
    CHECK(l.t.n == 2 && l.data->count[KREIN_PART_TRAIN] == 2 &&
          l.data->count[KREIN_PART_DROPPED] == 3);
    CHECK_ROW(l.t, 0, 1, 1, 0);
    CHECK_ROW(l.t, 1, 4, 0, 1);
    CHECK(l.t.label[1] == (l.e.task == KREIN_TASK_CLASSIFICATION ? 1 : 4.5));
    /* Prediction keeps the rows and says which are dropped. */
    krein_data *other = NULL;
    taken t = {0};
    CHECK(krein_data_open(ctx, test_write("new.csv", "x,c\n1,u\n?,u\n2,v\n3,\n"), NULL, &other) ==
          KREIN_OK);
    CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
    CHECK(take(other, &l.e, -1, &t) == KREIN_OK);
    CHECK(t.n == 4 && !t.dropped[0] && t.dropped[1] && !t.dropped[2] && t.dropped[3]);
    CHECK_ROW(t, 2, 2, 0, 1);
    give_back(&t);
    krein_data_close(other);
    forget(&l);
    /* A missing label drops the row in training and evaluation. */
    l = learn_text(ctx, "y,x\n1.5,1\n,2\n3.25,3\n4.5,4\n", &o);
    CHECK(l.st == KREIN_OK && l.t.n == 3 && l.t.label[1] == 3.25);
    forget(&l);
    krein_ctx_destroy(ctx);
    refused("y,x\n1,\n2,1\n3,\n", &o, KREIN_EDATA, "data.csv", "1 usable row");
}

/* Arrays follow the same rules as files. */
static void missing_in_arrays(void) {
    krein_ctx *ctx = test_ctx(1);
    float x[] = {1, 2, 3, NAN, 5, 6, 7, 8};
    double y[] = {1.5, 2.5, 3.5, 4.25};
    krein_data_options o = plain();
    for (int missing = 0; missing < 3; missing++) {
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        o.missing = (krein_missing)missing;
        krein_status st = krein_data_from_dense(ctx, 4, 2, x, 2, y, NULL, &o, &data);
        if (st == KREIN_OK) st = krein__data_scan(data, true, 0, 1, &e);
        if (st == KREIN_OK) st = take(data, &e, 0, &t);
        if (missing == KREIN_MISSING_ERROR) {
            CHECK(st == KREIN_EDATA);
        } else {
            CHECK(st == KREIN_OK && t.n == (missing == KREIN_MISSING_DROP ? 3 : 4));
            if (missing == KREIN_MISSING_MEAN)
                CHECK_ROW(t, 1, 3, 16 / 3.);
            else
                CHECK_ROW(t, 1, 5, 6);
        }
        give_back(&t);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_ctx_destroy(ctx);
}

/* Numbers that no file could bring in must not come in through arrays. */
static void bad_arrays(void) {
    krein_ctx *ctx = test_ctx(1);
    float x[] = {1, 2, 3, 4}, far[] = {1, INFINITY, 3, 4};
    double y[] = {1.5, 2.5, 3.5, 4.25}, bad_y[] = {1, NAN, 2, 3}, bad_w[] = {1, -1, 1, 1},
           nan_w[] = {1, NAN, 1, 1};
    struct {
        const float *x;
        const double *y, *w;
    } all[] = {{far, y, NULL}, {x, bad_y, NULL}, {x, y, bad_w}, {x, y, nan_w}, {x, NULL, NULL}};
    for (int k = 0; k < 5; k++) {
        krein_data *data = NULL;
        krein_encoding e = {0};
        krein_data_options o = plain();
        krein_status st =
            krein_data_from_dense(ctx, 4, 1, all[k].x, 1, all[k].y, all[k].w, &o, &data);
        if (st == KREIN_OK) st = krein__data_scan(data, true, 0, 1, &e);
        if (st == KREIN_OK) printf("bad array %d is taken\n", k);
        CHECK(st != KREIN_OK);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
    }
    krein_data *data = (krein_data *)x;
    CHECK(krein_data_from_dense(ctx, 4, 3, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    CHECK(krein_data_from_dense(ctx, 4, 0, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    CHECK(krein_data_from_dense(ctx, -1, 1, x, 2, y, NULL, NULL, &data) == KREIN_EARG && !data);
    krein_ctx_destroy(ctx);
}

/* ---- scaling ------------------------------------------------------------ */

static void scalers(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *path = scale_file();
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, path, &o, KREIN_KEEP_AUTO, 0, 1);
        CHECK(l.st == KREIN_OK && l.t.n == SN);
        double mean[SD] = {0}, sd[SD] = {0}, low[SD], high[SD];
        for (int j = 0; j < SD; j++) {
            low[j] = INFINITY;
            high[j] = -INFINITY;
            for (int i = 0; i < SN; i++) {
                mean[j] += cell(i, j) / SN;
                low[j] = fmin(low[j], cell(i, j));
                high[j] = fmax(high[j], cell(i, j));
            }
            for (int i = 0; i < SN; i++) sd[j] += pow(cell(i, j) - mean[j], 2) / SN;
            sd[j] = sqrt(sd[j]); /* of the population */
        }
        double worst = 0;
        for (int64_t i = 0; i < SN; i++) {
            double length = 0;
            for (int j = 0; j < SD; j++) length += cell(i, j) * cell(i, j);
            for (int64_t j = 0; j < SD; j++) {
                double v = cell(i, j), want = v;
                if (scale == KREIN_SCALE_STANDARD) want = j == 2 ? 0 : (v - mean[j]) / sd[j];
                if (scale == KREIN_SCALE_MINMAX)
                    want = j == 2 ? 0 : (v - low[j]) / (high[j] - low[j]);
                if (scale == KREIN_SCALE_UNIT) want = v / sqrt(length);
                worst = fmax(worst, fabs((double)l.t.x[i * SD + j] - want) / (1 + fabs(want)));
            }
        }
        CHECK_ABS(worst, 0, 1e-5);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

/* The same rows from arrays give the same blocks. */
static void arrays_scale_as_files(void) {
    krein_ctx *ctx = test_ctx(1);
    static float x[SN * SD];
    static double y[SN];
    for (int64_t i = 0; i < SN; i++) {
        y[i] = det(i, 9, 0);
        for (int64_t j = 0; j < SD; j++) x[i * SD + j] = (float)cell(i, j);
    }
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, scale_file(), &o, KREIN_KEEP_AUTO, 0, 1);
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        CHECK(krein_data_from_dense(ctx, SN, SD, x, SD, y, NULL, &o, &data) == KREIN_OK);
        CHECK(krein__data_scan(data, true, 0, 1, &e) == KREIN_OK);
        CHECK(take(data, &e, 0, &t) == KREIN_OK);
        CHECK(t.n == SN && t.d == SD);
        double worst = 0;
        for (int64_t k = 0; k < SN * SD; k++)
            worst = fmax(worst, fabs((double)t.x[k] - (double)l.t.x[k]));
        CHECK_ABS(worst, 0, scale == KREIN_SCALE_NONE ? 1e-2 : 1e-4);
        give_back(&t);
        krein_data_close(data);
        krein__encoding_clear(ctx, &e);
        /* Arrays read with the encoding that was learned from the file (predict_dense). */
        CHECK(krein_data_from_dense(ctx, SN, SD, x, SD, NULL, NULL, NULL, &data) == KREIN_OK);
        CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
        CHECK(take(data, &l.e, -1, &t) == KREIN_OK);
        CHECK(t.n == SN);
        worst = 0;
        for (int64_t k = 0; k < SN * SD && t.n == SN; k++)
            worst = fmax(worst, fabs((double)t.x[k] - (double)l.t.x[k]));
        CHECK_ABS(worst, 0, scale == KREIN_SCALE_NONE ? 1e-2 : 1e-4);
        give_back(&t);
        krein_data_close(data);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

/* Seconds since 1970: differences of a second must survive. */
static void large_offset(void) {
    krein_ctx *ctx = test_ctx(1);
    char text[8000] = "y,t\n";
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), 60, "%g,%.3f\n", det(i, 0, 0), 1.6e9 + i * .25);
    for (int scale = 0; scale < 2; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_text(ctx, text, &o);
        CHECK(l.st == KREIN_OK);
        double sd = .25 * sqrt((100. * 100 - 1) / 12);
        for (int i = 0; i < 100 && l.t.n == 100; i++)
            CHECK_ABS((double)l.t.x[i], scale ? i / 99. : .25 * (i - 49.5) / sd, 1e-5);
        /* and in another file */
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("new.csv", "t\n1600000012.5\n1600000000\n"), NULL,
                              &other) == KREIN_OK);
        CHECK(krein__data_match(other, &l.e, false) == KREIN_OK);
        CHECK(take(other, &l.e, -1, &t) == KREIN_OK && t.n == 2);
        CHECK(t.n == 2 && t.x[0] == l.t.x[50] && t.x[1] == l.t.x[0]);
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

static void sparse_scaling(void) {
    krein_ctx *ctx = test_ctx(1);
    const char *text = "1 1:2 3:4\n-1 2:1\n1 1:4 3:-2\n-1 3:6 4:3\n1 4:3\n";
    static const double raw[5][4] = {
        {2, 0, 4, 0}, {0, 1, 0, 0}, {4, 0, -2, 0}, {0, 0, 6, 3}, {0, 0, 0, 3}};
    for (int scale = 0; scale < 4; scale++) {
        krein_data_options o;
        krein_data_options_init(&o);
        o.scale = (krein_scale)scale;
        learned l = learn_file(ctx, test_write("s.libsvm", text), &o, KREIN_KEEP_AUTO, 0, 1);
        CHECK(l.st == KREIN_OK && l.e.sparse && l.e.d == 4 && l.t.n == 5);
        for (int i = 0; i < 5 && l.t.n == 5; i++) {
            double length = 0;
            for (int j = 0; j < 4; j++) length += raw[i][j] * raw[i][j];
            for (int j = 0; j < 4; j++) {
                double mean = 0, square = 0, most = 0;
                for (int r = 0; r < 5; r++) {
                    mean += raw[r][j] / 5;
                    square += raw[r][j] * raw[r][j] / 5;
                    most = fmax(most, fabs(raw[r][j]));
                }
                double want = raw[i][j];
                if (scale == KREIN_SCALE_STANDARD) want /= sqrt(square - mean * mean);
                if (scale == KREIN_SCALE_MINMAX) want /= most;
                if (scale == KREIN_SCALE_UNIT) want /= sqrt(length);
                CHECK_ABS((double)l.t.x[i * 4 + j], want, 1e-6);
            }
        }
        /* Columns beyond those of training are dropped, and fewer are fine. */
        krein_data *other = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("t.libsvm", "1 1:2 9:5\n1 2:1\n"), NULL, &other) ==
              KREIN_OK);
        CHECK(krein__data_match(other, &l.e, true) == KREIN_OK);
        CHECK(take(other, &l.e, 0, &t) == KREIN_OK && t.n == 2 && t.d == 4);
        give_back(&t);
        krein_data_close(other);
        forget(&l);
    }
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(one_hot_in_column_order);
    RUN(category_scaling);
    RUN(unknown_category);
    RUN(missing_error);
    RUN(missing_mean);
    RUN(missing_drop);
    RUN(missing_in_arrays);
    RUN(bad_arrays);
    RUN(scalers);
    RUN(arrays_scale_as_files);
    RUN(large_offset);
    RUN(sparse_scaling);
    return DONE();
}
