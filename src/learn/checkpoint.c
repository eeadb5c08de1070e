/* checkpoint.c -- see checkpoint.h. */
#include "learn/checkpoint.h"

#include "file/archive.h"
#include "file/writer.h"
#include "stream/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

enum { VERSION = 3, FACTS = 40, VALUE = 512, PARTS = 4, DONE = 64 };
static const double SECONDS = 30;

struct krein_checkpoint {
    krein_ctx *ctx;
    char *path;
    double every, last; /* seconds between writes; when the last one was */
    bool written;       /* there is a file that this job can go on from */
    int64_t nfact;
    char *name[FACTS], *value[FACTS];
    krein_encoding *e; /* borrowed from the model, once it may be written; else NULL */
    krein_scanned learned;
    bool has_encoding; /* in the file that was found */
    char *kernel, *map;
    krein_choice choice; /* borrowed, once it may be written */
    int64_t nfound;      /* parts of the file */
    char **found;
    int64_t npart; /* of what is written */
    krein_part_kept part[PARTS];
    char done[DONE]; /* "1200 rows"; empty: nothing */
};

/* ---- what a job is ----------------------------------------------------------------------- */

static krein_status add(krein_checkpoint *c, const char *name, const char *value) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    DUP(c->name[c->nfact], name);
    c->value[c->nfact++] = NULL;
    DUP(c->value[c->nfact - 1], value ? value : "(default)");
done:
    return st;
}

static krein_status add_number(krein_checkpoint *c, const char *name, double value) {
    char text[40];
    return add(c, name, krein__number_text(value, text));
}

static krein_status look_at(krein_checkpoint *c, const char *path, struct stat *s) {
    bool piped = strcmp(path, "-") == 0;
    if (!piped && stat(path, s) != 0)
        return krein__fail(c->ctx, KREIN_EIO, "%s: %s", path, strerror(errno));
    if (piped || !S_ISREG(s->st_mode))
        return krein__fail(
            c->ctx, KREIN_EARG,
            "`checkpoint`: %s is not a file that could be read again; write the data to one first",
            path);
    return KREIN_OK;
}

