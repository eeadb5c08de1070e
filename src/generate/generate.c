/* generate.c -- writes a synthetic data set of any length in constant memory.
 *
 *   .csv     y,x1,x2,...          header, then one line a row, target first
 *   .libsvm  y 1:x1 2:x2 ...      zeros left out
 *   .npy     float32, n x (1 + d), target first
 *
 * A set of labels is their numbers from 1, with | between them, in LIBSVM commas; none is nothing.
 * In an array it is a column of 0 and 1 for each label.
 *
 * Blocks of rows are made and formatted by all threads and written in order, so the
 * bytes do not depend on the number of threads. Numbers are the shortest decimals that
 * read back as the same float32.
 */
#include "generate/generate.h"

#include "base/sized.h"

#include "base/text.h"
#include "file/writer.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define GENERATOR(name) extern const krein_generator_class name;
#include "generate/generators.def"
#undef GENERATOR

const krein_class *const krein__generators[] = {
#define GENERATOR(name) &name.cls,
#include "generate/generators.def"
#undef GENERATOR
};
const int64_t krein__generator_count = KREIN__COUNT(krein__generators);

/* ---- formats ------------------------------------------------------------ */

typedef enum { CSV, LIBSVM, NPY } format;
static const char *const extensions[] = {".csv", ".libsvm", ".npy"};

static bool ends_in(const char *text, size_t length, const char *end) {
    const size_t n = strlen(end);
    return length > n && memcmp(text + length - n, end, n) == 0;
}

static krein_status find_format(krein_ctx *ctx, const char *path, format *out) {
    size_t length = strlen(path);
    *out = CSV;
    if (strcmp(path, "-") == 0) return KREIN_OK;
    if (ends_in(path, length, ".gz")) length -= 3;
    for (int k = 0; k < KREIN__COUNT(extensions); k++) {
        if (!ends_in(path, length, extensions[k])) continue;
        *out = (format)k;
        return KREIN_OK;
    }
    return krein__fail(ctx, KREIN_EARG,
                       "%s: the name does not say the format; end it in .csv, .npy or .libsvm, "
                       "and in .gz after that to compress",
                       path);
}

typedef struct {
    const krein_generator_class *generator;
    const krein_values *values;
    format format;
    int64_t n, d;
    double noise;
    uint64_t seed;
} job;

/* A cell is a number of at most 16 characters with, in LIBSVM, its column's before it. */
enum { CELL = 32, SET = 256 }; /* SET: the labels of a row, 52 at most */

/* Columns of the target in an array. The number of labels is the first option of their generator.
 */
static int64_t targets(const job *j) {
    return j->generator->labels ? (int64_t)j->values->number[0] : 1;
}

static krein_status put_header(krein_writer *w, const job *j) {
    krein_status st = KREIN_OK;
    if (j->format == NPY) return krein__npy_header(w, "<f4", j->n, j->d + targets(j));
    if (j->format == LIBSVM) return st;
    TRY(krein__writer_put(w, "y", 1));
    for (int64_t k = 1; k <= j->d; k++) {
        char name[CELL] = ",x";
        TRY(krein__writer_put(w, name, (size_t)(krein__put_integer(name + 2, k) - name)));
    }
    TRY(krein__writer_put(w, "\n", 1));
done:
    return st;
}

static char *put_set(char *p, char between, uint64_t set) {
    for (int64_t c = 0, some = 0; set >> c; c++) {
        if (!(set >> c & 1)) continue;
        if (some++) *p++ = between;
        p = krein__put_integer(p, c + 1);
    }
    return p;
}

static char *put_row(char *p, const job *j, int64_t i, float *x) {
    double target;
    j->generator->row(j->seed, i, j->d, j->noise, j->values, x, &target);
    const float y = (float)target;
    for (int64_t c = 0; j->format == NPY && c < targets(j); c++, p += sizeof y) {
        const float one = j->generator->labels ? (float)((uint64_t)target >> c & 1) : y;
        memcpy(p, &one, sizeof one);
    }
    if (j->format == NPY) {
        memcpy(p, x, (size_t)j->d * sizeof *x);
        return p + (size_t)j->d * sizeof *x;
    }
    p = j->generator->labels           ? put_set(p, j->format == CSV ? '|' : ',', (uint64_t)target)
        : j->generator->classification ? krein__put_integer(p, (int64_t)target)
                                       : krein__put_float(p, y);
    for (int64_t k = 0; k < j->d; k++) {
        if (j->format == CSV) {
            *p++ = ',';
        } else {
            if (x[k] == 0) continue;
            *p++ = ' ';
            p = krein__put_integer(p, k + 1);
            *p++ = ':';
        }
        p = krein__put_float(p, x[k]);
    }
    *p++ = '\n';
    return p;
}

/* ---- the stream --------------------------------------------------------- */

/* Each thread fills a buffer of its own and waits for its turn to write it, while the
 * others go on. Every few blocks all meet, for progress and a look at the cancel flag on
 * the thread that entered the library. */
