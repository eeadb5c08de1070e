/* train.h -- what train and plan set up the same way: specs (train_specs.c), then the map and what
 * training with it takes (train_map.c). */
#ifndef KREIN_TRAIN_H
#define KREIN_TRAIN_H

#include "combine/combination.h"

/* The map of several kernels: each has its own. */
#define KREIN_MAP_JOINT "auto"

typedef struct krein_setup {
    krein_ctx *ctx;
    krein_train_options o;
    krein_kernel *kernel;   /* of a list the first, until the best is known */
    krein_kernel_list list; /* --kernels, of which one is taken; n = 0: none */
    const krein_learner_class *learner;
    krein_values learner_values;
    const krein_learner_class *several; /* combines kernels, with `learner` as its base; or NULL */
    krein_values several_values;
    krein_combination combination;
    krein_criterion criterion; /* cls NULL: none */
    int64_t free;
    double rows_bytes; /* of the rows in memory, or of a batch, and all that is held beside */
    bool grouped;      /* the rows come in groups */
    bool wide;         /* a linear kernel of more columns than the memory budget allows */
    bool recalled;     /* kernel and map are those of a checkpoint; what was asked for before: */
    bool asked;        /* the number of features was */
} krein_setup;

/* Specs are parsed before any row is read: a wrong one must not cost a pass over the data. grouped:
 * the rows come in groups. */
krein_status krein__setup_begin(krein_ctx *ctx, const krein_train_options *given, bool grouped,
                                krein_setup *s);
void krein__setup_clear(krein_setup *s);
/* Opens the checkpoint that the options name; what it knows to be chosen is not free any more. */
krein_status krein__setup_checkpoint(krein_setup *s, krein_data *data, krein_checkpoint **out);
/* What the learner does not do with the labels that there are. */
krein_status krein__setup_task(const krein_setup *s, const krein_encoding *e);
/* What the rows take, on the process where it is most: before krein__setup_map. */
krein_status krein__setup_rows(krein_setup *s, const krein_data *data, const krein_encoding *e,
                               int64_t n);
/* Where several processes train together (train_together.c): what they do not do; one kernel and
 * one map for all, those of the first. */
krein_status krein__setup_together(const krein_setup *s);
krein_status krein__setup_agree(krein_setup *s);
krein_status krein__setup_agree_map(const krein_setup *s, krein_map **map);
/* The map and what training with it takes. Features are the default as well where the kernel matrix
 * would be but does not fit, in memory or to the learner. */
krein_status krein__setup_map(krein_setup *s, const krein_data *data, const krein_encoding *e,
                              int64_t n, int64_t k, krein_report *r, krein_map **map);
/* Says what would fit where the training does not. */
krein_status krein__setup_refuse(const krein_setup *s, krein_map *map, int64_t n, int64_t k,
                                 krein_report *r, bool fail);
/* The number of features was asked for. */
bool krein__setup_asked(const krein_setup *s, const krein_map *map);
/* Opens the rows without labels, of the data and of options.unlabeled, and counts them. */
krein_status krein__setup_unlabelled(const krein_setup *s, krein_data *data,
                                     const krein_encoding *e, krein_unlabelled *out);
void krein__unlabelled_close(krein_unlabelled *u);
/* Completes the learner's options by the number of parts, once the kernel is known. */
krein_status krein__setup_parts(krein_setup *s, krein_job *job, const krein_map *map);
/* Folds that the criterion chooses lambda by as well; 0: leave-one-out. */
int64_t krein__setup_folds(const krein_setup *s);
/* The search judges kernels by the map where that is random, does not look at the data and has far
 * fewer features than there are rows; under cross-validation, and where ridge regression is to have
 * no intercept, by the kernel itself throughout. */
bool krein__setup_random(const krein_setup *s, const krein_map *map, int64_t n);

#endif
