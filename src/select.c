/* select.c -- the public entry point that scores kernels by criteria. */
#include "select/select.h"

#include "kernel/gram_shared.h"
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "pipe/pipe.h"

#include "stream/together.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_select_options_init_sized(krein_select_options *given, size_t size) {
    krein_select_options own = KREIN_SIZED(krein_select_options), *o = &own;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

static void ranking_free(krein_ctx *ctx, krein_select_ranking *k, int64_t count) {
    if (!k) return;
    for (int64_t i = 0; k->scores && i < count; i++) {
        if (k->scores[i]) krein__free(ctx, k->scores[i]->refused);
        krein__free(ctx, k->scores[i]);
    }
    krein__free(ctx, k->scores);
    krein__free(ctx, k->criterion);
    krein__free(ctx, k);
}

void krein_select_report_clear(krein_ctx *ctx, krein_select_report *report) {
    krein_select_report r = KREIN_SIZED(krein_select_report);
    if (!report) return;
    krein__report_take(&r, report);
    for (int64_t c = 0; r.rankings && c < r.nrankings; c++)
        ranking_free(ctx, r.rankings[c], r.count);
    for (int64_t i = 0; r.kernels && i < r.count; i++) krein__free(ctx, r.kernels[i]);
    for (int64_t i = 0; r.maps && i < r.count; i++) krein__free(ctx, r.maps[i]);
    krein__free(ctx, r.maps);
    krein__free(ctx, r.rankings);
    krein__free(ctx, r.kernels);
    krein__free(ctx, r.map);
}

/* What a ranking is made of. */
typedef struct ranking {
    krein_ctx *ctx;
    krein_pipe pipe; /* data and rows; its kernel is none of the list's */
    krein_select_options o;
    krein_criterion criterion[KREIN_CRITERIA_MAX];
    int64_t n; /* criteria */
    krein_kernel_list list;
    krein_scored *scored; /* one a kernel */
    krein_status refusal; /* of the first kernel that was refused before it was scored */
    bool asked_exact;     /* the map that was asked for is the kernel itself */
    bool exact;
} ranking;

static krein_status copy_options(krein_ctx *ctx, const krein_select_options *given,
                                 krein_select_options *o) {
    krein_status st = KREIN_OK;
    krein_select_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_select_options"));
    if (o->ncriteria < 0 || o->ncriteria > KREIN_CRITERIA_MAX)
        return krein__fail(ctx, KREIN_EARG, "at most %d criteria at once", KREIN_CRITERIA_MAX);
done:
    return st;
}

/* A kernel that does not suit the data or the map has no score; the others go on. */
static krein_status refuse_kernel(ranking *k, int64_t i, krein_status refusal) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    if (refusal == KREIN_OK || !krein__is_refusal(refusal)) return refusal;
    if (k->refusal == KREIN_OK) k->refusal = refusal;
    for (int64_t c = 0; c < k->n; c++) DUP(k->scored[i].refused[c], ctx->message);
    k->scored[i].scored = true;
done:
    return st;
}

/* The map that was asked for takes the default kernels. */
static krein_status check_default(ranking *k) {
    krein_status st = KREIN_OK;
    krein_kernel *one = NULL;
    TRY(krein__kernel_parse(k->ctx, KREIN_KERNEL_DEFAULT, &one));
    TRY(krein__pipe_check_map(&k->pipe, k->o.map, one, k->o.features, &k->asked_exact));
done:
    krein__kernel_destroy(k->ctx, one);
    return st;
}

/* Specs are parsed before any row is read. */
static krein_status parse(ranking *k) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    const char *const fallback[] = {KREIN_CRITERION_DEFAULT};
    const char *const *spec = k->o.ncriteria > 0 ? k->o.criteria : fallback;
    for (; k->n < krein__max(1, k->o.ncriteria); k->n++)
        TRY(krein__criterion_parse(ctx, spec[k->n], &k->criterion[k->n]));
    if (!k->o.kernels) return k->o.map ? check_default(k) : KREIN_OK;
    TRY(krein__kernels_parse(ctx, k->o.kernels, &k->list));
    ZNEW(k->scored, k->list.n);
    for (int64_t i = 0; k->o.map && i < k->list.n; i++)
        TRY(refuse_kernel(k, i,
                          krein__pipe_check_map(&k->pipe, k->o.map, k->list.kernel[i],
                                                k->o.features, &k->asked_exact)));
