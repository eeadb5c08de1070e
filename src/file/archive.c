/* archive.c -- see archive.h; layout of the file, all little-endian:
 *
 *     0   8  magic "KREIN\x1a\r\n": a text-mode copy or a truncation shows at once
 *     8   4  version
 *    12   4  0
 *    16   8  bytes of the file
 *    24   8  entries
 *    32  32  0
 *    64  64 x entries: name[40], u32 type, u32 0, u64 count, u64 offset
 *        the arrays, each at a multiple of 64, zeros between
 *    end 8   XXH3-64 of everything before
 */
#include "file/archive.h"

#include "file/writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { HEAD = 64, NAME = 40, ALIGN = 64, VERSION = 1, NEWEST = 2, ENTRIES_MAX = 1 << 20 };
static const char MAGIC[8] = "KREIN\x1a\r\n";

typedef struct entry {
    char name[NAME];
    uint32_t type, zero;
    uint64_t count, offset;
} entry;

typedef struct head {
    char magic[8];
    uint32_t version, zero;
    uint64_t bytes, entries;
    uint64_t rest[4];
} head;

_Static_assert(sizeof(entry) == 64 && sizeof(head) == HEAD, "the file layout is fixed");

struct krein_archive {
    krein_ctx *ctx;
    bool reading;
    char *path;
    entry *table;
    const void **data; /* writing: where each entry's bytes are */
    void **owned;      /* writing: scalars and joined texts, or NULL */
    int64_t n, room;
    uint32_t version; /* writing: see krein__archive_needs */
    const char *file; /* reading: the whole file */
    char *read;       /* the same, where it was read from a file */
    int64_t bytes;
    char prefix[NAME]; /* see krein__archive_enter */
};

void krein__archive_enter(krein_archive *a, int64_t part) {
    size_t used = strlen(a->prefix);
    snprintf(a->prefix + used, sizeof a->prefix - used, "%lld.", (long long)part);
}

void krein__archive_leave(krein_archive *a) {
    size_t used = strlen(a->prefix);
    if (used > 0) used--; /* the dot */
    while (used > 0 && a->prefix[used - 1] != '.') used--;
    a->prefix[used] = 0;
}

/* 0: there is no such type. */
static size_t size_of(uint32_t type) {
    switch (type) {
    case KREIN_TYPE_BYTES:
        return 1;
    case KREIN_TYPE_I32:
    case KREIN_TYPE_F32:
        return 4;
    case KREIN_TYPE_I64:
    case KREIN_TYPE_F64:
        return 8;
    default:
        return 0;
    }
}

size_t krein__type_size(krein_type type) { return size_of((uint32_t)type); }

krein_status krein__archive_create(krein_ctx *ctx, krein_archive **out) {
    *out = krein__zalloc(ctx, 1, sizeof **out);
    if (!*out) return ctx->status;
    (*out)->ctx = ctx;
    (*out)->version = VERSION;
    return KREIN_OK;
}

void krein__archive_needs(krein_archive *a, int version) {
    if ((uint32_t)version > a->version) a->version = (uint32_t)version;
}

void krein__archive_destroy(krein_archive *a) {
    if (!a) return;
    krein_ctx *ctx = a->ctx;
    for (int64_t i = 0; a->owned && i < a->n; i++) krein__free(ctx, a->owned[i]);
    krein__free(ctx, a->owned);
    krein__free(ctx, a->data);
    krein__free(ctx, a->table);
    krein__free(ctx, a->read);
    krein__free(ctx, a->path);
    krein__free(ctx, a);
}

krein_status krein__archive_own(krein_archive *a, void *data) {
    for (int64_t i = a->n - 1; i >= 0; i--)
        if (a->data[i] == data) {
            a->owned[i] = data;
            return KREIN_OK;
        }
    krein__free(a->ctx, data);
    return krein__fail(a->ctx, KREIN_EARG, "archive: no such array");
}

bool krein__archive_reading(const krein_archive *a) { return a->reading; }
int64_t krein__archive_bytes(const krein_archive *a) { return a->bytes; }

/* ---- writing ------------------------------------------------------------ */

static krein_status grow(krein_archive *a) {
    krein_ctx *ctx = a->ctx;
    if (a->n < a->room) return KREIN_OK;
    int64_t room = krein__max(64, 2 * a->room);
    entry *table = krein__resize(ctx, a->table, room, sizeof *table);
    if (!table) return ctx->status;
    a->table = table;
    const void **data = krein__resize(ctx, a->data, room, sizeof *data);
    if (!data) return ctx->status;
    a->data = data;
    void **owned = krein__resize(ctx, a->owned, room, sizeof *owned);
    if (!owned) return ctx->status;
    a->owned = owned;
    a->room = room;
    return KREIN_OK;
}