/* Several files: names, sizes and times of all of them in one number. */
static krein_status add_files(krein_checkpoint *c, const char *what, const krein_reader *r) {
    krein_status st = KREIN_OK;
    struct stat s;
    char text[VALUE];
    int64_t n = krein__reader_files(r), bytes = 0;
    uint64_t h = 0;
    for (int64_t k = 0; k < n; k++) {
        const char *path = krein__reader_file(r, k);
        TRY(look_at(c, path, &s));
        int64_t facts[] = {(int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec,
                           (int64_t)s.st_mtim.tv_nsec};
        bytes += facts[0];
        h = XXH3_64bits_withSeed(path, strlen(path), h);
        h = XXH3_64bits_withSeed(facts, sizeof facts, h);
    }
    snprintf(text, sizeof text, "%.400s (%lld files, %lld bytes, state %016llx)", r->path,
             (long long)n, (long long)bytes, (unsigned long long)h);
    TRY(add(c, what, text));
done:
    return st;
}

/* The caller's arrays are the same if all their cells are. */
static krein_status add_rows(krein_checkpoint *c, const char *what, const krein_reader *r) {
    char text[VALUE];
    uint64_t h;
    krein_status st = krein__memory_digest(r, &h);
    if (st != KREIN_OK) return st;
    snprintf(text, sizeof text, "%lld rows in memory (state %016llx)", (long long)r->n,
             (unsigned long long)h);
    return add(c, what, text);
}

/* A file is the same if name, size and time of the last change are. */
static krein_status add_file(krein_checkpoint *c, const char *what, const krein_reader *r) {
    struct stat s;
    char text[VALUE];
    if (r->memory) return add_rows(c, what, r);
    if (krein__reader_files(r) > 1) return add_files(c, what, r);
    krein_status st = look_at(c, r->path, &s);
    if (st != KREIN_OK) return st;
    snprintf(text, sizeof text, "%s (%lld bytes, changed at %lld.%09ld)", r->path,
             (long long)s.st_size, (long long)s.st_mtim.tv_sec, (long)s.st_mtim.tv_nsec);
    return add(c, what, text);
}

static krein_status describe_data(krein_checkpoint *c, const krein_data *data) {
    krein_status st = KREIN_OK;
    const krein_data_options *o = &data->options;
    char delimiter[2] = {o->delimiter, 0};
    const struct {
        const char *name, *value;
    } text[] = {{"format", o->format}, {"delimiter", o->delimiter ? delimiter : NULL},
                {"label", o->label},   {"weights", o->weights},
                {"group", o->group},   {"ignore", o->ignore}};
    TRY(add_file(c, "data", data->reader));
    if (data->labels)
        TRY(add_file(c, "labels", data->labels));
    else
        TRY(add(c, "labels", NULL));
    for (int64_t k = 0; k < KREIN__COUNT(text); k++) TRY(add(c, text[k].name, text[k].value));
    TRY(add_number(c, "header", o->header));
    TRY(add_number(c, "targets", (double)o->targets));
    TRY(add_number(c, "task", o->task));
    TRY(add_number(c, "missing", o->missing));
    TRY(add_number(c, "unknown", o->unknown_ignore));
    TRY(add_number(c, "scale", o->scale));
    TRY(add_number(c, "categories", o->categories));
    TRY(add_number(c, "types", o->types));
done:
    return st;
}

static krein_status describe(krein_checkpoint *c, const krein_train_options *o,
                             const krein_data *data) {
    krein_status st = KREIN_OK;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    TRY(add(c, "program", krein_version()));
    TRY(describe_data(c, data));
    TRY(add(c, "learner", o->learner));
    TRY(add(c, "kernel", o->kernel));
    TRY(add(c, "kernels", o->kernels));
    TRY(add(c, "map", o->map));
    TRY(add(c, "select", o->select));
    TRY(add(c, "seed", seed));
    TRY(add_number(c, "features", (double)o->features));
    TRY(add_number(c, "lambda", o->lambda < 0 ? -1 : o->lambda));
    TRY(add_number(c, "max-exact", (double)o->max_exact));
    TRY(add_number(c, "time-limit", o->time_limit));
    TRY(add_number(c, "holdout", o->holdout));
    TRY(add_number(c, "probabilities", o->probabilities));
    TRY(add_number(c, "uncertainty", o->uncertainty));
    TRY(add(c, "metric", o->metric));
    TRY(add_number(c, "effort", o->effort));
    TRY(add_number(c, "clip", isfinite(o->clip) ? o->clip : -1));
    if (o->unlabeled)
        TRY(add_file(c, "unlabeled", o->unlabeled->reader));
    else
        TRY(add(c, "unlabeled", NULL));
done:
    return st;
}

/* ---- the file ------------------------------------------------------------------------------ */

krein_status krein__checkpoint_damaged(krein_ctx *ctx, const char *what) {
    return krein__fail(ctx, KREIN_EMODEL, "%s", what);
}

/* None are held out where the data are learned from a file. */
static krein_status check_learned(krein_ctx *ctx, const krein_scanned *l) {
    const int64_t train = l->count[KREIN_PART_TRAIN], dropped = l->count[KREIN_PART_DROPPED];
    if (train < 2 || l->count[KREIN_PART_HELD] != 0 || train > l->nrows ||
        dropped != l->nrows - train)
        return krein__checkpoint_damaged(ctx, "its numbers of rows do not agree");
    return isfinite(l->label_most)
               ? KREIN_OK
               : krein__checkpoint_damaged(ctx, "the size of the labels is not finite");
}

static krein_status learned_io(krein_archive *a, krein_ctx *ctx, krein_scanned *l,
                               krein_encoding *e) {
    krein_status st = KREIN_OK;
    double *mean = l->label_mean;
    bool reading = krein__archive_reading(a);
    TRY(krein__encoding_io(a, ctx, e));
    TRY(krein__archive_double(a, "data.low", &e->low));
    TRY(krein__archive_double(a, "data.high", &e->high));
    TRY(krein__archive_int(a, "data.rows", &l->nrows, 0, INT64_MAX / 2));
    TRY(krein__archive_int(a, "data.train", &l->count[KREIN_PART_TRAIN], 0, INT64_MAX));
    TRY(krein__archive_int(a, "data.held", &l->count[KREIN_PART_HELD], 0, INT64_MAX));
    TRY(krein__archive_int(a, "data.dropped", &l->count[KREIN_PART_DROPPED], 0, INT64_MAX));
    TRY(krein__archive_double(a, "data.label_most", &l->label_most));
    TRY(krein__archive_array(a, "data.label_mean", KREIN_TYPE_F64, &mean,
                             KREIN__COUNT(l->label_mean)));
    if (reading) {
        memcpy(l->label_mean, mean, sizeof l->label_mean);
        krein__free(ctx, mean);
        TRY(check_learned(ctx, l));
    }
done:
    return st;
}

/* scaling: the file has no encoding, which has it. */
static krein_status choice_io(krein_archive *a, krein_ctx *ctx, bool scaling, krein_choice *h) {
    krein_status st = KREIN_OK;
    if (scaling) TRY(krein__scaling_io(a, ctx, h->e));
    TRY(krein__archive_double(a, "choice.start", &h->lambda_start));
    if (!(h->lambda_start >= 0) || isinf(h->lambda_start))
        TRY(krein__checkpoint_damaged(ctx, "the lambda to start from is out of range"));
    TRY(krein__tries_io(a, ctx, &h->tries));
done:
    return st;
}

static krein_status parts_io(krein_checkpoint *c, krein_archive *a) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    char **names = NULL, *done = c->done;
    NEW(names, PARTS);
    for (int64_t i = 0; i < c->npart; i++) names[i] = (char *)(uintptr_t)c->part[i].name;
    TRY(krein__archive_int(a, "parts", &c->npart, 0, PARTS));
    if (c->npart == 0) goto done;
    TRY(krein__archive_texts(a, "parts.names", &names, c->npart));
    TRY(krein__archive_text(a, "parts.done", &done));
    for (int64_t i = 0; i < c->npart; i++) TRY(c->part[i].io(a, ctx, c->part[i].state));
done:
    krein__free(ctx, names);
    return st;
}

