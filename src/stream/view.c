/* view.c -- the caller's arrays: whether they make sense, and their columns. */
#include "stream/view.h"

#include "base/limits.h"
#include "base/sized.h"

#include <math.h>
#include <string.h>

static bool is_number(krein_element t) { return t >= KREIN_FLOAT32 && t <= KREIN_UINT8; }
static bool is_whole(krein_element t) { return t == KREIN_INT32 || t == KREIN_INT64; }

/* The columns may come from a caller with an older, smaller struct. */
static krein_column_view column_of(const krein_rows_view *v, int64_t j) {
    krein_column_view c = {0};
    size_t size = v->columns->size;
    memcpy(&c, (const char *)v->columns + (size_t)j * size, size < sizeof c ? size : sizeof c);
    return c;
}

/* ---- checks ------------------------------------------------------------- */

static krein_status check_dense(krein_ctx *ctx, krein_rows_view *v) {
    if (!is_number(v->type))
        return krein__fail(ctx, KREIN_EARG,
                           "`type` says what the elements of x are: KREIN_FLOAT32, KREIN_FLOAT64, "
                           "KREIN_INT32, KREIN_INT64 or KREIN_UINT8");
    if (v->row_stride == 0 && v->column_stride != 0 && v->n > 1)
        return krein__fail(ctx, KREIN_EARG, "`row_stride` must be given where `column_stride` is");
    if (v->column_stride == 0) v->column_stride = 1;
    if (v->row_stride == 0) v->row_stride = v->d;
    return KREIN_OK;
}

static krein_status check_sparse(krein_ctx *ctx, const krein_rows_view *v, int64_t first) {
    if (!is_whole(v->indptr_type) || !is_whole(v->index_type))
        return krein__fail(
            ctx, KREIN_EARG,
            "`indptr_type` and `index_type` of sparse rows are KREIN_INT32 or KREIN_INT64");
    if (v->type != KREIN_FLOAT32 && v->type != KREIN_FLOAT64)
        return krein__fail(ctx, KREIN_EARG,
                           "`type` of the values of sparse rows is KREIN_FLOAT32 or KREIN_FLOAT64");
    if (v->d > INT32_MAX)
        return krein__fail(ctx, KREIN_EARG, "sparse rows have at most 2147483647 columns");
    if (v->names) return krein__fail(ctx, KREIN_EARG, "the columns of sparse rows have no names");
    int64_t at = krein__whole(v->indptr, v->indptr_type, 0);
    if (at < 0) return krein__fail(ctx, KREIN_EARG, "indptr[0] is negative");
    for (int64_t i = 0; i < v->n; i++) {
        int64_t next = krein__whole(v->indptr, v->indptr_type, i + 1);
        if (next < at)
            return krein__fail(ctx, KREIN_EARG,
                               "row %lld: indptr goes down from %lld to %lld; it must not",
                               (long long)(first + i + 1), (long long)at, (long long)next);
        at = next;
    }
    if (at > krein__whole(v->indptr, v->indptr_type, 0) && (!v->indices || !v->values))
        return krein__fail(ctx, KREIN_EARG, "sparse rows need indices and values");
    return KREIN_OK;
}

static krein_status check_table(krein_ctx *ctx, const krein_rows_view *v) {
    krein_status st = KREIN_OK;
    for (int64_t j = 0; j < v->d; j++) {
        krein_column_view c = column_of(v, j);
        long long number = (long long)j + 1;
        if (c.size < sizeof c.size || c.size != v->columns->size)
            return krein__fail(ctx, KREIN_EARG,
                               "column %lld: size must be sizeof(krein_column_view)", number);
        const void *given = (const char *)v->columns + (size_t)j * c.size;
        TRY(krein__options_known(ctx, given, sizeof c, "krein_column_view"));
        int kinds = !!c.numbers + !!c.texts + !!c.codes;
        if (kinds != 1)
            return krein__fail(
                ctx, KREIN_EARG,
                "column %lld: exactly one of numbers, texts and codes is set, not %d of them",
                number, kinds);
        if (c.numbers && !is_number(c.type))
            return krein__fail(ctx, KREIN_EARG, "column %lld: `type` says what the numbers are",
                               number);
        if (c.codes && (c.nwords < 0 || (c.nwords > 0 && !c.words)))
            return krein__fail(ctx, KREIN_EARG, "column %lld: codes need words", number);
    }
done:
    return st;
}

static krein_status check_labels(krein_ctx *ctx, krein_rows_view *v) {
    int kinds = !!v->targets + !!v->classes + !!v->class_names;
    if (kinds > 1)
        return krein__fail(ctx, KREIN_EARG,
                           "labels of %d kinds: give one of targets, classes and class_names",
                           kinds);
    if (v->classes && !is_whole(v->class_type))
        return krein__fail(ctx, KREIN_EARG, "`class_type` is KREIN_INT32 or KREIN_INT64");
    if (v->ntargets == 0) v->ntargets = 1;
    if (krein__limit_check(ctx, "ntargets", (double)v->ntargets) != KREIN_OK) return ctx->status;
    if (v->ntargets > 1 && !v->targets)
        return krein__fail(ctx, KREIN_EARG, "`ntargets` is for targets, and there are none");
    return KREIN_OK;
}

