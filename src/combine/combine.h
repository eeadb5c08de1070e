/* combine.h -- weights of several kernels: which sum of them to train on.
 *
 *     k = sum_m mu_m c_m k_m,   mu >= 0, sum mu = 1,   c_m = n / sum_i k_m(x_i, x_i)
 *
 * One file a method; each works on matrices (few rows: can be checked) and on features (many rows:
 * nothing is as large as n x n), see bank.h. */
#ifndef KREIN_COMBINE_H
#define KREIN_COMBINE_H

#include "base/spec.h"
#include "combine/bank.h"

/* A way to find weights: one file, and a line in weighings.def. */
typedef struct krein_weighing_class {
    krein_class cls;
    int tasks;       /* KREIN_FOR_... */
    bool indefinite; /* such kernels may take part, with their signature */
    bool row_weights;
    bool alone; /* it needs neither matrices nor features of the bank */
    const char
        *way_out; /* what to change where it leaves no kernel over; NULL: nothing of its own */
    /* Fills mu (M, >= 0, any scale; all zero where the method left no kernel over). */
    krein_status (*find)(krein_bank *bank, const krein_values *values, double *mu);
    /* Bytes and flops, roughly, beside those of the bank, added to out; NULL: none to speak of. */
    void (*cost)(const krein_bank_size *size, krein_cost *out);
    /* The kernels where none are given; NULL: some must be. */
    krein_status (*draw)(krein_ctx *ctx, const krein_values *values, uint64_t seed,
                         krein_kernel_list *out);
} krein_weighing_class;

extern const krein_class *const krein__weighings[];
extern const int64_t krein__weighing_count;

/* Options of all of them, first in every table; then their own. */
typedef enum krein_split { KREIN_SPLIT_EQUAL = 0, KREIN_SPLIT_WEIGHT = 1 } krein_split;
enum { KREIN_WEIGHING_NORMALIZE, KREIN_WEIGHING_SPLIT, KREIN_WEIGHING_OWN };
#define KREIN_WEIGHING_OPTIONS                                                                     \
    {.name = "normalize",                                                                          \
     .type = KREIN_OPTION_YESNO,                                                                   \
     .value = 1,                                                                                   \
     .help = "kernels of unit mean diagonal, so that their units do not matter"},                  \
    {                                                                                              \
        .name = "split", .type = KREIN_OPTION_WORD, .value = KREIN_SPLIT_EQUAL,                    \
        .words = "equal|weight",                                                                   \
        .help = "features of the kernels: as many for each, or in proportion to the weights"       \
    }

/* A weighing as it was asked for. */
typedef struct krein_weighing {
    const krein_weighing_class *cls;
    krein_values values;
} krein_weighing;
krein_status krein__weighing_parse(krein_ctx *ctx, const char *spec, krein_weighing *out);
void krein__weighing_clear(krein_ctx *ctx, krein_weighing *w);

/* What does not go together, before any row is read: the method and the kernels of a list. */
krein_status krein__combine_check(krein_ctx *ctx, const krein_weighing *w,
                                  const krein_kernel_list *list);
/* And the method and the data. */
krein_status krein__combine_meet(const krein_job *job, const krein_weighing *w);
/* Whether the method needs neither matrices nor features: a map need not be fitted for it. */
bool krein__combine_alone(const krein_weighing *w);
/* mu (M, >= 0, sum one). map: NULL or a map of kernel values: by matrices; else the kernels'
 * features side by side, fitted, each kernel's times sqrt(scale). */
krein_status krein__combine(krein_job *job, const krein_weighing *w, const krein_kernel_list *list,
                            const double *scale, const krein_map *map, double *mu);
/* Bytes and flops for a model with that map, whose bytes are among them. */
krein_cost krein__combine_cost(const krein_weighing *w, const krein_map *map, int64_t n, int64_t M,
                               int64_t k);
#endif
