/* score_features.c -- candidates ranked by criteria, from features of all rows
 *
 * A pass over the data serves as many candidates as fit into memory, at most GROUP: the rows are
 * read and encoded once for them. Maps that look at the data are fitted first. */
#include "stream/together.h"
#include "select/select.h"

#include <math.h>
#include <string.h>

enum { GROUP = 8, FEATURES = 1024 };

typedef struct candidate {
    krein_map *map;
    krein_feature_view *view;
    krein_trial *trial; /* its copies of the batch's */
} candidate;

typedef struct batch {
    krein_job *job;
    krein_ctx *ctx;
    const krein_scoring *scoring;
    krein_labels labels;
    krein_trial *trial; /* the scoring's, with their folds */
    int32_t *fold[KREIN_CRITERIA_MAX];
    krein_matrix first; /* rows of the first block */
    double *y;
    int32_t *class;
    candidate place[GROUP];
} batch;

static krein_targets targets_of(batch *b, const krein_block *block) {
    bool labels = b->labels.k > 0;
    if (labels) krein__scored_fill(b->job, block->x.n, block->label, b->y, b->class);
    return (krein_targets){block->x.n, b->labels.k, b->y, block->weight,
                           b->labels.classes ? b->class : NULL};
}

static krein_status keep_first(batch *b) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t *all = NULL, n = krein__min(b->job->n, krein__block_rows(b->job->model->encoding.d));
    NEW(all, n);
    for (int64_t i = 0; i < n; i++) all[i] = i;
    TRY(krein__stream_gather(b->job->rows, all, n, &b->first, NULL, NULL, NULL));
done:
    krein__free(ctx, all);
    return st;
}

/* A pass for the means of the labels, and the first rows. */
static krein_status count_labels(batch *b) {
    krein_status st = KREIN_OK;
    krein_block block;
    krein_job *job = b->job;
    int64_t k = krein__scored_targets(job);
    int64_t classes = k > 0 && krein__job_classes(job) ? job->model->encoding.nclass : 0;
    TRY(krein__labels_begin(b->ctx, job->n, k, classes, &b->labels));
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        krein_targets rows = targets_of(b, &block);
        krein__labels_count(&b->labels, &rows);
    }
    TRY(krein__labels_together(&b->labels, job->rows));
    TRY(keep_first(b));
    TRY(krein__labels_counted(b->ctx, &b->labels));
done:
    return st;
}

/* Where rows cannot be divided, that is the trial's answer for every kernel. */
static krein_status make_folds(batch *b) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = b->job;
    int32_t *class = NULL, *group = NULL;
    bool any = false;
    for (int64_t t = 0; t < b->scoring->trials; t++) any = any || b->scoring->trial[t].folds > 0;
    if (!any) return KREIN_OK;
    if (b->labels.classes) NEW(class, job->n);
    if (job->data->options.group) NEW(group, job->n);
    TRY(krein__job_targets(job, NULL, class, NULL, group));
    for (int64_t t = 0; t < b->scoring->trials; t++) {
        int64_t folds = b->scoring->trial[t].folds;
        if (folds == 0) continue;
        NEW(b->fold[t], job->n);
        st = krein__folds(ctx, job->seed, job->n, folds, group, class, b->fold[t]);
        TRY(krein__trial_refused(ctx, st, &b->trial[t]));
        b->trial[t].fold = b->fold[t];
    }
done:
    krein__free(ctx, class);
    krein__free(ctx, group);
    return st;
}

static void candidate_end(batch *b, candidate *c) {
    krein__feature_view_destroy(c->view);
    krein__map_destroy(c->map);
    krein__free(b->ctx, c->trial);
    *c = (candidate){0};
}

/* The map of a kernel, not yet fitted. A number of features is for the maps of a list that have
 * one: only a map that was named is told that it has none. */
static krein_status make_map(batch *b, const krein_kernel *kernel, const char *spec, int64_t D,
                             krein_map **out) {
    const krein_encoding *e = &b->job->model->encoding;
    int64_t wanted = krein__min(D > 0 ? D : FEATURES, b->job->n);
    const char *used = spec ? spec : krein__map_default(kernel, e->d, wanted);
    krein_status st = krein__map_create(b->ctx, used, kernel, D, b->job->seed, out);
    if (st != KREIN_OK) return st;
    (*out)->d = e->d;
    (*out)->sparse = e->sparse;
    if ((*out)->D == 0) (*out)->D = wanted;
    return spec ? krein__map_check(*out, D, NULL) : KREIN_OK;
}

static krein_status candidate_begin(batch *b, candidate *c, const krein_kernel *kernel,
                                    const char *spec, int64_t D) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &b->job->model->encoding;
    krein_rows first = krein__matrix_rows(&b->first);
    NEW(c->trial, b->scoring->trials);
    memcpy(c->trial, b->trial, (size_t)b->scoring->trials * sizeof *c->trial);
    TRY(make_map(b, kernel, spec, D, &c->map));
    TRY(krein__map_fit_silently(c->map, e->d, e->sparse, b->job->rows, b->job->n));
    TRY(krein__feature_view_begin(c->map, &b->labels, &b->scoring->needs, c->trial,
                                  b->scoring->trials, &first, &c->view));
