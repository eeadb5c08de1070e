/* inputs.c -- derived parameters, domains and row numbers. */
#include "kernel/inputs.h"

#include "kernel/table.h"

/* k(x, x) of a product over the columns grows exponentially with them, and other values do not: the
 * rows have less and less to say about each other, and then numbers end. */
static krein_status check_size(krein_ctx *ctx, const krein_kernel *k, int64_t d) {
    static const double MUCH = 1e5, MOST = 1e150; /* squares must not overflow */
    if (!k) return KREIN_OK;
    if (k->node != KREIN_NODE_LEAF) {
        krein_status st = check_size(ctx, k->left, d);
        return st == KREIN_OK ? check_size(ctx, k->right, d) : st;
    }
    double most = k->kernel->mass ? k->kernel->mass(k->values.number, d) : 1;
    if (!(most <= MOST))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s has k(x, x) = %.3g on %lld columns, too large to compute with; it "
                           "is for few columns: leave some out with `ignore`",
                           k->kernel->cls.name, most, (long long)d);
    if (most > MUCH)
        krein__log(
            ctx, KREIN_LOG_WARNING,
            "%s has k(x, x) = %.3g on %lld columns, and about 1 between two rows, which tell "
            "little about each other; use fewer columns, or another kernel",
            k->kernel->cls.name, most, (long long)d);
    return KREIN_OK;
}

krein_status krein__kernel_meet(krein_ctx *ctx, krein_kernel *k, const krein_encoding *e) {
    krein_status st = krein__kernel_settle(ctx, k, e->d, e);
    if (st == KREIN_OK) st = check_size(ctx, k, e->d);
    if (st != KREIN_OK) return st;
    if (krein__has_tables(k)) {
        if (e->d != 1)
            return krein__fail(ctx, KREIN_EDATA,
                               "precomputed takes one input, the row number in the matrix; these "
                               "data have %lld: leave the others out with `ignore`",
                               (long long)e->d);
        if (e->scale != KREIN_SCALE_NONE)
            return krein__fail(ctx, KREIN_EARG,
                               "precomputed takes row numbers as they are: use `scale=none`");
    }
    double low, high;
    krein__encoding_bounds(e, &low, &high);
    return krein__kernel_check_inputs(ctx, k, low, high, e->sparse);
}

static krein_status check_symmetry(krein_ctx *ctx, const krein_table *t, bool needed) {
    int64_t i, j;
    if (!krein__table_asymmetry(t, &i, &j)) return KREIN_OK;
    const char *path = t->leaf->values.text[0];
    double a = krein__table_value(t, i, j), b = krein__table_value(t, j, i);
    if (needed)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: not a symmetric matrix of numbers: K[%lld][%lld] = %g, "
                           "K[%lld][%lld] = %g; (K + K') / 2 would be",
                           path, (long long)i, (long long)j, a, (long long)j, (long long)i, b);
    krein__log(ctx, KREIN_LOG_WARNING,
               "%s is not symmetric: K[%lld][%lld] = %g, K[%lld][%lld] = %g", path, (long long)i,
               (long long)j, a, (long long)j, (long long)i, b);
    return KREIN_OK;
}

static krein_status check_block(krein_ctx *ctx, const krein_table *t, const krein_block *b) {
    for (int64_t i = 0; i < b->x.n; i++) {
        float x;
        krein__row_copy(&b->x, i, &x); /* one column */
        if (krein__table_row(t, (double)x) < 0)
            return krein__fail(ctx, KREIN_EDATA,
                               "row %lld: %g is not a row number of %s; it has rows 0 to %lld",
                               (long long)(b->first + i + 1), (double)x, t->leaf->values.text[0],
                               (long long)(t->npy.n - 1));
    }
    return KREIN_OK;
}

krein_status krein__kernel_meet_rows(krein_ctx *ctx, const krein_kernel *k, krein_stream *rows,
                                     bool symmetric) {
    krein_status st = KREIN_OK;
    krein_table *t = NULL;
    krein_block b;
    int64_t n = 0;
    if (!krein__has_tables(k)) return KREIN_OK;
    TRY(krein__tables_open(ctx, k, 1, &t, &n));
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < n; i++)
            if (t[i].bytes) TRY(check_block(ctx, &t[i], &b));
    }
    for (int64_t i = 0; i < n; i++)
        if (t[i].bytes) TRY(check_symmetry(ctx, &t[i], symmetric));
    st = krein__stream_rewind(rows);
done:
    krein__tables_close(ctx, t, n);
    return st;
}
