/* share.c -- rows of one data set on several processes.
 *
 * The rows are cut at multiples of the compute block, so that the blocks are those of one process
 * (of up to 4,096 columns, and where no row is left out; else they differ in where they begin):
 * rank r of p has the blocks ceil(B r / p) .. ceil(B (r + 1) / p) - 1 of B; the first rank always
 * has some, others may have none. Where row numbers must be looked for (text), all processes
 * look together (survey.h).
 *
 * Rows that each process has of its own are where they are: those of rank 0 come first.
 *
 * What the ranks found is put together in the order of the ranks, which is that of the file. A
 * dictionary is in order of first appearance; behind each other, without those that were there
 * before, the words of the ranks are again in that order. */
#include "share/share.h"

#include "share/survey.h"
#include "file/lines.h"
#include "dist/dist.h"

#include <math.h>
#include <string.h>

/* ---- whose rows --------------------------------------------------------- */

static int64_t cut_of(int64_t total, int rank, int size) {
    int64_t unit = krein__block_rows(1), blocks = (total + unit - 1) / unit;
    return krein__min(total, unit * ((blocks * rank + size - 1) / size));
}

/* Where row cut_of(rank) of the file begins; the same for all. */
static krein_status find_marks(krein_reader *r, int64_t *total, krein_mark *mine) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_survey *s = NULL;
    int rank = krein__comm_rank(ctx), size = krein__comm_size(ctx);
    TRY(krein__reader_begin(r));
    TRY(krein__survey_open(r, &s));
    *total = krein__survey_rows(s);
    for (int q = 0; q < size; q++) {
        krein_mark mark;
        TRY(krein__survey_mark(s, cut_of(*total, q, size), &mark));
        if (q == rank) *mine = mark;
    }
done:
    krein__survey_close(s);
    return st;
}

krein_status krein__share_find(krein_reader *rows, krein_reader *labels, krein_share *out) {
    krein_ctx *ctx = rows->ctx;
    krein_status st = KREIN_OK;
    krein_share s = {.on = true};
    int rank = krein__comm_rank(ctx), size = krein__comm_size(ctx);
    int64_t total = -1;
    if (size == 1) return KREIN_OK;
    if (strcmp(rows->path, "-") == 0 || (labels && strcmp(labels->path, "-") == 0)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "several processes cannot share standard input: write the rows to a file");
        goto done;
    }
    TRY(find_marks(rows, &s.total, &s.from));
    if (labels) TRY(find_marks(labels, &total, &s.labels));
    if (labels && total != s.total) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s has %s rows than %s", labels->path,
                         total > s.total ? "more" : "fewer", rows->path);
        goto done;
    }
    s.first = cut_of(s.total, rank, size);
    s.rows = cut_of(s.total, rank + 1, size) - s.first;
    *out = s;
done:
    return st;
}

void krein__share_own(krein_ctx *ctx, krein_share *s) {
    *s = (krein_share){0};
    s->on = s->own = krein__comm_size(ctx) > 1;
}

krein_status krein__share_number(krein_ctx *ctx, int64_t rows, krein_share *s) {
    s->rows = s->total = rows;
    return krein__comm_before(ctx, 1, &s->total, &s->first);
}

krein_status krein__share_begin(krein_share *s, krein_reader *rows, krein_reader *labels) {
    krein_status st = KREIN_OK;
    s->left = s->rows;
    if (s->own || s->rows == 0) goto done;
    TRY(krein__reader_seek(rows, &s->from));
    if (labels) TRY(krein__reader_seek(labels, &s->labels));
done:
    return st;
}

krein_status krein__share_counts(krein_ctx *ctx, int64_t n, const int64_t *here, int64_t *count,
                                 int64_t *before, int *root) {
    krein_status st = KREIN_OK;
    int64_t first[16];
    memcpy(count, here, (size_t)n * sizeof *count);
    TRY(krein__comm_before(ctx, n, count, before));
    for (int64_t k = 0; k < n; k++)
        first[k] = here[k] > 0 ? krein__comm_rank(ctx) : krein__comm_size(ctx) - 1;
    TRY(krein__comm_fold(ctx, KREIN_FOLD_MIN, n, first));
    for (int64_t k = 0; k < n; k++) root[k] = (int)first[k];
done:
    return st;
}

/* ---- words -------------------------------------------------------------- */

static krein_status add_words(krein_ctx *ctx, krein_dict *all, bool feature, const char *text,
                              int64_t bytes, int64_t *code) {
    int64_t n = 0;
    for (int64_t at = 0; at < bytes; n++) {
        size_t length = strlen(text + at);
        int64_t c = krein__dict_word(ctx, all, text + at, feature);
        if (c == -1) return ctx->status;
        if (code) code[n] = c;
        at += (int64_t)length + 1;
    }
    return KREIN_OK;
}

/* One dictionary of all; *code: from the old codes of this process. */
static krein_status unite(krein_ctx *ctx, krein_dict *dict, bool feature, int64_t **code) {
    krein_status st = KREIN_OK;
    char *text = NULL, *all = NULL;
    int64_t *offset = NULL, bytes = 0, at = 0;
    krein_dict united = {0};
    for (int64_t k = 0; k < dict->n; k++) bytes += (int64_t)strlen(dict->word[k]) + 1;
    NEW(text, krein__max(1, bytes));
    NEW(*code, krein__max(1, dict->n));
    for (int64_t k = 0; k < dict->n; k++) {
        size_t length = strlen(dict->word[k]) + 1;
        memcpy(text + at, dict->word[k], length);
        at += (int64_t)length;
    }
    TRY(krein__comm_gather(ctx, text, bytes, &all, &offset));
    for (int r = 0; r < krein__comm_size(ctx); r++)
        TRY(add_words(ctx, &united, feature, all + offset[r], offset[r + 1] - offset[r],
                      r == krein__comm_rank(ctx) ? *code : NULL));
    krein__dict_clear(ctx, dict);
    *dict = united;
    united = (krein_dict){0};
done:
    krein__dict_clear(ctx, &united);
    krein__free(ctx, text);
    krein__free(ctx, all);
    krein__free(ctx, offset);
    return st;
}

