/* space.c -- tasks learned by gradient steps in some space of the parameters
 *
 *     th <- th - eta P P'g,  from the same start for every task
 *
 * P is fixed, or that of the path of a training on all rows of the task's classes but the queries.
 * The rate eta is one of a few, and the number of steps one of those that accuracies are measured
 * behind: the pair that does best on validation tasks, of equal ones the fewest steps. */
#include "fewshot/fewshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__space_clear(krein_fewshot_run *f, krein_learned *l) {
    krein_space *s = l->own;
    if (!s) return;
    krein__free(f->ctx, s->P);
    krein__free(f->ctx, s);
    l->own = NULL;
}

int64_t krein__task_rest(const krein_episode *e, int64_t *row, int32_t *label) {
    const krein_images *im = e->images;
    int64_t n = 0;
    for (int64_t c = 0; c < e->size.ways; c++)
        for (int64_t i = im->start[e->class[c]]; i < im->start[e->class[c] + 1]; i++) {
            bool asked = false;
            for (int64_t q = 0; q < e->size.queries; q++)
                asked = asked || e->query[c * e->size.queries + q] == im->row[i];
            if (asked) continue;
            row[n] = im->row[i];
            label[n++] = (int32_t)c;
        }
    return n;
}

static krein_status space_of_task(krein_ctx *ctx, krein_bench *b, double **P, int64_t *s) {
    krein_status st = KREIN_OK;
    const krein_episode *e = &b->e;
    const krein_images *im = e->images;
    int64_t most = 0, *row = NULL;
    int32_t *label = NULL;
    for (int64_t c = 0; c < e->size.ways; c++)
        most += im->start[e->class[c] + 1] - im->start[e->class[c]];
    NEW(row, most);
    NEW(label, most);
    int64_t n = krein__task_rest(e, row, label);
    TRY(krein__path_subspace(ctx, b->f, im, n, row, label, P, s));
done:
    krein__free(ctx, row);
    krein__free(ctx, label);
    return st;
}

krein_status krein__space_solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                                double *accuracy) {
    krein_status st = KREIN_OK;
    const krein_space *s = l->own;
    krein_inner in = s->in;
    double *P = NULL;
    if (s->by_task) {
        TRY(space_of_task(ctx, b, &P, &in.s));
        in.P = P;
    }
    krein__bench_load(b);
    krein__bench_descend(b, &in, accuracy);
done:
    krein__free(ctx, P);
    return st;
}

krein_status krein__space_choose(krein_fewshot_run *f, const krein_fewshot_method *method,
                                 krein_space *space, int64_t n, const double *rates,
                                 krein_learned *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t tasks = f->o.validation_tasks;
    double *accuracy = NULL, *mean = NULL, best = -1, rate = rates[0];
    krein_space *own;
    NEW(own, 1);
    *own = *space;
    *space = (krein_space){0};
    out->own = own;
    out->points = f->points;
    own->in.m = f->trained.m;
    own->in.P = own->P;
    NEW(accuracy, tasks * f->points);
    NEW(mean, f->points);
    for (int64_t r = 0; r < n; r++) {
        own->in.rate = rates[r];
        TRY(krein__measure(f, method, out, KREIN_EPISODE_VALIDATE, tasks, "choosing the rate",
                           accuracy));
        krein__means(tasks, f->points, accuracy, mean);
        for (int64_t k = 0; k < f->points; k++) {
            if (!(mean[k] > best)) continue;
            best = mean[k];
            rate = own->in.rate;
            out->chosen = k;
        }
    }
    own->in.rate = rate;
    out->detail =
        krein__format(ctx, "rate=%.3g, steps=%lld", rate, (long long)f->point[out->chosen]);
    if (!out->detail) st = ctx->status;
done:
    krein__free(ctx, accuracy);
    krein__free(ctx, mean);
    return st;
}
