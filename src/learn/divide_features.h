/* divide_features.h -- parts of the rows on features: their sums and systems (divide_features.c),
 * and the lambda that is best for their average (divide_lambda.c). */
#ifndef KREIN_DIVIDE_FEATURES_H
#define KREIN_DIVIDE_FEATURES_H

#include "learn/divide.h"
#include "learn/krr.h"

/* Where rows come from: those with labels, or those without. */
typedef struct krein_source {
    krein_stream *const *stream;
    int64_t streams;
    krein_cut cut;
    bool labelled;
} krein_source;

typedef struct krein_divide {
    krein_job *job;
    krein_krr b;
    krein_source from[2];
    bool shared;              /* both read one file, which has one place where it is read */
    int64_t sources, columns; /* columns: targets, and with two sources the one more */
    int64_t slots;            /* parts of a group */
    krein_ridge *sum;
    krein_system *system;
    double *y;               /* block x columns */
    float *part_z;           /* shuffled: the rows of one part in a block */
    double *part_y, *part_w; /* and what goes with them */
} krein_divide;

/* Goes over the systems of the listed parts, ascending, a group at a time: `first` of the list and
 * so many. */
typedef krein_status krein_divide_work(krein_divide *d, void *state, int64_t first, int64_t count);
krein_status krein__divide_visit(krein_divide *d, const int64_t *part, int64_t parts, double lambda,
                                 krein_divide_work *work, void *state);
/* A part's share in the average: the weight of its labelled rows. */
double krein__divide_share(const krein_divide *d, const krein_system *s);
/* Parts are on several processes. */
bool krein__divided(const krein_divide *d);

/* Chooses job->lambda. */
krein_status krein__divide_choose(krein_divide *d);
int64_t krein__divide_loo_rows(int64_t n, int64_t k, int64_t width);

#endif
