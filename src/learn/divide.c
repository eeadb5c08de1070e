/* divide.c -- rows cut into parts, parts worked on side by side, and the rows that choose
 * lambda. */
#include "learn/divide.h"

#include "base/threads.h"
#include "stream/together.h"
#include "num/blas.h"

#include <string.h>

/* ---- parts -------------------------------------------------------------- */

/* A part that is many blocks long loses nothing by ending at one. */
enum { BLOCKS = 4 };

void krein__divide_report(krein_job *job) {
    krein_model *m = job->model;
    for (int64_t c = 0; c < m->k; c++) m->intercept[c] += krein__job_mean(job, c);
    m->lambda = job->lambda;
}

static krein_status shuffle_rows(krein_ctx *ctx, uint64_t seed, krein_cut *cut) {
    krein_status st = KREIN_OK;
    int64_t *order = NULL;
    NEW(order, cut->n);
    NEW(cut->owner, cut->n);
    krein__rng_permute((krein_rng){seed, KREIN_STREAM_PARTS}, cut->n, order);
    for (int64_t j = 0; j < cut->parts; j++)
        for (int64_t i = cut->bound[j]; i < cut->bound[j + 1]; i++)
            cut->owner[order[i]] = (int32_t)j;
done:
    krein__free(ctx, order);
    return st;
}

krein_status krein__cut_begin(krein_ctx *ctx, int64_t n, int64_t parts, int64_t block, bool shuffle,
                              uint64_t seed, krein_cut *cut) {
    krein_status st = KREIN_OK;
    *cut = (krein_cut){.n = n, .parts = parts, .rows = n, .to = parts};
    NEW(cut->bound, parts + 1);
    int64_t unit = n / parts >= BLOCKS * block ? block : 1, units = n / unit;
    for (int64_t j = 0; j < parts; j++)
        cut->bound[j] = unit * (units / parts * j + units % parts * j / parts);
    cut->bound[parts] = n;
    if (shuffle && parts > 1) TRY(shuffle_rows(ctx, seed, cut));
done:
    if (st != KREIN_OK) krein__cut_end(ctx, cut);
    return st;
}

/* Rows of a process. */
typedef struct span {
    int64_t first, rows;
} span;

/* parts for each of the processes that have rows, in proportion to these; a part has a row. */
static void divide_parts(int64_t size, const span *of, int64_t n, int64_t parts, int64_t busy,
                         int64_t *count) {
    int64_t given = 0, seen = 0, over = 0;
    for (int64_t r = 0; r < size; r++) {
        count[r] = of[r].rows > 0; /* one each, the others by the rows up to its end */
        seen += of[r].rows;
        int64_t due = (int64_t)((double)(parts - busy) * (double)seen / (double)n + 0.5);
        if (count[r]) count[r] += due - given, given = due;
        over += krein__max(0, count[r] - of[r].rows);
        count[r] = krein__min(count[r], of[r].rows);
    }
    for (int64_t r = 0; r < size && over > 0; r++) {
        int64_t more = krein__min(over, of[r].rows - count[r]);
        count[r] += more;
        over -= more;
    }
}

static krein_status count_parts(krein_ctx *ctx, int64_t size, const span *of, const krein_cut *like,
                                const krein_cut *cut, int64_t *count) {
    int64_t busy = 0;
    for (int64_t r = 0; r < size; r++) busy += of[r].rows > 0;
    if (like) {
        for (int64_t j = 0; j < like->parts; j++) count[like->rank[j]]++;
        for (int64_t r = 0; r < size; r++)
            if (count[r] == 0 && of[r].rows > 0)
                return krein__fail(ctx, KREIN_EDATA,
                                   "process %lld has rows without labels and none with one: use "
                                   "parts=1 or fewer processes, or mix the rows of the data",
                                   (long long)r);
        return KREIN_OK;
    }
    if (cut->parts < busy)
        return krein__fail(ctx, KREIN_EARG,
                           "parts=%lld on %lld processes that have rows: a part is not divided; "
                           "use at least as many parts, fewer processes, or krr, which is exact on "
                           "any number",
                           (long long)cut->parts, (long long)busy);
    divide_parts(size, of, cut->n, cut->parts, busy, count);
    return KREIN_OK;
}

krein_status krein__cut_share(krein_stream *stream, int64_t first, int64_t rows,
                              const krein_cut *like, krein_cut *cut) {
    krein_ctx *ctx = krein__stream_data(stream)->ctx;
    krein_status st = KREIN_OK;
    int64_t size = krein__stream_turns(stream), at = 0, ranks, *count = NULL;
    span mine = {first, rows}, *of = NULL;
    cut->first = first;
    cut->rows = rows;
    cut->joint = cut->parts == 1;
    if (cut->joint) return KREIN_OK;
    if (cut->owner)
        return krein__fail(ctx, KREIN_EARG,
                           "order=shuffle would move rows between processes: use order=blocks, on "
                           "a file in random order, or one process");
    TRY(krein__stream_join(stream, &mine, 1, sizeof mine, &of, &ranks));
    ZNEW(count, size);
    NEW(cut->rank, cut->parts);
    TRY(count_parts(ctx, size, of, like, cut, count));
    for (int64_t r = 0; r < size; r++) {
        if (r == krein__stream_turn(stream)) cut->from = at, cut->to = at + count[r];
        for (int64_t j = 0; j < count[r]; j++) {
            cut->rank[at] = r;
            cut->bound[at++] =
                of[r].first + of[r].rows / count[r] * j + of[r].rows % count[r] * j / count[r];
        }
    }
done:
    krein__free(ctx, of);
    krein__free(ctx, count);
    return st;
}

