/* test_categories.c -- text columns of very many values: means of the target out of fold, hashes,
 * identifiers. */
#include "data.h"

#include "file/dict.h"

enum { N = 4000, WORDS = 1500 };

/* What the row of number i has; the word of every 17th row is missing. */
static int word_of(int64_t i) { return i % 17 == 4 ? -1 : (int)((i * i + 3 * i) % 4001 % WORDS); }
static double target_of(int64_t i) { return 10 * det(i, 3, .4) + word_of(i) % 5; }
static int class_of(int64_t i, int classes) { return (int)((word_of(i) + 7 + i % 3) % classes); }
static double weight_of(int64_t i) { return i % 9 == 2 ? 0 : 1 + (double)(i % 4) / 2; }

/* classes 0: a regression. */
static const char *write_words(const char *name, int classes) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,w,a,c\n");
    for (int64_t i = 0; i < N; i++) {
        if (classes)
            fprintf(f, "k%d", class_of(i, classes));
        else
            fprintf(f, "%.17g", target_of(i));
        fprintf(f, ",%g,%.4f,", weight_of(i), det(i, 1, .3));
        fprintf(f, word_of(i) < 0 ? "\n" : "word %d\n", word_of(i));
    }
    fclose(f);
    return path;
}

/* The hash of a row's number that decides its fold, written out again. */
static int fold_of(int64_t row) {
    uint64_t z = (uint64_t)row + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((z ^ z >> 31) % 5);
}

/* The obvious way: for every row, over all rows. y: n numbers; fold -1: a new row. */
static double slow_mean(const double *y, const bool *trained, bool weights, int word, int fold) {
    double sum = 0, weight = 0, all = 0, total = 0;
    for (int64_t i = 0; i < N; i++) {
        double w = weights ? weight_of(i) : 1;
        if (!trained[i]) continue;
        all += w * y[i];
        total += w;
        if (word_of(i) != word || fold_of(i) == fold) continue;
        sum += w * y[i];
        weight += w;
    }
    return (sum + 10 * all / total) / (weight + 10);
}

static void check_means(int classes, bool weights, double holdout) {
    krein_ctx *ctx = test_ctx(2);
    krein_data_options o = plain();
    o.weights = weights ? "w" : NULL;
    o.ignore = weights ? NULL : "w";
    double *y = test_new(N, sizeof *y);
    bool *trained = test_new(N, sizeof *trained);
    learned l = learn_file(ctx, write_words("w.csv", classes), &o, KREIN_KEEP_AUTO, holdout, 3);
    int64_t columns = classes > 2 ? classes : 1;
    CHECK_ELSE(l.st == KREIN_OK, "%s", krein_message(ctx));
    CHECK(l.e.d == 1 + columns);
    for (int64_t i = 0; i < N; i++)
        trained[i] = !l.data->part || l.data->part[i] == KREIN_PART_TRAIN;
    for (int64_t k = 0; l.st == KREIN_OK && l.e.d == 1 + columns && k < columns; k++) {
        double worst = 0;
        for (int64_t i = 0; i < N; i++)
            y[i] = classes == 0   ? target_of(i)
                   : classes == 2 ? class_of(i, 2) == 1
                                  : class_of(i, classes) == k;
        for (int64_t i = 0, at = 0; i < N; i++) {
            if (!trained[i]) continue;
            double got = (double)l.t.x[at++ * l.e.d + 1 + k];
            if (i % 40 == 0)
                worst =
                    fmax(worst, fabs(got - slow_mean(y, trained, weights, word_of(i), fold_of(i))));
        }
        CHECK_ABS(worst, 0, 1e-5);
        /* new rows: all folds; missing cells are a category; what was never seen has the mean */
        krein_data *data = NULL;
        taken t = {0};
        CHECK(krein_data_open(ctx, test_write("new.csv", "c,a\nword 3,1\n,1\nnew,1\nword 0,1\n"),
                              NULL, &data) == KREIN_OK);
        CHECK(krein__data_match(data, &l.e, false) == KREIN_OK);
        CHECK(take(data, &l.e, -1, &t) == KREIN_OK && t.n == 4);
        const int word[4] = {3, -1, -5, 0};
        for (int64_t i = 0; i < 4 && t.n == 4; i++)
            CHECK_ABS((double)t.x[i * l.e.d + 1 + k], slow_mean(y, trained, weights, word[i], -1),
                      1e-5);
        give_back(&t);
        krein_data_close(data);
    }
    forget(&l);
    free(y);
    free(trained);
    krein_ctx_destroy(ctx);
}

static void means(void) {
    check_means(0, false, 0);
    check_means(0, true, 0);
    check_means(2, false, 0);
    check_means(3, false, 0);
    check_means(3, true, .25);
}

