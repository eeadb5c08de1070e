/* hurry.h -- a training with a time limit.
 *
 *     finish     start + limit: choices and iterations end with their best
 *     deadline   start + 1.05 limit + 0.3 s: work that polls ends with KREIN_ETIME
 *
 * Both stand in the context from krein_train's first line until the model is there. Reading may
 * take all of it; choosing gets at most 40 % of what is left then; and the fit is made smaller
 * until its predicted seconds are within the rest (hurry.c). Before it a small ridge regression is
 * fitted, the reserve: the model where the fit is not done in time or is the worse one on training
 * rows (reserve.c). A map and a number of features that were asked for stay what they are: then
 * there is no reserve, and what is not done in time is refused. */
#ifndef KREIN_HURRY_H
#define KREIN_HURRY_H

#include "learn/learn.h"

typedef struct krein_hurry {
    double speed;         /* flops a second of a product of matrices, now; 0: not measured */
    double factor;        /* what a fit takes over what its flops say */
    bool unchosen;        /* there was no time to choose the kernel's parameters */
    bool smaller;         /* the map was made smaller */
    bool only_reserve;    /* there is no time for the learner */
    krein_model *reserve; /* its encoding is that of the job's model; NULL: none */
    double loo;           /* of the reserve */
    int64_t cv_folds;
} krein_hurry;

struct krein_training;
struct krein_need;

/* The limits, on the context: from the start of the training, and none again. */
void krein__hurry_begin(struct krein_training *t, double start);
void krein__hurry_end(krein_ctx *ctx);
/* Seconds that are left for choosing and fitting; 0: there is no limit. */
double krein__hurry_left(const struct krein_training *t);
/* Seconds that a choice may take; 0: there is no limit. */
double krein__hurry_choice(const struct krein_training *t);
/* Makes n, the rows of some eigendecompositions beside the fit, as few as there is time for. */
krein_status krein__hurry_rows(struct krein_training *t, int64_t count, int64_t *n);
/* A choice that is not done in its time leaves the kernel as it was, with `unchosen`. */
krein_status krein__hurry_choose(struct krein_training *t,
                                 krein_status (*choice)(struct krein_training *t));
/* Once the kernel is chosen: the reserve, and the map with as many features as there is time for.
 * *need is that of the map. */
krein_status krein__hurry_size(struct krein_training *t, struct krein_need *need);
/* After the fit, which ended with st: the model that is kept; KREIN_ETIME where there is none. */
krein_status krein__hurry_keep(struct krein_training *t, krein_status st);

/* Predicted seconds of a fit of that learner on that map, without what may end early. */
double krein__hurry_seconds(const struct krein_training *t, const krein_map *map,
                            const krein_learner_class *learner, const krein_values *values);
/* Ridge regression on so many features at most that it takes a part of the time that is left.
 * KREIN_ETIME where even the fewest take all of it. */
krein_status krein__reserve_fit(struct krein_training *t);
/* The reserve becomes the job's model. */
void krein__reserve_take(struct krein_training *t);
void krein__reserve_clear(struct krein_training *t);
/* Whether the model's loss on training rows is more than `times` that of the reserve, or, without
 * one, of a constant. */
krein_status krein__reserve_better(struct krein_training *t, double times, bool *better);

#endif