done:
    return st;
}

/* Without --kernels: Gaussians from a 32nd of the median distance to 32 times that. */
static krein_status default_kernels(ranking *k, const krein_rows *x) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *one = NULL;
    char text[128];
    TRY(krein__kernel_parse(ctx, KREIN_KERNEL_DEFAULT, &one));
    TRY(krein__kernel_set_median_rows(ctx, one, x, KREIN_LOG_INFO));
    double median = one->values.number[0];
    snprintf(text, sizeof text, "%s(%s=%.17g..%.17g:21)", one->kernel->cls.name,
             one->kernel->cls.options[0].name, median / 32, median * 32);
    TRY(krein__kernels_parse(ctx, text, &k->list));
    ZNEW(k->scored, k->list.n);
done:
    krein__kernel_destroy(ctx, one);
    return st;
}

static bool needs_labels(const ranking *k) {
    for (int64_t c = 0; c < k->n; c++)
        if (k->criterion[c].cls->tasks) return true;
    return false;
}

static krein_status meet_one(ranking *k, krein_job *job, const krein_rows *x,
                             krein_kernel *kernel) {
    krein_status st = KREIN_OK;
    TRY(krein__kernel_meet(k->ctx, kernel, &job->model->encoding));
    TRY(krein__kernel_meet_rows(k->ctx, kernel, job->rows, true));
    TRY(krein__kernel_set_median_rows(k->ctx, kernel, x, KREIN_LOG_INFO));
done:
    return st;
}

/* The kernels meet the data; free scales get the median distance. */
static krein_status meet(ranking *k, krein_job *job) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    krein_matrix sample = {0};
    TRY(krein__median_rows(job->rows, job->n, job->seed, &sample));
    krein_rows x = krein__matrix_rows(&sample);
    if (!k->o.kernels) TRY(default_kernels(k, &x));
    for (int64_t i = 0; i < k->list.n; i++)
        if (!k->scored[i].scored) TRY(refuse_kernel(k, i, meet_one(k, job, &x, k->list.kernel[i])));
done:
    krein__matrix_clear(ctx, &sample);
    return st;
}

/* What scoring one of the candidates by its matrix takes. */
static krein_status check_memory(ranking *k, const krein_job *job, const krein_scoring *scoring) {
    krein_ctx *ctx = k->ctx;
    const krein_encoding *e = &job->model->encoding;
    double bytes = 0;
    int64_t labels = krein__scored_targets(job), columns = krein__max(1, labels) + 2;
    for (int64_t i = 0; i < k->list.n; i++)
        if (!k->scored[i].scored)
            bytes = fmax(bytes, krein__score_exact_bytes(k->list.kernel[i], job->n, e->d, labels,
                                                         columns, scoring));
    bytes += krein__gram_share_bytes(NULL, 0, job->n, e->d, e->sparse, ctx->threads);
    return krein__reserve_check(
        ctx, bytes + 4 * (double)job->n * (double)e->d, "scoring a kernel by its matrix",
        "use features (a `max_exact` below the number of rows, or `map`), or raise `max_memory`");
}

/* Held-out errors over a path on many rows take long, and there are faster ways. */
static void say_faster(const ranking *k, const krein_job *job, const krein_scoring *scoring) {
    bool path = scoring->needs.spectrum || scoring->needs.centred;
    for (int64_t t = 0; t < scoring->trials; t++) path = path || isnan(scoring->trial[t].lambda);
    if (k->exact && path && job->n > KREIN_EIGEN_MAX)
        krein__log(k->ctx, KREIN_LOG_INFO,
                   "decompositions of %lld rows take long: loo(lambda=...), ckta, sm "
                   "or features (`features=1024`) are faster",
                   (long long)job->n);
}

