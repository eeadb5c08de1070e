/* meta -- gradient steps in a subspace that is learned over tasks: two levels (luo2022, finn2017)
 *
 *     min over orthonormal P:  mean over tasks of l_query(th_T(P)),  th_t = th_{t-1} - eta P P'g
 *
 * P starts as random directions (Haar); from the subspace of `pretrained` it gets less far. A step
 * draws `meta_tasks` tasks of the training classes, learns each from the same start, and takes the
 * gradient by P through all its steps, exact by Hessian-vector products (meta_gradient.c); adam
 * moves P, and a QR decomposition with positive diagonal makes it orthonormal again, which the
 * thesis leaves out. A step of adam moves every number of P by up to its rate, and the numbers of a
 * row are 1/sqrt(m) long: with the rate 0.001 of the thesis and 30,000 parameters a row turns by a
 * sixth of its length in every step, and forgets in some ten steps what it has learned (without QR
 * the rows grow, which has the effect of a rate that falls). Hence a smaller one. */
#include "fewshot/fewshot.h"

#include "num/blas.h"

#include <string.h>

typedef struct meta {
    krein_fewshot_run *f;
    const krein_fewshot_method *method;
    krein_inner in;
    bool exact;
    int64_t first;        /* task of the step */
    double *left, *right; /* terms of all tasks */
    double *loss;
    double *accuracy, *mean;
    krein_learned as; /* the state as a method, for the validation */
    krein_space space;
} meta;

static krein_status one(krein_ctx *ctx, void *user, krein_bench *b, int64_t which) {
    meta *t = user;
    int64_t terms = 2 * t->in.steps;
    krein_meta_terms out = {t->left + which * terms * t->in.s, t->right + which * terms * t->in.m};
    krein_fewshot_task task = krein__bench_task(b);
    (void)ctx;
    krein__bench_load(b);
    t->loss[which] = krein__meta_task(&t->in, &task, t->f->start, t->exact, &out, b->room);
    return KREIN_OK;
}

static krein_status gradient(void *user, int64_t step, const double *x, double *loss, double *g) {
    krein_status st = KREIN_OK;
    meta *t = user;
    int64_t tasks = t->f->o.meta_tasks;
    int64_t terms = 2 * t->in.steps;
    krein_task_result out[] = {{t->left, (size_t)(terms * t->in.s) * sizeof *t->left},
                               {t->right, (size_t)(terms * t->in.m) * sizeof *t->right},
                               {t->loss, sizeof *t->loss}};
    t->in.P = x;
    TRY(krein__each_task(t->f, KREIN_EPISODE_TRAIN, step * tasks, tasks, NULL, one, t, out, 3));
    krein__meta_gradient(t->f->ctx, &t->in, tasks, t->left, t->right, g);
    *loss = 0;
    for (int64_t i = 0; i < tasks; i++) *loss += t->loss[i] / (double)tasks;
done:
    return st;
}

static krein_status settle(void *user, double *x) {
    meta *t = user;
    return krein__haar_rows(t->f->ctx, t->in.s, t->in.m, x);
}

/* With as many steps as in the training. */
static krein_status validate(void *user, const double *x, double *accuracy) {
    krein_status st = KREIN_OK;
    meta *t = user;
    krein_fewshot_run *f = t->f;
    int64_t n = f->o.validation_tasks, points = f->points, last = 0;
    t->space.in = t->in;
    t->space.in.P = x;
    while (f->point[last] != t->in.steps) last++;
    f->points = last + 1;
    t->as = (krein_learned){.points = f->points, .own = &t->space};
    st = krein__measure(f, t->method, &t->as, KREIN_EPISODE_VALIDATE, n, NULL, t->accuracy);
    if (st == KREIN_OK) {
        krein__means(n, f->points, t->accuracy, t->mean);
        *accuracy = t->mean[last];
    }
    f->points = points;
    return st;
}

/* Random directions. */
static krein_status start(const krein_fewshot_run *f, int64_t s, double *P) {
    int64_t m = f->trained.m;
    krein_rng g = {f->o.seed, KREIN_STREAM_DIRECTIONS};
    for (int64_t j = 0; j < s; j++)
        for (int64_t i = 0; i < m; i++)
            P[j * m + i] = krein__rng_normal(g, (uint64_t)j, (uint64_t)i);
    return krein__haar_rows(f->ctx, s, m, P);
}

/* The subspace, for a file. */
static krein_status give(krein_fewshot_run *f, int64_t s, const double *P) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_subspace *to = &f->learned;
    int64_t m = f->trained.m;
    krein__subspace_clear(to);
    *to = (krein_subspace){
        .ctx = ctx, .image = f->train.images->shape, .scores = f->size.ways, .m = m, .s = s};
    DUP(to->arch, f->arch);
    NEW(to->basis, s * m);
    NEW(to->start, m);
    for (int64_t i = 0; i < s * m; i++) to->basis[i] = (float)P[i];
    for (int64_t i = 0; i < m; i++) to->start[i] = (float)f->start[i];
done:
    return st;
}

krein_status krein__meta_learn(krein_fewshot_run *f, const krein_fewshot_method *method, bool exact,
                               krein_learned *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t m = f->trained.m, s = krein__min(f->o.dimensions, m), tasks = f->o.meta_tasks;
    int64_t terms = 2 * f->o.steps * tasks;
    meta t = {.f = f,
              .method = method,
              .in = {.m = m, .s = s, .steps = f->o.steps, .rate = f->o.rate},
              .exact = exact};
    krein_outer o = {.what = method->cls.name,
                     .size = s * m,
                     .rate = f->o.meta_rate,
                     .steps = f->o.meta_steps,
                     .gradient = gradient,
                     .settle = settle,
                     .validate = validate,
                     .user = &t};
    krein_space space = {.in = t.in};
    NEW(o.x, s * m);
    NEW(t.left, terms * s);
    NEW(t.right, terms * m);
    NEW(t.loss, tasks);
    NEW(t.accuracy, f->o.validation_tasks * f->points);
    NEW(t.mean, f->points);
    for (int64_t b = 0; b < f->benches; b++)
        if (!f->bench[b].room) NEW(f->bench[b].room, krein__meta_room(&t.in));
    TRY(start(f, s, o.x));
    TRY(krein__outer_run(f, &o, out));
    TRY(give(f, s, o.x));
    space.P = o.x;
    o.x = NULL;
    TRY(krein__space_choose(f, method, &space, 1, &f->o.rate, out));
done:
    krein__free(ctx, o.x);
    krein__free(ctx, space.P);
    krein__free(ctx, t.left);
    krein__free(ctx, t.right);
    krein__free(ctx, t.loss);
    krein__free(ctx, t.accuracy);
    krein__free(ctx, t.mean);
    return st;
}

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    (void)variant;
    return krein__meta_learn(f, &krein__fewshot_meta, true, out);
}

const krein_fewshot_method krein__fewshot_meta = {
    .cls = {"meta", "steps in a subspace that is learned over tasks", "luo2022", NULL, NULL},
    .variants = 1,
    .learns = true,
    .learn = learn,
    .solve = krein__space_solve,
    .clear = krein__space_clear};