krein_status krein__share_words(krein_reader *r, krein_column *label, krein_recode *out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    *out = (krein_recode){0};
    if (r->sparse) TRY(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &r->d));
    ZNEW(out->cat, r->ncolumn);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        if (c->role == KREIN_ROLE_FEATURE && c->text && c->hashed)
            out->cat[out->ncat++] = NULL; /* the same codes everywhere */
        else if (c->role == KREIN_ROLE_FEATURE && c->text)
            TRY(unite(ctx, &c->dict, true, &out->cat[out->ncat++]));
        else if (c->role == KREIN_ROLE_GROUP)
            TRY(unite(ctx, &c->dict, false, &out->group));
        else if (c == label)
            TRY(unite(ctx, &c->dict, false, &out->label));
    }
    if (label && !out->label) TRY(unite(ctx, &label->dict, false, &out->label));
done:
    return st;
}

void krein__recode_clear(krein_ctx *ctx, krein_recode *r) {
    for (int64_t k = 0; k < r->ncat; k++) krein__free(ctx, r->cat[k]);
    krein__free(ctx, r->cat);
    krein__free(ctx, r->label);
    krein__free(ctx, r->group);
    *r = (krein_recode){0};
}

/* ---- labels and columns ------------------------------------------------- */

krein_status krein__share_labels(krein_ctx *ctx, krein_label_set *set) {
    krein_status st = KREIN_OK;
    double *all = NULL;
    int64_t *rows = NULL, total = set->rows;
    int64_t count, none = set->n == 0 && !set->many;
    /* Of any. Whether one rank goes on where the one before it ended is not looked at. */
    int64_t flags[3] = {set->many, !none && !set->whole, !none && !set->steps};
    TRY(krein__comm_fold(ctx, KREIN_FOLD_MAX, 3, flags));
    TRY(krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &total));
    TRY(krein__comm_join(ctx, set->value, set->n, sizeof *all, &all, &count));
    TRY(krein__comm_join(ctx, set->count, set->n, sizeof *rows, &rows, &count));
    krein__label_set_clear(ctx, set);
    for (int64_t k = 0; k < count; k++) TRY(krein__label_set_count(ctx, set, all[k], rows[k]));
    set->many = set->many || flags[0];
    set->whole = !flags[1];
    set->steps = !flags[2];
    set->rows = total;
done:
    krein__free(ctx, all);
    krein__free(ctx, rows);
    return st;
}

enum { NUMBERS = 7 }; /* of a column */

static void merge(krein_stats *s, bool sparse, int64_t j, const double other[NUMBERS]) {
    double n = other[0], total = s->count[j] + n;
    s->low[j] = fmin(s->low[j], other[3]);
    s->high[j] = fmax(s->high[j], other[4]);
    s->least[j] = fmin(s->least[j], other[5]);
    s->most[j] = fmax(s->most[j], other[6]);
    if (n == 0) return;
    if (sparse) { /* sums */
        s->mean[j] += other[1];
        s->m2[j] += other[2];
    } else {
        double delta = other[1] - s->mean[j];
        s->m2[j] += other[2] + delta * delta * s->count[j] * n / total;
        s->mean[j] += delta * n / total;
    }
    s->count[j] = total;
}

static krein_status share_numbers(krein_ctx *ctx, krein_stats *s, bool sparse) {
    krein_status st = KREIN_OK;
    double *mine = NULL, *all = NULL;
    int64_t nnum = s->nnum, count;
    TRY(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &nnum));
    TRY(krein__stats_widen(ctx, s, nnum)); /* sparse: each process saw others */
    NEW(mine, krein__max(1, NUMBERS * nnum));
    for (int64_t j = 0; j < nnum; j++) {
        const double one[NUMBERS] = {s->count[j], s->mean[j],  s->m2[j],  s->low[j],
                                     s->high[j],  s->least[j], s->most[j]};
        memcpy(mine + NUMBERS * j, one, sizeof one);
        s->count[j] = s->mean[j] = s->m2[j] = 0;
        krein__stats_no_range(s, j);
    }
    TRY(krein__comm_join(ctx, mine, NUMBERS * nnum, sizeof *mine, &all, &count));
    for (int64_t k = 0; k < count; k += NUMBERS) merge(s, sparse, k / NUMBERS % nnum, all + k);
done:
    krein__free(ctx, mine);
    krein__free(ctx, all);
    return st;
}

krein_status krein__share_stats(krein_ctx *ctx, krein_stats *s) {
    krein_status st = KREIN_OK;
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    TRY(share_numbers(ctx, s, s->pending == NULL));
    for (int64_t k = 0; k < s->ncat; k++) {
        int64_t codes = s->codes[k];
        TRY(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &codes));
        TRY(krein__stats_codes(ctx, s, k, codes));
        TRY(krein__comm_sum(ctx, codes, s->code_count[k]));
    }
    TRY(krein__comm_sum(ctx, s->nnum, s->absent));
    TRY(krein__comm_sum(ctx, s->ncat, s->no_code));
    TRY(krein__comm_fold(ctx, KREIN_FOLD_SUM, s->ncat, s->cells));
    TRY(krein__comm_sum(ctx, 1, &s->weight));
done:
    return st;
}
