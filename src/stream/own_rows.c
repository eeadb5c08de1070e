/* own_rows.c -- rows in memory of which each process has its own: the columns that all have.
 *
 * The processes of a file open the same one, and see the same columns. Arrays of different
 * processes may differ in anything. So each tells the others what it has; where two processes with
 * rows differ in the number, names or kinds of columns, labels, weights or groups, all fail with
 * the same message. A process without rows takes over the columns of the first that has some. What
 * is seen in the first rows (shifts, how texts are read) is that of the first rows of all. */
#include "stream/data.h"

#include "dist/dist.h"
#include "stream/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- what a process has ------------------------------------------------- */

/* As it is sent; behind it the columns, each a `kind` and its name with a zero at the end. */
typedef struct shape {
    int64_t rows; /* of arrays; of a source as many as are looked at, which is enough */
    int64_t d, ncolumn;
    int32_t sparse, header, task;
} shape;

typedef struct kind {
    int8_t given, text;
} kind;

static int64_t rows_of(const krein_reader *r) { return r->n >= 0 ? r->n : KREIN_LOOK_ROWS; }

static krein_status pack(const krein_data *data, char **out, int64_t *bytes) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    const krein_reader *r = data->reader;
    const shape own = {rows_of(r), r->d,      r->ncolumn,
                       r->sparse,  r->header, (int32_t)data->options.task};
    *bytes = (int64_t)sizeof own;
    for (int64_t j = 0; j < r->ncolumn; j++)
        *bytes += (int64_t)(sizeof(kind) + strlen(r->column[j].name ? r->column[j].name : "") + 1);
    NEW(*out, *bytes);
    char *at = *out;
    memcpy(at, &own, sizeof own);
    at += sizeof own;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const krein_column *c = &r->column[j];
        const char *name = c->name ? c->name : "";
        const kind k = {(int8_t)c->given, c->given_text};
        memcpy(at, &k, sizeof k);
        memcpy(at + sizeof k, name, strlen(name) + 1);
        at += sizeof k + strlen(name) + 1;
    }
done:
    return st;
}

/* What the process `rank` has, column after column. */
typedef struct columns {
    int rank;
    shape is;
    const char *next;
} columns;

static columns unpack(int rank, const char *bytes) {
    columns c = {.rank = rank, .next = bytes + sizeof c.is};
    memcpy(&c.is, bytes, sizeof c.is);
    return c;
}

static kind next_column(columns *c, const char **name) {
    kind k;
    memcpy(&k, c->next, sizeof k);
    *name = c->next + sizeof k;
    c->next += sizeof k + strlen(*name) + 1;
    return k;
}

/* Columns of a role, and whether the last of them is text. */
typedef struct counts {
    int64_t n[KREIN_ROLE_IGNORE + 1];
    bool text[KREIN_ROLE_IGNORE + 1];
} counts;

static counts count(columns c) {
    counts out = {0};
    for (int64_t j = 0; j < c.is.ncolumn; j++) {
        const char *name;
        const kind k = next_column(&c, &name);
        out.n[k.given]++;
        out.text[k.given] = k.text;
    }
    if (c.is.sparse) out.n[KREIN_ROLE_FEATURE] = c.is.d;
    return out;
}

/* ---- the same on all ---------------------------------------------------- */

static krein_status differ(krein_ctx *ctx, const columns *a, const char *what, const columns *b,
                           const char *other) {
    return krein__fail(ctx, KREIN_EDATA,
                       "the rows of process %d have %s, and those of process %d have %s; all "
                       "processes must give the same columns",
                       a->rank, what, b->rank, other);
}

typedef struct phrase {
    char text[120];
} phrase;

static phrase number_of(int64_t n, const char *what) {
    phrase p;
    snprintf(p.text, sizeof p.text, "%lld %s%s", (long long)n, what, n == 1 ? "" : "s");
    return p;
}

