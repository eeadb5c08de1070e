/* comm.c -- collectives: agreement first, then bytes in pieces, sums in the order of the ranks.
 *
 * Sum of n doubles over P ranks, in chunks of at most 2^20 doubles, each cut into P segments:
 *     exchange   rank r receives everybody's segment r
 *     add        x_0 + x_1 + ... + x_{P-1}, in this order
 *     gather     the sums go to everybody
 * Each rank sends and receives 2 (P-1)/P n doubles, which no algorithm undercuts, and adds
 * (P-1)/P n. Few doubles go to everybody at once, and everybody adds them, with the same bits.
 * MPI_Allreduce may choose its order by the sizes, the network and the version; here the
 * network only moves bytes.
 *
 * What may fail (memory) is done before an agreement, so that after it nobody can be missing. */
#include "dist/dist.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 1 << 20 }; /* doubles at a time */
enum { FEW = 4096 };      /* doubles of all ranks together that are not worth two messages */

typedef enum meeting {
    AT_AGREE = 1,
    AT_SUM,
    AT_FOLD,
    AT_BROADCAST,
    AT_GATHER,
    AT_COLLECT,
    AT_CLOSE
} meeting;

struct krein_comm {
    const krein_transport *wire;
    int rank, size;
    krein_status failed; /* what was agreed on; KREIN_OK: nothing */
    char message[KREIN__MESSAGE];
    int threads; /* of the context, before it joined */
    uint64_t budget;
};

/* The failure of one rank, as it is sent. */
typedef struct failure {
    int32_t status;
    char message[KREIN__MESSAGE];
} failure;

int krein__comm_rank(const krein_ctx *ctx) { return ctx->comm ? ctx->comm->rank : 0; }
int krein__comm_size(const krein_ctx *ctx) { return ctx->comm ? ctx->comm->size : 1; }

/* ---- agreement ---------------------------------------------------------- */

static krein_status failed_already(krein_ctx *ctx) {
    return krein__fail(ctx, ctx->comm->failed, "%s", ctx->comm->message);
}

static krein_status agree_on(krein_ctx *ctx, const failure *v) {
    krein_comm *c = ctx->comm;
    c->failed = (krein_status)v->status;
    memcpy(c->message, v->message, sizeof c->message);
    return failed_already(ctx);
}

static krein_status out_of_step(krein_ctx *ctx) {
    failure v = {(int32_t)KREIN_ENUMERIC,
                 "the processes are out of step; give all of them the same command, files and "
                 "version of Krein"};
    return agree_on(ctx, &v);
}

/* The message of rank `first`, the lowest that failed. */
static krein_status receive_failure(krein_ctx *ctx, int first, krein_status mine) {
    krein_comm *c = ctx->comm;
    failure v = {.status = (int32_t)mine};
    if (first == c->rank) memcpy(v.message, ctx->message, sizeof v.message);
    c->wire->broadcast(first, &v, (int)sizeof v);
    v.message[sizeof v.message - 1] = 0;
    return agree_on(ctx, &v);
}

/* detail: what must be the same on all ranks, a size for instance. Equal codes are those whose
 * least value is also the greatest. */
static krein_status meet(krein_ctx *ctx, krein_status mine, meeting at, int64_t detail) {
    krein_comm *c = ctx->comm;
    if (c->failed) return failed_already(ctx);
    const int64_t code = (int64_t)at << 56 | (detail & (((int64_t)1 << 56) - 1));
    int64_t least[3] = {mine == KREIN_OK ? c->size : c->rank, code, -code};
    c->wire->fold(KREIN_FOLD_MIN, 3, least);
    if (least[0] < c->size) return receive_failure(ctx, (int)least[0], mine);
    return least[1] == -least[2] ? KREIN_OK : out_of_step(ctx);
}

krein_status krein__comm_agree(krein_ctx *ctx, krein_status mine) {
    return ctx->comm ? meet(ctx, mine, AT_AGREE, 0) : mine;
}

void krein__comm_clear(krein_ctx *ctx) {
    if (ctx->comm) ctx->comm->failed = KREIN_OK;
}