/* Takes `owned` over, also on failure. */
static krein_status add(krein_archive *a, const char *name, krein_type type, const void *data,
                        int64_t n, void *owned) {
    krein_status st = grow(a);
    if (st != KREIN_OK) {
        krein__free(a->ctx, owned);
        return st;
    }
    entry *e = &a->table[a->n];
    memset(e, 0, sizeof *e);
    if (snprintf(e->name, sizeof e->name, "%s%s", a->prefix, name) >= NAME) {
        krein__free(a->ctx, owned);
        return krein__fail(a->ctx, KREIN_EARG, "the model nests too deeply");
    }
    e->type = (uint32_t)type;
    e->count = (uint64_t)n;
    a->data[a->n] = data;
    a->owned[a->n++] = owned;
    return KREIN_OK;
}

static uint64_t align(uint64_t at) { return (at + ALIGN - 1) / ALIGN * ALIGN; }

/* Where the bytes go: a file, or memory. */
typedef struct sink {
    krein_writer *writer;
    char *memory;
    XXH3_state_t *hash;
    uint64_t at;
} sink;

static krein_status put(sink *s, const void *bytes, uint64_t n) {
    if (n == 0) return KREIN_OK;
    XXH3_64bits_update(s->hash, bytes, n);
    if (s->memory) memcpy(s->memory + s->at, bytes, n);
    s->at += n;
    return s->writer ? krein__writer_put(s->writer, bytes, n) : KREIN_OK;
}

/* Where each entry goes, and the size of the whole. */
static head lay_out(krein_archive *a) {
    uint64_t at = HEAD + (uint64_t)a->n * sizeof(entry);
    for (int64_t i = 0; i < a->n; i++) {
        a->table[i].offset = align(at);
        at = a->table[i].offset + a->table[i].count * size_of(a->table[i].type);
    }
    head h = {.version = a->version, .bytes = at + 8, .entries = (uint64_t)a->n};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    a->bytes = (int64_t)h.bytes;
    return h;
}

static krein_status put_all(krein_archive *a, const head *h, sink *s) {
    krein_status st = KREIN_OK;
    static const char zeros[ALIGN];
    s->hash = XXH3_createState();
    if (!s->hash) return krein__fail(a->ctx, KREIN_EMEMORY, "out of memory while writing a model");
    XXH3_64bits_reset(s->hash);
    TRY(put(s, h, sizeof *h));
    TRY(put(s, a->table, (uint64_t)a->n * sizeof(entry)));
    for (int64_t i = 0; i < a->n; i++) {
        TRY(put(s, zeros, a->table[i].offset - s->at));
        TRY(put(s, a->data[i], a->table[i].count * size_of(a->table[i].type)));
    }
    uint64_t sum = XXH3_64bits_digest(s->hash);
    TRY(put(s, &sum, sizeof sum));
done:
    XXH3_freeState(s->hash);
    return st;
}

krein_status krein__archive_save(krein_archive *a, const char *path) {
    krein_status st = KREIN_OK;
    sink s = {0};
    head h = lay_out(a);
    TRY(krein__writer_open(a->ctx, path, &s.writer));
    TRY(put_all(a, &h, &s));
    krein_writer *writer = s.writer;
    s.writer = NULL;
    st = krein__writer_commit(writer);
done:
    krein__writer_abort(s.writer);
    return st;
}

krein_status krein__archive_save_memory(krein_archive *a, void *to, int64_t room) {
    sink s = {.memory = to};
    head h = lay_out(a);
    if (!to) return KREIN_OK;
    if (room < a->bytes)
        return krein__fail(a->ctx, KREIN_EARG,
                           "the model has %lld bytes, and there is room for %lld",
                           (long long)a->bytes, (long long)room);
    return put_all(a, &h, &s);
}

/* ---- reading ------------------------------------------------------------ */

static krein_status bad(krein_archive *a, const char *why) {
    return krein__fail(a->ctx, KREIN_EMODEL, "%s: %s", a->path, why);
}

/* The first bytes; got: how many there are. */
static krein_status check_head(krein_archive *a, const head *h, size_t got) {
    if (got < sizeof h->magic || memcmp(h->magic, MAGIC, sizeof h->magic) != 0)
        return bad(a, "this is not a krein model (the first bytes are wrong)");
    if (got >= sizeof *h && (h->version < VERSION || h->version > NEWEST))
        return krein__fail(a->ctx, KREIN_EMODEL,
                           "%s: model format version %u; this program reads versions %d to %d",
                           a->path, h->version, VERSION, NEWEST);
    if (got < sizeof *h || h->bytes < HEAD + 8 || h->bytes > (uint64_t)1 << 50)
        return bad(a, "the model is damaged (its header is cut off or wrong)");
    return KREIN_OK;
}