static phrase labels_of(const columns *c, const counts *n) {
    const int64_t labels = n->n[KREIN_ROLE_LABEL];
    phrase p;
    if (labels > 1) return number_of(labels, "target");
    snprintf(p.text, sizeof p.text, "%s",
             labels == 0                               ? "no labels"
             : n->text[KREIN_ROLE_LABEL]               ? "labels that are texts"
             : c->is.task == KREIN_TASK_CLASSIFICATION ? "classes that are numbers"
                                                       : "labels that are numbers");
    return p;
}

/* Weights and groups. */
static krein_status same_sides(krein_ctx *ctx, const columns *a, const counts *na, const columns *b,
                               const counts *nb) {
    const bool weights = na->n[KREIN_ROLE_WEIGHT] > 0, groups = na->n[KREIN_ROLE_GROUP] > 0;
    if (weights != (nb->n[KREIN_ROLE_WEIGHT] > 0))
        return differ(ctx, a, weights ? "weights" : "no weights", b, weights ? "none" : "weights");
    if (groups != (nb->n[KREIN_ROLE_GROUP] > 0))
        return differ(ctx, a, groups ? "groups" : "no groups", b, groups ? "none" : "groups");
    if (groups && na->text[KREIN_ROLE_GROUP] != nb->text[KREIN_ROLE_GROUP])
        return differ(ctx, a, na->text[KREIN_ROLE_GROUP] ? "names of groups" : "numbers of groups",
                      b, nb->text[KREIN_ROLE_GROUP] ? "names" : "numbers");
    return KREIN_OK;
}

/* Names and kinds of the inputs, as many on both. */
static krein_status same_inputs(krein_ctx *ctx, columns a, columns b) {
    int64_t number = 0;
    if (a.is.header != b.is.header)
        return differ(ctx, &a, a.is.header ? "columns with names" : "columns without names", &b,
                      b.is.header ? "some with names" : "some without");
    for (int64_t j = 0; j < a.is.ncolumn; j++) {
        const char *name, *other;
        const kind k = next_column(&a, &name), o = next_column(&b, &other);
        phrase p, q;
        if (k.given != KREIN_ROLE_FEATURE) continue;
        number++;
        if (strcmp(name, other) != 0) {
            snprintf(p.text, sizeof p.text, "a column %lld named \"%.40s\"", (long long)number,
                     name);
            snprintf(q.text, sizeof q.text, "one named \"%.40s\" there", other);
            return differ(ctx, &a, p.text, &b, q.text);
        }
        if (k.text == o.text) continue;
        snprintf(p.text, sizeof p.text, "%s in column %lld%s%.40s%s", k.text ? "texts" : "numbers",
                 (long long)number, *name ? " (" : "", name, *name ? ")" : "");
        return differ(ctx, &a, p.text, &b, o.text ? "texts" : "numbers");
    }
    return KREIN_OK;
}

static krein_status same(krein_ctx *ctx, const columns *a, const columns *b) {
    const counts na = count(*a), nb = count(*b);
    const int64_t d = na.n[KREIN_ROLE_FEATURE], other = nb.n[KREIN_ROLE_FEATURE];
    const phrase p = labels_of(a, &na), q = labels_of(b, &nb);
    krein_status st = KREIN_OK;
    if (a->is.sparse != b->is.sparse)
        return differ(ctx, a, a->is.sparse ? "sparse inputs" : "dense inputs", b,
                      b->is.sparse ? "sparse ones" : "dense ones");
    if (d != other)
        return differ(ctx, a, number_of(d, "column").text, b, number_of(other, "column").text);
    if (strcmp(p.text, q.text) != 0) return differ(ctx, a, p.text, b, q.text);
    TRY(same_sides(ctx, a, &na, b, &nb));
    TRY(same_inputs(ctx, *a, *b));
done:
    return st;
}

/* ---- a process without rows --------------------------------------------- */

/* No row is ever looked at; the arrays are only there. */
static const int64_t nothing[1];
static const double no_number[1];
static const char *const no_text[1];

