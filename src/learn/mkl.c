/* mkl -- multiple kernel learning: a learner on a weighted sum of kernels
 *
 *     k = sum_m mu_m c_m k_m,   mu >= 0, sum mu = 1
 *
 * c_m makes the mean of k_m(x, x) over the training rows one, so that weights compare kernels and
 * not their units. The weights come first (combine/, a file a method), then `base` is trained on
 * the sum: on its matrix, or on the kernels' features side by side, times sqrt(mu_m c_m). */
#include "learn/mkl.h"

#include <math.h>
#include <stdio.h>

enum { METHOD, BASE, C_, NORMALIZE, SPLIT, LAMBDA, DELTA, P, THETA, ALPHA, BETA, EPOCHS, COUNT };
enum { KRR = 0, SVM = 1 };

static const krein_option options[] = {
    {.name = "method",
     .type = KREIN_OPTION_WORD,
     .value = KREIN_MKL_ALIGNMENT,
     .words = "average|easymkl|pwmk|alignment|centered|lp|conv|smsd|ufo|nsmkl",
     .help = "how the kernels are weighed"},
    {.name = "base",
     .type = KREIN_OPTION_WORD,
     .value = KRR,
     .words = "krr|svm",
     .help = "learner on the weighted sum"},
    {.name = "C",
     .value = NAN,
     .low = 0,
     .high = INFINITY,
     .low_open = true,
     .high_open = true,
     .derived = true,
     .help = "base=svm: weight of the losses; by cross-validation when not given"},
    {.name = "normalize",
     .type = KREIN_OPTION_YESNO,
     .value = 1,
     .help = "kernels of unit mean diagonal, so that their units do not matter"},
    {.name = "split",
     .type = KREIN_OPTION_WORD,
     .value = KREIN_SPLIT_EQUAL,
     .words = "equal|weight",
     .help = "features of the kernels: as many for each, or in proportion to the weights"},
    {.name = "lambda",
     .value = 0.1,
     .low = 0,
     .low_open = true,
     .high = 1,
     .help = "easymkl: from the margin (0) to the distance of the classes' means (1)"},
    {.name = "delta",
     .value = 0.5,
     .low = 0,
     .high = 1,
     .help = "pwmk: share of the least accuracy that is taken off all"},
    {.name = "p",
     .value = 2,
     .low = 1,
     .high = 64,
     .help = "lp, conv: norm of the weights; 1 is sparse, large is the average"},
    {.name = "theta",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 0,
     .high = 1e9,
     .derived = true,
     .help = "conv, smsd: eigenvalues before the tail; the root of the rows when not given, on "
             "features at most a quarter of a kernel's"},
    {.name = "alpha",
     .value = NAN,
     .low = 0,
     .low_open = true,
     .high = 1e9,
     .derived = true,
     .help = "smsd, ufo: weight of the squared norm; 1/2 over the root of the rows when not given"},
    {.name = "beta",
     .value = NAN,
     .low = 0,
     .high = 1e9,
     .derived = true,
     .help = "smsd, ufo: weight of the penalty that leaves kernels out; 1 over the root of the "
             "rows when not given"},
    {.name = "epochs",
     .type = KREIN_OPTION_INTEGER,
     .value = 20,
     .low = 1,
     .high = 1e6,
     .help = "smsd, ufo: most passes over the rows; fewer where little is left to gain"},
    {.name = "count",
     .type = KREIN_OPTION_INTEGER,
     .value = 2,
     .low = 1,
     .high = 200,
     .help = "nsmkl: tangent kernels drawn where `kernels` gives none"},
    {0}};

krein_mkl krein__mkl_options(const krein_values *v) {
    const double *x = v->number;
    return (krein_mkl){.method = (krein_mkl_method)x[METHOD],
                       .normalize = x[NORMALIZE] != 0,
                       .split = (krein_mkl_split)x[SPLIT],
                       .lambda = x[LAMBDA],
                       .delta = x[DELTA],
                       .p = x[P],
                       .theta = x[THETA],
                       .alpha = x[ALPHA],
                       .beta = x[BETA],
                       .epochs = (int64_t)x[EPOCHS],
                       .count = (int64_t)x[COUNT]};
}

static void base(const krein_values *v, char *spec, size_t size) {
    if (v->number[BASE] == SVM && !isnan(v->number[C_]))
        snprintf(spec, size, "svm(C=%.17g)", v->number[C_]);
    else
        snprintf(spec, size, "%s", v->number[BASE] == SVM ? "svm" : "krr");
}

/* What the method does not look at need not be said of a model. */
void krein__mkl_settle(krein_values *v) {
    enum { FIRST = LAMBDA, LAST = COUNT };
    static const int used[][LAST - FIRST + 1] = {
        [KREIN_MKL_EASYMKL] = {[LAMBDA - FIRST] = 1},
        [KREIN_MKL_PWMK] = {[DELTA - FIRST] = 1},
        [KREIN_MKL_LP] = {[P - FIRST] = 1},
        [KREIN_MKL_CONV] = {[P - FIRST] = 1, [THETA - FIRST] = 1},
        [KREIN_MKL_SMSD] = {[THETA - FIRST] = 1,
                            [ALPHA - FIRST] = 1,
                            [BETA - FIRST] = 1,
                            [EPOCHS - FIRST] = 1},
        [KREIN_MKL_UFO] = {[ALPHA - FIRST] = 1, [BETA - FIRST] = 1, [EPOCHS - FIRST] = 1},
        [KREIN_MKL_NSMKL] = {[COUNT - FIRST] = 1}};
    int64_t method = (int64_t)v->number[METHOD];
    for (int64_t i = FIRST; i <= LAST; i++)
        if (!used[method][i - FIRST]) v->number[i] = NAN;
}

const krein_learner_class krein__learner_mkl = {
    .cls = {"mkl", "several kernels, weighed and summed (`kernels`), under krr or svm", "gonen2011",
            options,
            "Weights are not negative, sum to one and belong to kernels of unit mean diagonal. "
            "average: all the same. alignment: by kernel target alignment. centered: the sum of "
            "best centred alignment. easymkl: by the margin between the classes. pwmk: by the "
            "accuracy of each kernel alone. lp: ridge regression with a norm of the weights. conv: "
            "lp on kernels divided by their tail eigenvalues. smsd: stochastic mirror descent of "
            "the multi-class hinge loss with a penalty on the tails, which leaves kernels out; "
            "ufo: the same with one penalty for all. nsmkl: alignment of tangent kernels of random "
            "depth and scale. The sum itself is regularised by `lambda`, as under its base alone. "
            "`map` takes one map for all kernels, or as many as kernels, with ';' between them."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .exact_rows = 7500,
    .probabilities = true,
    .base = base};
