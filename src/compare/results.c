/* results.c -- the file of results: one line of JSON a run, only ever appended to.
 *
 *   {"compare":1,"key":"0123456789abcdef","value":0.25,"seconds":1.5,"bytes":1048576,"cpu":1.4,
 *    "data":"a","method":"krr","split":3,"measure":"error"}
 *
 * The key stands for all that the result depends on: the rows, the options, the method, the split,
 * the version. Lines with another key are of other comparisons, and left alone. A run that failed
 * has "failed" and why instead of the numbers, and is tried again. The last line may be cut short
 * by a crash: it counts as none, and the next one begins on a line of its own. */
#include "compare/compare.h"

#include "base/target.h"
#include "file/number.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct krein_results {
    int fd;
    pthread_mutex_t lock;
} krein_results;

static const char opening[] = "{\"compare\":1,\"key\":\"";

/* ---- reading ------------------------------------------------------------ */

/* The number behind the name at *at, which goes behind it. */
static bool read_field(const char **at, const char *name, double *out) {
    const size_t length = strlen(name);
    if (strncmp(*at, name, length) != 0) return false;
    const char *end = krein__number(*at + length, out);
    if (!end) return false;
    *at = end;
    return true;
}

/* False: the line is damaged, or tells of a failure. */
static bool read_line(const char *line, krein_run *out) {
    char *end;
    const char *at = line + sizeof opening - 1;
    out->key = strtoull(at, &end, 16);
    if (end != at + 16 || *end != '"') return false;
    at = end + 1;
    const bool whole = read_field(&at, ",\"value\":", &out->value) &&
                       read_field(&at, ",\"seconds\":", &out->seconds) &&
                       read_field(&at, ",\"bytes\":", &out->bytes);
    if (whole && !read_field(&at, ",\"cpu\":", &out->cpu)) out->cpu = NAN;
    return whole && isfinite(out->value);
}

typedef struct known {
    krein_run *run;
    int64_t n, room;
} known;

static krein_status keep(krein_ctx *ctx, known *k, const krein_run *run) {
    if (k->n == k->room) {
        const int64_t room = krein__max(256, 2 * k->room);
        krein_run *grown = krein__resize(ctx, k->run, room, sizeof *grown);
        if (!grown) return ctx->status;
        k->run = grown;
        k->room = room;
    }
    k->run[k->n++] = *run;
    return KREIN_OK;
}

static int by_key(const void *a, const void *b) {
    const uint64_t x = ((const krein_run *)a)->key, y = ((const krein_run *)b)->key;
    return (x > y) - (x < y);
}

static krein_status refuse(krein_ctx *ctx, const char *path) {
    return krein__fail(ctx, KREIN_EDATA,
                       "%s is no file of results, and would be written to; name another one "
                       "(`results`)",
                       path);
}

/* A device may have no end, and other files no lines: a look before the first one is read. */
static krein_status check_kind(krein_ctx *ctx, const char *path, FILE *f) {
    struct stat status;
    if (fstat(fileno(f), &status) != 0 || !S_ISREG(status.st_mode)) return refuse(ctx, path);
    const int first = getc(f);
    if (first != EOF && first != '{' && first != '\n') return refuse(ctx, path);
    rewind(f);
    return KREIN_OK;
}

/* Of the lines that are whole those with numbers; whether the last one ends. */
static krein_status read_lines(krein_ctx *ctx, const char *path, FILE *f, known *out, bool *ends) {
    krein_status st = KREIN_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    *ends = true;
    TRY(check_kind(ctx, path, f));
    while ((length = getline(&line, &room, f)) > 0) {
        krein_run run = {0};
        *ends = line[length - 1] == '\n';
        if (!*ends || strncmp(line, "\n", 2) == 0) continue;
        if (strncmp(line, opening, sizeof opening - 1) != 0) {
            /* A line that was cut short is part of its own line since the next run. */
            if (strncmp(line, "{", 1) == 0) continue;
            st = refuse(ctx, path);
            break;
        }
        char *padded = krein__alloc(ctx, length + KREIN__PAD, 1);
        if (!padded) {
            st = ctx->status;
            break;
        }
        memcpy(padded, line, (size_t)length);
        memset(padded + length, 0, KREIN__PAD);
        if (read_line(padded, &run)) st = keep(ctx, out, &run);
        krein__free(ctx, padded);
        if (st != KREIN_OK) break;
    }
done:
    free(line);
    return st;
}