/* All rows: by the kernels' matrices, or by features in passes. */
static krein_status open_scorer(ranking *k, krein_job *job, double deadline, krein_scorer *s) {
    krein_status st = KREIN_OK;
    krein_scoring scoring;
    krein__scoring_begin(k->criterion, k->n, job->n, &scoring);
    say_faster(k, job, &scoring);
    if (k->exact) TRY(check_memory(k, job, &scoring));
    TRY(krein__scorer_begin(job, k->criterion, k->n, k->exact ? job->n : 0, s));
    s->deadline = deadline;
    s->what = "scoring kernels";
done:
    return st;
}

/* Scores the kernels that were not refused. */
static krein_status score(ranking *k, krein_job *job, double deadline) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    krein_scorer s = {0};
    krein_candidate *c = NULL;
    int64_t n = 0;
    bool asked = k->asked_exact;
    if (asked && job->n > k->o.max_exact)
        return krein__fail(ctx, KREIN_EARG,
                           "the kernel matrix of %lld rows is above `max_exact` (%lld); leave "
                           "`map` out, or raise it",
                           (long long)job->n, (long long)k->o.max_exact);
    k->exact = asked || (!k->o.map && k->o.features == 0 && job->n <= k->o.max_exact);
    ZNEW(c, k->list.n);
    for (int64_t i = 0; i < k->list.n; i++)
        if (!k->scored[i].scored)
            c[n++] = (krein_candidate){.kernel = k->list.kernel[i],
                                       .map = k->exact ? NULL : k->o.map,
                                       .D = k->exact ? 0 : k->o.features};
    if (n == 0) {
        st = krein__fail(ctx, k->refusal, "%s", k->scored[0].refused[0]);
        goto done;
    }
    TRY(open_scorer(k, job, deadline, &s));
    st = krein__scorer_run(&s, c, n);
    for (int64_t i = 0, at = 0; i < k->list.n; i++)
        if (!k->scored[i].scored) k->scored[i] = c[at++].scored;
done:
    krein__free(ctx, c);
    krein__scorer_end(&s);
    return st;
}

/* ---- the report --------------------------------------------------------- */

static krein_status fill_ranking(const ranking *k, int64_t c, krein_select_ranking *out) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    const krein_criterion *criterion = &k->criterion[c];
    const krein_score *best = NULL;
    out->best = -1;
    out->larger = criterion->cls->larger;
    if (!(out->criterion = krein__spec_text(ctx, &criterion->cls->cls, &criterion->values)))
        return ctx->status;
    out->size = sizeof *out;
    if (!(out->scores = krein__zalloc(ctx, k->list.n, sizeof *out->scores))) return ctx->status;
    for (int64_t i = 0; i < k->list.n; i++) {
        const krein_scored *v = &k->scored[i];
        krein_select_score *score;
        ZNEW(score, 1);
        *score = (krein_select_score){.size = sizeof *score, .score = NAN, .lambda = NAN};
        out->scores[i] = score;
        if (!v->scored) continue;
        if (v->refused[c]) {
            DUP(score->refused, v->refused[c]);
            continue;
        }
        score->score = v->score[c].value;
        score->lambda = v->score[c].lambda;
        if (isnan(v->score[c].loss) || (best && !krein__score_better(&v->score[c], best))) continue;
        best = &v->score[c];
        out->best = i;
    }
done:
    return st;
}

