/* tune_mix.c -- sums of two kernels among the candidates of tune.c
 *
 *     k = w k1 + (1 - w) k2,   k1 the winner, k2 another kernel under the same metric
 *
 * each with the scale that it has by itself. Equal parts of every pair first, then other shares of
 * the best pair. lambda by leave-one-out; a sum must be better on V by more than chance. */
#include "select/tuner.h"

#include <stdio.h>
#include <string.h>

/* The best of a kernel under a view, on the most rows that it was fitted to; NULL: none. */
static const krein_tuner_candidate *best_under(const krein_tuner *t, int base, int view) {
    const krein_tuner_candidate *best = NULL;
    for (int i = 0; i < t->n; i++) {
        const krein_tuner_candidate *c = &t->all[i];
        if (c->base != base || c->view != view) continue;
        if (!best || c->n > best->n || (c->n == best->n && c->loss < best->loss)) best = c;
    }
    return best;
}

static krein_status text_of(krein_tuner *t, const krein_tuner_candidate *c, char **text) {
    krein_kernel *kernel = NULL;
    krein_status st = krein__tuner_kernel(t->ctx, t, c, &kernel);
    if (st == KREIN_OK && !(*text = krein__kernel_text(t->ctx, kernel))) st = t->ctx->status;
    krein__kernel_destroy(t->ctx, kernel);
    return st;
}

/* A share w of one candidate's kernel and the rest of another's. */
static krein_status mix(krein_tuner *t, const krein_tuner_candidate *a,
                        const krein_tuner_candidate *b, double w, krein_tuner_candidate *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    char *first = NULL, *second = NULL, *sum = NULL;
    int at = t->bases + t->mixtures;
    TRY(text_of(t, a, &first));
    TRY(text_of(t, b, &second));
    size_t size = strlen(first) + strlen(second) + 32;
    NEW(sum, (int64_t)size);
    snprintf(sum, size, "%g*%s + %g*%s", w, first, 1 - w, second);
    TRY(krein__kernel_parse(ctx, sum, &t->base[at].kernel));
    t->mixtures++;
    TRY(krein__kernel_settle(ctx, t->base[at].kernel, t->s.d, NULL));
    *out = *a;
    out->base = at;
    out->n = t->s.n;
    out->step = 1;
done:
    krein__free(ctx, first);
    krein__free(ctx, second);
    krein__free(ctx, sum);
    return st;
}

krein_status krein__tuner_mixtures(krein_tuner *t, const krein_tuner_candidate **winner) {
    static const double shares[] = {0.25, 0.75};
    enum { MORE = 2 };
    krein_status st = KREIN_OK;
    const krein_tuner_candidate *first = *winner, *other, *second[KREIN_TUNER_BASES] = {0};
    krein_tuner_candidate c[KREIN_TUNER_BASES];
    int n = 0, start = t->n, best = 0;
    bool won = false;
    for (int i = 0; i < t->bases && t->bases + n + MORE < KREIN_TUNER_BASES; i++) {
        if (i == first->base || !(other = best_under(t, i, first->view))) continue;
        TRY(mix(t, first, other, 0.5, &c[n]));
        second[n++] = other;
    }
    if (n == 0 || t->n + n + MORE > KREIN_TUNER_CANDIDATES) return KREIN_OK;
    TRY(krein__tuner_run_all(t, c, n));
    for (int i = 1; i < n; i++)
        if (c[i].loss < c[best].loss) best = i;
    for (int i = 0; i < MORE; i++) TRY(mix(t, first, second[best], shares[i], &c[n + i]));
    TRY(krein__tuner_run_all(t, c + n, MORE));
    for (int i = n; i < n + MORE; i++)
        if (c[i].loss < c[best].loss) best = i;
    TRY(krein__tuner_surely(t, c[best], *first, &won));
    if (won) *winner = &t->all[start + best];
done:
    return st;
}