static krein_status check_size(krein_archive *a, const head *h, int64_t bytes) {
    if (bytes != (int64_t)h->bytes)
        return bad(a, "the model is cut off or has bytes too many; copy it again");
    a->bytes = bytes;
    return KREIN_OK;
}

static krein_status read_file(krein_archive *a) {
    krein_ctx *ctx = a->ctx;
    krein_status st = KREIN_OK;
    FILE *f = fopen(a->path, "rb");
    if (!f) return krein__fail(ctx, KREIN_EIO, "%s: %s", a->path, strerror(errno));
    head h;
    size_t got = fread(&h, 1, sizeof h, f);
    if (ferror(f)) {
        st = krein__fail(ctx, KREIN_EIO, "%s: %s", a->path, strerror(errno));
        goto done;
    }
    TRY(check_head(a, &h, got));
    /* The size is checked against the file before memory is asked for. */
    int64_t bytes = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (fseek(f, 0, SEEK_SET) != 0) bytes = -1;
    TRY(check_size(a, &h, bytes));
    NEW(a->read, a->bytes);
    a->file = a->read;
    if (fread(a->read, 1, (size_t)a->bytes, f) != (size_t)a->bytes)
        st =
            krein__fail(ctx, KREIN_EIO, "%s: %s", a->path, ferror(f) ? strerror(errno) : "cut off");
done:
    fclose(f);
    return st;
}

static krein_status look_at_memory(krein_archive *a, const void *bytes, int64_t n) {
    krein_status st = KREIN_OK;
    head h = {0};
    size_t got = (size_t)krein__max(0, krein__min(n, (int64_t)sizeof h));
    if (got > 0) memcpy(&h, bytes, got);
    TRY(check_head(a, &h, got));
    TRY(check_size(a, &h, n));
    a->file = bytes;
done:
    return st;
}

static krein_status check_sum(krein_archive *a) {
    uint64_t sum;
    memcpy(&sum, a->file + a->bytes - 8, sizeof sum);
    if (sum == XXH3_64bits(a->file, (size_t)a->bytes - 8)) return KREIN_OK;
    return bad(a, "the model is damaged (checksum); copy it again");
}

/* A valid checksum proves nothing about who wrote the file: every size is checked. */
static krein_status check_table(krein_archive *a) {
    krein_ctx *ctx = a->ctx;
    krein_status st = KREIN_OK;
    head h;
    memcpy(&h, a->file, sizeof h);
    uint64_t end = (uint64_t)a->bytes - 8;
    if (h.entries > ENTRIES_MAX || HEAD + h.entries * sizeof(entry) > end)
        return bad(a, "the model is damaged (too many entries)");
    NEW(a->table, (int64_t)h.entries); /* memory need not be aligned */
    a->n = (int64_t)h.entries;
    memcpy(a->table, a->file + HEAD, (size_t)a->n * sizeof(entry));
    for (int64_t i = 0; i < a->n; i++) {
        const entry *e = &a->table[i];
        size_t size = size_of(e->type);
        if (size == 0 || !memchr(e->name, 0, NAME) || e->offset > end || e->offset % ALIGN ||
            e->count > (end - e->offset) / size)
            return bad(a, "the model is damaged (an entry points outside the file)");
    }
done:
    return st;
}

/* From memory where path is NULL. */
static krein_status load(krein_ctx *ctx, const char *path, const void *bytes, int64_t n,
                         krein_archive **out) {
    krein_status st = krein__archive_create(ctx, out);
    krein_archive *a = *out;
    if (!a) return st;
    a->reading = true;
    DUP(a->path, path ? path : "(memory)");
    TRY(path ? read_file(a) : look_at_memory(a, bytes, n));
    TRY(check_sum(a));
    TRY(check_table(a));
    return KREIN_OK;
done:
    krein__archive_destroy(a);
    *out = NULL;
    return st;
}

krein_status krein__archive_load(krein_ctx *ctx, const char *path, krein_archive **out) {
    return load(ctx, path, NULL, 0, out);
}

krein_status krein__archive_load_memory(krein_ctx *ctx, const void *bytes, int64_t n,
                                        krein_archive **out) {
    return load(ctx, NULL, bytes, n, out);
}

static bool named(const krein_archive *a, const entry *e, const char *name) {
    size_t used = strlen(a->prefix);
    return strncmp(e->name, a->prefix, used) == 0 && strcmp(e->name + used, name) == 0;
}

bool krein__archive_has(const krein_archive *a, const char *name) {
    for (int64_t i = 0; a->reading && i < a->n; i++)
        if (named(a, &a->table[i], name)) return true;
    return false;
}

/* The entry of that name, type and count (n < 0: any); NULL with the message set if there is none.
 */
