/* criteria.c -- the table of selection criteria, and what they share. */
#include "select/select.h"

#include <math.h>
#include <string.h>

#define CRITERION(name) extern const krein_criterion_class name;
#include "select/criteria.def"
#undef CRITERION

const krein_class *const krein__criteria[] = {
#define CRITERION(name) &name.cls,
#include "select/criteria.def"
#undef CRITERION
};
const int64_t krein__criterion_count = KREIN__COUNT(krein__criteria);

krein_score krein__score_of(const krein_criterion_class *c, double value) {
    return (krein_score){value, NAN, c->larger ? -value : value, NAN};
}

krein_status krein__score_trial(const krein_view *v, const krein_values *values,
                                const krein_trial *t, krein_score *out) {
    (void)v, (void)values;
    const krein_path *p = &t->path;
    double error = p->error[p->best], loss = p->loss[p->best];
    *out = (krein_score){isnan(error) ? sqrt(loss) : error, error, loss, p->lambda[p->best]};
    return KREIN_OK;
}

bool krein__score_better(const krein_score *a, const krein_score *b) {
    if (isnan(a->loss) || isnan(b->loss)) return !isnan(a->loss) && isnan(b->loss);
    if (!isnan(a->error) && a->error != b->error) return a->error < b->error;
    return a->loss < b->loss;
}

krein_status krein__need_spectrum(const krein_view *v, const char *name) {
    if (!v->mixed) return KREIN_OK;
    return krein__fail(v->ctx, KREIN_ESPEC,
                       "%s wants eigenvalues, and these features have both signs; use the kernel "
                       "itself: fewer rows, or a larger `max_exact`",
                       name);
}

krein_status krein__need_positive(const krein_view *v, const char *name) {
    krein_status st = krein__need_spectrum(v, name);
    if (st != KREIN_OK || v->ntop == 0) return st;
    double least = v->top[v->ntop - 1];
    if (least >= -1e-10 * (double)v->ntop * fabs(v->top[0])) return KREIN_OK;
    return krein__fail(v->ctx, KREIN_ESPEC,
                       "%s is for positive definite kernels, and this one has eigenvalues down to "
                       "%.3g on these rows; take sm, kta, ckta, loo or cv",
                       name, least);
}

krein_status krein__criterion_parse(krein_ctx *ctx, const char *spec, krein_criterion *out) {
    int64_t which;
    krein_status st = krein__parse_spec(ctx, spec, "criterion", krein__criteria,
                                        krein__criterion_count, &which, &out->values);
    if (st == KREIN_OK) out->cls = (const krein_criterion_class *)krein__criteria[which];
    return st;
}

krein_status krein__criterion_parse_or_none(krein_ctx *ctx, const char *spec,
                                            krein_criterion *out) {
    if (strcmp(spec, "none") != 0) return krein__criterion_parse(ctx, spec, out);
    *out = (krein_criterion){0};
    return KREIN_OK;
}

void krein__criterion_clear(krein_ctx *ctx, krein_criterion *c) {
    krein__values_clear(ctx, &c->values);
    c->cls = NULL;
}

krein_status krein__criterion_check(krein_ctx *ctx, const krein_criterion *c, krein_task task,
                                    bool labels) {
    const char *name = c->cls->cls.name;
    if (c->cls->tasks == 0) return KREIN_OK;
    if (!labels)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s needs labels and there are none; er and tail do without", name);
    const bool sets = task == KREIN_TASK_MULTILABEL;
    if ((task == KREIN_TASK_REGRESSION || sets) && !(c->cls->tasks & KREIN_FOR_NUMBERS))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s is for classes and %s; take kta, ckta, loo, cv, gcv or evidence%s",
                           name, sets ? "rows have several labels" : "the labels are numbers",
                           sets ? "" : ", or `task=classification`");
    return KREIN_OK;
}

int64_t krein__main_count(double given, int64_t n) {
    int64_t count = isnan(given) ? (int64_t)rint(sqrt((double)n)) : (int64_t)given;
    return krein__min(count, n);
}

double krein__main_sum(const krein_view *v, double given) {
    int64_t count = krein__min(krein__main_count(given, v->labels->n), v->ntop);
    double sum = 0;
    for (int64_t j = 0; j < count; j++) sum += v->top[j];
    return sum;
}
