/* propagate.c -- values of some nodes of a graph carried over to the others
 *
 * harmonic (zhu2003): the values y of known nodes stay, every other one is the mean of its
 * neighbours, weighted by edges: with the Laplacian L of graph/laplacian.c
 *
 *     (L f)_i = 0 for i not known, f_i = y_i else      L_uu f_u = -L_ul y_l
 *
 * spreading (zhou2004): f = alpha S f + (1 - alpha) y with S = D^(-1/2) W D^(-1/2), y = 0 where it
 * is not known. Node i stands for c_i rows, of which the share s_i is known: in the mean over them,
 * with the normalised Laplacian N = C - C S of nodes,
 *
 *     ((1 - alpha) C + alpha N) f = (1 - alpha) C s y.
 *
 * Both are symmetric and positive definite on the pieces of the graph that have a known node, and
 * are solved by conjugate gradients with the diagonal as preconditioner, all columns at once. The
 * paper's iteration for spreading has the same limit. O(edges k) a step. */
#include "solve/propagate.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 16 }; /* at once */

const krein_class krein__solver_propagate = {
    "propagate", "values carried over a graph: harmonic function, label spreading", "zhu2003", NULL,
    NULL};

typedef struct system {
    krein_ctx *ctx;
    const krein_laplacian *l;
    const krein_propagate_options *o;
    int64_t n;
    const bool *free;  /* n: its value is sought */
    double *inverse;   /* n: of the diagonal; 0 where it is not */
    double *r, *p, *z; /* n x COLUMNS */
} system_;

static double count_of(const system_ *s, int64_t i) { return s->l->count ? s->l->count[i] : 1; }

/* y = A x on the nodes whose values are sought. */
static void multiply(const system_ *s, int64_t k, const double *x, double *y) {
    double alpha = s->o->spreading ? s->o->alpha : 1;
    krein__laplacian_apply(s->l, k, x, y);
    for (int64_t i = 0; i < s->n; i++) {
        double more = s->o->spreading ? (1 - alpha) * count_of(s, i) : 0;
        for (int64_t c = 0; c < k; c++)
            y[i * k + c] = s->free[i] ? alpha * y[i * k + c] + more * x[i * k + c] : 0;
    }
}

/* sum_i a_ic b_ic w_i, w NULL: 1 */
static void dots(int64_t n, int64_t k, const double *a, const double *b, const double *w,
                 double *out) {
    for (int64_t c = 0; c < k; c++) out[c] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) out[c] += a[i * k + c] * b[i * k + c] * (w ? w[i] : 1);
}

/* x (n x k) from the residual in s->r at x. */
static krein_status iterate(system_ *s, int64_t k, double *x, krein_propagated *out) {
    krein_status st = KREIN_OK;
    double rho[COLUMNS], first[COLUMNS], next[COLUMNS], curve[COLUMNS];
    int64_t step = 0;
    bool done_ = false;
    dots(s->n, k, s->r, s->r, s->inverse, rho);
    memcpy(first, rho, sizeof first);
    for (int64_t i = 0; i < s->n * k; i++) s->p[i] = s->r[i] * s->inverse[i / k];
    double worst = 0;
    for (; step < s->o->steps; step++) {
        worst = 0;
        for (int64_t c = 0; c < k; c++)
            if (first[c] > 0) worst = fmax(worst, sqrt(rho[c] / first[c]));
        done_ = worst <= s->o->tol;
        if (done_ || krein__enough(s->ctx)) break;
        multiply(s, k, s->p, s->z);
        dots(s->n, k, s->p, s->z, NULL, curve);
        double a[COLUMNS];
        for (int64_t c = 0; c < k; c++) a[c] = curve[c] > 0 ? rho[c] / curve[c] : 0;
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < k; c++) {
                x[i * k + c] += a[c] * s->p[i * k + c];
                s->r[i * k + c] -= a[c] * s->z[i * k + c];
            }
        dots(s->n, k, s->r, s->r, s->inverse, next);
        for (int64_t c = 0; c < k; c++) a[c] = rho[c] > 0 ? next[c] / rho[c] : 0;
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < k; c++)
                s->p[i * k + c] = s->r[i * k + c] * s->inverse[i] + a[c] * s->p[i * k + c];
        memcpy(rho, next, sizeof rho);
        krein__progress(s->ctx, "propagation", (double)step, (double)s->o->steps);
        TRY(krein__poll(s->ctx));
    }
    krein__progress(s->ctx, "propagation", 1, 1);
    out->steps = krein__max(out->steps, step);
    out->residual = fmax(out->residual, worst);
    out->converged = out->converged && done_;
done:
    return st;
}