/* The inputs of the others. `names` and `table` have room for all columns. */
static void take_inputs(columns c, const char **names, krein_column_view *table,
                        krein_rows_view *v) {
    v->d = 0;
    for (int64_t j = 0; j < c.is.ncolumn; j++) {
        krein_column_view one = KREIN_SIZED(krein_column_view);
        const char *name;
        const kind k = next_column(&c, &name);
        if (k.given != KREIN_ROLE_FEATURE) continue;
        if (k.text) {
            one.texts = no_text;
        } else {
            one.numbers = no_number;
            one.type = KREIN_FLOAT64;
        }
        names[v->d] = name;
        table[v->d++] = one;
    }
    v->columns = table;
    if (c.is.header) v->names = names;
}

static void take_sparse(const columns *c, krein_rows_view *v) {
    v->d = c->is.d;
    v->indptr = nothing;
    v->indptr_type = v->index_type = KREIN_INT64;
    v->type = KREIN_FLOAT64;
}

static void take_labels(const counts *n, krein_rows_view *v) {
    if (n->n[KREIN_ROLE_LABEL] > 0 && n->text[KREIN_ROLE_LABEL]) {
        v->class_names = no_text;
    } else if (n->n[KREIN_ROLE_LABEL] > 0) {
        v->targets = no_number;
        v->ntargets = n->n[KREIN_ROLE_LABEL];
    }
    if (n->n[KREIN_ROLE_WEIGHT] > 0) v->weights = no_number;
    if (n->n[KREIN_ROLE_GROUP] > 0 && n->text[KREIN_ROLE_GROUP]) v->group_names = no_text;
    if (n->n[KREIN_ROLE_GROUP] > 0 && !n->text[KREIN_ROLE_GROUP]) v->groups = nothing;
}

static krein_status take_over(krein_data *data, const columns *from) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    const char **names = NULL;
    krein_column_view *table = NULL;
    const counts n = count(*from);
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.ntargets = 1;
    NEW(names, krein__max(1, from->is.ncolumn));
    NEW(table, krein__max(1, from->is.ncolumn));
    if (from->is.sparse)
        take_sparse(from, &v);
    else
        take_inputs(*from, names, table, &v);
    take_labels(&n, &v);
    TRY(krein__data_reopen(data, &v));
    data->options.task = (krein_task)from->is.task;
done:
    krein__free(ctx, names);
    krein__free(ctx, table);
    return st;
}

/* ---- the first rows ----------------------------------------------------- */

/* before: rows of the processes before this one. */
static krein_status look_together(krein_data *data, int64_t before) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    krein_reader *r = data->reader;
    krein_look *mine = NULL, *all = NULL;
    int64_t seen;
    NEW(mine, krein__max(1, r->ncolumn));
    memset(mine, 0, (size_t)r->ncolumn * sizeof *mine);
    krein__memory_look(r, krein__max(0, KREIN_LOOK_ROWS - before), mine);
    TRY(krein__comm_join(ctx, mine, r->ncolumn, sizeof *mine, &all, &seen));
    for (int64_t k = r->ncolumn; k < seen; k += r->ncolumn) krein__look_add(r, all, all + k);
    krein__memory_looked(r, all);
done:
    krein__free(ctx, mine);
    krein__free(ctx, all);
    return st;
}

krein_status krein__data_agree(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    char *mine = NULL, *all = NULL;
    int64_t *offset = NULL, bytes, before = 0;
    columns first = {.rank = -1};
    const int rank = krein__comm_rank(ctx), size = krein__comm_size(ctx);
    if (!data->options.own_rows) return KREIN_OK;
    krein__memory_looked(data->reader, NULL); /* where others have left since */
    if (size == 1) return KREIN_OK;
    TRY(pack(data, &mine, &bytes));
    TRY(krein__comm_gather(ctx, mine, bytes, &all, &offset));
    for (int r = 0; r < size; r++) {
        const columns c = unpack(r, all + offset[r]);
        if (r < rank) before += c.is.rows;
        if (c.is.rows == 0) continue;
        if (first.rank < 0)
            first = c;
        else
            TRY(same(ctx, &first, &c));
    }
    if (first.rank < 0) goto done; /* there are no rows, as the call will find */
    if (rows_of(data->reader) == 0) TRY(take_over(data, &first));
    TRY(look_together(data, before));
done:
    krein__free(ctx, mine);
    krein__free(ctx, all);
    krein__free(ctx, offset);
    return st;
}