krein_status krein__comm_join(krein_ctx *ctx, const void *mine, int64_t n, size_t size, void *all,
                              int64_t *count) {
    char *joined = NULL;
    int64_t *offset = NULL;
    krein_status st = krein__comm_gather(ctx, mine, n * (int64_t)size, &joined, &offset);
    if (st == KREIN_OK) *count = offset[krein__comm_size(ctx)] / (int64_t)size;
    krein__free(ctx, offset);
    memcpy(all, &joined, sizeof joined);
    return st;
}

krein_status krein__comm_before(krein_ctx *ctx, int64_t n, int64_t *x, int64_t *before) {
    krein_status st = KREIN_OK;
    int64_t *all = NULL, count;
    memset(before, 0, (size_t)n * sizeof *before);
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    TRY(krein__comm_join(ctx, x, n, sizeof *x, &all, &count));
    memset(x, 0, (size_t)n * sizeof *x);
    for (int64_t k = 0; k < count; k++) {
        if (k / n < krein__comm_rank(ctx)) before[k % n] += all[k];
        x[k % n] += all[k];
    }
done:
    krein__free(ctx, all);
    return st;
}

krein_status krein__comm_most(krein_ctx *ctx, int64_t n, double *x) {
    krein_status st = KREIN_OK;
    double *all = NULL;
    int64_t count;
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    TRY(krein__comm_join(ctx, x, n, sizeof *x, &all, &count));
    for (int64_t k = 0; k < count; k++)
        if (all[k] > x[k % n]) x[k % n] = all[k];
done:
    krein__free(ctx, all);
    return st;
}

krein_status krein__comm_barrier(krein_ctx *ctx) { return krein__comm_agree(ctx, KREIN_OK); }

/* ---- sums --------------------------------------------------------------- */

/* The P arrays of n in `parts` added up into the first. */
static void add_in_order(int size, int64_t n, double *restrict parts) {
    for (int r = 1; r < size; r++) {
        const double *restrict part = parts + r * n;
        for (int64_t i = 0; i < n; i++) parts[i] += part[i];
    }
}

/* x has P segments of n. in: as much memory again. */
static void sum_segments(const krein_comm *c, int64_t n, double *x, double *in) {
    const int bytes = (int)(n * (int64_t)sizeof *x);
    c->wire->exchange(x, in, bytes);
    add_in_order(c->size, n, in);
    c->wire->gather(in, bytes, x);
}

/* A number of doubles that is no multiple of P goes through a copy that is. */
static void sum_chunk(const krein_comm *c, int64_t n, double *x, double *in, double *copy) {
    const int64_t segment = (n + c->size - 1) / c->size, padded = segment * c->size;
    if (padded == n) {
        sum_segments(c, segment, x, in);
        return;
    }
    memcpy(copy, x, (size_t)n * sizeof *x);
    memset(copy + n, 0, (size_t)(padded - n) * sizeof *x);
    sum_segments(c, segment, copy, in);
    memcpy(x, copy, (size_t)n * sizeof *x);
}

static void sum_few(const krein_comm *c, int64_t n, double *x, double *in) {
    const int64_t bytes = n * (int64_t)sizeof *x;
    c->wire->gather(x, (int)bytes, in);
    add_in_order(c->size, n, in);
    memcpy(x, in, (size_t)bytes);
}

krein_status krein__comm_sum(krein_ctx *ctx, int64_t n, double *x) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    double *in = NULL;
    if (!c) return KREIN_OK;
    if (c->failed) return failed_already(ctx);
    const bool few = n <= FEW / c->size;
    const int64_t whole = krein__max(1, CHUNK / c->size) * c->size, most = krein__min(n, whole);
    const int64_t room = most + c->size; /* rounded up to a multiple */
    in = krein__alloc(ctx, few ? n * c->size : 2 * room, sizeof *in);
    TRY(meet(ctx, in ? KREIN_OK : ctx->status, AT_SUM, n));
    if (few && n > 0) sum_few(c, n, x, in);
    for (int64_t at = 0; !few && at < n; at += most)
        sum_chunk(c, krein__min(most, n - at), x + at, in, in + room);
done:
    krein__free(ctx, in);
    return st;
}

krein_status krein__comm_fold(krein_ctx *ctx, krein_fold how, int64_t n, int64_t *x) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    if (!c) return KREIN_OK;
    TRY(meet(ctx, KREIN_OK, AT_FOLD, n * 4 + (int64_t)how));
    for (int64_t at = 0; at < n; at += CHUNK)
        c->wire->fold(how, (int)krein__min(CHUNK, n - at), x + at);
