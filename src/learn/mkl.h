/* mkl.h -- multiple kernel learning: how the kernels are weighed and what is trained on their
 * sum. The weights are found in combine/, one file a method. */
#ifndef KREIN_MKL_H
#define KREIN_MKL_H

#include "learn/learn.h"

/* In the order of the words of the option. */
typedef enum krein_mkl_method {
    KREIN_MKL_AVERAGE,
    KREIN_MKL_EASYMKL,
    KREIN_MKL_PWMK,
    KREIN_MKL_ALIGNMENT,
    KREIN_MKL_CENTERED,
    KREIN_MKL_LP,
    KREIN_MKL_CONV,
    KREIN_MKL_SMSD,
    KREIN_MKL_UFO,
    KREIN_MKL_NSMKL
} krein_mkl_method;

typedef enum krein_mkl_split { KREIN_SPLIT_EQUAL = 0, KREIN_SPLIT_WEIGHT = 1 } krein_mkl_split;

typedef struct krein_mkl {
    krein_mkl_method method;
    bool normalize;        /* c_m of unit mean diagonal; false: c_m = 1 */
    krein_mkl_split split; /* of D over the kernels */
    double lambda;         /* easymkl: 0 the margin alone, 1 the means of the classes */
    double delta;          /* pwmk: share of the least accuracy that counts as nothing */
    double p;              /* lp, conv: norm of the weights */
    double theta;          /* conv, smsd: eigenvalues before the tail; NaN: chosen */
    double alpha, beta;    /* smsd, ufo: of the squared norm, of the penalty; NaN: chosen */
    int64_t epochs;        /* smsd, ufo */
    int64_t count;         /* nsmkl: kernels drawn */
} krein_mkl;

extern const krein_learner_class krein__learner_mkl;
krein_mkl krein__mkl_options(const krein_values *values);
/* Takes away the options that the method does not use. */
void krein__mkl_settle(krein_values *values);

#endif
