/* pass.c -- a pass over the raw rows of a data set, with reading beside computing.
 *
 * Rows in memory are given out as they lie there. A file is read in batches: the first one by the
 * caller, so that a short look costs no thread; from the second one on a thread reads and parses
 * ahead into a ring,
 *
 *     SLOTS batches:  one with the caller  |  those ready, in file order  |  the one being read
 *
 * and waits where all are full. While it runs, the reader is its own alone. Errors travel in the
 * ring like batches, so that they come behind the rows before them. The thread never calls back:
 * the caller looks at the cancel flag while it waits. Stopping it (the end, another pass over the
 * same data, closing) waits for the batch at hand.
 *
 * Batches are the same with and without the thread. There is none where a sixteenth of the memory
 * budget (or data->ahead_room, once that is set) does not hold the batches ahead.
 */
#include "stream/data.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 3, WAIT_MS = 50 };

typedef struct slot {
    krein_raw raw;
    krein_status status;
    char message[KREIN__MESSAGE]; /* where status is not KREIN_OK */
    double seconds;
    int64_t bytes_done;
} slot;

struct krein_ahead {
    krein_data *data;
    krein_ctx own; /* of the thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    atomic_bool stop;
    slot ring[SLOTS];
    int64_t first, ready; /* the next batch for the caller; how many there are (mutex) */
    bool running, taken;  /* the thread is to be joined; the caller has ring[first] */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static int stopped(void *user) { return atomic_load(&((krein_ahead *)user)->stop); }

static void fill(krein_ahead *a, slot *s) {
    double start = krein__clock();
    s->status = krein__data_fetch(a->data, &a->own, &s->raw);
    s->seconds = krein__clock() - start;
    s->bytes_done = a->data->reader->bytes_done;
    if (s->status != KREIN_OK) memcpy(s->message, a->own.message, sizeof s->message);
}

static void *read_ahead(void *user) {
    krein_ahead *a = user;
    for (int64_t at = 0;; at++) {
        slot *s = &a->ring[at % SLOTS];
        pthread_mutex_lock(&a->mutex);
        while (at - a->first >= SLOTS && !atomic_load(&a->stop))
            pthread_cond_wait(&a->change, &a->mutex);
        pthread_mutex_unlock(&a->mutex);
        if (atomic_load(&a->stop)) break;
        fill(a, s);
        /* Once it is ready the batch is the caller's, who may keep it and leave an empty one. */
        bool last = s->status != KREIN_OK || s->raw.n == 0;
        pthread_mutex_lock(&a->mutex);
        a->ready++;
        pthread_cond_broadcast(&a->change);
        pthread_mutex_unlock(&a->mutex);
        if (last) break;
    }
    return NULL;
}

static void use(krein_data *data, krein_ctx *ctx) {
    krein__reader_use(data->reader, ctx);
    if (data->labels) krein__reader_use(data->labels, ctx);
}

/* Signals are for the threads that were there before. */
static bool create_thread(krein_ahead *a) {
    sigset_t all, old;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0) return false;
    bool made = pthread_create(&a->thread, NULL, read_ahead, a) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return made;
}

void krein__data_quiet(krein_data *data) {
    krein_ahead *a = data->ahead;
    if (!a) return;
    data->ahead = NULL;
    if (!a->running) return;
    a->running = false;
    pthread_mutex_lock(&a->mutex);
    atomic_store(&a->stop, true);
    pthread_cond_broadcast(&a->change);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->thread, NULL);
    use(data, data->ctx);
}

static void ahead_free(krein_ctx *ctx, krein_ahead *a) {
    if (!a) return;
    for (int k = 0; k < SLOTS; k++) krein__raw_clear(ctx, &a->ring[k].raw);
    pthread_cond_destroy(&a->change);
    pthread_mutex_destroy(&a->mutex);
    krein__free(ctx, a);
}

/* Without a thread there is no reading ahead, and no error. */
static krein_status ahead_begin(krein_raw_pass *p) {
    krein_data *data = p->data;
    krein_ctx *ctx = data->ctx;
    krein_ahead *a = krein__zalloc(ctx, 1, sizeof *a);
    pthread_condattr_t clock;
    if (!a) return ctx->status;
    a->data = data;
    a->own = krein__ctx_beside(ctx);
    a->own.cancel = stopped;
    a->own.threads = (ctx->threads + 1) / 2; /* the others compute */
    a->own.user = a;
    pthread_mutex_init(&a->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&a->change, &clock);
    pthread_condattr_destroy(&clock);
    use(data, &a->own);
    if (!create_thread(a)) {
        use(data, ctx);
        ahead_free(ctx, a);
        return KREIN_OK;
    }
    krein__raw_clear(ctx, &p->buffer);
    a->running = true;
    p->ahead = data->ahead = a;
    return KREIN_OK;
}

/* ---- the caller ------------------------------------------------------------------------------ */

