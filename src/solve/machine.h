/* machine.h -- support vector machines on features: what is trained, and how. */
#ifndef KREIN_MACHINE_H
#define KREIN_MACHINE_H

#include "solve/features.h"

typedef enum krein_loss {
    KREIN_LOSS_HINGE = 0,  /* C max(0, 1 - y f) */
    KREIN_LOSS_HINGE2 = 1, /* C max(0, 1 - y f)^2 */
    KREIN_LOSS_EPSILON = 2 /* C max(0, |y - f| - epsilon) */
} krein_loss;

/* One row of one machine. */
typedef struct krein_dual {
    int32_t row;
    float target; /* -1 or +1; a number for the epsilon loss */
    double cost;  /* C times the row's weight */
    double beta;  /* the weights are sum beta z */
} krein_dual;

/* One linear machine: min 1/2 |w|^2 + sum of losses of f = w'z + b over its rows. */
typedef struct krein_machine {
    int64_t n;
    krein_dual *dual; /* n, by ascending row; beta is the start, and the solution */
    double *w;        /* D, out */
    double b;         /* intercept: start, and out */
    double primal, dual_value;
    int64_t passes, support;
    bool converged;
} krein_machine;

typedef struct krein_machine_options {
    krein_loss loss;
    double epsilon;
    bool intercept;
    double tol;      /* stop where primal - dual <= tol * primal */
    double deadline; /* krein__clock(), 0: none */
    uint64_t seed;
    double work;      /* > 0: coordinate descent alone, of so many passes, however near it comes */
    const char *what; /* for the progress bar, or NULL */
} krein_machine_options;

/* Trains all machines, which share the features, each independently of the others: by coordinate
 * descent, and where that takes long by Newton steps. beta and b are where they start. */
krein_status krein__machines_train(krein_features *z, krein_machine *machine, int64_t machines,
                                   const krein_machine_options *options);
/* Bytes beside the features and the machines; of the machines, of so many rows each. */
double krein__machines_bytes(krein_ctx *ctx, int64_t rows, int64_t D, int64_t machines);

/* The two ways. work: coordinate descent ends after about so many passes over all rows. */
krein_status krein__dcd(krein_features *z, krein_machine *machine, int64_t machines, double work,
                        const krein_machine_options *options);
krein_status krein__ssn(krein_features *z, krein_machine *m, const krein_machine_options *options);
double krein__dcd_bytes(int64_t rows, int64_t D, int64_t machines);
double krein__ssn_bytes(int64_t rows, int64_t D, int threads);

#endif
