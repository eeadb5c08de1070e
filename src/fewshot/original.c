/* original -- gradient steps on all parameters: what a network does with few rows by itself. */
#include "fewshot/fewshot.h"

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    static const double RATES[] = {0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
    krein_space all = {0};
    (void)variant;
    return krein__space_choose(f, &krein__fewshot_original, &all, KREIN__COUNT(RATES), RATES, out);
}

const krein_fewshot_method krein__fewshot_original = {
    .cls = {"original", "gradient steps on all parameters", "", NULL, NULL},
    .variants = 1,
    .learn = learn,
    .solve = krein__space_solve,
    .clear = krein__space_clear};