static krein_status check_sides(krein_ctx *ctx, const krein_rows_view *v, int64_t first) {
    if (v->groups && v->group_names)
        return krein__fail(ctx, KREIN_EARG, "groups are given twice: as numbers and as names");
    for (int64_t i = 0; v->weights && i < v->n; i++)
        if (!(v->weights[i] >= 0) || isinf(v->weights[i]))
            return krein__fail(ctx, KREIN_EARG, "row %lld: a weight is a finite number >= 0",
                               (long long)(first + i + 1));
    for (int64_t j = 0; v->names && j < v->d; j++)
        if (!v->names[j])
            return krein__fail(ctx, KREIN_EARG, "column %lld has no name; name all columns or none",
                               (long long)j + 1);
    return KREIN_OK;
}

krein_status krein__view_take(krein_ctx *ctx, const krein_rows_view *given, int64_t first,
                              krein_rows_view *out) {
    krein_status st = KREIN_OK;
    if (!given || given->size == 0)
        return krein__fail(ctx, KREIN_EARG,
                           "rows in memory: set the struct up with krein_rows_view_init");
    krein_rows_view_init(out);
    TRY(krein__options_copy(ctx, given, out, "krein_rows_view"));
    int kinds = !!out->x + !!out->indptr + !!out->columns;
    if (out->n < 0 || out->d < 1)
        return krein__fail(ctx, KREIN_EARG, "rows in memory need n >= 0 and d >= 1");
    if (kinds > 1 || (kinds == 0 && out->n > 0))
        return krein__fail(
            ctx, KREIN_EARG,
            "the inputs of rows in memory are exactly one of x, indptr and columns, not %d of them",
            kinds);
    if (out->x) TRY(check_dense(ctx, out));
    if (out->indptr) TRY(check_sparse(ctx, out, first));
    if (out->columns) TRY(check_table(ctx, out));
    TRY(check_labels(ctx, out));
    TRY(check_sides(ctx, out, first));
done:
    return st;
}

/* What one block has and the other has not; NULL: nothing. */
static const char *difference(const krein_rows_view *a, const krein_rows_view *b) {
    if (a->d != b->d) return "another number of columns";
    if (!a->indptr != !b->indptr) return a->indptr ? "dense rows" : "sparse rows";
    if (!a->columns != !b->columns) return "inputs of another form";
    if (!a->targets != !b->targets || !a->classes != !b->classes ||
        !a->class_names != !b->class_names)
        return "labels of another kind, or none";
    if (a->ntargets != b->ntargets) return "another number of targets";
    if (!a->weights != !b->weights) return a->weights ? "no weights" : "weights";
    if (!a->groups != !b->groups || !a->group_names != !b->group_names)
        return "groups of another kind, or none";
    return NULL;
}

krein_status krein__view_same(krein_ctx *ctx, const krein_rows_view *first,
                              const krein_rows_view *v) {
    const char *other = difference(first, v);
    if (other)
        return krein__fail(ctx, KREIN_EARG,
                           "a block of rows has %s; all blocks must be like the first one", other);
    return KREIN_OK;
}

/* ---- columns ------------------------------------------------------------ */

int64_t krein__view_labels(const krein_rows_view *v) {
    return v->targets ? v->ntargets : v->classes || v->class_names ? 1 : 0;
}

int64_t krein__view_inputs(const krein_rows_view *v) { return v->indptr ? 0 : v->d; }

static size_t size_of(krein_element t) {
    return t == KREIN_UINT8 ? 1 : t == KREIN_FLOAT32 || t == KREIN_INT32 ? 4 : 8;
}

krein_cells krein__view_label(const krein_rows_view *v, int64_t k) {
    if (v->class_names) return (krein_cells){.text = v->class_names, .is_text = true};
    if (v->classes) return (krein_cells){.number = v->classes, .type = v->class_type, .stride = 1};
    return (krein_cells){
        .number = v->targets + k, .type = KREIN_FLOAT64, .stride = krein__max(1, v->ntargets)};
}

krein_cells krein__view_input(const krein_rows_view *v, int64_t j) {
    if (!v->columns) {
        const char *at = v->x;
        if (at) at += j * v->column_stride * (int64_t)size_of(v->type);
        return (krein_cells){.number = at, .type = v->type, .stride = v->row_stride};
    }
    krein_column_view c = column_of(v, j);
    return (krein_cells){.number = c.numbers,
                         .type = c.type,
                         .stride = c.stride ? c.stride : 1,
                         .text = c.texts,
                         .code = c.codes,
                         .word = c.words,
                         .words = c.nwords,
                         .is_text = !c.numbers,
                         .category = c.category != 0};
}

krein_cells krein__view_group(const krein_rows_view *v) {
    if (v->group_names) return (krein_cells){.text = v->group_names, .is_text = true};
    return (krein_cells){.number = v->groups, .type = KREIN_INT64, .stride = 1};
}

const char *krein__cells_text(const krein_cells *c, int64_t i) {
    if (c->text) return c->text[i];
    return c->code && c->code[i] >= 0 && c->code[i] < c->words ? c->word[c->code[i]] : NULL;
}

double krein__cells_number(const krein_cells *c, int64_t i) {
    int64_t at = i * c->stride;
    switch (c->type) {
    case KREIN_FLOAT32:
        return (double)((const float *)c->number)[at];
    case KREIN_FLOAT64:
        return ((const double *)c->number)[at];
    case KREIN_INT32:
        return (double)((const int32_t *)c->number)[at];
    case KREIN_INT64:
        return (double)((const int64_t *)c->number)[at];
    case KREIN_UINT8:
        return (double)((const uint8_t *)c->number)[at];
    }
    return NAN;
}