/* Runs that are known become done. */
static void take_over(krein_comparison *c, known *k) {
    const int64_t runs = c->sets * c->repeats * c->methods;
    qsort(k->run, (size_t)k->n, sizeof *k->run, by_key);
    for (int64_t i = 0; i < runs; i++) {
        krein_run *to = &c->run[i];
        const krein_run *from = bsearch(to, k->run, (size_t)k->n, sizeof *k->run, by_key);
        if (!from) continue;
        to->value = from->value;
        to->seconds = from->seconds;
        to->bytes = from->bytes;
        to->cpu = from->cpu;
        to->done = to->reused = true;
        c->reused++;
    }
    if (k->n == 0) return;
    krein__log(c->ctx, KREIN_LOG_INFO, "%s: %lld of %lld results are taken from there%s",
               c->o.results, (long long)c->reused, (long long)runs,
               c->reused < k->n ? "; it also has some of other data or options" : "");
}

krein_status krein__results_open(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    known k = {0};
    bool ends = true;
    FILE *f = fopen(c->o.results, "r");
    if (!f && errno != ENOENT) return krein__target_failure(ctx, c->o.results, errno);
    if (f) TRY(read_lines(ctx, c->o.results, f, &k, &ends));
    if (k.n > 0) take_over(c, &k);
    ZNEW(c->results, 1);
    pthread_mutex_init(&c->results->lock, NULL);
    c->results->fd = open(c->o.results, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (c->results->fd < 0) {
        st = krein__target_failure(ctx, c->o.results, errno);
        goto done;
    }
    if (!ends && write(c->results->fd, "\n", 1) != 1)
        st = krein__target_failure(ctx, c->o.results, errno);
done:
    if (f) fclose(f);
    krein__free(ctx, k.run);
    return st;
}

/* ---- writing ------------------------------------------------------------ */

/* A text as JSON has it. Bytes that are no ASCII go as they are: names of files are UTF-8 mostly.
 */
static void put_text(FILE *f, const char *text) {
    fputc('"', f);
    for (; *text; text++) {
        const unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\')
            fprintf(f, "\\%c", ch);
        else if (ch < 0x20)
            fprintf(f, "\\u%04x", ch);
        else
            fputc(ch, f);
    }
    fputc('"', f);
}

static void put_run(FILE *f, const krein_comparison *c, int64_t set, int64_t split,
                    int64_t method) {
    const krein_run *r = krein__run_of(c, set, split, method);
    const char *const names[] = {"value", "seconds", "bytes", "cpu"};
    const double numbers[] = {r->value, r->seconds, r->bytes, r->cpu};
    char number[40];
    fprintf(f, "%s%016llx\"", opening, (unsigned long long)r->key);
    for (int k = 0; k < 4 && !r->failed; k++)
        fprintf(f, ",\"%s\":%s", names[k], krein__number_text(numbers[k], number));
    if (r->failed) {
        fputs(",\"failed\":", f);
        put_text(f, r->failed);
    }
    fputs(",\"data\":", f);
    put_text(f, c->set[set].name);
    fputs(",\"method\":", f);
    put_text(f, c->method[method].name);
    fprintf(f, ",\"split\":%lld,\"measure\":\"%s\"}\n", (long long)split,
            krein__measure_name(c->measure));
}

krein_status krein__results_add(krein_comparison *c, krein_ctx *ctx, int64_t set, int64_t split,
                                int64_t method) {
    krein_status st = KREIN_OK;
    char *text = NULL;
    size_t size = 0;
    if (!c->results) return KREIN_OK;
    FILE *f = open_memstream(&text, &size);
    if (!f) return krein__fail(ctx, KREIN_EMEMORY, "out of memory");
    put_run(f, c, set, split, method);
    if (fclose(f) != 0) {
        free(text);
        return krein__fail(ctx, KREIN_EMEMORY, "out of memory");
    }
    pthread_mutex_lock(&c->results->lock);
    const ssize_t written = write(c->results->fd, text, size);
    if (written != (ssize_t)size)
        st = krein__target_failure(ctx, c->o.results, written < 0 ? errno : ENOSPC);
    pthread_mutex_unlock(&c->results->lock);
    free(text);
    return st;
}

void krein__results_close(krein_comparison *c) {
    if (!c->results) return;
    if (c->results->fd >= 0) close(c->results->fd);
    pthread_mutex_destroy(&c->results->lock);
    krein__free(c->ctx, c->results);
    c->results = NULL;
}