done:
    return st;
}

/* ---- bytes -------------------------------------------------------------- */

krein_status krein__comm_broadcast(krein_ctx *ctx, int root, void *bytes, int64_t n) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    if (!c) return KREIN_OK;
    TRY(meet(ctx, KREIN_OK, AT_BROADCAST, n * c->size + root));
    for (int64_t at = 0; at < n; at += KREIN_TRANSPORT_MOST)
        c->wire->broadcast(root, (char *)bytes + at, (int)krein__min(KREIN_TRANSPORT_MOST, n - at));
done:
    return st;
}

/* Room for what the ranks have in one round of a gather. */
typedef struct round {
    char *bytes;
    int *length, *offset;
} round;

/* The bytes from `at` on, at most `share` of each rank. */
static void gather_round(const krein_comm *c, const char *mine, int64_t at, int64_t share,
                         const int64_t *start, const round *r, char *all) {
    int used = 0;
    for (int k = 0; k < c->size; k++) {
        const int64_t left = start[k + 1] - start[k] - at;
        r->length[k] = (int)krein__max(0, krein__min(share, left));
        r->offset[k] = used;
        used += r->length[k];
    }
    c->wire->gather_uneven(r->length[c->rank] > 0 ? mine + at : mine, r->bytes, r->length,
                           r->offset);
    for (int k = 0; k < c->size; k++)
        if (r->length[k] > 0)
            memcpy(all + start[k] + at, r->bytes + r->offset[k], (size_t)r->length[k]);
}

static void gather_all(const krein_comm *c, const char *mine, const int64_t *start, const round *r,
                       int64_t share, char *all) {
    int64_t longest = 0;
    for (int k = 0; k < c->size; k++) longest = krein__max(longest, start[k + 1] - start[k]);
    for (int64_t at = 0; at < longest; at += share) gather_round(c, mine, at, share, start, r, all);
}

static krein_status gather_alone(krein_ctx *ctx, const void *mine, int64_t n, char **all,
                                 int64_t **offset) {
    krein_status st = KREIN_OK;
    NEW(*all, n);
    NEW(*offset, 2);
    if (n > 0) memcpy(*all, mine, (size_t)n);
    (*offset)[0] = 0;
    (*offset)[1] = n;
done:
    return st;
}

/* Lengths to everybody, as the beginnings that follow from them. */
static krein_status gather_lengths(krein_ctx *ctx, int64_t n, int64_t *start) {
    krein_comm *c = ctx->comm;
    krein_status st = meet(ctx, start ? KREIN_OK : ctx->status, AT_GATHER, 0);
    if (st != KREIN_OK) return st;
    c->wire->gather(&n, (int)sizeof n, start + 1);
    start[0] = 0;
    for (int k = 0; k < c->size; k++) start[k + 1] += start[k];
    return KREIN_OK;
}

static krein_status gather_strings(krein_ctx *ctx, const void *mine, char **all,
                                   const int64_t *start) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    round r = {0};
    const int64_t share = krein__max(1, CHUNK * (int64_t)sizeof(double) / c->size);
    NEW(*all, start[c->size]);
    NEW(r.bytes, krein__min(share * c->size, start[c->size]));
    NEW(r.length, c->size);
    NEW(r.offset, c->size);
done:
    st = meet(ctx, st, AT_GATHER, start[c->size]);
    if (st == KREIN_OK) gather_all(c, mine, start, &r, share, *all);
    krein__free(ctx, r.bytes);
    krein__free(ctx, r.length);
    krein__free(ctx, r.offset);
    return st;
}

krein_status krein__comm_gather(krein_ctx *ctx, const void *mine, int64_t n, char **all,
                                int64_t **offset) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    *all = NULL;
    *offset = NULL;
    if (!c) {
        TRY(gather_alone(ctx, mine, n, all, offset));
    } else if (c->failed) {
        TRY(failed_already(ctx));
    } else {
        *offset = krein__alloc(ctx, c->size + 1, sizeof **offset);
        TRY(gather_lengths(ctx, n, *offset));
        TRY(gather_strings(ctx, mine, all, *offset));
    }
done:
    if (st != KREIN_OK) {
        krein__free(ctx, *all);
        krein__free(ctx, *offset);
        *all = NULL;
        *offset = NULL;
    }
    return st;
}

/* ---- pieces to rank 0 --------------------------------------------------- */

