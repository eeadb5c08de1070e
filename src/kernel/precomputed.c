/* precomputed -- k(i, j) = K[i][j]: a matrix in an NPY file; the one input is the row number.
 * The values are looked up by table.c. */
#include "kernel/kernel.h"

/* Nothing is known without the file. */
static krein_definite definite(const double *p) {
    (void)p;
    return KREIN_DEFINITE_NO;
}

static const krein_option options[] = {
    {.name = "file", .type = KREIN_OPTION_TEXT, .help = "square matrix, NPY, float32 or float64"},
    {0}};

const krein_kernel_class krein__kernel_precomputed = {
    .cls = {"precomputed", "K[i][j], a matrix in a file", "", options,
            "The data have one input, the number of the row in the matrix, from 0; use "
            "`scale=none`. New rows are columns of the same matrix. Give the path from where "
            "predict will run. For the maps exact and nystrom."},
    .family = KREIN_FAMILY_TABLE,
    .definite = definite};
