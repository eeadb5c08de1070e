/* tune_svm.c -- support vector machines among the candidates: classes that rules separate
 *
 * Ridge regression fits -1 and +1 also where a row is far on its side of the boundary. Where
 * classes do not overlap (a table of rules) that costs several times the errors of the hinge loss.
 * One machine a pair of classes, by LIBSVM on the kernel matrix of S; votes on V. */
#include "select/tune_fit.h"

#include "num/blas.h"
#include "solve/libsvm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__tune_svm_text(double C, char text[KREIN_SVM_TEXT]) {
    snprintf(text, KREIN_SVM_TEXT, "svm(C=%g, multi=ovo)", C);
}

typedef struct pairs {
    krein_ctx *ctx;
    const krein_tune_sample *s;
    krein_libsvm *table;
    int64_t *row;
    double *y, *alpha, *f; /* of one machine; its values on V */
    double *w;             /* n: its coefficients by row */
    void **nodes;
    double *score; /* V x pairs */
} pairs;

static void pairs_end(pairs *p) {
    krein_ctx *ctx = p->ctx;
    void *all[] = {p->row, p->y, p->alpha, p->f, p->w, p->nodes, p->score};
    krein__libsvm_end(p->table);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status pairs_begin(krein_ctx *ctx, const krein_tune_sample *s, const double *K,
                                int64_t count, pairs *p) {
    krein_status st = KREIN_OK;
    *p = (pairs){.ctx = ctx, .s = s};
    NEW(p->row, s->n);
    NEW(p->y, s->n);
    NEW(p->alpha, s->n);
    NEW(p->w, s->n);
    NEW(p->nodes, s->n);
    NEW(p->f, s->m);
    NEW(p->score, s->m * count);
    TRY(krein__libsvm_begin(ctx, s->n, K, &p->table));
done:
    return st;
}

/* Classes a < b: the scores on V, positive for b. A class without a row loses. */
static krein_status one_pair(pairs *p, int64_t a, int64_t b, double C, const double *Kv,
                             int64_t count, int64_t which) {
    const krein_tune_sample *s = p->s;
    krein_svm_machine machine = {.row = p->row, .y = p->y, .C = {C, C}, .tol = 1e-3};
    int64_t of_b = 0;
    machine.alpha = p->alpha;
    machine.nodes = p->nodes;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->fit_class[i] != a && s->fit_class[i] != b) continue;
        p->y[machine.m] = s->fit_class[i] == b ? 1 : -1;
        of_b += s->fit_class[i] == b;
        p->row[machine.m++] = i;
    }
    memset(p->w, 0, (size_t)s->n * sizeof *p->w);
    machine.intercept = of_b > 0 ? 1 : -1;
    if (of_b > 0 && of_b < machine.m) krein__libsvm_classify(p->table, &machine);
    if (machine.error) return krein__fail(p->ctx, KREIN_ENUMERIC, "%s", machine.error);
    if (of_b > 0 && of_b < machine.m)
        for (int64_t i = 0; i < machine.m; i++) p->w[p->row[i]] = p->alpha[i];
    krein__pgemm(p->ctx, false, false, s->m, 1, s->n, 1, Kv, s->n, p->w, 1, 0, p->f, 1);
    for (int64_t i = 0; i < s->m; i++) p->score[i * count + which] = p->f[i] + machine.intercept;
    return KREIN_OK;
}

krein_status krein__tune_svm(krein_ctx *ctx, const krein_tune_sample *s, const double *K,
                             const double *Kv, double C, double *error) {
    krein_status st = KREIN_OK;
    pairs p = {0};
    int64_t classes = s->nclass, count = classes * (classes - 1) / 2, wrong = 0;
    TRY(pairs_begin(ctx, s, K, count, &p));
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++)
            TRY(one_pair(&p, a, b, C, Kv, count, krein__pair(classes, a, b)));
    krein_head head = classes > 2 ? KREIN_HEAD_VOTES : KREIN_HEAD_BEST;
    for (int64_t i = 0; i < s->m; i++)
        wrong += krein__decide(head, classes, p.score + i * count) != s->held_class[i];
    *error = (double)wrong / (double)krein__max(1, s->m);
done:
    pairs_end(&p);
    return st;
}
