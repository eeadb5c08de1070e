/* meta_gradient.c -- the gradient of a task's query loss by the subspace that it was learned in
 *
 *     th_t = th_{t-1} - eta P P'g(th_{t-1}),  t = 1 .. T;   L(P) = l(th_T)
 *
 * Backwards, from lam = grad l(th_T) and dP = 0, for t = T .. 1 with g = g(th_{t-1}), u = P'lam:
 *
 *     dP  -= eta (lam (P'g)' + g u'),      lam -= eta H(th_{t-1}) P u
 *
 * lam ends as dL/dth_0. The thesis gives no gradient and starts tasks where others ended: here
 * every task starts from th_0 in every step. Without the Hessian (first order) lam stays as it is.
 *
 * dP is not made for each task: the 2 T terms of a task are kept, and all of them are one product.
 * The Hessian needs the state of th_{t-1}: the gradient there is made again, but for the last. */
#include "fewshot/inner.h"

#include "num/blas.h"

#include <string.h>

double krein__inner_step(const krein_inner *in, const krein_fewshot_task *task, double *th,
                         double *g, double *a) {
    double loss = task->support(task->user, th, g);
    if (!in->P) {
        for (int64_t i = 0; i < in->m; i++) th[i] -= in->rate * g[i];
        return loss;
    }
    krein__dgemv(false, in->s, in->m, 1, in->P, in->m, g, 1, 0, a);
    krein__dgemv(true, in->s, in->m, -in->rate, in->P, in->m, a, 1, 1, th);
    return loss;
}

/* th of every step, lam, P u and H P u. */
int64_t krein__meta_room(const krein_inner *in) { return (in->steps + 4) * in->m; }

double krein__meta_task(const krein_inner *in, const krein_fewshot_task *task, const double *th0,
                        bool exact, krein_meta_terms *out, double *room) {
    int64_t m = in->m, s = in->s, T = in->steps;
    size_t bytes = (size_t)m * sizeof *room;
    double *th = room, *lam = room + (T + 1) * m, *Pu = lam + m, *Hv = Pu + m;
    memcpy(th, th0, bytes);
    for (int64_t t = 0; t < T; t++) { /* right: g behind lam, left: u behind P'g */
        memcpy(th + (t + 1) * m, th + t * m, bytes);
        krein__inner_step(in, task, th + (t + 1) * m, out->right + (2 * t + 1) * m,
                          out->left + 2 * t * s);
    }
    double loss = task->query(task->user, th + T * m, lam);
    for (int64_t t = T - 1; t >= 0; t--) {
        double *u = out->left + (2 * t + 1) * s;
        memcpy(out->right + 2 * t * m, lam, bytes);
        krein__dgemv(false, s, m, 1, in->P, m, lam, 1, 0, u);
        if (!exact || t == 0) continue; /* lam at th_0 is not used */
        if (t < T - 1) task->support(task->user, th + t * m, Hv);
        krein__dgemv(true, s, m, 1, in->P, m, u, 1, 0, Pu);
        task->hessian(task->user, Pu, Hv);
        for (int64_t i = 0; i < m; i++) lam[i] -= in->rate * Hv[i];
    }
    return loss;
}

void krein__meta_gradient(krein_ctx *ctx, const krein_inner *in, int64_t tasks, const double *left,
                          const double *right, double *dP) {
    krein__pgemm(ctx, true, false, in->s, in->m, 2 * in->steps * tasks, -in->rate / (double)tasks,
                 left, in->s, right, in->m, 0, dP, in->m);
}
