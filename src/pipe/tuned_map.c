/* tuned_map.c -- landmarks or random features, where rows are too many for the kernel matrix: by
 * the held-out errors of both on a sample of the rows, as many features each.
 *
 * At the same number landmarks are nearly always better, since they know the rows; random features
 * of kernels that are rough lose most of their advantage (METRIC 8b). */
#include "pipe/training.h"

#include "stream/together.h"

#include <stdio.h>

enum { ROWS = 2000, FEATURES = 512 };

static krein_status report_one(krein_training *t, const krein_candidate *c, krein_tried *to) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    *to = (krein_tried){.metric = krein__encoding_metric(&t->pipe.job.model->encoding),
                        .rows = ROWS,
                        .error = c->scored.score[0].value};
    t->tuning.tuned.tries.n++;
    if (!(to->kernel = krein__kernel_text(ctx, c->kernel))) return ctx->status;
    DUP(to->map, c->scored.map ? c->scored.map : c->map);
    DUP(to->learner, KREIN_LEARNER_DEFAULT);
done:
    return st;
}

static krein_status report(krein_training *t, const krein_candidate *c, int64_t n) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_tries *to = &t->tuning.tuned.tries;
    TRY(krein__tried_room(ctx, to, n));
    for (int64_t i = 0; i < n; i++)
        if (!c[i].scored.refused[0]) TRY(report_one(t, &c[i], &to->tried[to->n]));
done:
    return st;
}

/* By more than chance, and with no more rows in a wrong class: with more of both the landmarks gain
 * more. */
static bool surely_better(const krein_score *a, const krein_score *b) {
    static const double LITTLE = 0.05;
    return a->loss < (1 - LITTLE) * b->loss && !(a->error > b->error);
}

krein_status krein__tuning_map(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const char *own = krein__map_default(p->kernel, p->job.model->encoding.d, FEATURES);
    char landmarks[64], random[64];
    krein_candidate c[] = {{.kernel = p->kernel, .map = landmarks},
                           {.kernel = p->kernel, .map = random}};
    krein_criterion criterion = {0};
    krein_scorer scorer = {0};
    if (p->o.map || p->rows <= krein__max(ROWS, p->purpose.few(p))) return KREIN_OK;
    snprintf(landmarks, sizeof landmarks, "nystrom(D=%d)", FEATURES);
    snprintf(random, sizeof random, "%s(D=%d)", own, FEATURES);
    TRY(krein__criterion_parse(ctx, KREIN_CRITERION_DEFAULT, &criterion));
    TRY(krein__scorer_begin(&p->job, &criterion, 1, ROWS, &scorer));
    TRY(krein__scorer_run(&scorer, c, KREIN__COUNT(c)));
    TRY(report(t, c, KREIN__COUNT(c)));
    bool features = surely_better(&c[1].scored.score[0], &c[0].scored.score[0]);
    TRY(krein__stream_from_root(p->job.rows, &features, sizeof features));
    if (features) t->tuning.map = own;
done:
    krein__candidates_clear(ctx, c, KREIN__COUNT(c));
    krein__scorer_end(&scorer);
    krein__criterion_clear(ctx, &criterion);
    return st;
}