done:
    return st;
}

/* All passes for the candidates that are placed. */
static krein_status run(batch *b, int64_t places) {
    krein_status st = KREIN_OK;
    krein_stream *rows = b->job->rows;
    krein_block block;
    bool more = true;
    for (int64_t pass = 0; more; pass++) {
        more = false;
        TRY(krein__stream_rewind(rows));
        for (;;) {
            TRY(krein__stream_next(rows, &block));
            if (block.x.n == 0) break;
            krein_targets t = targets_of(b, &block);
            for (int64_t s = 0; s < places; s++)
                if (b->place[s].view)
                    TRY(krein__feature_view_add(b->place[s].view, &block.x, block.first, &t));
        }
        for (int64_t s = 0; s < places; s++) {
            bool again = false;
            if (!b->place[s].view) continue;
            TRY(krein__feature_view_together(b->place[s].view, rows));
            TRY(krein__feature_view_end_pass(b->place[s].view, &again));
            more = more || again;
        }
    }
done:
    return st;
}

/* Candidates of a pass: as many as memory has room for beside what fitting takes. */
static krein_status group_size(batch *b, krein_kernel *const *kernel, int64_t n, const char *spec,
                               int64_t D, int64_t *out) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    double most = 1, room = (double)ctx->budget - (double)atomic_load(&ctx->held);
    int64_t fits = 0;
    for (int64_t i = 0; i < n; i++) {
        krein_map *map = NULL;
        krein_cost cost = {0};
        st = make_map(b, kernel[i], spec, D, &map);
        if (st == KREIN_OK) {
            map->cls->cost(map, b->job->n, &cost);
            most = fmax(most, cost.bytes +
                                  krein__feature_view_bytes(map, b->job->n, b->labels.k,
                                                            b->labels.m, &b->scoring->needs,
                                                            b->scoring->trial, b->scoring->trials));
            fits++;
        }
        krein__map_destroy(map);
        if (st != KREIN_OK && !krein__is_refusal(st)) return st;
        st = KREIN_OK;
    }
    if (fits > 0 && most > room) {
        st = krein__reserve_check(ctx, most, "scoring a kernel",
                                  "use fewer `features`, or raise `max_memory`");
        if (st != KREIN_OK) return st;
    }
    *out = krein__max(1, krein__min((int64_t)fmin(room / most, 1e6), krein__min(n, GROUP)));
    return krein__stream_least(b->job->rows, out); /* they pass together */
}

/* The candidates whose map suits the kernel and the criteria; the others have their answer. */
static krein_status fill_group(batch *b, krein_kernel *const *kernel, const int64_t *which,
                               int64_t places, const char *map, int64_t D, krein_scored *out) {
    krein_status st = KREIN_OK;
    for (int64_t s = 0; s < places; s++) {
        candidate *c = &b->place[s];
        st = candidate_begin(b, c, kernel[which[s]], map, D);
        if (st == KREIN_OK) continue;
        TRY(krein__scoring_apply(b->ctx, b->scoring, st, NULL, c->trial, &out[which[s]]));
        candidate_end(b, c);
    }
done:
    return st;
}

static krein_status score_group(batch *b, krein_kernel *const *kernel, const int64_t *which,
                                int64_t places, const char *map, int64_t D, krein_scored *out) {
    krein_status st = KREIN_OK;
    TRY(fill_group(b, kernel, which, places, map, D, out));
    TRY(run(b, places));
    for (int64_t s = 0; s < places; s++) {
        candidate *c = &b->place[s];
        krein_view view = {0};
        if (!c->view) continue;
        st = krein__feature_view_finish(c->view, &view);
        if (st == KREIN_OK)
            st = krein__scoring_apply(b->ctx, b->scoring, st, &view, c->trial, &out[which[s]]);
        krein__view_clear(&view);
        TRY(st);
        if (!(out[which[s]].map = krein__map_text(c->map))) {
            st = b->ctx->status;
            goto done;
        }
    }
done:
    for (int64_t s = 0; s < places; s++) candidate_end(b, &b->place[s]);
    return st;
}

krein_status krein__score_features(krein_job *job, krein_kernel *const *kernel, int64_t n,
                                   const char *map, int64_t D, const krein_scoring *scoring,
                                   double deadline, krein_scored *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    batch b = {.job = job, .ctx = ctx, .scoring = scoring};
    int64_t *order = NULL, rows = krein__block_rows(job->model->encoding.d), places;
    NEW(order, n);
    NEW(b.y, rows * krein__max(1, krein__scored_targets(job)));
    NEW(b.class, rows);
    NEW(b.trial, scoring->trials);
    memcpy(b.trial, scoring->trial, (size_t)scoring->trials * sizeof *b.trial);
    TRY(count_labels(&b));
    TRY(make_folds(&b));
    TRY(group_size(&b, kernel, n, map, D, &places));
    krein__far_to_near(n, order);
    for (int64_t i = 0; i < n; i += places) {
        if (i > 0 && krein__late(deadline)) break;
        krein__progress(ctx, "scoring kernels", (double)i, (double)n);
        TRY(score_group(&b, kernel, order + i, krein__min(places, n - i), map, D, out));
    }
    krein__progress(ctx, "scoring kernels", (double)n, (double)n);
done:
    for (int64_t t = 0; t < KREIN_CRITERIA_MAX; t++) krein__free(ctx, b.fold[t]);
    krein__labels_end(ctx, &b.labels);
    krein__matrix_clear(ctx, &b.first);
    krein__free(ctx, order);
    krein__free(ctx, b.trial);
    krein__free(ctx, b.y);
    krein__free(ctx, b.class);
    return st;
}

