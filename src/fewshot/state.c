/* state.c -- see state.h. The file is an archive: the job as a text, the results so far, and the
 * state of the learning over tasks where one is under way. Whoever goes on from it gets the same
 * numbers, to the bit. */
#include "fewshot/state.h"

#include "file/archive.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct krein_fewshot_state {
    krein_fewshot_run *f;
    krein_fewshot_report *r;
    char *job;
    krein_archive *from; /* what was read, until it is used; or NULL */
    double every, last;
};

static const int64_t MOST = INT64_MAX / 4;

/* ---- the job ------------------------------------------------------------ */

/* FNV-1a over the rows. */
static uint64_t hash(uint64_t h, const void *data, size_t n) {
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_images(uint64_t h, const krein_images *im) {
    const krein_matrix *x = &im->x;
    size_t n = (size_t)(im->n * x->d);
    if (im->n == 0) return h;
    if (x->byte) h = hash(h, x->byte, n);
    if (x->x) h = hash(h, x->x, n * sizeof *x->x);
    return hash(h, im->row, (size_t)im->start[im->classes] * sizeof *im->row);
}

static char *job_text(const krein_fewshot_run *f) {
    const krein_fewshot_options *o = &f->o;
    uint64_t h = hash_images(hash_images(0xcbf29ce484222325u, &f->images[0]), &f->images[1]);
    for (int64_t i = 0; i < o->nmethods; i++) h = hash(h, o->methods[i], strlen(o->methods[i]) + 1);
    return krein__format(
        f->ctx,
        "%s ways=%lld shots=%lld queries=%lld tasks=%lld dimensions=%lld steps=%lld rate=%.17g "
        "test_steps=%lld meta_steps=%lld meta_tasks=%lld meta_rate=%.17g meta_queries=%lld "
        "epochs=%lld path_epochs=%lld validation_tasks=%lld validate_every=%lld "
        "split=%lld,%lld,%lld seed=%llu rows=%016llx",
        f->arch, (long long)o->ways, (long long)o->shots, (long long)o->queries,
        (long long)o->tasks, (long long)o->dimensions, (long long)o->steps, o->rate,
        (long long)o->test_steps, (long long)o->meta_steps, (long long)o->meta_tasks, o->meta_rate,
        (long long)o->meta_queries, (long long)o->epochs, (long long)o->path_epochs,
        (long long)o->validation_tasks, (long long)o->validate_every, (long long)f->train.n,
        (long long)f->validate.n, (long long)f->test.n, (unsigned long long)o->seed,
        (unsigned long long)h);
}

/* ---- the parts ---------------------------------------------------------- */

static krein_status result_io(krein_archive *a, krein_fewshot_result *r) {
    krein_status st = KREIN_OK;
    bool detail = r->detail != NULL;
    TRY(krein__archive_text(a, "result.method", &r->method));
    TRY(krein__archive_bool(a, "result.has_detail", &detail));
    if (detail) TRY(krein__archive_text(a, "result.detail", &r->detail));
    TRY(krein__archive_int(a, "result.tasks", &r->tasks, 1, MOST));
    TRY(krein__archive_double(a, "result.accuracy", &r->accuracy));
    TRY(krein__archive_double(a, "result.sd", &r->sd));
    TRY(krein__archive_double(a, "result.interval", &r->interval));
    TRY(krein__archive_double(a, "result.seconds", &r->seconds));
    TRY(krein__archive_int(a, "result.kept", &r->kept, -1, MOST));
    TRY(krein__archive_int(a, "result.points", &r->points, 0, 1 << 20));
    TRY(krein__archive_int(a, "result.looks", &r->looks, 0, 1 << 28));
    TRY(krein__archive_array(a, "result.values", KREIN_TYPE_F64, &r->values, r->tasks));
    if (r->points > 0) {
        TRY(krein__archive_array(a, "result.step", KREIN_TYPE_I64, &r->step, r->points));
        TRY(krein__archive_array(a, "result.curve", KREIN_TYPE_F64, &r->curve, r->points));
    }
    if (r->looks > 0) {
        TRY(krein__archive_array(a, "result.look_step", KREIN_TYPE_I64, &r->look_step, r->looks));
        TRY(krein__archive_array(a, "result.look_loss", KREIN_TYPE_F64, &r->look_loss, r->looks));
        TRY(krein__archive_array(a, "result.look_accuracy", KREIN_TYPE_F64, &r->look_accuracy,
                                 r->looks));
    }
done:
    return st;
}

/* An array that is there, in both directions. */
static krein_status array_io(krein_archive *a, krein_ctx *ctx, const char *name, krein_type type,
                             void *x, int64_t n) {
    void *copy = x;
    krein_status st = krein__archive_array(a, name, type, &copy, n);
    if (st != KREIN_OK || !krein__archive_reading(a)) return st;
    memcpy(x, copy, (size_t)n * krein__type_size(type));
    krein__free(ctx, copy);
    return KREIN_OK;
}

static krein_status outer_io(krein_archive *a, krein_ctx *ctx, krein_outer_kept *k) {
    krein_status st = KREIN_OK;
    krein_learned *l = k->learned;
    int64_t n = k->size;
    TRY(krein__archive_int(a, "outer.size", &n, k->size, k->size));
    TRY(krein__archive_int(a, "outer.step", &k->step, 0, MOST));
    TRY(krein__archive_int(a, "outer.seen", &k->seen, 0, MOST));
    TRY(krein__archive_double(a, "outer.loss", &k->loss));
    TRY(krein__archive_double(a, "outer.accuracy", &k->accuracy));
    TRY(krein__archive_int(a, "outer.kept", &l->kept, 0, MOST));
    TRY(krein__archive_int(a, "outer.looks", &l->looks, 1, k->most));
    TRY(array_io(a, ctx, "outer.x", KREIN_TYPE_F64, k->x, n));
    TRY(array_io(a, ctx, "outer.best", KREIN_TYPE_F64, k->best, n));
    TRY(array_io(a, ctx, "outer.s", KREIN_TYPE_F32, k->s, n));
    TRY(array_io(a, ctx, "outer.r", KREIN_TYPE_F32, k->r, n));
    TRY(array_io(a, ctx, "outer.look_step", KREIN_TYPE_I64, l->look_step, l->looks));
    TRY(array_io(a, ctx, "outer.look_accuracy", KREIN_TYPE_F64, l->look_accuracy, l->looks));
    if (l->looks > 1) /* the first has no loss */
        TRY(array_io(a, ctx, "outer.look_loss", KREIN_TYPE_F64, l->look_loss + 1, l->looks - 1));
    l->look_loss[0] = NAN;
done:
    return st;
}

/* ---- the file ----------------------------------------------------------- */

/* The first look has no loss, and a file has no NaN. */
static void first_losses(const krein_fewshot_report *r, double to) {
    for (int64_t i = 0; i < r->count; i++)
        if (r->results[i]->looks > 0) r->results[i]->look_loss[0] = to;
}

static krein_status read_results(krein_fewshot_state *s) {
    krein_ctx *ctx = s->f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = 0;
    TRY(krein__archive_int(s->from, "fewshot.results", &n, 0, 1 << 10));
    for (int64_t i = 0; i < n; i++) {
        krein_fewshot_result *r;
        ZNEW(r, 1);
        s->r->results[s->r->count++] = r;
        krein__archive_enter(s->from, i);
        st = result_io(s->from, r);
        krein__archive_leave(s->from);
        TRY(st);
    }
    first_losses(s->r, NAN);
done:
    return st;
}

krein_status krein__state_open(krein_fewshot_run *f, krein_fewshot_report *r,
                               krein_fewshot_state **out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_fewshot_state *s = NULL;
    const char *path = f->o.checkpoint;
    char *was = NULL;
    *out = NULL;
    if (!path) return KREIN_OK;
    ZNEW(s, 1);
    *s = (krein_fewshot_state){.f = f, .r = r, .last = krein__clock()};
    s->every = f->o.checkpoint_seconds > 0 ? f->o.checkpoint_seconds : 30;
    if (!(s->job = job_text(f))) {
        st = ctx->status;
        goto done;
    }
    if (access(path, F_OK) == 0) {
        TRY(krein__archive_load(ctx, path, &s->from));
        if (krein__archive_has(s->from, "fewshot.job"))
            TRY(krein__archive_text(s->from, "fewshot.job", &was));
        if (!was || strcmp(was, s->job) != 0) {
            st = krein__fail(ctx, KREIN_EARG,
                             "%s: the checkpoint is of %s; give the same data and options, "
                             "or another file, or remove it",
                             path, was ? "another few-shot run" : "something else");
            goto done;
        }
        TRY(read_results(s));
        krein__log(ctx, KREIN_LOG_INFO, "going on from %s: %lld result%s", path,
                   (long long)r->count, r->count == 1 ? "" : "s");
    }
    *out = s;
    s = NULL;
done:
    krein__free(ctx, was);
    krein__state_close(s);
    return st;
}

void krein__state_close(krein_fewshot_state *s) {
    if (!s) return;
    krein_ctx *ctx = s->f->ctx;
    krein__archive_destroy(s->from);
    krein__free(ctx, s->job);
    krein__free(ctx, s);
}

static krein_status write_file(krein_fewshot_state *s, krein_outer_kept *now) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    int64_t n = s->r->count;
    bool outer = now != NULL;
    first_losses(s->r, 0);
    TRY(krein__archive_create(s->f->ctx, &a));
    TRY(krein__archive_text(a, "fewshot.job", &s->job));
    TRY(krein__archive_int(a, "fewshot.results", &n, 0, MOST));
    for (int64_t i = 0; i < n; i++) {
        krein__archive_enter(a, i);
        st = result_io(a, s->r->results[i]);
        krein__archive_leave(a);
        TRY(st);
    }
    TRY(krein__archive_bool(a, "fewshot.outer", &outer));
    if (outer) TRY(outer_io(a, s->f->ctx, now));
    TRY(krein__archive_save(a, s->f->o.checkpoint));
done:
    krein__archive_destroy(a);
    first_losses(s->r, NAN);
    s->last = krein__clock();
    return st;
}

