/* vector_machine.c -- support vector machines on features or on the kernel matrix, as the map says.
 */
#include "learn/vector_machine.h"

#include "learn/kernel_machine.h"

static bool is_exact(const krein_map *map) { return map->cls->traits & KREIN_MAP_DUAL; }

krein_status krein__vector_machine_check(krein_ctx *ctx, const char *learner, const krein_map *map,
                                         bool intercept, bool spectrum) {
    bool exact = is_exact(map);
    if (exact && !intercept)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%s(intercept=no) works on features, not with map=exact; use a map "
                           "such as nystrom",
                           learner);
    if (!exact && spectrum)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%s(spectrum=...) is for map=exact; features of a map have no spectrum "
                           "to change",
                           learner);
    return KREIN_OK;
}

krein_status krein__vector_machine_fit(krein_job *job, const krein_recipe *recipe,
                                       krein_repair spectrum, double *C) {
    krein_status st = KREIN_OK;
    TRY(krein__cost_of_lambda(job, C));
    if (is_exact(job->model->map)) {
        krein_exact_svm exact = {.C = *C,
                                 .epsilon = recipe->epsilon,
                                 .squared = recipe->loss == KREIN_LOSS_HINGE2,
                                 .multi = (int)recipe->multi,
                                 .no_intercept = !recipe->intercept,
                                 .balanced = recipe->balanced,
                                 .spectrum = spectrum,
                                 .tol = recipe->tol,
                                 .chosen_C = C};
        TRY(recipe->loss == KREIN_LOSS_EPSILON ? krein__exact_svr(job, &exact)
                                               : krein__exact_svm(job, &exact));
    } else {
        TRY(krein__machines_fit(job, recipe, C));
    }
    TRY(krein__lambda_of_cost(job, *C));
done:
    return st;
}

int64_t krein__vector_machine_cost(const krein_map *map, int64_t n, int64_t k, bool path,
                                   krein_repair spectrum, krein_cost *out) {
    if (is_exact(map))
        krein__exact_machine_cost(map, n, k, path, spectrum, out);
    else
        krein__machines_cost(map, n, k, path, out);
    return 1 + path;
}