void krein__cut_end(krein_ctx *ctx, krein_cut *cut) {
    krein__free(ctx, cut->rank);
    krein__free(ctx, cut->bound);
    krein__free(ctx, cut->owner);
    memset(cut, 0, sizeof *cut);
}

int64_t krein__cut_most(const krein_cut *cut) {
    int64_t most = 0;
    for (int64_t j = 0; j < cut->parts; j++)
        most = krein__max(most, cut->bound[j + 1] - cut->bound[j]);
    return most;
}

void krein__cut_rows(const krein_cut *cut, int64_t j, int64_t *index) {
    int64_t n = 0;
    if (!cut->owner)
        for (int64_t i = cut->bound[j]; i < cut->bound[j + 1]; i++) index[n++] = i;
    else
        for (int64_t i = 0; i < cut->n; i++)
            if (cut->owner[i] == j) index[n++] = i;
}

/* ---- several at once ---------------------------------------------------- */

int krein__parts_workers(const krein_ctx *ctx, int64_t items, double bytes) {
    double room = (double)ctx->budget / 4 / (bytes > 1 ? bytes : 1);
    int64_t fit = room < 1e6 ? (int64_t)room : 1000000;
    return (int)krein__max(1, krein__min(fit, krein__min(ctx->threads, items)));
}

krein_status krein__parts_each(krein_ctx *ctx, int64_t items, int workers, krein_part_work *work,
                               void *state) {
    krein_status st = KREIN_OK;
    if (workers == 1) {
        for (int64_t i = 0; i < items && st == KREIN_OK; i++) st = work(ctx, state, i);
        return st;
    }
    krein_workers all;
    krein__workers_begin(&all, ctx, workers);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(workers) schedule(dynamic)
    for (int64_t i = 0; i < items; i++) {
        if (atomic_load(&all.stop)) continue;
        krein__worker_begin();
        krein_ctx own = all.own;
        krein__workers_note(&all, work(&own, state, i), &own);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    return krein__workers_end(&all);
}

/* ---- the choice of lambda ----------------------------------------------- */

/* Ascending places in a part of n rows that are sampled. */
static krein_rng places(uint64_t seed, int64_t part) {
    return krein__substream(seed, KREIN_STREAM_PARTS, part + 1);
}

static krein_status choose_rows(krein_job *job, const krein_cut *cut, int64_t each,
                                krein_loo_sample *sample) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t *place = NULL, *count = NULL, *seen = NULL, *next = NULL, at = 0, *slot = NULL;
    NEW(place, sample->parts * each);
    NEW(count, sample->parts);
    ZNEW(seen, cut->parts);
    ZNEW(next, sample->parts);
    NEW(slot, cut->parts);
    for (int64_t p = 0; p < cut->parts; p++) slot[p] = -1;
    for (int64_t s = 0; s < sample->parts; s++) {
        int64_t p = sample->part[s], n = cut->bound[p + 1] - cut->bound[p];
        count[s] = krein__min(n, each);
        slot[p] = s;
        krein__rng_choose(places(job->seed, p), n, count[s], place + s * each);
        sample->n += count[s];
    }
    NEW(sample->row, sample->n);
    NEW(sample->owner, sample->n);
    for (int64_t i = 0, p = 0; i < cut->n; i++) {
        while (!cut->owner && i >= cut->bound[p + 1]) p++;
        int64_t part = cut->owner ? cut->owner[i] : p, s = slot[part], here = seen[part]++;
        if (s < 0 || next[s] == count[s] || place[s * each + next[s]] != here) continue;
        sample->row[at] = i;
        sample->owner[at++] = (int32_t)s;
        next[s]++;
    }
done:
    krein__free(ctx, place);
    krein__free(ctx, count);
    krein__free(ctx, seen);
    krein__free(ctx, next);
    krein__free(ctx, slot);
    return st;
}

krein_status krein__loo_sample_begin(krein_job *job, const krein_cut *cut, int64_t parts,
                                     int64_t rows, krein_loo_sample *sample) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    double *label = NULL;
    memset(sample, 0, sizeof *sample);
    sample->parts = krein__min(parts, cut->parts);
    NEW(sample->part, sample->parts);
    for (int64_t s = 0; s < sample->parts; s++)
        sample->part[s] = (2 * s + 1) * cut->parts / (2 * sample->parts);
    TRY(choose_rows(job, cut, (rows + sample->parts - 1) / sample->parts, sample));
    NEW(label, sample->n * job->data->nlabel);
    NEW(sample->y, sample->n * m->k);
    NEW(sample->weight, sample->n);
    NEW(sample->class, sample->n);
    TRY(krein__stream_gather(job->rows, sample->row, sample->n, &sample->x, label, sample->weight,
                             NULL));
    krein__targets_fill(m, job->data, sample->n, label, sample->y, sample->class);
    sample->targets =
        (krein_targets){sample->n, m->k, sample->y, job->data->has_weight ? sample->weight : NULL,
                        krein__job_classes(job) ? sample->class : NULL};
done:
    krein__free(ctx, label);
    if (st != KREIN_OK) krein__loo_sample_end(ctx, sample);
    return st;
}

void krein__loo_sample_end(krein_ctx *ctx, krein_loo_sample *sample) {
    void *all[] = {sample->part, sample->row,    sample->owner,
                   sample->y,    sample->weight, sample->class};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__matrix_clear(ctx, &sample->x);
    memset(sample, 0, sizeof *sample);
}