/* A rank sends the length of a piece, waits for "go on", and sends the piece; a length of 0 is the
 * end, and GIVEN_UP a failure, both without an answer. Rank 0 receives from every rank to the end,
 * or tells it to stop, so that all arrive at the agreement behind it. */
enum { GIVEN_UP = -1 };
enum { STOP = 0, GO_ON = 1 };

static void send_long(const krein_comm *c, int to, const char *bytes, int64_t n) {
    for (int64_t at = 0; at < n; at += KREIN_TRANSPORT_MOST)
        c->wire->send(to, bytes + at, (int)krein__min(KREIN_TRANSPORT_MOST, n - at));
}
static void receive_long(const krein_comm *c, int from, char *bytes, int64_t n) {
    for (int64_t at = 0; at < n; at += KREIN_TRANSPORT_MOST)
        c->wire->receive(from, bytes + at, (int)krein__min(KREIN_TRANSPORT_MOST, n - at));
}

static krein_status give_pieces(const krein_comm *c, krein_next_fn next, void *user) {
    for (;;) {
        const void *bytes = NULL;
        int64_t n = 0, answer = GO_ON;
        const krein_status st = next(user, &bytes, &n);
        if (st != KREIN_OK) n = GIVEN_UP;
        c->wire->send(0, &n, (int)sizeof n);
        if (n <= 0) return st;
        c->wire->receive(0, &answer, (int)sizeof answer);
        if (answer == STOP) return KREIN_OK;
        send_long(c, 0, bytes, n);
    }
}

typedef struct inbox {
    char *bytes;
    int64_t room;
} inbox;

static krein_status make_room(krein_ctx *ctx, inbox *b, int64_t n) {
    if (n <= b->room) return KREIN_OK;
    krein__free(ctx, b->bytes);
    b->room = 0;
    b->bytes = krein__alloc(ctx, n, 1);
    if (!b->bytes) return ctx->status;
    b->room = n;
    return KREIN_OK;
}

/* All pieces of rank r. st: of the work so far; with a failure r is only told to stop. */
static krein_status take_pieces(krein_ctx *ctx, int r, inbox *b, krein_status st,
                                krein_take_fn take, void *user) {
    const krein_comm *c = ctx->comm;
    for (;;) {
        int64_t n = 0;
        c->wire->receive(r, &n, (int)sizeof n);
        if (n <= 0) return st;
        if (st == KREIN_OK) st = make_room(ctx, b, n);
        const int64_t answer = st == KREIN_OK ? GO_ON : STOP;
        c->wire->send(r, &answer, (int)sizeof answer);
        if (answer == STOP) return st;
        receive_long(c, r, b->bytes, n);
        st = take(user, r, b->bytes, n);
    }
}

static krein_status take_own(krein_next_fn next, krein_take_fn take, void *user) {
    for (;;) {
        const void *bytes = NULL;
        int64_t n = 0;
        krein_status st = next(user, &bytes, &n);
        if (st != KREIN_OK || n <= 0) return st;
        if ((st = take(user, 0, bytes, n)) != KREIN_OK) return st;
    }
}

krein_status krein__comm_collect(krein_ctx *ctx, krein_next_fn next, krein_take_fn take,
                                 void *user) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    inbox b = {0};
    if (!c) return take_own(next, take, user);
    TRY(meet(ctx, KREIN_OK, AT_COLLECT, 0));
    if (c->rank > 0) {
        st = give_pieces(c, next, user);
    } else {
        st = take_own(next, take, user);
        for (int r = 1; r < c->size; r++) st = take_pieces(ctx, r, &b, st, take, user);
    }
    st = meet(ctx, st, AT_COLLECT, 1);
done:
    krein__free(ctx, b.bytes);
    return st;
}

/* ---- joining and leaving ------------------------------------------------ */

/* One rank's CPUs and the machine that it runs on. */
typedef struct place {
    int64_t node;
    krein_cpus cpus;
} place;

/* A context that was told neither threads nor memory counts on the whole machine. Ranks that are
 * bound to CPUs of their own share none; those that are not share all. The budget is the least of
 * all ranks', because what is chosen by it must be the same everywhere. */
