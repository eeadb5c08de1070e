/* base.h -- context, status, checked memory: what every other file includes.
 *
 * Error style: a function returns krein_status and sets the context's message
 * through krein__fail. Inside a function the macros TRY and NEW jump to the one
 * exit label `done`, where everything is released (destroy accepts NULL).
 */
#ifndef KREIN_BASE_H
#define KREIN_BASE_H

#include "krein.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KREIN__MESSAGE = 1024 };

/* Where the rows of a file are while they are used: by their size, or (tests) always in memory, or
 * read again in every pass. */
typedef enum krein_keep {
    KREIN_KEEP_AUTO = 0,
    KREIN_KEEP_MEMORY = 1,
    KREIN_KEEP_STREAM = -1
} krein_keep;

struct krein_ctx {
    krein_allocator memory;
    uint64_t budget; /* most bytes that may be held */
    uint64_t space;  /* the limit of the address space (ulimit -v) where it is felt, else 0 */
    _Atomic uint64_t held, peak;
    struct krein_ctx *parent; /* its held and peak count what this one holds; or NULL */
    struct krein_comm *comm;  /* the other processes (dist/dist.h); NULL: there are none */
    bool beside;              /* it has no account of its own: the parent's budget holds */
    bool overlaps;            /* its budget is no share of its own: the parent's is asked as well */
    int threads;
    bool own_budget, own_threads; /* asked for, not found out */
    krein_keep keep_rows;
    krein_log_fn log;
    krein_progress_fn progress;
    krein_cancel_fn cancel;
    void *user;
    /* krein__clock() of a training with a time limit, 0: never. From the first on walks end with
     * their best (krein__enough), from the second on krein__poll fails with KREIN_ETIME. */
    double finish, deadline;
    krein_status status; /* of the last failure */
    double last_progress;
    char message[KREIN__MESSAGE];
};

/* A context for one of `shares` workers inside a parallel region: one thread, a share of what is
 * left of the budget, no callbacks. Made before they run, while nothing changes what the parent
 * holds; each takes a copy. */
krein_ctx krein__ctx_share(krein_ctx *parent, int shares);
/* A context for a thread that runs beside the one that entered the library: a message of its own,
 * the parent's memory, no callbacks. */
krein_ctx krein__ctx_beside(krein_ctx *parent);

/* Sets the message and returns status. The first word of the text is the place. */
krein_status krein__fail(krein_ctx *ctx, krein_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts more in front of a message set deeper down ("reading x.csv: ..."). */
krein_status krein__prefix(krein_ctx *ctx, krein_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void krein__log(krein_ctx *ctx, krein_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Throttled to ten calls a second; done >= total is always passed on. */
void krein__progress(krein_ctx *ctx, const char *what, double done, double total);
/* KREIN_ECANCEL when the caller wants to stop, KREIN_ETIME after the context's deadline. */
krein_status krein__poll(krein_ctx *ctx);
double krein__clock(void);         /* monotonic seconds */
bool krein__late(double deadline); /* whether that has come, on krein__clock; 0: it never does */
bool krein__enough(const krein_ctx *ctx); /* the time limit asks to end with what there is */

/* 64-byte aligned; NULL with the message set when over the budget, on overflow of
 * count * size, or when the allocator refuses. Zero bytes give a valid pointer.
 * krein__alloc leaves the memory as it is; krein__zalloc zeroes it. */
void *krein__alloc(krein_ctx *ctx, int64_t count, size_t size);
void *krein__zalloc(krein_ctx *ctx, int64_t count, size_t size);
/* Grows or shrinks, keeping the contents; NULL leaves p as it was. */
void *krein__resize(krein_ctx *ctx, void *p, int64_t count, size_t size);
void krein__free(krein_ctx *ctx, void *p);
char *krein__strdup(krein_ctx *ctx, const char *text);
char *krein__strndup(krein_ctx *ctx, const char *text, size_t length);
char *krein__format(krein_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* KREIN_EMEMORY with numbers and advice when `bytes` more would not fit. */
krein_status krein__reserve_check(krein_ctx *ctx, double bytes, const char *what,
                                  const char *way_out);

#define TRY(expression)                                                                            \
    do {                                                                                           \
        if ((st = (expression)) != KREIN_OK) goto done;                                            \
    } while (0)
#define NEW(pointer, count)                                                                        \
    do {                                                                                           \
        if (!((pointer) = krein__alloc(ctx, (count), sizeof *(pointer)))) {                        \
            st = ctx->status;                                                                      \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)
#define ZNEW(pointer, count)                                                                       \
    do {                                                                                           \
        if (!((pointer) = krein__zalloc(ctx, (count), sizeof *(pointer)))) {                       \
            st = ctx->status;                                                                      \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)
#define DUP(pointer, text)                                                                         \
    do {                                                                                           \
        if (!((pointer) = krein__strdup(ctx, (text)))) {                                           \
            st = ctx->status;                                                                      \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#define KREIN__COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static inline int64_t krein__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t krein__max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bytes for people: "1.5 GB". Writes into buf of at least 32 bytes and returns it. */
const char *krein__bytes_text(double bytes, char *buf);
/* Shortest decimal that reads back as x. buf of at least 40 bytes. */
const char *krein__number_text(double x, char *buf);
/* x rounded to a few decimal digits: a number to read and to type again. */
double krein__round_digits(double x, int digits);

#endif