/* ---- on a sample, for the search ---------------------------------------- */

static krein_status view_sample(krein_map *map, const krein_probe *s, const krein_labels *labels,
                                const krein_scoring *scoring, krein_trial *trial,
                                krein_view *view) {
    krein_status st = KREIN_OK;
    krein_feature_view *f = NULL;
    krein_rows x = krein__matrix_rows(&s->x);
    int64_t rows = krein__block_rows(s->x.d);
    krein_rows first = krein__rows_slice(&x, 0, krein__min(rows, s->n));
    bool more = true;
    TRY(krein__feature_view_begin(map, labels, &scoring->needs, trial, scoring->trials, &first,
                                  &f));
    while (more) {
        for (int64_t i = 0; i < s->n; i += rows) {
            krein_rows block = krein__rows_slice(&x, i, krein__min(rows, s->n - i));
            krein_targets part = {block.n, s->k, s->y + i * s->k, s->weight ? s->weight + i : NULL,
                                  s->class ? s->class + i : NULL};
            TRY(krein__feature_view_add(f, &block, i, &part));
        }
        TRY(krein__feature_view_end_pass(f, &more));
    }
    TRY(krein__feature_view_finish(f, view));
done:
    krein__feature_view_destroy(f);
    return st;
}

typedef struct maps {
    krein_kernel *const *kernel;
    const char *spec;
    const krein_probe *s;
    const krein_scoring *scoring;
    krein_labels labels;
    int32_t *fold[KREIN_CRITERIA_MAX];
} maps;

static krein_status score_map(krein_ctx *ctx, const void *state, int64_t i, krein_scored *v) {
    krein_status st = KREIN_OK;
    const maps *m = state;
    krein_map *map = NULL;
    krein_view view = {0};
    krein_rows rows = krein__matrix_rows(&m->s->x);
    krein_trial trial[KREIN_CRITERIA_MAX];
    memcpy(trial, m->scoring->trial, sizeof trial);
    for (int64_t t = 0; t < m->scoring->trials; t++) trial[t].fold = m->fold[t];
    TRY(krein__map_create(ctx, m->spec, m->kernel[i], 0, m->s->seed, &map));
    map->D = krein__min(map->D, KREIN_FEATURES_MAX);
    TRY(krein__map_fit_sample(map, &rows));
    TRY(view_sample(map, m->s, &m->labels, m->scoring, trial, &view));
    TRY(krein__scoring_apply(ctx, m->scoring, KREIN_OK, &view, trial, v));
done:
    krein__view_clear(&view);
    krein__map_destroy(map);
    return st;
}

krein_status krein__score_sample(krein_ctx *ctx, krein_kernel *const *kernel, int64_t n,
                                 const char *map, const krein_probe *s,
                                 const krein_scoring *scoring, krein_scored *out) {
    krein_status st = KREIN_OK;
    maps m = {.kernel = kernel, .spec = map, .s = s, .scoring = scoring};
    double D = KREIN_FEATURES_MAX, bytes = krein__score_sample_bytes(s->x.d, s->k);
    TRY(krein__labels_of(ctx, s, &m.labels));
    for (int64_t t = 0; t < scoring->trials; t++) {
        int64_t folds = scoring->trial[t].folds;
        if (folds == 0) continue;
        bytes += (double)folds * 12 * D * D; /* products and scores of each */
        NEW(m.fold[t], s->n);
        TRY(krein__folds(ctx, s->seed, s->n, folds, s->group, s->class, m.fold[t]));
    }
    int workers = krein__score_workers(ctx, 0, bytes, n);
    TRY(krein__score_each(ctx, n, workers, 0, NULL, score_map, &m, out));
done:
    for (int64_t t = 0; t < KREIN_CRITERIA_MAX; t++) krein__free(ctx, m.fold[t]);
    krein__labels_end(ctx, &m.labels);
    return st;
}

double krein__score_sample_bytes(int64_t d, int64_t k) {
    double D = KREIN_FEATURES_MAX, rows = (double)krein__block_rows(d), K = (double)k;
    return 8 * D * D * 13 + 4 * D * D + rows * (8 * D + 16 * K) + 4 * D * (double)d * 3 +
           400 * D * (K + 2) + 4 * 256 * (3 * D + 150 * K) +
           4.0 * KREIN_TILE * (D + (double)d + 1024) + (1 << 22);
}
