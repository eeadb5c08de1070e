/* csr -- trains on compressed sparse rows and writes the predictions into an array.
 *
 * 2,000 documents are bags of 300 words, some twenty different words each. Every document is about
 * one of three topics, whose words it has more often than others. */
#include <krein.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 2000, WORDS = 300, MOST = 24, TOPICS = 3 };

static const char *const topic[TOPICS] = {"chess", "music", "travel"};

/* A generator of its own, so that the numbers are the same everywhere. */
static unsigned draw(unsigned below) {
    static unsigned long long state = 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

static int by_number(const void *a, const void *b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The words of one document, in order; a word that is drawn twice counts twice. */
static int write_document(int about, int *column, float *count) {
    int word[MOST], n = 0;
    for (int k = 0; k < MOST; k++) {
        unsigned w = draw(WORDS);
        if (draw(3) == 0) w = w / TOPICS * TOPICS + (unsigned)about;
        word[k] = (int)(w % WORDS);
    }
    qsort(word, MOST, sizeof *word, by_number);
    for (int k = 0; k < MOST; k++) {
        if (n > 0 && column[n - 1] == word[k]) {
            count[n - 1]++;
        } else {
            column[n] = word[k];
            count[n++] = 1;
        }
    }
    return n;
}

static krein_status run(krein_ctx *ctx, const krein_rows_view *rows) {
    static int64_t label[ROWS];
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_train_options o;
    krein_data_options d;
    krein_prediction_arrays to;
    krein_train_options_init(&o);
    krein_data_options_init(&d);
    krein_prediction_arrays_init(&to);
    d.scale = KREIN_SCALE_UNIT; /* documents of any length */
    o.kernel = "gaussian(sigma=1)";
    o.holdout = 0.25;
    to.capacity = ROWS;
    to.labels = label;
    krein_status st = krein_data_from_rows(ctx, rows, &d, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, &report, &model);
    if (st == KREIN_OK) {
        printf("%lld documents, held-out accuracy %.2f\n", (long long)report.n,
               report.test->accuracy);
        krein_report_clear(ctx, &report);
        st = krein_predict_into(ctx, model, data, &to);
    }
    for (int i = 0; st == KREIN_OK && i < 3; i++)
        printf("document %d is about %s, predicted %s\n", i + 1, rows->class_names[i],
               krein_model_class(model, label[i]));
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}

int main(void) {
    static int start[ROWS + 1], column[ROWS * MOST];
    static float count[ROWS * MOST];
    static const char *about[ROWS]; /* the labels */
    krein_rows_view rows;
    krein_ctx *ctx = NULL;
    for (int i = 0; i < ROWS; i++) {
        int t = (int)draw(TOPICS);
        about[i] = topic[t];
        start[i + 1] = start[i] + write_document(t, column + start[i], count + start[i]);
    }
    krein_rows_view_init(&rows);
    rows.n = ROWS;
    rows.d = WORDS;
    rows.indptr = start;
    rows.indices = column;
    rows.values = count;
    rows.indptr_type = rows.index_type = KREIN_INT32;
    rows.type = KREIN_FLOAT32;
    rows.class_names = about;
    krein_status st = krein_ctx_create(NULL, &ctx);
    if (st == KREIN_OK) st = run(ctx, &rows);
    if (st != KREIN_OK) fprintf(stderr, "%s: %s\n", krein_status_text(st), krein_message(ctx));
    krein_ctx_destroy(ctx);
    return st != KREIN_OK;
}