static krein_status wait_for_batch(krein_ahead *a) {
    krein_status st = KREIN_OK;
    double start = krein__clock();
    pthread_mutex_lock(&a->mutex);
    if (a->taken) {
        a->taken = false;
        a->first++;
        a->ready--;
        pthread_cond_broadcast(&a->change);
    }
    while (a->ready == 0 && st == KREIN_OK) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WAIT_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&a->change, &a->mutex, &until);
        pthread_mutex_unlock(&a->mutex);
        st = krein__poll(a->data->ctx);
        pthread_mutex_lock(&a->mutex);
    }
    pthread_mutex_unlock(&a->mutex);
    a->data->seconds_waited += krein__clock() - start;
    return st;
}

static krein_status next_ahead(krein_raw_pass *p, krein_raw **raw) {
    krein_data *data = p->data;
    krein_ahead *a = p->ahead;
    krein_status st = wait_for_batch(a);
    if (st != KREIN_OK) return st;
    slot *s = &a->ring[a->first % SLOTS];
    a->taken = true;
    data->seconds_read += s->seconds;
    if (s->status != KREIN_OK || s->raw.n == 0) {
        krein__data_quiet(data);
        p->ended = true;
    }
    if (s->status != KREIN_OK) return krein__fail(data->ctx, s->status, "%s", s->message);
    krein__progress(data->ctx, "reading", (double)s->bytes_done, (double)data->reader->bytes);
    *raw = &s->raw;
    return krein__poll(data->ctx);
}

static double raw_bytes(const krein_raw *raw) {
    static const int size[KREIN_RAW_ARRAYS] = {4, 4, 8, 8, 4, 8, 1, 8, 4, 4, 1};
    double bytes = 0;
    for (int k = 0; k < KREIN_RAW_ARRAYS; k++) bytes += (double)size[k] * (double)raw->room[k];
    return bytes;
}

/* There is more to read, and room for it. */
static bool ahead_pays(const krein_raw_pass *p) {
    const krein_data *data = p->data;
    const krein_reader *r = data->reader;
    if (krein__share_cut(&data->share) ? data->share.left == 0
                                       : (r->n >= 0 ? p->rows >= r->n : r->bytes_done >= r->bytes))
        return false;
    double room = data->ahead_room >= 0 ? data->ahead_room : (double)data->ctx->budget / 16;
    return !p->alone && !r->alone && (SLOTS - 1) * p->batch_bytes <= room;
}

krein_status krein__raw_begin(krein_raw_pass *p, krein_data *data) {
    krein__raw_end(p);
    memset(p, 0, sizeof *p);
    p->data = data;
    if (data->in_memory) return KREIN_OK;
    return krein__data_begin(data);
}

krein_status krein__raw_seek(krein_raw_pass *p, int64_t row, const krein_mark *from,
                             const krein_mark *labels) {
    krein_data *data = p->data;
    krein_status st = KREIN_OK;
    p->skip = row;
    if (data->in_memory || from->row > row || labels->row > row) return st;
    TRY(krein__reader_seek(data->reader, from));
    p->skip = row - from->row;
    if (data->labels) {
        TRY(krein__reader_seek(data->labels, labels));
        data->label_skip = from->row - labels->row;
    }
done:
    return st;
}

krein_status krein__raw_next(krein_raw_pass *p, krein_raw **raw, int64_t *ld) {
    krein_data *data = p->data;
    krein_status st = KREIN_OK;
    *raw = NULL;
    if (p->ended) return KREIN_OK;
    if (data->in_memory) {
        if (p->segment == data->nsegment) return KREIN_OK;
        krein_segment *s = &data->segment[p->segment++];
        *raw = &s->raw;
        *ld = s->ld;
        return KREIN_OK;
    }
    if (p->batches++ == 1 && ahead_pays(p)) TRY(ahead_begin(p));
    if (p->ahead && p->ahead->running) {
        TRY(next_ahead(p, raw));
    } else {
        TRY(krein__data_read(data, &p->buffer));
        *raw = &p->buffer;
        p->batch_bytes = raw_bytes(&p->buffer);
        data->batch_bytes = fmax(data->batch_bytes, p->batch_bytes);
        p->rows = p->buffer.from.row + p->buffer.n;
    }
    if ((*raw)->n == 0) {
        *raw = NULL;
        p->ended = true;
        goto done;
    }
    *ld = (*raw)->nnum;
done:
    if (st != KREIN_OK) *raw = NULL;
    return st;
}

int64_t krein__raw_skip(krein_raw_pass *p, const krein_raw *raw) {
    int64_t m = krein__min(p->skip, raw->n);
    p->skip -= m;
    return m;
}

void krein__raw_end(krein_raw_pass *p) {
    if (!p->data) return;
    krein_ctx *ctx = p->data->ctx;
    if (p->ahead && p->data->ahead == p->ahead) krein__data_quiet(p->data);
    ahead_free(ctx, p->ahead);
    p->ahead = NULL;
    krein__raw_clear(ctx, &p->buffer);
}