bool krein__state_due(const krein_fewshot_state *s) {
    return s && krein__tasks_first(s->f) && krein__clock() - s->last >= s->every;
}

krein_status krein__state_keep(krein_fewshot_state *s, krein_outer_kept *now, bool must) {
    if (!s || !krein__tasks_first(s->f) || now->learned->looks == 0) return KREIN_OK;
    krein_status st = write_file(s, now);
    if (st == KREIN_OK || must || st == KREIN_ECANCEL) return st;
    krein__log(s->f->ctx, KREIN_LOG_WARNING, "the checkpoint was not written: %s",
               s->f->ctx->message);
    s->f->ctx->message[0] = 0;
    s->f->ctx->status = KREIN_OK;
    return KREIN_OK;
}

krein_status krein__state_recall(krein_fewshot_state *s, krein_outer_kept *now) {
    krein_status st = KREIN_OK;
    bool outer = false;
    if (!s || !s->from) return KREIN_OK;
    TRY(krein__archive_bool(s->from, "fewshot.outer", &outer));
    if (outer) TRY(outer_io(s->from, s->f->ctx, now));
    if (outer)
        krein__log(s->f->ctx, KREIN_LOG_INFO, "going on from step %lld", (long long)now->step);
done:
    krein__archive_destroy(s->from);
    s->from = NULL;
    return st;
}

krein_status krein__state_finished(krein_fewshot_state *s) {
    return s && krein__tasks_first(s->f) ? write_file(s, NULL) : KREIN_OK;
}