static krein_status fill_report(const ranking *k, const krein_job *job, bool labels,
                                krein_select_report *r) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    r->n = job->n;
    r->d = job->model->encoding.d;
    r->task = labels ? job->model->encoding.task : KREIN_TASK_AUTO;
    r->exact = k->exact;
    if (k->exact || k->o.map) DUP(r->map, k->exact ? "exact" : k->o.map);
    ZNEW(r->kernels, k->list.n);
    ZNEW(r->maps, k->list.n);
    if (!(r->rankings = krein__zalloc(ctx, k->n, sizeof *r->rankings))) return ctx->status;
    r->count = k->list.n;
    r->nrankings = k->n;
    for (int64_t i = 0; i < k->list.n; i++) {
        if (!(r->kernels[i] = krein__kernel_text(ctx, k->list.kernel[i]))) return ctx->status;
        if (k->scored[i].map) DUP(r->maps[i], k->scored[i].map);
        r->scored += k->scored[i].scored;
    }
    for (int64_t c = 0; c < k->n; c++) {
        ZNEW(r->rankings[c], 1);
        TRY(fill_ranking(k, c, r->rankings[c]));
    }
done:
    return st;
}

static void ranking_clear(ranking *k) {
    for (int64_t i = 0; k->scored && i < k->list.n; i++) krein__scored_clear(k->ctx, &k->scored[i]);
    krein__free(k->ctx, k->scored);
    krein__kernels_clear(k->ctx, &k->list);
    for (int64_t c = 0; c < KREIN_CRITERIA_MAX; c++)
        krein__criterion_clear(k->ctx, &k->criterion[c]);
    krein__pipe_end(&k->pipe);
}

static krein_status begin(ranking *k, const krein_select_options *options) {
    krein_ctx *ctx = k->ctx;
    krein_status st = KREIN_OK;
    TRY(copy_options(ctx, options, &k->o));
    krein_pipe_options asked = {
        .map = k->o.map, .features = k->o.features, .seed = k->o.seed, .max_exact = k->o.max_exact};
    krein_purpose purpose = {.what = "scoring a kernel"};
    TRY(krein__pipe_begin_with(ctx, &asked, &purpose, NULL, &k->pipe));
    TRY(parse(k));
    if (krein__processes(ctx) > 1 && k->o.time_limit > 0)
        st = krein__fail(ctx, KREIN_EARG, "`time_limit` is for one process: leave it out");
done:
    return st;
}

/* Scans the data; criteria that do not apply to the labels are refused. */
static krein_status scan(ranking *k, krein_data *data, bool labels) {
    krein_status st = KREIN_OK;
    krein_model *m = k->pipe.job.model;
    for (int64_t c = 0; labels && c < k->n && !krein__data_may_have_labels(data); c++)
        TRY(krein__criterion_check(k->ctx, &k->criterion[c], KREIN_TASK_AUTO, false));
    data->share_rows = true;
    TRY(krein__pipe_scan(&k->pipe, data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED));
    for (int64_t c = 0; c < k->n; c++)
        TRY(krein__criterion_check(k->ctx, &k->criterion[c], m->encoding.task, labels));
    m->head = krein__task_head(m->encoding.task);
    m->k = labels ? krein__head_scores(m->head, &m->encoding) : 0;
done:
    return st;
}

krein_status krein_select(krein_ctx *ctx, krein_data *data, const krein_select_options *options,
                          krein_select_report *report) {
    krein_status st = KREIN_OK;
    krein_select_report own = KREIN_SIZED(krein_select_report), *r = &own;
    ranking k = {.ctx = ctx};
    double start = krein__clock();
    krein__call_begin(ctx);
    TRY(krein__report_check(ctx, report, "krein_select_report"));
    TRY(krein__data_agree(data));
    TRY(begin(&k, options));
    bool labels = needs_labels(&k);
    TRY(scan(&k, data, labels));
    TRY(meet(&k, &k.pipe.job));
    TRY(score(&k, &k.pipe.job, k.o.time_limit > 0 ? start + k.o.time_limit : 0));
    TRY(fill_report(&k, &k.pipe.job, labels, r));
    r->seconds = krein__clock() - start;
done:
    st = krein__call_end(ctx, st);
    ranking_clear(&k);
    krein__report_finish(st, report, r);
    krein_select_report_clear(ctx, r);
    return st;
}
