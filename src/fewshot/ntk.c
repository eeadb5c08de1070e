/* ntk -- kernel ridge regression with the tangent kernel on pixels (scaled as for the network)
 *
 * A task has few rows: the kernel itself, which is what its features (ntkrf, ntksketch) estimate,
 * costs less than they do. */
#include "fewshot/fewshot.h"

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    static const char *const KERNELS[] = {"ntk(depth=1)", "ntk(depth=3)", "ntk(depth=6)"};
    (void)variant;
    return krein__task_ridge_choose(f, &krein__fewshot_ntk, KREIN__COUNT(KERNELS), KERNELS, false,
                                    out);
}

const krein_fewshot_method krein__fewshot_ntk = {
    .cls = {"ntk", "kernel ridge regression with the tangent kernel on pixels", "jacot2018", NULL,
            NULL},
    .variants = 1,
    .learn = learn,
    .solve = krein__task_ridge_solve,
    .clear = krein__task_ridge_clear};