/* Means are scaled as numbers are, and the same wherever the rows are. */
static void means_scaled(void) {
    krein_data_options o;
    krein_data_options_init(&o);
    learned first = {0};
    const char *path = write_words("w.csv", 0);
    for (int k = 0; k < 4; k++) {
        krein_ctx *ctx = test_ctx(1 + k % 2);
        learned l = learn_file(ctx, path, &o, k < 2 ? KREIN_KEEP_MEMORY : KREIN_KEEP_STREAM, 0, 1);
        CHECK(l.st == KREIN_OK && l.t.n == N && l.t.d == 3);
        double sum = 0, square = 0;
        for (int64_t i = 0; i < l.t.n; i++) {
            double v = (double)l.t.x[i * 3 + 2];
            sum += v;
            square += v * v;
        }
        CHECK_ABS(sum / N, 0, 1e-5);
        CHECK_ABS(square / N, 1, 1e-4);
        if (k > 0) CHECK(memcmp(first.t.x, l.t.x, N * 3 * sizeof *l.t.x) == 0);
        if (k == 0) {
            first = l;
            continue;
        }
        forget(&l);
        krein_ctx_destroy(ctx);
    }
    krein_ctx *ctx = first.ctx;
    forget(&first);
    krein_ctx_destroy(ctx);
}

/* ---- hashes ------------------------------------------------------------- */

static void hashes(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.categories = KREIN_CATEGORIES_HASH;
    o.missing = KREIN_MISSING_MEAN;
    o.ignore = "w";
    learned l = learn_file(ctx, write_words("w.csv", 0), &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_OK && l.t.d == 257 && l.e.input[3].dict.n == 0);
    bool right = true;
    double mean[256] = {0};
    int64_t known = 0;
    for (int64_t i = 0; l.t.d == 257 && i < N; i++) {
        char text[40];
        snprintf(text, sizeof text, "word %d", word_of(i));
        if (word_of(i) < 0) continue;
        int64_t h = krein__word_hash(text, strlen(text));
        known++;
        mean[h % 256] += h < 256 ? 1 : -1;
        for (int64_t b = 0; b < 256; b++)
            right = right && l.t.x[i * 257 + 1 + b] == (b == h % 256 ? (h < 256 ? 1 : -1) : 0);
    }
    CHECK(right);
    for (int64_t b = 0; l.t.d == 257 && b < 256; b++) /* row 4 has no word */
        CHECK_ABS((double)l.t.x[4 * 257 + 1 + b], mean[b] / (double)known, 1e-6);
    forget(&l);
    /* scaled: mean 0, variance 1; missing=auto: one more column */
    krein_data_options_init(&o);
    o.categories = KREIN_CATEGORIES_HASH;
    o.ignore = "w";
    l = learn_file(ctx, test_path("w.csv"), &o, KREIN_KEEP_STREAM, 0, 1);
    CHECK(l.st == KREIN_OK && l.t.d == 258);
    for (int64_t b = 1; l.t.d == 258 && b < 258; b++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < N; i++) {
            double v = (double)l.t.x[i * 258 + b];
            sum += v;
            square += v * v;
        }
        CHECK_ABS(sum / N, 0, 1e-4);
        if (square > 0) CHECK_ABS(square / N, 1, 1e-3); /* else no word has this hash */
    }
    forget(&l);
    krein_ctx_destroy(ctx);
}

/* Without labels many values are hashed, whether the rows were kept or not. */
static void hashed_without_labels(void) {
    taken first = {0};
    write_words("w.csv", 0);
    for (int k = 0; k < 2; k++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data *data = NULL;
        krein_encoding e = {0};
        taken t = {0};
        krein_data_options o;
        krein_data_options_init(&o);
        ctx->keep_rows = k ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY;
        CHECK(krein_data_open(ctx, test_path("w.csv"), &o, &data) == KREIN_OK);
        CHECK(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, 1, &e) == KREIN_OK && e.d == 259);
        CHECK(take(data, &e, KREIN_PART_TRAIN, &t) == KREIN_OK && t.n == N);
        if (k) CHECK(memcmp(first.x, t.x, N * 259 * sizeof *t.x) == 0);
        if (k)
            give_back(&t);
        else
            first = t;
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        o.categories = KREIN_CATEGORIES_TARGET;
        CHECK(krein_data_open(ctx, test_path("w.csv"), &o, &data) == KREIN_OK);
        CHECK(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, 1, &e) == KREIN_EARG);
        CHECK_HAS(krein_message(ctx), "`categories=hash`");
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    give_back(&first);
}

/* ---- which way ---------------------------------------------------------- */

static void which(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_data_options o = plain();
    o.ignore = "w";
    o.categories = KREIN_CATEGORIES_ONEHOT;
    learned l = learn_file(ctx, write_words("w.csv", 0), &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "distinct texts, more than the 1000");
    CHECK_HAS(krein_message(ctx), "`categories=auto`");
    forget(&l);
    /* many classes: hashed */
    o.categories = KREIN_CATEGORIES_AUTO;
    l = learn_file(ctx, write_words("w.csv", 21), &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_OK && l.e.input[3].texts == KREIN_TEXTS_HASH);
    forget(&l);
    /* text labels are not hashed */
    o.categories = KREIN_CATEGORIES_HASH;
    l = learn_file(ctx, test_path("w.csv"), &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_OK && l.e.nclass == 21);
    forget(&l);
    /* few values: one-hot, or means where asked for */
    const char *few = "y,c\n1.5,u\n2.5,v\n4.5,u\n3.25,v\n";
    l = learn_text(ctx, few, NULL);
    CHECK(l.st == KREIN_OK && l.e.input[1].texts == KREIN_TEXTS_ONEHOT && l.e.d == 2);
    forget(&l);
    o.ignore = NULL;
    o.categories = KREIN_CATEGORIES_TARGET;
    l = learn_text(ctx, few, &o);
    CHECK(l.st == KREIN_OK && l.e.input[1].texts == KREIN_TEXTS_TARGET && l.e.d == 1);
    forget(&l);
    krein_ctx_destroy(ctx);
}