static const entry *find(krein_archive *a, const char *name, krein_type type, int64_t n) {
    for (int64_t i = 0; i < a->n; i++) {
        const entry *e = &a->table[i];
        if (!named(a, e, name)) continue;
        if (e->type != (uint32_t)type || (n >= 0 && e->count != (uint64_t)n)) break;
        return e;
    }
    krein__fail(a->ctx, KREIN_EMODEL, "%s: the model is damaged (\"%s\" is missing or wrong)",
                a->path, name);
    return NULL;
}

/* ---- both --------------------------------------------------------------- */

static krein_status scalar(krein_archive *a, const char *name, krein_type type, void *value) {
    if (a->reading) {
        const entry *e = find(a, name, type, 1);
        if (!e) return a->ctx->status;
        memcpy(value, a->file + e->offset, 8);
        return KREIN_OK;
    }
    void *copy = krein__alloc(a->ctx, 1, 8);
    if (!copy) return a->ctx->status;
    memcpy(copy, value, 8);
    return add(a, name, type, copy, 1, copy);
}

krein_status krein__archive_int(krein_archive *a, const char *name, int64_t *value, int64_t low,
                                int64_t high) {
    int64_t number = *value;
    krein_status st = scalar(a, name, KREIN_TYPE_I64, &number);
    if (st == KREIN_OK && a->reading && (number < low || number > high))
        st = krein__fail(a->ctx, KREIN_EMODEL, "%s: the model is damaged (\"%s\" is out of range)",
                         a->path, name);
    /* A count that is wrong must not reach loops that release what was read before. Nothing is
     * stored while writing: other threads may be using the model. */
    if (st == KREIN_OK && a->reading) *value = number;
    return st;
}

krein_status krein__archive_bool(krein_archive *a, const char *name, bool *value) {
    int64_t number = *value;
    krein_status st = krein__archive_int(a, name, &number, 0, 1);
    if (a->reading) *value = number != 0;
    return st;
}

krein_status krein__archive_double(krein_archive *a, const char *name, double *value) {
    return scalar(a, name, KREIN_TYPE_F64, value);
}

krein_status krein__archive_texts(krein_archive *a, const char *name, char ***value, int64_t n) {
    krein_ctx *ctx = a->ctx;
    krein_status st = KREIN_OK;
    if (!a->reading) {
        int64_t bytes = 0;
        for (int64_t i = 0; i < n; i++) bytes += (int64_t)strlen((*value)[i]) + 1;
        char *joined = krein__alloc(ctx, bytes, 1), *at = joined;
        if (!joined) return ctx->status;
        for (int64_t i = 0; i < n; i++) at = stpcpy(at, (*value)[i]) + 1;
        return add(a, name, KREIN_TYPE_BYTES, joined, bytes, joined);
    }
    const entry *e = find(a, name, KREIN_TYPE_BYTES, -1);
    char **texts = NULL;
    if (!e) {
        *value = NULL;
        return ctx->status;
    }
    const char *at = a->file + e->offset, *end = at + e->count;
    ZNEW(texts, n);
    for (int64_t i = 0; i < n; i++) {
        const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (!stop) {
            st = bad(a, "the model is damaged (a list of names is too short)");
            goto done;
        }
        DUP(texts[i], at);
        at = stop + 1;
    }
    if (at != end) st = bad(a, "the model is damaged (a list of names is too long)");
done:
    if (st != KREIN_OK) {
        for (int64_t i = 0; texts && i < n; i++) krein__free(ctx, texts[i]);
        krein__free(ctx, texts);
        texts = NULL;
    }
    *value = texts;
    return st;
}

krein_status krein__archive_text(krein_archive *a, const char *name, char **value) {
    char **one = value;
    if (!a->reading) return krein__archive_texts(a, name, &one, 1);
    krein_status st = krein__archive_texts(a, name, &one, 1);
    if (st == KREIN_OK) {
        *value = one[0];
        krein__free(a->ctx, one);
    }
    return st;
}

krein_status krein__archive_array(krein_archive *a, const char *name, krein_type type, void *data,
                                  int64_t n) {
    void **pointer = data;
    if (!a->reading) return add(a, name, type, *pointer, n, NULL);
    const entry *e = find(a, name, type, n);
    if (!e) return a->ctx->status;
    size_t size = size_of((uint32_t)type);
    void *copy = krein__alloc(a->ctx, n, size);
    if (!copy) return a->ctx->status;
    memcpy(copy, a->file + e->offset, (size_t)n * size);
    bool finite = true;
    for (int64_t i = 0; i < n && finite; i++) {
        if (type == KREIN_TYPE_F32) finite = isfinite(((float *)copy)[i]);
        if (type == KREIN_TYPE_F64) finite = isfinite(((double *)copy)[i]);
    }
    if (!finite) {
        krein__free(a->ctx, copy);
        return krein__fail(a->ctx, KREIN_EMODEL, "%s: the model is damaged (\"%s\" is not finite)",
                           a->path, name);
    }
    *pointer = copy;
    return KREIN_OK;
}
