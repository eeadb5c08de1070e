/* first-order -- meta without second derivatives: steps on a task count as if gradients did not
 * depend on where they are taken. Cheaper, and not the gradient. */
#include "fewshot/fewshot.h"

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    (void)variant;
    return krein__meta_learn(f, &krein__fewshot_first_order, false, out);
}

const krein_fewshot_method krein__fewshot_first_order = {
    .cls = {"first-order", "meta without second derivatives", "", NULL, NULL},
    .variants = 1,
    .learns = true,
    .learn = learn,
    .solve = krein__space_solve,
    .clear = krein__space_clear};
