/* well -- gradient steps in the subspace of a training on all rows of the task's own classes
 *
 * The ideal that other subspaces are compared with: in practice there are no such rows. Queries are
 * not among them. */
#include "fewshot/fewshot.h"

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    static const double RATES[] = {0.03, 0.1, 0.3, 1, 3};
    krein_space space = {.by_task = true};
    (void)variant;
    return krein__space_choose(f, &krein__fewshot_well, &space, KREIN__COUNT(RATES), RATES, out);
}

const krein_fewshot_method krein__fewshot_well = {
    .cls = {"well", "steps in the subspace of a training on all rows of the task's classes",
            "li2022", NULL, NULL},
    .variants = 1,
    .learn = learn,
    .solve = krein__space_solve,
    .clear = krein__space_clear};