static void identifiers(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    char *text = test_new(40000, 1);
    strcpy(text, "y,name,x,number\n");
    for (int i = 0; i < 300; i++)
        sprintf(text + strlen(text), "%d.5,n%d,%d,%s\n", i, i < 15 ? 0 : i, i % 7,
                i == 3 ? "odd"
                       : (char[8]){(char)('1' + i % 9), (char)('0' + i / 100),
                                   (char)('0' + i / 10 % 10), (char)('0' + i % 10), 0});
    for (int stream = 0; stream < 2; stream++) {
        learned l = learn_file(ctx, test_write("data.csv", text), NULL,
                               stream ? KREIN_KEEP_STREAM : KREIN_KEEP_MEMORY, 0, 1);
        CHECK_ELSE(l.st == KREIN_OK && l.e.d == 1, "%s", krein_message(ctx));
        if (l.e.d == 1) CHECK_ROW(l.t, 8, 1);
        CHECK(l.e.input[1].left_out == KREIN_LEFT_DISTINCT);
        CHECK_HAS(log.text, "because of a cell \"odd\"");
        char **note;
        int64_t n;
        CHECK(krein__encoding_notes(ctx, &l.e, &note, &n) == KREIN_OK && n == 1);
        if (n == 1) CHECK_HAS(note[0], "left out: name, number: nearly all texts are distinct");
        krein__notes_free(ctx, note, n);
        forget(&l);
    }
    krein_data_options o = plain();
    o.categories = KREIN_CATEGORIES_ONEHOT;
    learned l = learn_file(ctx, test_path("data.csv"), &o, KREIN_KEEP_AUTO, 0, 1);
    CHECK(l.st == KREIN_OK && l.e.d == 286 + 1 + 300);
    forget(&l);
    free(text);
    refused("y,c\n1.5,\n2.5,\n", NULL, KREIN_EDATA, "no column is left", "data.csv");
    krein_ctx_destroy(ctx);
}

/* More words than a dictionary takes: the first ones are kept, on any number of threads. */
static void many_words(void) {
    const char *path = test_path("many.csv");
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    fprintf(f, "y,c\n");
    for (int i = 0; i < 3 * (KREIN_WORDS_MAX + 1000); i++) fprintf(f, "%d.5,%xx\n", i % 50, i / 3);
    fclose(f);
    for (int threads = test_sanitized() ? 2 : 1; threads <= 2; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        krein_data *data = NULL;
        krein_encoding e = {0};
        krein_stream *s = NULL;
        krein_block b;
        double sum = 0, square = 0, rows = 0;
        CHECK(krein_data_open(ctx, path, NULL, &data) == KREIN_OK);
        CHECK(krein__data_scan(data, KREIN_LABELS_WANTED, 0, 1, &e) == KREIN_OK);
        CHECK(e.d == 1 && e.input[1].dict.n == KREIN_WORDS_MAX);
        CHECK(krein__stream_open(data, &e, KREIN_PART_TRAIN, &s) == KREIN_OK);
        while (krein__stream_next(s, &b) == KREIN_OK && b.x.n > 0)
            for (int64_t i = 0; i < b.x.n; i++) {
                sum += (double)b.x.x[i];
                square += (double)b.x.x[i] * (double)b.x.x[i];
                rows++;
            }
        CHECK_ABS(sum / rows, 0, 1e-4);
        CHECK_ABS(square / rows, 1, 1e-3);
        krein__stream_close(s);
        krein__encoding_clear(ctx, &e);
        /* without labels there is nothing to make of them */
        CHECK(krein__data_scan(data, KREIN_LABELS_IGNORED, 0, 1, &e) == KREIN_EDATA);
        CHECK_HAS(krein_message(ctx), "no column is left");
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
}

static void no_memory(void) {
    const char *path = write_words("w.csv", 3);
    for (int hash = 0; hash < 2; hash++) {
        krein_data_options o = plain();
        o.categories = hash ? KREIN_CATEGORIES_HASH : KREIN_CATEGORIES_AUTO;
        for (int64_t k = 0; learn_failing(path, &o, k) == KREIN_EMEMORY;)
            k += 1 + k / 40; /* a word is an allocation */
    }
}

int main(void) {
    RUN(means);
    RUN(means_scaled);
    RUN(hashes);
    RUN(hashed_without_labels);
    RUN(which);
    RUN(identifiers);
    RUN(many_words);
    RUN(no_memory);
    return DONE();
}
