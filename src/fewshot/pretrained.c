/* pretrained -- gradient steps in the subspace of the path of one training task
 *
 * The task is drawn of the training classes; its support and its queries are both trained on. */
#include "fewshot/fewshot.h"

#include <string.h>

static krein_status make_space(krein_fewshot_run *f, double **P, int64_t *s) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_episode *e = &f->bench[0].e;
    int64_t *row = NULL, supports = f->size.ways * f->size.shots;
    int64_t queries = f->size.ways * f->size.queries;
    int32_t *label = NULL;
    NEW(row, supports + queries);
    NEW(label, supports + queries);
    e->size.queries = f->size.queries;
    krein__episode_draw(e, &f->train, f->o.seed, KREIN_EPISODE_PATH, 0);
    memcpy(row, e->support, (size_t)supports * sizeof *row);
    memcpy(row + supports, e->query, (size_t)queries * sizeof *row);
    memcpy(label, e->support_label, (size_t)supports * sizeof *label);
    memcpy(label + supports, e->query_label, (size_t)queries * sizeof *label);
    TRY(krein__path_subspace(ctx, f, f->train.images, supports + queries, row, label, P, s));
done:
    krein__free(ctx, row);
    krein__free(ctx, label);
    return st;
}

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    static const double RATES[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10};
    krein_space space = {0};
    (void)variant;
    krein_status st = make_space(f, &space.P, &space.in.s);
    if (st == KREIN_OK)
        st = krein__space_choose(f, &krein__fewshot_pretrained, &space, KREIN__COUNT(RATES), RATES,
                                 out);
    krein__free(f->ctx, space.P);
    return st;
}

const krein_fewshot_method krein__fewshot_pretrained = {
    .cls = {"pretrained", "steps in the subspace of the path of one training task", "li2022", NULL,
            NULL},
    .variants = 1,
    .learn = learn,
    .solve = krein__space_solve,
    .clear = krein__space_clear};
