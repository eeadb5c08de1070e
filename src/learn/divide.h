/* divide.h -- ridge regression on parts of the rows, whose models are averaged: what dckrr and
 * sskrr share (divide.c, divide_order.c), on features (divide_features.c) and on kernel matrices
 * (divide_exact.c).
 */
#ifndef KREIN_DIVIDE_H
#define KREIN_DIVIDE_H

#include "learn/learn.h"

#include <math.h>

/* The option that both learners have, and its words. */
enum { KREIN_ORDER_BLOCKS = 0, KREIN_ORDER_SHUFFLE = 1 };
#define KREIN_OPTION_PARTS_ORDER                                                                   \
    {                                                                                              \
        .name = "order", .type = KREIN_OPTION_WORD, .value = NAN, .words = "blocks|shuffle",       \
        .help = "a part is a stretch of the data, or rows drawn from all over it; when not given " \
                "stretches, unless their labels differ"                                            \
    }

/* ---- parts -------------------------------------------------------------- */

/* n rows in `parts` parts: part j has those that stand at bound[j] .. bound[j + 1] - 1, in the
 * order of the data or in a shuffled one. */
typedef struct krein_cut {
    int64_t n, parts;
    int64_t *bound; /* parts + 1 */
    int32_t *owner; /* n: the part of each row; NULL: the order of the data */
    /* Of these the process has rows first .. first + rows - 1, and works on the parts from .. to -
     * 1: all of both, unless processes share the rows. */
    int64_t first, rows, from, to;
    bool joint;    /* one part, of which every process has some rows */
    int64_t *rank; /* parts, or NULL: the process that has each part */
} krein_cut;

/* Cuts stand at multiples of `block` rows where the parts are large enough. */
krein_status krein__cut_begin(krein_ctx *ctx, int64_t n, int64_t parts, int64_t block, bool shuffle,
                              uint64_t seed, krein_cut *out);
/* Moves the cuts so that each part is on one of the processes that share the stream, this one
 * having `rows` of them from `first` on. like: another cut whose parts are to be on the same
 * processes, or NULL. Collective. */
krein_status krein__cut_share(krein_stream *stream, int64_t first, int64_t rows,
                              const krein_cut *like, krein_cut *cut);
void krein__cut_end(krein_ctx *ctx, krein_cut *cut);
/* Rows of the largest part. */
int64_t krein__cut_most(const krein_cut *cut);
/* The rows of part j, ascending; index has room for them. */
void krein__cut_rows(const krein_cut *cut, int64_t j, int64_t *index);
/* The average of targets as they are in the data. */
void krein__divide_report(krein_job *job);
/* The labels of the parts differ far more than by chance (divide_order.c); between: the share of
 * the labels' variance that lies between parts. One pass. Collective where the rows are shared. */
krein_status krein__parts_differ(krein_job *job, const krein_cut *cut, bool *differ,
                                 double *between);
/* The cut of the job's training rows. *order is a word of the option above, or NaN: the one that
 * the labels ask for, which it becomes. */
krein_status krein__divide_rows(krein_job *job, int64_t parts, double *order, krein_cut *out);

/* ---- several at once ---------------------------------------------------- */

/* Work on item i. Whatever it leaves behind is its own: items run in any order. */
typedef krein_status krein_part_work(krein_ctx *ctx, void *state, int64_t i);
/* All items, `workers` at a time with a thread each; one worker has all threads. */
krein_status krein__parts_each(krein_ctx *ctx, int64_t items, int workers, krein_part_work *work,
                               void *state);
/* Items of so many bytes that run at once: by sizes alone, in a quarter of the budget. */
int krein__parts_workers(const krein_ctx *ctx, int64_t items, double bytes);

/* ---- the choice of lambda ----------------------------------------------- */

/* Exact leave-one-out of the average. A row of part j is in one of the averaged models only:
 *     f_-i(x_i) = sum over l != j of s_l f_l(x_i) + s_j f_j,-i(x_i),   s_l the share of part l.
 * Its least loss is at the lambda that is best for the average, which is below the one that is
 * best for a part. Estimated from at most KREIN_LOO_PARTS parts, spread over all, and a
 * sample of their rows.
 */
enum { KREIN_LOO_PARTS = 32 };
typedef struct krein_loo_sample {
    int64_t parts, *part; /* the parts used, ascending */
    int64_t n, *row;      /* the sampled rows, ascending */
    int32_t *owner;       /* place of a row's part in `part` */
    krein_matrix x;
    double *y, *weight;
    int32_t *class;
    krein_targets targets; /* of the above */
} krein_loo_sample;

krein_status krein__loo_sample_begin(krein_job *job, const krein_cut *cut, int64_t parts,
                                     int64_t rows, krein_loo_sample *out);
void krein__loo_sample_end(krein_ctx *ctx, krein_loo_sample *sample);

/* ---- the fits ----------------------------------------------------------- */

/* Fill the model's weights and intercepts (of targets as krein__targets_fill makes them) and
 * job->lambda where it is to be chosen. */
krein_status krein__divide_features(krein_job *job, const krein_cut *cut,
                                    const krein_cut *unlabelled); /* NULL: no such rows */
krein_status krein__divide_exact(krein_job *job, const krein_cut *cut);
/* Bytes beside the map's, for n rows; rows: of the largest part. */
double krein__divide_features_bytes(const krein_map *map, int64_t n, int64_t parts, int64_t k,
                                    bool shuffle, bool path);
double krein__divide_exact_bytes(const krein_map *map, int64_t n, int64_t rows, int64_t parts,
                                 int64_t k, bool path);

#endif
