/* tries.c -- see tries.h. */
#include "model/tries.h"

#include <math.h>
#include <string.h>

void krein__tried_clear(krein_ctx *ctx, krein_tried *tried, int64_t n) {
    for (int64_t i = 0; tried && i < n; i++) {
        krein__free(ctx, tried[i].kernel);
        krein__free(ctx, tried[i].map);
        krein__free(ctx, tried[i].learner);
    }
    krein__free(ctx, tried);
}

void krein__searched_drop(krein_ctx *ctx, krein_tries *t, int64_t i, int64_t n) {
    krein_searched *all = t->searched;
    if (!all || n == 0) return;
    for (int64_t k = i; k < i + n; k++) {
        krein__free(ctx, all[k].kernel);
        krein__free(ctx, all[k].parameter);
        krein__free(ctx, all[k].criterion);
    }
    t->nsearched -= n;
    memmove(&all[i], &all[i + n], (size_t)(t->nsearched - i) * sizeof *all);
}

void krein__tries_clear(krein_ctx *ctx, krein_tries *t) {
    krein__tried_clear(ctx, t->tried, t->n);
    krein__searched_drop(ctx, t, 0, t->nsearched);
    krein__free(ctx, t->searched);
    *t = (krein_tries){0};
}

krein_status krein__tried_room(krein_ctx *ctx, krein_tries *t, int64_t more) {
    krein_status st = KREIN_OK;
    krein_tried *all = NULL;
    ZNEW(all, t->n + more);
    if (t->n > 0) memcpy(all, t->tried, (size_t)t->n * sizeof *all);
    krein__free(ctx, t->tried);
    t->tried = all;
done:
    return st;
}

krein_status krein__tried_copy(krein_ctx *ctx, int64_t n, const krein_tried *from,
                               krein_tried **out) {
    krein_status st = KREIN_OK;
    krein_tried *all = NULL;
    *out = NULL;
    if (n == 0) return KREIN_OK;
    ZNEW(all, n);
    for (int64_t i = 0; i < n; i++) {
        all[i] = from[i];
        all[i].kernel = all[i].map = all[i].learner = NULL;
        DUP(all[i].kernel, from[i].kernel);
        DUP(all[i].map, from[i].map);
        DUP(all[i].learner, from[i].learner);
    }
    *out = all;
    all = NULL;
done:
    krein__tried_clear(ctx, all, n);
    return st;
}

krein_status krein__searched_add(krein_ctx *ctx, krein_tries *t, const krein_searched *one,
                                 const char *kernel, const char *parameter, const char *criterion) {
    krein_status st = KREIN_OK;
    if (!isfinite(one->value) || !isfinite(one->score) || t->nsearched == KREIN_SEARCHED_MAX)
        return KREIN_OK;
    krein_searched *all = krein__resize(ctx, t->searched, t->nsearched + 1, sizeof *t->searched);
    if (!all) return ctx->status;
    t->searched = all;
    krein_searched *to = &all[t->nsearched++];
    *to = *one;
    to->kernel = to->parameter = to->criterion = NULL;
    DUP(to->kernel, kernel);
    DUP(to->parameter, parameter);
    DUP(to->criterion, criterion);
done:
    return st;
}

/* ---- the file ----------------------------------------------------------- */

/* Numbers that are NaN here, and never below zero, are -1 in the file. */
static double to_file(double v) { return isfinite(v) ? v : -1; }
static double from_file(double v) { return v == -1 ? NAN : v; }

/* Texts, whole numbers and numbers of n things, so many of each a thing. Reading: the caller's. */
typedef struct table {
    char **text;
    int64_t *whole;
    double *number;
    int64_t n, texts, wholes, numbers;
} table;

static krein_status table_begin(krein_archive *a, krein_ctx *ctx, table *t) {
    krein_status st = KREIN_OK;
    if (krein__archive_reading(a)) return KREIN_OK;
    ZNEW(t->text, t->n * t->texts);
    NEW(t->whole, t->n * t->wholes);
    NEW(t->number, t->n * t->numbers);
done:
    return st;
}

/* Whether the file has any part of a table. */
static bool table_there(const krein_archive *a, const char *count, const char *const name[3]) {
    return krein__archive_has(a, count) || krein__archive_has(a, name[0]) ||
           krein__archive_has(a, name[1]) || krein__archive_has(a, name[2]);
}

/* The texts stay those of whoever gave them while writing. */
static krein_status table_io(krein_archive *a, krein_ctx *ctx, const char *const name[3],
                             table *t) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_texts(a, name[0], &t->text, t->n * t->texts));
    TRY(krein__archive_array(a, name[1], KREIN_TYPE_I64, &t->whole, t->n * t->wholes));
    TRY(krein__archive_array(a, name[2], KREIN_TYPE_F64, &t->number, t->n * t->numbers));
    if (krein__archive_reading(a)) {
        for (int64_t i = 0; i < t->n * t->texts; i++)
            if (!*t->text[i]) st = krein__fail(ctx, KREIN_EMODEL, "the file is damaged (a spec)");
        goto done;
    }
    int64_t *whole = t->whole;
    double *number = t->number;
    t->whole = NULL;
    t->number = NULL;
    st = krein__archive_own(a, whole); /* frees it where it fails */
    if (st == KREIN_OK)
        st = krein__archive_own(a, number);
    else
        krein__free(ctx, number);