static krein_status write_file(krein_checkpoint *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    int64_t version = VERSION, n = c->nfact;
    char **names = c->name, **values = c->value;
    bool encoding = c->e != NULL, chosen = c->kernel != NULL;
    TRY(krein__archive_create(ctx, &a));
    TRY(krein__archive_int(a, "checkpoint", &version, 1, VERSION));
    TRY(krein__archive_int(a, "job.facts", &n, 1, FACTS));
    TRY(krein__archive_texts(a, "job.names", &names, n));
    TRY(krein__archive_texts(a, "job.values", &values, n));
    TRY(krein__archive_bool(a, "learned", &encoding));
    if (encoding) TRY(learned_io(a, ctx, &c->learned, c->e));
    TRY(krein__archive_bool(a, "chosen", &chosen));
    if (chosen) TRY(krein__archive_text(a, "kernel", &c->kernel));
    if (chosen) TRY(krein__archive_text(a, "map", &c->map));
    if (chosen) TRY(choice_io(a, ctx, !encoding, &c->choice));
    TRY(parts_io(c, a));
    TRY(krein__archive_save(a, c->path));
    c->written = true;
    c->last = krein__clock();
done:
    krein__archive_destroy(a);
    return st;
}

static krein_status unusable(krein_checkpoint *c, const char *why) {
    return krein__fail(c->ctx, KREIN_EARG,
                       "`checkpoint=%s`: %s; remove the file to train from the start, or name "
                       "another one (it is not overwritten)",
                       c->path, why);
}

/* The first thing in which the file's job is not this one. */
static krein_status compare(krein_checkpoint *c, char **name, char **value, int64_t n) {
    char why[2 * VALUE + 100] = "it is of another version of the program";
    bool same = n == c->nfact;
    for (int64_t k = 0; k < n && same; k++)
        if (strcmp(name[k], c->name[k]) != 0 || strcmp(value[k], c->value[k]) != 0) {
            same = false;
            if (strcmp(name[k], c->name[k]) == 0)
                snprintf(why, sizeof why,
                         "it belongs to another training: %s was %.200s, and is %.200s now",
                         name[k], value[k], c->value[k]);
        }
    return same ? KREIN_OK : unusable(c, why);
}

static krein_status read_parts(krein_checkpoint *c, krein_archive *a) {
    krein_status st = KREIN_OK;
    char *done = NULL;
    int64_t n = 0;
    TRY(krein__archive_int(a, "parts", &n, 0, PARTS));
    if (n == 0) goto done;
    TRY(krein__archive_texts(a, "parts.names", &c->found, n));
    c->nfound = n;
    TRY(krein__archive_text(a, "parts.done", &done));
    snprintf(c->done, sizeof c->done, "%s", done);
done:
    krein__free(c->ctx, done);
    return st;
}

