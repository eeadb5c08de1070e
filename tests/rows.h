/* rows.h -- a table of rows in every form that the library takes them in: files, arrays, columns,
 * sparse rows, blocks that a function gives. */
#ifndef KREIN_TEST_ROWS_H
#define KREIN_TEST_ROWS_H

#include "train.h"

#include "file/writer.h"

#include <pthread.h>

enum { MOST_COLUMNS = 16 };

/* ---- rows in every form ------------------------------------------------- */

typedef struct table {
    int64_t n, d;
    float *x;
    double *y, *weight;
    char (*word)[8], (*class)[8], (*group_name)[8]; /* a text column, text labels, groups */
    int64_t *group;
    const char **words, **classes, **group_names;
} table;

/* y: of Friedman's function, or classes 1, 3, 7. About half of the entries are 0. */
static inline table make_table(int64_t n, bool classes, uint64_t seed) {
    rows r = classes ? rings(n, 3, seed) : friedman(n, 1, seed);
    table t = {.n = n, .d = r.d, .x = r.x, .y = r.y};
    static const char *const colour[] = {"red", "green", "blue", "x,y"};
    t.weight = test_new(n, sizeof *t.weight);
    t.word = test_new(n, sizeof *t.word);
    t.class = test_new(n, sizeof *t.class);
    t.group_name = test_new(n, sizeof *t.group_name);
    t.group = test_new(n, sizeof *t.group);
    t.words = test_new(n, sizeof *t.words);
    t.classes = test_new(n, sizeof *t.classes);
    t.group_names = test_new(n, sizeof *t.group_names);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < t.d; j++)
            if ((i * 7 + j * 3) % 5 < 2 && j != t.d - 1) t.x[i * t.d + j] = 0;
        t.x[i * t.d] += 1000; /* a shift that matters */
        t.weight[i] = 0.25 * (double)(i % 9);
        t.group[i] = (i * 13) % 40 - 5;
        snprintf(t.word[i], sizeof *t.word, "%s", colour[(i * i + i / 7) % 4]);
        snprintf(t.class[i], sizeof *t.class, "c%d", (int)t.y[i]);
        snprintf(t.group_name[i], sizeof *t.group_name, "g%d", (int)t.group[i]);
        t.words[i] = t.word[i];
        t.classes[i] = t.class[i];
        t.group_names[i] = t.group_name[i];
    }
    return t;
}

static inline void drop_table(table *t) {
    void *all[] = {t->x,          t->y,     t->weight, t->word,    t->class,
                   t->group_name, t->group, t->words,  t->classes, t->group_names};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) free(all[k]);
}

/* What a file or a view holds beside the numbers. */
typedef enum label_kind { NUMBERS, INT32, INT64, TEXTS } label_kind;
typedef struct what {
    label_kind labels;
    bool weights, groups, names, words; /* words: a text column, the last one */
    bool shuffled;                      /* sparse: columns out of order */
} what;

static inline FILE *create(const char *path) {
    FILE *f = fopen(path, "w");
    if (!f) exit(1);
    return f;
}

static inline const char *write_csv(const table *t, what w) {
    const char *path = test_path("rows.csv");
    FILE *f = create(path);
    if (w.names) {
        fprintf(f, "label");
        for (int64_t j = 0; j < t->d; j++) fprintf(f, ",x%d", (int)j);
        fprintf(f, "%s%s%s\n", w.words ? ",word" : "", w.weights ? ",w" : "", w.groups ? ",g" : "");
    }
    for (int64_t i = 0; i < t->n; i++) {
        if (w.labels == TEXTS)
            fprintf(f, "%s", t->classes[i] ? t->classes[i] : "");
        else if (!isnan(t->y[i]))
            fprintf(f, "%.17g", t->y[i]);
        for (int64_t j = 0; j < t->d; j++) fprintf(f, ",%.17g", (double)t->x[i * t->d + j]);
        if (w.words && t->words[i]) fprintf(f, ",\"%s\"", t->words[i]);
        if (w.words && !t->words[i]) fprintf(f, ",");
        if (w.weights) fprintf(f, ",%.17g", t->weight[i]);
        if (w.groups) fprintf(f, ",%d", (int)t->group[i]);
        fprintf(f, "\n");
    }
    fclose(f);
    return path;
}

static inline const char *write_npy(krein_ctx *ctx, const table *t) {
    const char *path = test_path("rows.npy");
    krein_writer *w = NULL;
    CHECK(krein__writer_open(ctx, path, &w) == KREIN_OK);
    CHECK(krein__npy_header(w, "<f8", t->n, t->d + 1) == KREIN_OK);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = -1; j < t->d; j++) {
            double v = j < 0 ? t->y[i] : (double)t->x[i * t->d + j];
            CHECK(krein__writer_put(w, &v, sizeof v) == KREIN_OK);
        }
    CHECK(krein__writer_commit(w) == KREIN_OK);
    return path;
}

