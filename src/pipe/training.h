/* training.h -- a pipe that is trained: learner, candidates for its kernel, and how they are
 * chosen.
 *
 *     begin -> (checkpoint) -> scan -> choose -> fit -> learner
 *
 * Candidates are the kernels of a list, the values of free parameters, or the weights of several
 * kernels; select/ scores them on a seeded sample. */
#ifndef KREIN_TRAINING_H
#define KREIN_TRAINING_H

#include "combine/combination.h"
#include "pipe/hurry.h"
#include "pipe/pipe.h"
#include "select/tune.h"

#define KREIN_LEARNER_DEFAULT "krr"

/* What is chosen where no kernel is given (tuning.c). */
typedef struct krein_tuning {
    bool kernel; /* the kernel is chosen, of these: */
    char kernels[64];
    const char *first;        /* one of them that the map takes, until it is chosen; NULL: any */
    krein_metric_kind metric; /* the most that may be learned */
    bool asked;               /* the metric was asked for */
    double clip;              /* INFINITY: none */
    krein_model *from;        /* the model whose metric is taken, or NULL */
    krein_tuned tuned;
    const char *map; /* where the kernel matrix is too large; NULL: landmarks */
} krein_tuning;

/* What choosing takes. */
typedef struct krein_tuning_cost {
    double effort; /* that is taken: less than was asked for where memory is short */
    int threads;   /* and fewer of them */
    double bytes, flops;
} krein_tuning_cost;

typedef struct krein_training krein_training;
struct krein_training {
    krein_pipe pipe;
    krein_train_options o;
    const krein_learner_class *learner;
    krein_values values;     /* its options */
    char *own_map;           /* the map that it takes where none is asked for; NULL: any */
    krein_kernel_list list;  /* kernels of which one is taken; n = 0: none */
    krein_weighing weighing; /* cls NULL: there is one kernel */
    krein_combination combination;
    krein_criterion criterion; /* cls NULL: none */
    int64_t free;              /* parameters of the kernel, the most of a list */
    bool grouped;              /* the rows come in groups */
    int64_t apart; /* rows kept from the training for probabilities, sets and intervals */
    bool recalled; /* kernel and map are those of a checkpoint; what was asked for before: */
    bool asked;    /* the number of features was */
    krein_tuning tuning;
    krein_hurry hurry; /* with a time limit */
};

/* The learner of a spec, and the weighing where the spec has one (mkl): empty before. The values
 * and the weighing are the caller's to clear, also after a failure. */
krein_status krein__learner_parse(krein_ctx *ctx, const char *spec,
                                  const krein_learner_class **learner, krein_values *values,
                                  krein_weighing *weighing);
/* Specs are parsed before any row is read: a wrong one must not cost a pass over the data. grouped:
 * the rows come in groups. */
krein_status krein__training_begin(krein_ctx *ctx, const krein_train_options *given, bool grouped,
                                   krein_training *t);
void krein__training_end(krein_training *t);
/* Opens the checkpoint that the options name; what it knows to be chosen is not free any more. */
krein_status krein__training_checkpoint(krein_training *t, krein_data *data,
                                        krein_checkpoint **out);
/* The first pass over the data, or what a checkpoint (or NULL) knows of it; head and outputs. plan:
 * rows are not kept and none is held out. */
krein_status krein__training_scan(krein_training *t, krein_data *data, krein_checkpoint *c,
                                  bool plan);
/* What the options say of metric, clip and effort; a default list of kernels. */
krein_status krein__tuning_begin(krein_training *t);
void krein__tuning_end(krein_training *t);
/* A checkpoint has what was chosen: nothing is. */
void krein__tuning_recalled(krein_training *t);
/* Landmarks or random features for the kernel that was chosen (tuned_map.c). */
krein_status krein__tuning_map(krein_training *t);
/* In so many bytes; zero where nothing is tuned. More bytes than that where it does not fit. */
krein_tuning_cost krein__tuning_cost(const krein_training *t, double room);
/* "k1; k2; ...", of which one will be taken; NULL: there is one kernel, or a sum. */
const char *krein__training_candidates(const krein_training *t);
/* Before the rows are encoded. */
void krein__tuning_clip(const krein_training *t);
/* The metric, and the kernel where none was given. */
krein_status krein__training_tune(krein_training *t);
/* The rows without labels, of the data and of a file of their own (unlabelled.c). */
krein_status krein__training_unlabelled(krein_training *t);
void krein__unlabelled_close(krein_unlabelled *u);
/* The kernel, but for what is chosen with the map: the best of a list, the kernels of a sum. */
krein_status krein__training_meet(krein_training *t);
/* The map. *need as for krein__pipe_map. */
krein_status krein__training_map(krein_training *t, krein_need *need);
/* Raw features of the map, which is not fitted yet, are all that the learner needs. */
bool krein__training_raw(const krein_training *t, const krein_map *map);
/* What is free in the kernel, or the weights of several. */
krein_status krein__training_choose(krein_training *t);
/* Once the weights of several are known: the sum, the average and single kernels go to the scorer,
 * for the report (proposals.c); bytes and flops of that, none where it does not fit in the room. */
krein_status krein__training_propose(krein_training *t);
krein_cost krein__proposals_cost(const krein_training *t, const krein_map *map, double room);
/* Then parts (parts.c). */
krein_status krein__training_parts(krein_training *t);
/* What a training needs of its pipe, and folds that the criterion chooses lambda by as well (0:
 * leave-one-out). */
krein_purpose krein__training_purpose(const krein_training *t);
/* What a fit of that learner on that map takes; returns the flops of both. */
double krein__training_fit_cost(const krein_training *t, const krein_map *map,
                                const krein_learner_class *learner, const krein_values *values,
                                krein_cost *of_map, krein_cost *fit, int64_t *passes);
int64_t krein__training_folds(const krein_training *t);
/* The learner as it would have to be asked for to get the same model. */
char *krein__training_learner(krein_training *t);

/* Where several processes train together (together.c): what they do not do; one kernel and one map
 * for all, those of the first. */
krein_status krein__training_together(const krein_training *t);
krein_status krein__training_agree(krein_training *t);
krein_status krein__training_agree_map(krein_training *t);

#endif