static krein_status read_job(krein_checkpoint *c, krein_archive *a) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    int64_t version = 0, n = 0;
    char **name = NULL, **value = NULL;
    bool chosen = false;
    TRY(krein__archive_int(a, "checkpoint", &version, 1, INT64_MAX));
    if (version != VERSION) TRY(unusable(c, "it is of another version of the program"));
    TRY(krein__archive_int(a, "job.facts", &n, 1, FACTS));
    TRY(krein__archive_texts(a, "job.names", &name, n));
    TRY(krein__archive_texts(a, "job.values", &value, n));
    TRY(compare(c, name, value, n));
    TRY(krein__archive_bool(a, "learned", &c->has_encoding));
    TRY(krein__archive_bool(a, "chosen", &chosen));
    if (chosen) TRY(krein__archive_text(a, "kernel", &c->kernel));
    if (chosen) TRY(krein__archive_text(a, "map", &c->map));
    TRY(read_parts(c, a));
    if (c->nfound > 0 && !chosen)
        st = krein__checkpoint_damaged(ctx, "a state of a kernel that it does not name");
done:
    for (int64_t k = 0; k < n; k++) {
        if (name) krein__free(ctx, name[k]);
        if (value) krein__free(ctx, value[k]);
    }
    krein__free(ctx, name);
    krein__free(ctx, value);
    return st;
}

/* Memory and the disk have their own messages; all else is a file that cannot be used. */
static krein_status explain(krein_checkpoint *c, krein_status st) {
    char why[KREIN__MESSAGE];
    if (st != KREIN_EMODEL) return st;
    size_t skip = strncmp(c->ctx->message, c->path, strlen(c->path)) == 0 ? strlen(c->path) + 2 : 0;
    snprintf(why, sizeof why, "this is no whole checkpoint (%.800s)", c->ctx->message + skip);
    return unusable(c, why);
}

static krein_status load(krein_checkpoint *c, krein_archive **out) {
    krein_status st = krein__archive_load(c->ctx, c->path, out);
    if (st == KREIN_OK && !krein__archive_has(*out, "checkpoint")) {
        krein__archive_destroy(*out);
        *out = NULL;
        return unusable(c, "this is a model");
    }
    return explain(c, st);
}

/* Learns what is in the file; without one, that it could be written. */
static krein_status look(krein_checkpoint *c) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    krein_writer *w = NULL;
    struct stat s;
    bool there = stat(c->path, &s) == 0;
    if (there && !S_ISREG(s.st_mode)) return unusable(c, "this is not a file of its own");
    if (!there || s.st_size == 0) {
        st = krein__writer_open(c->ctx, c->path, &w);
        krein__writer_abort(w);
        return st;
    }
    TRY(load(c, &a));
    TRY(explain(c, read_job(c, a)));
    c->written = true;
done:
    krein__archive_destroy(a);
    return st;
}

krein_status krein__checkpoint_open(krein_ctx *ctx, const krein_train_options *o, krein_data *data,
                                    krein_checkpoint **out) {
    krein_status st = KREIN_OK;
    krein_checkpoint *c = NULL;
    *out = NULL;
    ZNEW(c, 1);
    c->ctx = ctx;
    c->every = o->checkpoint_seconds > 0 ? o->checkpoint_seconds : SECONDS;
    c->last = krein__clock();
    DUP(c->path, o->checkpoint);
    TRY(describe(c, o, data));
    TRY(look(c));
    if (c->nfound > 0)
        krein__log(ctx, KREIN_LOG_INFO, "going on from %s: %s are done", c->path, c->done);
    else if (c->written)
        krein__log(ctx, KREIN_LOG_INFO, "going on from %s: the data are known", c->path);
    *out = c;
    c = NULL;
done:
    krein__checkpoint_close(c);
    return st;
}

void krein__checkpoint_close(krein_checkpoint *c) {
    if (!c) return;
    krein_ctx *ctx = c->ctx;
    for (int64_t k = 0; k < c->nfact; k++) {
        krein__free(ctx, c->name[k]);
        krein__free(ctx, c->value[k]);
    }
    if (c->nfact < FACTS) krein__free(ctx, c->name[c->nfact]);
    for (int64_t k = 0; k < c->nfound; k++) krein__free(ctx, c->found[k]);
    krein__free(ctx, c->found);
    krein__free(ctx, c->kernel);
    krein__free(ctx, c->map);
    krein__free(ctx, c->path);
    krein__free(ctx, c);
}

/* ---- before the learner --------------------------------------------------------------------- */

