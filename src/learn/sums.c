/* sums.c -- see sums.h. */
#include "learn/sums.h"

#include <math.h>
#include <stdio.h>

typedef struct state {
    krein_sums *sums;
    krein_ridge *ridge; /* NULL: the numbers alone */
    int64_t rows;       /* of the data; < 0: not looked at */
} state;

static krein_status mark_io(krein_archive *a, const char *name, krein_mark *m) {
    krein_status st = KREIN_OK;
    int64_t *all[] = {&m->row, &m->byte, &m->line, &m->file};
    static const char *const part[] = {"row", "byte", "line", "file"};
    for (int k = 0; k < 4 && st == KREIN_OK; k++) {
        char full[40];
        snprintf(full, sizeof full, "%s.%s", name, part[k]);
        st = krein__archive_int(a, full, all[k], 0, INT64_MAX / 2); /* it is counted on */
    }
    return st;
}

/* A right checksum proves nothing about who wrote the file: numbers that are used together are
 * checked against each other. */
static krein_status check(krein_ctx *ctx, const state *t) {
    const krein_sums *s = t->sums;
    const krein_place *p = &s->place;
    if (!isfinite(s->lambda) || isinf(s->loo))
        return krein__checkpoint_damaged(ctx, "what was chosen is out of range");
    if (p->streamed > p->row || p->from.row > p->row || p->labels.row > p->from.row)
        return krein__checkpoint_damaged(ctx, "the place of the next row is wrong");
    if (t->rows >= 0 && p->row > t->rows)
        return krein__checkpoint_damaged(ctx, "the next row is behind the last one");
    if (t->ridge && t->ridge->n != p->streamed)
        return krein__checkpoint_damaged(ctx, "sums of other rows than it says");
    return KREIN_OK;
}

static krein_status io(krein_archive *a, krein_ctx *ctx, void *user) {
    krein_status st = KREIN_OK;
    state *t = user;
    krein_sums *s = t->sums;
    TRY(krein__archive_int(a, "sums.pass", &s->pass, 1, 1000));
    TRY(krein__archive_double(a, "sums.lambda", &s->lambda));
    TRY(krein__archive_double(a, "sums.loo", &s->loo));
    TRY(krein__archive_int(a, "sums.folds", &s->folds, 0, INT64_MAX));
    TRY(krein__archive_int(a, "place.row", &s->place.row, 0, INT64_MAX / 2));
    TRY(krein__archive_int(a, "place.streamed", &s->place.streamed, 0, INT64_MAX / 2));
    TRY(mark_io(a, "place.from", &s->place.from));
    TRY(mark_io(a, "place.labels", &s->place.labels));
    TRY(krein__held_out_io(a, ctx, &s->path));
    if (t->ridge) TRY(krein__ridge_io(a, t->ridge));
    if (krein__archive_reading(a)) TRY(check(ctx, t));
done:
    return st;
}

krein_status krein__sums_recall(krein_checkpoint *c, int64_t rows, krein_sums *out) {
    state t = {out, NULL, rows};
    *out = (krein_sums){0};
    if (!krein__checkpoint_has(c, KREIN_SUMS)) return KREIN_OK;
    return krein__checkpoint_take(c, &(krein_part_kept){KREIN_SUMS, io, &t});
}

krein_status krein__sums_take(krein_checkpoint *c, krein_sums *sums, krein_ridge *ridge) {
    state t = {sums, ridge, -1};
    return krein__checkpoint_take(c, &(krein_part_kept){KREIN_SUMS, io, &t});
}

krein_status krein__sums_keep(krein_checkpoint *c, krein_sums *now, krein_ridge *ridge, bool must) {
    state t = {now, ridge, -1};
    char done[40];
    snprintf(done, sizeof done, "%lld rows", (long long)now->place.row);
    krein__checkpoint_add(c, &(krein_part_kept){KREIN_SUMS, io, &t});
    krein_status st = krein__checkpoint_keep(c, done, must);
    krein__checkpoint_drop(c, KREIN_SUMS);
    return st;
}