static krein_status put_rows(krein_ctx *ctx, krein_writer *w, const job *j) {
    krein_status st = KREIN_OK;
    const int64_t rows = krein__max(1, krein__min(4096, 32768 / (j->d + 1)));
    const int64_t blocks = (j->n - 1) / rows + 1, threads = krein__min(ctx->threads, blocks);
    const int64_t capacity = rows * ((j->d + 1) * CELL + SET), round = 16 * threads;
    char *text = NULL;
    float *x = NULL;
    NEW(text, threads * capacity);
    NEW(x, threads * j->d);
    for (int64_t first = 0; first < blocks; first += round) {
        const int64_t last = krein__min(blocks, first + round);
        TRY(krein__poll(ctx));
        krein__progress(ctx, "generating", (double)(first * rows), (double)j->n);
#pragma omp parallel for ordered schedule(static, 1) num_threads((int)threads)
        for (int64_t b = first; b < last; b++) {
            char *start = text + omp_get_thread_num() * capacity, *p = start;
            float *row = x + omp_get_thread_num() * j->d;
            const int64_t end = b == blocks - 1 ? j->n : (b + 1) * rows;
            for (int64_t i = b * rows; i < end; i++) p = put_row(p, j, i, row);
#pragma omp ordered
            if (st == KREIN_OK) st = krein__writer_put(w, start, (size_t)(p - start));
        }
        if (st != KREIN_OK) goto done;
    }
    krein__progress(ctx, "generating", (double)j->n, (double)j->n);
done:
    krein__free(ctx, x);
    krein__free(ctx, text);
    return st;
}

void krein_generate_options_init_sized(krein_generate_options *given, size_t size) {
    krein_generate_options own = KREIN_SIZED(krein_generate_options), *options = &own;
    *options = (krein_generate_options){
        .size = sizeof *options, .n = 1000, .d = 0, .noise = -1, .seed = 1};
    krein__options_give(given, size, options);
}

static krein_status check(krein_ctx *ctx, const krein_generate_options *o, job *j) {
    const krein_generator_class *g = j->generator;
    const char *name = g->cls.name;
    j->n = o->n;
    j->d = o->d == 0 ? g->d : o->d;
    j->noise = o->noise < 0 ? g->noise : o->noise;
    j->seed = o->seed;
    if (j->n < 1)
        return krein__fail(ctx, KREIN_EARG, "%s: the number of rows must be at least 1, got %lld",
                           name, (long long)j->n);
    if (j->d < g->d_min || j->d > g->d_max) {
        if (g->d_min == g->d_max)
            return krein__fail(ctx, KREIN_EARG, "%s: the number of inputs is %lld, got %lld", name,
                               (long long)g->d_min, (long long)j->d);
        return krein__fail(ctx, KREIN_EARG,
                           "%s: the number of inputs must be from %lld to %lld, got %lld", name,
                           (long long)g->d_min, (long long)g->d_max, (long long)j->d);
    }
    /* Far above that, targets are no longer float32 numbers. */
    if (!(o->noise > -INFINITY && j->noise <= 1e30))
        return krein__fail(ctx, KREIN_EARG, "%s: the noise must be from 0 to 1e30, got %g", name,
                           o->noise);
    return KREIN_OK;
}

/* Arrays have a size that is known beforehand, texts about as much for each number. A folder that
 * cannot be asked is left to the writing. */
static krein_status check_room(krein_ctx *ctx, const char *path, const job *j) {
    double bytes = 4 * (double)j->n * (double)(j->d + targets(j)), room;
    const char *slash = strrchr(path, '/');
    char *folder = NULL, need[32], have[32];
    struct statvfs disk;
    struct stat file;
    krein_status st = KREIN_OK;
    if (strcmp(path, "-") == 0 || (stat(path, &file) == 0 && !S_ISREG(file.st_mode))) goto done;
    DUP(folder, slash ? path : ".");
    if (slash) folder[slash - path + 1] = 0;
    if (statvfs(folder, &disk) != 0) goto done;
    room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (bytes > room)
        st = krein__fail(ctx, KREIN_EIO,
                         "%s: the rows take %s, and the disk has room for %s; use a smaller `n`, "
                         "or another folder",
                         path, krein__bytes_text(bytes, need), krein__bytes_text(room, have));
done:
    krein__free(ctx, folder);
    return st;
}

krein_status krein_generate(krein_ctx *ctx, const char *spec, const krein_generate_options *options,
                            const char *path) {
    krein_status st = KREIN_OK;
    krein_generate_options o;
    krein_values values = {0};
    krein_writer *w = NULL;
    int64_t which = 0;
    job j = {.values = &values};
    krein_generate_options_init(&o);
    TRY(krein__options_copy(ctx, options, &o, "krein_generate_options"));
    if (!spec || !path)
        return krein__fail(ctx, KREIN_EARG, "generate: the generator and the file are required");
    TRY(krein__parse_spec(ctx, spec, "generator", krein__generators, krein__generator_count, &which,
                          &values));
    /* cls is the first member, so the pointers are the same. */
    j.generator = (const krein_generator_class *)(const void *)krein__generators[which];
    TRY(check(ctx, &o, &j));
    TRY(find_format(ctx, path, &j.format));
    TRY(check_room(ctx, path, &j));
    TRY(krein__writer_open(ctx, path, &w));
    TRY(put_header(w, &j));
    TRY(put_rows(ctx, w, &j));
    st = krein__writer_commit(w);
    w = NULL;
done:
    krein__writer_abort(w);
    krein__values_clear(ctx, &values);
    return st;
}
