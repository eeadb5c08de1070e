/* learn.c -- the table of learners; targets and folds. */
#include "learn/learn.h"

#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEARNER(name) extern const krein_learner_class name;
#include "learn/learners.def"
#undef LEARNER

const krein_class *const krein__learners[] = {
#define LEARNER(name) &name.cls,
#include "learn/learners.def"
#undef LEARNER
};
const int64_t krein__learner_count = KREIN__COUNT(krein__learners);

void krein__targets_fill(const krein_model *m, const krein_data *data, int64_t n,
                         const double *label, double *y, int32_t *class) {
    int64_t k = m->k;
    for (int64_t i = 0; i < n; i++) {
        if (m->encoding.task == KREIN_TASK_REGRESSION) {
            for (int64_t c = 0; c < k; c++) y[i * k + c] = label[i * k + c] - data->label_mean[c];
            continue;
        }
        if (m->encoding.task == KREIN_TASK_MULTILABEL) {
            krein__data_labels(data, &m->encoding, label[i], y + i * k);
            continue;
        }
        int64_t code = (int64_t)label[i];
        if (class) class[i] = (int32_t)code;
        if (k == 1) y[i] = code == 1 ? 1 : -1;
        for (int64_t c = 0; k > 1 && c < k; c++) y[i * k + c] = c == code ? 1 : -1;
    }
}

void krein__job_path(krein_job *job, const krein_path *p) {
    krein_held_out *out = &job->model->path;
    bool classes = krein__job_classes(job);
    out->n = 0;
    for (int64_t l = 0; l < p->n; l++)
        krein__held_out_add(out, p->lambda[l], classes ? p->error[l] : sqrt(p->loss[l]));
    for (int64_t g = 0; g < p->guesses; g++) {
        const krein_guess *one = &p->guess[g];
        bool known = false;
        for (int64_t l = 0; l < out->n; l++) known = known || out->lambda[l] == one->lambda;
        if (!known) krein__held_out_add(out, one->lambda, classes ? one->error : sqrt(one->loss));
    }
}

bool krein__job_classes(const krein_job *job) {
    return job->model->encoding.task == KREIN_TASK_CLASSIFICATION;
}

bool krein__job_labels(const krein_job *job) {
    return job->model->encoding.task == KREIN_TASK_MULTILABEL;
}

double krein__job_mean(const krein_job *job, int64_t c) {
    return job->model->encoding.task == KREIN_TASK_REGRESSION ? job->data->label_mean[c] : 0;
}

/* From the rows of this process to those of all: x has room for them, and holds its own. */
static krein_status join(krein_job *job, void *x, size_t size) {
    const krein_data *data = job->data;
    char *all = NULL, *at = x;
    int64_t count;
    if (!x || !krein__stream_shared(job->rows)) return KREIN_OK;
    krein_status st =
        krein__stream_join(job->rows, at + data->before[KREIN_PART_TRAIN] * (int64_t)size,
                           data->here[KREIN_PART_TRAIN], size, &all, &count);
    if (st == KREIN_OK) memcpy(at, all, (size_t)count * size);
    krein__free(job->ctx, all);
    return st;
}

krein_status krein__job_targets(krein_job *job, double *y, int32_t *class, double *weight,
                                int32_t *group) {
    krein_status st = KREIN_OK;
    krein_block block;
    bool classes = krein__job_classes(job);
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        if (y)
            krein__targets_fill(job->model, job->data, block.x.n, block.label,
                                y + block.first * job->model->k, NULL);
        for (int64_t i = 0; i < block.x.n; i++) {
            int64_t at = block.first + i;
            if (class) class[at] = classes ? (int32_t)block.label[i] : 0;
            if (weight) weight[at] = block.weight ? block.weight[i] : 1;
            if (group) group[at] = block.group ? block.group[i] : 0;
        }
    }
    TRY(join(job, y, (size_t)job->model->k * sizeof *y));
    TRY(join(job, class, sizeof *class));
    TRY(join(job, weight, sizeof *weight));
    TRY(join(job, group, sizeof *group));
done:
    return st;
}

int64_t krein__fold_count(int64_t asked, int64_t n) { return krein__min(asked > 0 ? asked : 5, n); }

int64_t krein__choice_rows(int64_t n, int64_t k) {
    return krein__min(n, krein__max(2048, krein__min(8192, 65536 / k)));
}

typedef struct member {
    int32_t class, group;
    int64_t order, row;
} member;

static int by_class_then_order(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

krein_status krein__folds(krein_ctx *ctx, uint64_t seed, int64_t n, int64_t folds,
                          const int32_t *group, const int32_t *class, int32_t *fold) {
    krein_status st = KREIN_OK;
    krein_rng g = {seed, KREIN_STREAM_FOLDS};
    int64_t *order = NULL, units = n;
    member *all = NULL;
    if (group) {
        units = 0;
        for (int64_t i = 0; i < n; i++) units = krein__max(units, group[i] + 1);
    }
    NEW(order, units);
    krein__rng_permute(g, units, order);
    if (group) { /* a group's fold follows from its place in the permutation */
        bool one = n > 1;
        for (int64_t i = 0; i < n; i++) fold[i] = (int32_t)(order[group[i]] % folds);
        for (int64_t i = 1; i < n && one; i++) one = fold[i] == fold[0];
        if (one)
            st = krein__fail(ctx, KREIN_EDATA,
                             "cross-validation has nothing to train on: all rows are in one group; "
                             "give the parameters (`lambda`, C, the kernel's) and leave "
                             "`probabilities` out, or give other groups");
        goto done;
    }
    NEW(all, n);
    for (int64_t i = 0; i < n; i++) all[i] = (member){class ? class[i] : 0, 0, order[i], i};
    qsort(all, (size_t)n, sizeof *all, by_class_then_order);
    for (int64_t i = 0; i < n; i++) fold[all[i].row] = (int32_t)(i % folds);
done:
    krein__free(ctx, order);
    krein__free(ctx, all);
    return st;
}

krein_status krein__job_weight(krein_job *job, double *out) {
    krein_status st = KREIN_OK;
    krein_block block;
    if (!job->data->has_weight) job->weight = (double)job->n;
    if (job->weight > 0) goto done;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n; i++) job->weight += block.weight[i];
    }
    TRY(krein__stream_sum(job->rows, 1, &job->weight));
    if (!(job->weight > 0))
        st = krein__fail(job->ctx, KREIN_EDATA, "all row weights are 0: there is nothing to fit");
done:
    *out = job->weight;
    return st;
}

krein_status krein__lambda_of_cost(krein_job *job, double C) {
    double weight;
    krein_status st = krein__job_weight(job, &weight);
    if (st == KREIN_OK) job->model->lambda = 1 / (2 * weight * C);
    return st;
}

krein_status krein__cost_of_lambda(krein_job *job, double *C) {
    double weight;
    if (job->lambda == 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "`lambda=0` has no solution here: give a positive one, or C");
    krein_status st = krein__job_weight(job, &weight);
    if (st != KREIN_OK || job->lambda < 0) return st;
    double from = 1 / (2 * weight * job->lambda);
    if (!isnan(*C) && fabs(*C / from - 1) > 1e-6)
        return krein__fail(job->ctx, KREIN_EARG,
                           "`lambda=%g` means C = 1 / (2 n lambda) = %g, and the learner says C = "
                           "%g: give one of the two",
                           job->lambda, from, *C);
    *C = from;
    return KREIN_OK;
}