static krein_status take_share(krein_ctx *ctx, int node) {
    krein_comm *c = ctx->comm;
    krein_status st = KREIN_OK;
    place mine = {.node = node}, *all = NULL;
    krein_cpus *near = NULL;
    krein__cpus_get(&mine.cpus);
    all = krein__alloc(ctx, c->size, sizeof *all);
    near = krein__alloc(ctx, c->size, sizeof *near);
    TRY(meet(ctx, all && near ? KREIN_OK : ctx->status, AT_AGREE, 1));
    c->wire->gather(&mine, (int)sizeof mine, all);
    int64_t here = 0;
    for (int r = 0; r < c->size; r++)
        if (all[r].node == mine.node) near[here++] = all[r].cpus;
    if (!ctx->own_threads) ctx->threads = krein__cpus_share(&mine.cpus, here, near);
    const int64_t parts = ctx->own_budget ? 1 : krein__max(here, 1);
    int64_t budget = (int64_t)(ctx->budget < INT64_MAX ? ctx->budget : INT64_MAX) / parts;
    TRY(krein__comm_fold(ctx, KREIN_FOLD_MIN, 1, &budget));
    ctx->budget = (uint64_t)budget;
done:
    krein__free(ctx, all);
    krein__free(ctx, near);
    return st;
}

/* What open leaves behind when it fails: nothing. */
static krein_status leave_if(krein_ctx *ctx, krein_status st) {
    return st == KREIN_OK ? KREIN_OK : krein__comm_close(ctx, st);
}

krein_status krein__comm_open_with(krein_ctx *ctx, const krein_transport *wire,
                                   const void *communicator) {
    int node = 0;
    krein_comm *c = krein__zalloc(ctx, 1, sizeof *c);
    if (!c) return ctx->status;
    c->wire = wire;
    c->threads = ctx->threads;
    c->budget = ctx->budget;
    const char *wrong = wire->start(communicator, &c->rank, &c->size, &node);
    if (wrong) {
        krein__free(ctx, c);
        return krein__fail(ctx, KREIN_EIO, "%s", wrong);
    }
    ctx->comm = c;
    return leave_if(ctx, take_share(ctx, node));
}

/* A launcher of another MPI starts processes that do not find each other: each would be rank 0
 * of one, and write the same files. */
static krein_status check_launch(krein_ctx *ctx, const krein_launch *launch) {
    if (krein__comm_size(ctx) == launch->size) return KREIN_OK;
    const char *name = ctx->comm->wire->name;
    return krein__fail(ctx, KREIN_EIO,
                       "%s started %d processes, but MPI finds %d; start them with the launcher of "
                       "%s, which Krein was built with, or set KREIN_MPI=off for processes that do "
                       "not work together",
                       launch->launcher, launch->size, krein__comm_size(ctx), name);
}

krein_status krein__comm_open(krein_ctx *ctx) {
    const krein_launch launch = krein__launch();
    if (launch.size <= 1) return KREIN_OK;
    const krein_transport *wire = krein__transport_load(ctx, &launch);
    if (!wire) return ctx->status;
    const krein_status st = krein__comm_open_with(ctx, wire, NULL);
    return st == KREIN_OK ? leave_if(ctx, check_launch(ctx, &launch)) : st;
}

krein_status krein__comm_close(krein_ctx *ctx, krein_status mine) {
    krein_comm *c = ctx->comm;
    if (!c) return mine;
    const krein_status st = meet(ctx, mine, AT_CLOSE, 0);
    c->wire->stop();
    ctx->threads = c->threads;
    ctx->budget = c->budget;
    ctx->comm = NULL;
    krein__free(ctx, c);
    return st;
}

krein_status krein_ctx_join(krein_ctx *ctx, const void *communicator) {
    if (ctx->comm)
        return krein__fail(ctx, KREIN_EARG,
                           "the context has joined other processes already; krein_ctx_leave first");
    if (!communicator) return krein__comm_open(ctx);
    const krein_transport *wire = krein__transport_load(ctx, NULL);
    return wire ? krein__comm_open_with(ctx, wire, communicator) : ctx->status;
}

/* Behind a failure nobody is met again: one of the processes may have left instead of working, and
 * the others know. All have had its status, so that leaving is no failure any more. */
krein_status krein_ctx_leave(krein_ctx *ctx) {
    const bool known = ctx->comm && ctx->comm->failed;
    const krein_status st = krein__comm_close(ctx, KREIN_OK);
    return known ? KREIN_OK : st;
}