bool krein__checkpoint_has_encoding(const krein_checkpoint *c) { return c && c->has_encoding; }
const char *krein__checkpoint_kernel(const krein_checkpoint *c) { return c ? c->kernel : NULL; }
const char *krein__checkpoint_map(const krein_checkpoint *c) { return c ? c->map : NULL; }

krein_status krein__checkpoint_recall(krein_checkpoint *c, krein_data *data, krein_encoding *e) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    memset(e, 0, sizeof *e);
    TRY(load(c, &a));
    TRY(explain(c, learned_io(a, c->ctx, &c->learned, e)));
    TRY(explain(c, krein__data_recall(data, &c->learned, e)));
    c->e = e;
done:
    krein__archive_destroy(a);
    if (st != KREIN_OK) krein__encoding_clear(c->ctx, e);
    return st;
}

krein_status krein__checkpoint_scanned(krein_checkpoint *c, krein_data *data,
                                       const krein_encoding *e, bool repeatable) {
    if (data->in_memory || data->reader->memory || !repeatable)
        return KREIN_OK; /* learned again in no time, or as it was */
    krein__data_scanned(data, &c->learned);
    c->e = (krein_encoding *)(uintptr_t)e; /* archives read and write with one function */
    /* What a run that kept its rows in memory chose is worth more, and written with the rest. */
    return c->kernel ? KREIN_OK : write_file(c);
}

krein_status krein__checkpoint_chose(krein_checkpoint *c, krein_choice *out) {
    krein_archive *a = NULL;
    krein_status st = load(c, &a);
    if (st == KREIN_OK) st = explain(c, choice_io(a, c->ctx, !c->has_encoding, out));
    krein__archive_destroy(a);
    return st;
}

krein_status krein__checkpoint_chosen(krein_checkpoint *c, const krein_map *map,
                                      const krein_choice *choice) {
    c->choice = *choice;
    if (c->kernel) return KREIN_OK;
    c->kernel = krein__kernel_text(c->ctx, map->kernel);
    c->map = c->kernel ? krein__map_text(map) : NULL;
    return c->map ? write_file(c) : c->ctx->status;
}

/* ---- parts ------------------------------------------------------------------------------------
 */

bool krein__checkpoint_has(const krein_checkpoint *c, const char *name) {
    for (int64_t i = 0; c && i < c->nfound; i++)
        if (strcmp(c->found[i], name) == 0) return true;
    return false;
}

krein_status krein__checkpoint_take(krein_checkpoint *c, const krein_part_kept *part) {
    krein_archive *a = NULL;
    krein_status st = load(c, &a);
    if (st == KREIN_OK) st = explain(c, part->io(a, c->ctx, part->state));
    krein__archive_destroy(a);
    c->last = krein__clock();
    return st;
}

void krein__checkpoint_add(krein_checkpoint *c, const krein_part_kept *part) {
    int64_t i = 0;
    if (!c) return;
    while (i < c->npart && strcmp(c->part[i].name, part->name) != 0) i++;
    if (i == PARTS) return;
    c->part[i] = *part;
    c->npart = krein__max(c->npart, i + 1);
}

void krein__checkpoint_drop(krein_checkpoint *c, const char *name) {
    int64_t n = 0;
    for (int64_t i = 0; c && i < c->npart; i++)
        if (strcmp(c->part[i].name, name) != 0) c->part[n++] = c->part[i];
    if (c) c->npart = n;
}

bool krein__checkpoint_due(const krein_checkpoint *c) {
    return c && krein__clock() - c->last >= c->every;
}

krein_status krein__checkpoint_keep(krein_checkpoint *c, const char *done, bool must) {
    if (!c) return KREIN_OK;
    snprintf(c->done, sizeof c->done, "%s", done);
    krein_status st = write_file(c);
    if (st == KREIN_OK || must) return st;
    c->last = krein__clock();
    krein__log(c->ctx, KREIN_LOG_WARNING,
               "the state could not be written, and training goes on: %s", c->ctx->message);
    return KREIN_OK;
}

krein_status krein__checkpoint_cancelled(const krein_checkpoint *c, krein_ctx *ctx) {
    if (!c || !c->written) return krein__fail(ctx, KREIN_ECANCEL, "cancelled; nothing was written");
    if (c->done[0])
        return krein__fail(ctx, KREIN_ECANCEL,
                           "cancelled after %s; the state is in %s: train with the same "
                           "options to go on",
                           c->done, c->path);
    return krein__fail(ctx, KREIN_ECANCEL,
                       "cancelled; what was learned of the data is in %s: train with the same "
                       "options to go on",
                       c->path);
}