/* Columns from .. from + k - 1 of f (n x all). x: n x COLUMNS. */
static krein_status columns(system_ *s, const double *known, int64_t all, int64_t from, int64_t k,
                            double *f, double *x, krein_propagated *out) {
    krein_status st = KREIN_OK;
    const bool spreading = s->o->spreading;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < k; c++) x[i * k + c] = known[i] > 0 ? f[i * all + from + c] : 0;
    if (spreading) {
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < k; c++) {
                double *v = &x[i * k + c];
                s->r[i * k + c] =
                    s->free[i] ? (1 - s->o->alpha) * count_of(s, i) * known[i] * *v : 0;
                *v = 0;
            }
    } else { /* from 0 where they are not known: the residual is -L y */
        multiply(s, k, x, s->r);
        for (int64_t i = 0; i < s->n * k; i++) s->r[i] = -s->r[i];
    }
    TRY(iterate(s, k, x, out));
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < k; c++) f[i * all + from + c] = x[i * k + c];
done:
    return st;
}

/* Nodes of rows that weigh nothing are asked after the others: the mean of their neighbours. */
static void weightless(const system_ *s, const double *known, int64_t k, double *f) {
    const krein_graph *g = s->l->g;
    for (int64_t i = 0; i < s->n; i++) {
        if (count_of(s, i) > 0 || (known[i] > 0 && !s->o->spreading)) continue;
        for (int64_t c = 0; c < k; c++) {
            double sum = 0;
            for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
                double w = count_of(s, g->col[e]) * g->val[e];
                if (w > 0) sum += w * f[g->col[e] * k + c];
            }
            f[i * k + c] = sum / s->l->degree[i];
        }
    }
}

/* Nodes in pieces without a known node. */
static krein_status find_lost(krein_ctx *ctx, const krein_graph *g, const double *count,
                              const double *known, bool *lost, krein_propagated *out) {
    krein_status st = KREIN_OK;
    int32_t *piece = NULL;
    bool *has = NULL;
    NEW(piece, g->n);
    out->pieces = krein__graph_pieces(ctx, g, piece);
    if (out->pieces < 0) TRY(ctx->status);
    ZNEW(has, out->pieces);
    for (int64_t i = 0; i < g->n; i++)
        if (known[i] > 0 && (!count || count[i] > 0)) has[piece[i]] = true;
    for (int64_t i = 0; i < g->n; i++) {
        lost[i] = !has[piece[i]];
        out->lost += lost[i];
    }
done:
    krein__free(ctx, piece);
    krein__free(ctx, has);
    return st;
}

krein_status krein__propagate(krein_ctx *ctx, const krein_graph *g, const double *count,
                              const double *known, int64_t k, double *f,
                              const krein_propagate_options *o, krein_propagated *out) {
    krein_status st = KREIN_OK;
    krein_laplacian l = {0};
    bool *free_ = NULL, *lost = NULL;
    double *x = NULL;
    system_ s = {.ctx = ctx, .l = &l, .o = o, .n = g->n};
    int64_t at_once = krein__min(k, COLUMNS);
    *out = (krein_propagated){.converged = true};
    TRY(krein__laplacian_begin(ctx, g, count, o->spreading, &l));
    NEW(free_, g->n);
    NEW(lost, g->n);
    NEW(s.inverse, g->n);
    NEW(s.r, g->n * at_once);
    NEW(s.p, g->n * at_once);
    NEW(s.z, g->n * at_once);
    NEW(x, g->n * at_once);
    TRY(find_lost(ctx, g, count, known, lost, out));
    for (int64_t i = 0; i < g->n; i++) {
        double diagonal = o->spreading ? o->alpha * l.diagonal[i] + (1 - o->alpha) * count_of(&s, i)
                                       : l.diagonal[i];
        free_[i] = !lost[i] && diagonal > 0 && (o->spreading || !(known[i] > 0));
        s.inverse[i] = free_[i] ? 1 / diagonal : 0;
    }
    s.free = free_;
    for (int64_t c = 0; c < k; c += COLUMNS)
        TRY(columns(&s, known, k, c, krein__min(COLUMNS, k - c), f, x, out));
    weightless(&s, known, k, f);
    for (int64_t i = 0; i < g->n * k; i++)
        if (lost[i / k]) f[i] = NAN;
done:
    krein__laplacian_end(ctx, &l);
    krein__free(ctx, free_);
    krein__free(ctx, lost);
    krein__free(ctx, s.inverse);
    krein__free(ctx, s.r);
    krein__free(ctx, s.p);
    krein__free(ctx, s.z);
    krein__free(ctx, x);
    return st;
}

double krein__propagate_bytes(int64_t n, int64_t k) {
    return (double)n * (38 + 32 * (double)krein__min(k, COLUMNS));
}