static inline const char *write_libsvm(const table *t) {
    const char *path = test_path("rows.libsvm");
    FILE *f = create(path);
    for (int64_t i = 0; i < t->n; i++) {
        fprintf(f, "%.17g", t->y[i]);
        for (int64_t j = 0; j < t->d; j++)
            if (t->x[i * t->d + j] != 0)
                fprintf(f, " %d:%.17g", (int)j + 1, (double)t->x[i * t->d + j]);
        fprintf(f, "\n");
    }
    fclose(f);
    return path;
}

/* Forms of the inputs. */
typedef enum form {
    FLOATS,
    DOUBLES,
    FORTRAN,
    COLUMNS, /* a table of arrays of several types */
    CODES,   /* with the words as codes */
    CSR_32,
    CSR_64,
    FORMS
} form;

/* Rows [from, from + n) of the table in one form, and the arrays it needs. */
typedef struct held {
    krein_rows_view v;
    krein_column_view column[MOST_COLUMNS];
    const char *name[MOST_COLUMNS];
    char text[MOST_COLUMNS][16];
    void *array[8];
    int arrays;
} held;

static inline void *more(held *h, int64_t count, size_t size) {
    return h->array[h->arrays++] = test_new(count, size);
}

static inline void let_go(held *h) {
    for (int k = 0; k < h->arrays; k++) free(h->array[k]);
    h->arrays = 0;
}

static inline void hold_sparse(held *h, const table *t, int64_t from, int64_t n, bool wide,
                               what w) {
    krein_rows_view *v = &h->v;
    int64_t room = n * t->d + 3, at = 3;
    int32_t *ptr32 = more(h, n + 1, 4), *col32 = more(h, room, 4);
    int64_t *ptr64 = more(h, n + 1, 8), *col64 = more(h, room, 8);
    float *val32 = more(h, room, 4);
    double *val64 = more(h, room, 8);
    for (int64_t i = 0; i < n; i++) { /* indptr need not begin at 0 */
        ptr32[i] = (int32_t)(ptr64[i] = at);
        for (int64_t a = 0; a < t->d; a++) {
            int64_t j = w.shuffled ? (a * 5 + i) % t->d : a; /* 5 divides no d here */
            float x = t->x[(from + i) * t->d + j];
            if (x == 0 && i % 3) continue; /* some zeros are stored */
            col32[at] = (int32_t)(col64[at] = j);
            val64[at] = (double)(val32[at] = x);
            at++;
        }
    }
    ptr32[n] = (int32_t)(ptr64[n] = at);
    v->indptr = wide ? (void *)ptr64 : ptr32;
    v->indices = wide ? (void *)col64 : col32;
    v->values = wide ? (void *)val64 : val32;
    v->indptr_type = v->index_type = wide ? KREIN_INT64 : KREIN_INT32;
    v->type = wide ? KREIN_FLOAT64 : KREIN_FLOAT32;
}

static inline void hold_dense(held *h, const table *t, int64_t from, int64_t n, form f) {
    krein_rows_view *v = &h->v;
    if (f == FLOATS) {
        v->x = t->x + from * t->d;
        v->type = KREIN_FLOAT32;
        return;
    }
    int64_t ld = f == FORTRAN ? n + 3 : t->d + 2;
    double *x = more(h, ld * (f == FORTRAN ? t->d : n), sizeof *x);
    v->row_stride = f == FORTRAN ? 1 : ld;
    v->column_stride = f == FORTRAN ? ld : 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < t->d; j++)
            x[f == FORTRAN ? j * ld + i : i * ld + j] = (double)t->x[(from + i) * t->d + j];
    v->x = x;
    v->type = KREIN_FLOAT64;
}

