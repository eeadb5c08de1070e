/* inner.h -- two-level optimisation of a subspace: steps of one task, and what the loss behind
 * them says about the subspace. Tasks are functions of parameters; everything is float64. */
#ifndef KREIN_FEWSHOT_INNER_H
#define KREIN_FEWSHOT_INNER_H

#include "base/base.h"

/* A task with m parameters th. */
typedef struct krein_fewshot_task {
    int64_t m;
    /* Mean loss of the support rows, and its gradient g. */
    double (*support)(void *user, const double *th, double *g);
    /* The Hessian of that at the th of the last call of support, times v. */
    void (*hessian)(void *user, const double *v, double *Hv);
    /* Mean loss of the query rows, and its gradient. */
    double (*query)(void *user, const double *th, double *g);
    void *user;
} krein_fewshot_task;

/* How a task is learned: `steps` times th <- th - rate P P'g. */
typedef struct krein_inner {
    int64_t m, s, steps;
    const double *P; /* s x m, orthonormal rows; NULL: all directions */
    double rate;
} krein_inner;

/* One step from th; g (m) takes the gradient, a (s) P'g; returns the loss before it. */
double krein__inner_step(const krein_inner *in, const krein_fewshot_task *task, double *th,
                         double *g, double *a);

/* The terms that a task adds to the gradient by P: rows of `left` (s) and `right` (m), two of each
 * for every step. dP = -rate sum_i left_i right_i'. */
typedef struct krein_meta_terms {
    double *left;  /* 2 steps x s */
    double *right; /* 2 steps x m */
} krein_meta_terms;
/* Floats64 that krein__meta_task works in. */
int64_t krein__meta_room(const krein_inner *in);
/* Learns the task from th0 and goes back through all steps; exact: with second derivatives. Returns
 * the query loss behind the last step. */
double krein__meta_task(const krein_inner *in, const krein_fewshot_task *task, const double *th0,
                        bool exact, krein_meta_terms *out, double *room);
/* dP (s x m) = -rate / tasks times the sum of the terms of all tasks (left and right of one behind
 * those of the other): one product, the same for any number of threads. */
void krein__meta_gradient(krein_ctx *ctx, const krein_inner *in, int64_t tasks, const double *left,
                          const double *right, double *dP);

#endif