done:
    return st;
}

static void table_end(krein_archive *a, krein_ctx *ctx, table *t) {
    for (int64_t i = 0; krein__archive_reading(a) && t->text && i < t->n * t->texts; i++)
        krein__free(ctx, t->text[i]);
    krein__free(ctx, t->text);
    krein__free(ctx, t->whole);
    krein__free(ctx, t->number);
}

static krein_status damaged(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_EMODEL, "the file is damaged (what was tried)");
}

/* Takes a text out of the table. */
static char *take(table *t, int64_t i) {
    char *text = t->text[i];
    t->text[i] = NULL;
    return text;
}

static krein_status tried_io(krein_archive *a, krein_ctx *ctx, krein_tries *h) {
    static const char *const name[] = {"tried.texts", "tried.numbers", "tried.errors"};
    krein_status st = KREIN_OK;
    const bool reading = krein__archive_reading(a);
    table t = {.texts = 3, .wholes = 2, .numbers = 1};
    if (reading ? !table_there(a, "tried", name) : h->n == 0) return KREIN_OK;
    TRY(krein__archive_int(a, "tried", &h->n, 1, KREIN_TRIED_MAX));
    t.n = h->n;
    if (reading) ZNEW(h->tried, h->n);
    TRY(table_begin(a, ctx, &t));
    for (int64_t i = 0; !reading && i < t.n; i++) {
        const krein_tried *one = &h->tried[i];
        t.text[3 * i] = one->kernel, t.text[3 * i + 1] = one->map, t.text[3 * i + 2] = one->learner;
        t.whole[2 * i] = one->metric, t.whole[2 * i + 1] = one->rows;
        t.number[i] = to_file(one->error);
    }
    TRY(table_io(a, ctx, name, &t));
    for (int64_t i = 0; reading && i < t.n; i++) {
        const int64_t metric = t.whole[2 * i], rows = t.whole[2 * i + 1];
        const double error = from_file(t.number[i]);
        if (metric < 0 || metric > KREIN_METRIC_FULL || rows < 0 || error < 0) TRY(damaged(ctx));
        h->tried[i] = (krein_tried){.kernel = take(&t, 3 * i),
                                    .map = take(&t, 3 * i + 1),
                                    .learner = take(&t, 3 * i + 2),
                                    .metric = (krein_metric_kind)metric,
                                    .rows = rows,
                                    .error = error};
    }
done:
    table_end(a, ctx, &t);
    if (reading && st != KREIN_OK && !h->tried) h->n = 0;
    return st;
}

static krein_status searched_io(krein_archive *a, krein_ctx *ctx, krein_tries *h) {
    static const char *const name[] = {"searched.texts", "searched.numbers", "searched.scores"};
    krein_status st = KREIN_OK;
    const bool reading = krein__archive_reading(a);
    table t = {.texts = 3, .wholes = 2, .numbers = 3};
    if (reading ? !table_there(a, "searched", name) : h->nsearched == 0) return KREIN_OK;
    TRY(krein__archive_int(a, "searched", &h->nsearched, 1, KREIN_SEARCHED_MAX));
    t.n = h->nsearched;
    if (reading) ZNEW(h->searched, t.n);
    TRY(table_begin(a, ctx, &t));
    for (int64_t i = 0; !reading && i < t.n; i++) {
        const krein_searched *one = &h->searched[i];
        t.text[3 * i] = one->kernel, t.text[3 * i + 1] = one->parameter,
                   t.text[3 * i + 2] = one->criterion;
        t.whole[2 * i] = one->metric, t.whole[2 * i + 1] = one->rows;
        t.number[3 * i] = one->value, t.number[3 * i + 1] = to_file(one->lambda),
                     t.number[3 * i + 2] = one->score;
    }
    TRY(table_io(a, ctx, name, &t));
    for (int64_t i = 0; reading && i < t.n; i++) {
        const int64_t metric = t.whole[2 * i], rows = t.whole[2 * i + 1];
        const double lambda = from_file(t.number[3 * i + 1]);
        if (metric < 0 || metric > KREIN_METRIC_FULL || rows < 0 || lambda < 0) TRY(damaged(ctx));
        h->searched[i] = (krein_searched){.kernel = take(&t, 3 * i),
                                          .parameter = take(&t, 3 * i + 1),
                                          .criterion = take(&t, 3 * i + 2),
                                          .metric = (krein_metric_kind)metric,
                                          .rows = rows,
                                          .value = t.number[3 * i],
                                          .lambda = lambda,
                                          .score = t.number[3 * i + 2]};
    }
done:
    table_end(a, ctx, &t);
    if (reading && st != KREIN_OK && !h->searched) h->nsearched = 0;
    return st;
}

krein_status krein__tries_io(krein_archive *a, krein_ctx *ctx, krein_tries *t) {
    krein_status st = KREIN_OK;
    TRY(tried_io(a, ctx, t));
    TRY(searched_io(a, ctx, t));
done:
    return st;
}