static inline void hold_table(held *h, const table *t, int64_t from, int64_t n, bool codes,
                              what w) {
    static const char *const words[] = {"blue", "never", "x,y", "red", "green"};
    int64_t d = t->d + w.words;
    double *odd = more(h, n * t->d, sizeof *odd);
    int32_t *code = more(h, n, sizeof *code);
    for (int64_t j = 0; j < d; j++) {
        krein_column_view *c = &h->column[j];
        *c = (krein_column_view){.size = sizeof *c};
        if (j == t->d && codes) {
            *c = (krein_column_view){.size = sizeof *c, .codes = code, .words = words, .nwords = 5};
        } else if (j == t->d) {
            c->texts = t->words + from;
        } else if (j % 2) { /* an array of doubles of its own */
            c->numbers = odd + j * n;
            c->type = KREIN_FLOAT64;
            for (int64_t i = 0; i < n; i++) odd[j * n + i] = (double)t->x[(from + i) * t->d + j];
        } else {
            c->numbers = t->x + from * t->d + j;
            c->type = KREIN_FLOAT32;
            c->stride = t->d;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        code[i] = -1;
        for (int k = 0; t->words[from + i] && k < 5; k++)
            if (strcmp(words[k], t->words[from + i]) == 0) code[i] = k;
    }
    h->v.columns = h->column;
    h->v.d = d;
}

static inline void hold(held *h, const table *t, int64_t from, int64_t n, form f, what w) {
    krein_rows_view *v = &h->v;
    let_go(h);
    krein_rows_view_init(v);
    v->n = n;
    v->d = t->d;
    if (f <= FORTRAN) hold_dense(h, t, from, n, f);
    if (f == COLUMNS || f == CODES) hold_table(h, t, from, n, f == CODES, w);
    if (f == CSR_32 || f == CSR_64) hold_sparse(h, t, from, n, f == CSR_64, w);
    if (w.labels == NUMBERS) v->targets = t->y + from;
    if (w.labels == TEXTS) v->class_names = t->classes + from;
    if (w.labels == INT32 || w.labels == INT64) {
        int32_t *narrow = more(h, n, sizeof *narrow);
        int64_t *wide = more(h, n, sizeof *wide);
        for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)(wide[i] = (int64_t)t->y[from + i]);
        v->classes = w.labels == INT32 ? (void *)narrow : wide;
        v->class_type = w.labels == INT32 ? KREIN_INT32 : KREIN_INT64;
    }
    if (w.weights) v->weights = t->weight + from;
    if (w.groups && f % 2) v->groups = t->group + from;
    if (w.groups && f % 2 == 0) v->group_names = t->group_names + from;
    for (int64_t j = 0; w.names && j < v->d; j++) {
        snprintf(h->text[j], sizeof h->text[j], j < t->d ? "x%d" : "word", (int)j);
        h->name[j] = h->text[j];
    }
    if (w.names && !v->indptr) v->names = h->name;
}

/* ---- a source ----------------------------------------------------------- */

typedef struct source {
    const table *t;
    form f;
    what w;
    int64_t at, block, calls, rewinds;
    krein_status fails; /* of the third call */
    pthread_t thread;
    int wrong; /* calls on another thread */
    held h;
} source;

static inline krein_status next_rows(void *user, krein_rows_view *out) {
    source *s = user;
    int64_t n = s->t->n - s->at < s->block ? s->t->n - s->at : s->block;
    s->wrong += !pthread_equal(s->thread, pthread_self());
    if (++s->calls == 3 && s->fails) return s->fails;
    if (n == 0) return KREIN_OK; /* out->n is 0 */
    hold(&s->h, s->t, s->at, n, s->f, s->w);
    *out = s->h.v;
    s->at += n;
    return KREIN_OK;
}

static inline krein_status rewind_rows(void *user) {
    source *s = user;
    s->wrong += !pthread_equal(s->thread, pthread_self());
    s->rewinds++;
    s->at = 0;
    return KREIN_OK;
}

static inline source source_of(const table *t, form f, what w, int64_t block) {
    return (source){.t = t, .f = f, .w = w, .block = block, .thread = pthread_self()};
}

static inline krein_data *pull(krein_ctx *ctx, source *s, const krein_data_options *o) {
    krein_rows_source from;
    krein_data *data = NULL;
    krein_rows_source_init(&from);
    from.next = next_rows;
    from.rewind = rewind_rows;
    from.user = s;
    krein_status st = krein_data_from_source(ctx, &from, o, &data);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    return data;
}

/* ---- data and options --------------------------------------------------- */

static inline krein_data *open_path(krein_ctx *ctx, const char *path, const krein_data_options *o) {
    krein_data *data = NULL;
    krein_status st = krein_data_open(ctx, path, o, &data);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    return data;
}

static inline krein_data *view_data(krein_ctx *ctx, const held *h, const krein_data_options *o) {
    krein_data *data = NULL;
    krein_status st = krein_data_from_rows(ctx, &h->v, o, &data);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
    return data;
}

static inline krein_train_options small_train(bool held_out) {
    krein_train_options o = defaults();
    o.kernel = "gaussian(sigma=2)";
    o.map = "rff(D=24)";
    o.holdout = held_out ? 0.2 : 0;
    return o;
}

#endif
