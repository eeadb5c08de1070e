/* compare.h -- several methods on the same splits of data sets.
 *
 *     methods (methods.c)  x  data sets (sets.c)  x  splits   =   runs (run.c, command.c)
 *         |                                                         |
 *     checked before a row is read                  over threads and processes (work.c),
 *                                                   kept in a file (results.c)
 *                                                                   |
 *                                                   means, ranks, tests (summary.c)
 *
 * Split r of a data set is that of a training with `holdout` and seed + r, for all methods: it
 * follows from the labels and the seed. A run has a context of its own, with the whole memory
 * budget: what it decides by that does not depend on what runs beside it. Where several at once do
 * not fit, the one that is refused is run again alone. */
#ifndef KREIN_COMPARE_H
#define KREIN_COMPARE_H

#include "base/threads.h"
#include "stream/data.h"

typedef struct krein_method {
    char *name;
    char *learner, *kernel, *kernels,
        *map;      /* NULL: the default; kernel: also "{k1; k2}" as typed */
    char *command; /* NULL: one of ours */
    char *refused; /* why it can be trained on no data at all, or NULL */
} krein_method;

typedef struct krein_set {
    const char *name;
    int64_t n, d, train, test; /* rows, columns, rows of the first split */
    krein_task task;
    int64_t classes;
    uint64_t digest; /* of the rows and of how they are encoded */
} krein_set;

/* A method on a split of a set. */
typedef struct krein_run {
    uint64_t key; /* of all that the result depends on */
    double value, seconds, bytes;
    double cpu; /* seconds; NaN: a file of an earlier version does not have it */
    bool done, reused;
    bool again;   /* it was refused for memory beside others */
    char *failed; /* why there is no value, or NULL */
} krein_run;

typedef struct krein_comparison {
    krein_ctx *ctx;
    krein_compare_options o;
    krein_train_options train;
    krein_measure measure;
    krein_method *method;
    krein_set *set;
    krein_run *run; /* sets x repeats x methods */
    int64_t methods, sets, repeats;
    int workers;
    struct krein_results *results; /* NULL: none are kept */
    int64_t reused;
} krein_comparison;

enum { KREIN_METHODS_MAX = 1000 };

static inline krein_run *krein__run_of(const krein_comparison *c, int64_t set, int64_t split,
                                       int64_t method) {
    return &c->run[(set * c->repeats + split) * c->methods + method];
}

/* ---- methods.c ---------------------------------------------------------- */

/* The product of the lists, then the commands. KREIN_ESPEC where a spec is wrong; a combination
 * that cannot be trained is refused by itself, unless all are. */
krein_status krein__methods_parse(krein_comparison *c);
void krein__methods_clear(krein_comparison *c);
/* The training options of a method on a split. */
krein_train_options krein__method_options(const krein_comparison *c, const krein_method *m,
                                          int64_t split);

/* ---- sets.c ------------------------------------------------------------- */

/* Looks at each data set: rows, task, digest. Sets c->measure, and fails where the measure is not
 * for these labels, or labels are of different kinds. */
krein_status krein__sets_scan(krein_comparison *c);
bool krein__measure_larger(krein_measure m);
const char *krein__measure_name(krein_measure m);
uint64_t krein__run_key(const krein_comparison *c, const krein_set *s, const krein_method *m,
                        int64_t split);

/* ---- run.c, command.c: one run ------------------------------------------ */

/* With the context of the run, which counts its memory. */
krein_status krein__run_training(const krein_comparison *c, krein_ctx *ctx, int64_t set,
                                 int64_t split, const krein_method *m, krein_run *out);
krein_status krein__run_command(const krein_comparison *c, krein_ctx *ctx, int64_t set,
                                int64_t split, const krein_method *m, krein_run *out);

/* ---- split.c: the rows of a split for another program -------------------- */

typedef struct krein_split {
    int64_t n, outputs; /* held-out rows; numbers of a label */
    double *label;      /* n x outputs: targets, or numbers of classes */
    double *weight;     /* n, or NULL */
    krein_encoding e;   /* classes */
} krein_split;
/* Writes the training rows and the held-out ones to files; *out is the caller's to clear. */
krein_status krein__split_write(krein_data *data, double holdout, uint64_t seed, const char *train,
                                const char *test, krein_split *out);
void krein__split_clear(krein_ctx *ctx, krein_split *s);
/* Reads the predictions and measures them. */
krein_status krein__split_measure(krein_ctx *ctx, const krein_split *s, const char *path,
                                  krein_measure measure, double *out);

/* ---- results.c ---------------------------------------------------------- */

/* Opens the file, makes it where there is none, and takes over the runs that it has. On the first
 * process alone. */
krein_status krein__results_open(krein_comparison *c);
/* Appends a run; from any thread. */
krein_status krein__results_add(krein_comparison *c, krein_ctx *ctx, int64_t set, int64_t split,
                                int64_t method);
void krein__results_close(krein_comparison *c);

/* ---- work.c, summary.c -------------------------------------------------- */

krein_status krein__compare_run(krein_comparison *c); /* all that is not done */
krein_status krein__compare_summary(const krein_comparison *c, krein_compare_report *r);

#endif
