/* readers.h -- tests of the readers of CSV, LIBSVM and NPY, plain and gzipped: the same on any
 * number of threads and any buffer, any allocation may fail.
 *
 * A file is read into one string, so that results can be compared and looked at:
 *   "1 2.5 c0 L1 w2 g0 iann;" for a row, " D3=red,blue" for a dictionary, or "ERR <message>".
 *
 *   int main(void) { if (!readers_start()) return 1; RUN(...); return readers_done(); }
 */
#ifndef KREIN_TEST_READERS_H
#define KREIN_TEST_READERS_H

#include "test.h"

#include "file/number.h"
#include "file/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char dir[512];

/* ---- memory that counts and fails ----------------------------------------------- */

typedef struct counter {
    _Atomic long live, calls;
    long fail; /* this call fails; 0 never */
} counter;

static inline void *count_alloc(void *user, size_t bytes) {
    counter *c = user;
    if (++c->calls == c->fail) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p) c->live++;
    return p;
}
static inline void count_release(void *user, void *p) {
    counter *c = user;
    if (p) c->live--;
    free(p);
}

/* ---- files ------------------------------------------------------------------------ */

static inline const char *file_name(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}
static inline void put(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(file_name(name), "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}
static inline void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }
static inline void put_gz(const char *name, const void *bytes, size_t n, const char *mode) {
    gzFile f = gzopen(file_name(name), mode);
    if (!f || gzwrite(f, bytes, (unsigned)n) != (int)n || gzclose(f)) abort();
}

/* ---- one string per file ------------------------------------------------------------ */

typedef struct text {
    char *s;
    size_t n, room;
} text;
__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...) {
    char part[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(part, sizeof part, format, args);
    va_end(args);
    if (n >= (int)sizeof part) n = sizeof part - 1;
    if (t->n + (size_t)n + 1 > t->room) {
        t->room = 2 * t->room + (size_t)n + 64;
        t->s = realloc(t->s, t->room);
        if (!t->s) abort();
    }
    memcpy(t->s + t->n, part, (size_t)n + 1);
    t->n += (size_t)n;
}

typedef struct how {
    const char *roles; /* a letter per column: f l w g i - ; NULL: as they are */
    krein_reader_options options;
    bool missing_ok, label_optional, shift, frozen;
    int64_t max_index;
    int threads, passes;
    long fail;
} how;

static inline void say_row(text *t, const krein_raw *raw, int64_t i) {
    for (int64_t j = 0; (raw->num || raw->byte) && j < raw->nnum; j++)
        say(t, "%.9g ", (double)krein__raw_number(raw, raw->nnum, i, j));
    for (int64_t j = 0; j < raw->ncat; j++) say(t, "c%d ", (int)raw->cat[i * raw->ncat + j]);
    for (int64_t j = 0; j < raw->nlabel; j++) say(t, "L%.17g ", raw->label[i * raw->nlabel + j]);
    if (raw->weight) say(t, "w%g ", raw->weight[i]);
    if (raw->group) say(t, "g%d ", (int)raw->group[i]);
    if (raw->id) say(t, "i%s ", raw->id[i]);
    for (int64_t k = raw->ptr ? raw->ptr[i] : 0; raw->ptr && k < raw->ptr[i + 1]; k++)
        say(t, "%d:%.9g ", (int)raw->col[k], (double)raw->val[k]);
    say(t, ";");
}

static inline krein_status read_rows(krein_reader *r, text *t) {
    krein_raw raw = {0};
    krein_status st;
    int64_t row = 0;
    int batches = 0;
    if ((st = krein__reader_begin(r))) return st;
    while (!(st = krein__reader_next(r, &raw)) && raw.n) {
        CHECK(raw.from.row == row);
        row += raw.n;
        for (int64_t i = 0; i < raw.n; i++) say_row(t, &raw, i);
        if (batches++ % 3 == 2) { /* a batch that is kept */
            krein_raw kept = raw;
            raw = (krein_raw){0};
            krein__raw_clear(r->ctx, &kept);
        }
    }
    krein__raw_clear(r->ctx, &raw);
    return st;
}

static inline char *dump_path(const char *path, how h, long *calls) {
    text t = {0};
    counter memory = {.fail = h.fail};
    krein_ctx_options options;
    krein_ctx *ctx = NULL;
    krein_reader *r = NULL;
    krein_ctx_options_init(&options);
    options.threads = h.threads ? h.threads : 2;
    options.max_memory = (uint64_t)1 << 30;
    options.memory = (krein_allocator){count_alloc, count_release, &memory};
    if (krein_ctx_create(&options, &ctx)) {
        CHECK(h.fail);
        say(&t, "ERR no context");
        return t.s;
    }
    krein_status st = krein__reader_open(ctx, path, &h.options, &r);
    if (!st) {
        r->missing_ok = h.missing_ok;
        r->label_optional = h.label_optional;
        r->max_index = h.max_index;
        for (int64_t j = 0; j < r->ncolumn; j++) {
            static const char letters[] = "flwgi-";
            const char *role = NULL;
            if (h.roles && (int64_t)strlen(h.roles) > j) role = strchr(letters, h.roles[j]);
            if (role) r->column[j].role = (krein_role)(role - letters);
            if (h.shift) r->column[j].shift = r->column[j].first;
        }
        for (int p = 0; p < (h.passes ? h.passes : 1) && !st; p++) {
            t.n = 0;
            say(&t, "%s", "");
            if (p && h.frozen)
                for (int64_t j = 0; j < r->ncolumn; j++) r->column[j].frozen = true;
            st = read_rows(r, &t);
            CHECK(r->seconds >= 0 && r->bytes_done >= 0 &&
                  (st || r->bytes < 0 || r->bytes_done > 0));
        }
        for (int64_t j = 0; j < r->ncolumn && !st; j++) {
            const krein_dict *d = &r->column[j].dict;
            if (!d->n) continue;
            say(&t, " D%lld=", (long long)j);
            for (int64_t k = 0; k < d->n; k++) say(&t, k ? ",%s" : "%s", d->word[k]);
        }
        if (r->sparse && !st) say(&t, " d=%lld", (long long)r->d);
    }
    if (st) {
        const char *m = krein_message(ctx);
        t.n = 0;
        CHECK(*m);
        if (!strncmp(m, dir, strlen(dir)) && m[strlen(dir)] == '/') m += strlen(dir) + 1;
        say(&t, "ERR %d %s", (int)st, m);
    }
    CHECK(st == KREIN_OK || h.fail || st == KREIN_EFORMAT || st == KREIN_EDATA || st == KREIN_EIO ||
          st == KREIN_EARG);
    krein__reader_close(r);
    krein_ctx_destroy(ctx);
    CHECK(memory.live == 0);
    if (calls) *calls = memory.calls;
    return t.s;
}
static inline char *dump(const char *name, how h) {
    char path[1024];
    snprintf(path, sizeof path, "%s", file_name(name));
    return dump_path(path, h, NULL);
}

/* The same for every number of threads and every buffer; the caller frees it. */
static inline char *steady(const char *name, how h) {
    static const size_t buffers[] = {0, 64, 100, 4096};
    char *first = NULL;
    for (int b = 0; b < 4; b++) {
        for (int threads = 1; threads <= 3; threads++) {
            h.threads = threads;
            h.options.buffer = buffers[b];
            char *s = dump(name, h);
            if (first && strcmp(first, s)) {
                printf("threads %d buffer %zu: %.300s\nnot %.300s\n", threads, buffers[b], s,
                       first);
                test_bad++;
            }
            if (first)
                free(s);
            else
                first = s;
        }
    }
    return first;
}

#define AUTO .options = {.header = -1}
static const how plain = {AUTO};

/* ---- CSV -------------------------------------------------------------------------------- */

static inline krein_ctx *new_ctx(void) {
    krein_ctx_options options;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&options);
    options.threads = 2;
    CHECK(!krein_ctx_create(&options, &ctx));
    return ctx;
}

/* ---- NPY ------------------------------------------------------------------------------------ */

static inline size_t npy(char *out, int version, const char *header, const void *data,
                         size_t bytes) {
    size_t start = version == 1 ? 10 : 12, length = strlen(header) + 1;
    while ((start + length) % 64) length++;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    for (size_t k = 0; k < start - 8; k++) out[8 + k] = (char)(length >> (8 * k) & 255);
    memset(out + start, ' ', length);
    memcpy(out + start, header, strlen(header));
    out[start + length - 1] = '\n';
    memcpy(out + start + length, data, bytes);
    return start + length + bytes;
}

/* ---- a folder for them ---------------------------------------------------------------- */

static inline bool readers_start(void) {
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%.400s/readers-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(dir) != NULL;
}
static inline int readers_done(void) {
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(file_name(e->d_name));
    if (d) closedir(d);
    rmdir(dir);
    return DONE();
}

#endif
