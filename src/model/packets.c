/* packets.c -- predictions of several processes, given to the caller by the first of them in the
 * order of the rows.
 *
 * What other processes scored is kept, block by block, until the rows before are through:
 *     n, first, bytes of the ids; scores and other numbers; dropped (n bytes); ids, each ended by 0
 */
#include "model/packets.h"

#include "dist/dist.h"

#include <math.h>
#include <string.h>

krein_status krein__tell(const krein_model *m, const krein_scored *b, krein_predict_fn fn,
                         void *user) {
    int64_t k = m->k, nclass = m->encoding.nclass;
    bool classes = m->encoding.task == KREIN_TASK_CLASSIFICATION, labels = b->in_set != NULL;
    for (int64_t i = 0; i < b->n; i++) {
        bool dropped = b->dropped && b->dropped[i];
        krein_prediction one = {.row = b->first + i,
                                .label = -1,
                                .values = dropped || classes || labels ? NULL : b->score + i * k,
                                .scores = dropped ? NULL : b->score + i * k,
                                .nscores = k,
                                .id = b->id ? b->id[i] : NULL,
                                .probabilities = dropped || !b->p ? NULL : b->p + i * nclass,
                                .nclasses = nclass,
                                .novelty = NAN};
        const krein_told *t = &b->told;
        if (!dropped) {
            one.std = t->std ? t->std + i * k : NULL;
            one.lower = t->lower ? t->lower + i * k : NULL;
            one.upper = t->upper ? t->upper + i * k : NULL;
            one.set = t->set ? t->set + i * nclass : NULL;
            if (t->novelty) one.novelty = t->novelty[i];
        }
        for (int64_t c = 0; labels && !dropped && c < k; c++)
            b->in_set[c] = krein__model_has(m, c, b->score[i * k + c]);
        if (labels && !dropped) one.labels = b->in_set;
        if (classes && !dropped) one.label = krein__model_decide(m, b->score + i * k);
        krein_status st = fn(user, &one);
        if (st != KREIN_OK) return st;
    }
    return KREIN_OK;
}

typedef struct packet_head {
    int64_t n, first, ids;
} packet_head;

/* The arrays of a block, each so many bytes a row. */
enum { ARRAYS = 7 };
typedef struct array {
    size_t at; /* of the pointer, in krein_scored */
    int64_t each;
    bool there;
} array;

static void arrays_of(const krein_packets *all, array *out) {
    const krein_model *m = all->m;
    const krein_asked *asked = &all->asked;
    int64_t k = m->k * 8, classes = m->encoding.nclass;
    bool interval = asked->interval > 0;
    bool numbers = m->conformal.residual || (m->posterior && m->posterior->k > 0);
    const array table[ARRAYS] = {
        {offsetof(krein_scored, score), k, true},
        {offsetof(krein_scored, p), classes * 8, m->calibration.slope != NULL},
        {offsetof(krein_scored, told.std), k, asked->std},
        {offsetof(krein_scored, told.lower), k, interval && numbers},
        {offsetof(krein_scored, told.upper), k, interval && numbers},
        {offsetof(krein_scored, told.novelty), 8, asked->novelty},
        {offsetof(krein_scored, told.set), classes, interval && m->calibration.doubt}};
    memcpy(out, table, sizeof table);
}

static void *get(const krein_scored *b, const array *a) {
    void *at;
    memcpy(&at, (const char *)b + a->at, sizeof at);
    return at;
}

static void set(krein_scored *b, const array *a, void *at) {
    memcpy((char *)b + a->at, &at, sizeof at);
}

krein_status krein__packets_keep(krein_packets *all, const krein_scored *b) {
    krein_ctx *ctx = all->ctx;
    krein_status st = KREIN_OK;
    packet_head head = {b->n, b->first, 0};
    array own[ARRAYS];
    int64_t numbers = 0;
    arrays_of(all, own);
    for (int i = 0; i < ARRAYS; i++) numbers += own[i].there ? b->n * own[i].each : 0;
    for (int64_t i = 0; b->id && i < b->n; i++) head.ids += (int64_t)strlen(b->id[i]) + 1;
    if (all->n == all->room) {
        int64_t room = krein__max(16, 2 * all->room);
        krein_packet *at = krein__resize(ctx, all->at, room, sizeof *at);
        if (!at) return ctx->status;
        all->at = at;
        all->room = room;
    }
    krein_packet one = {.length = (int64_t)sizeof head + numbers + b->n + head.ids};
    NEW(one.bytes, one.length);
    char *to = one.bytes;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (int i = 0; i < ARRAYS; i++) {
        if (!own[i].there) continue;
        memcpy(to, get(b, &own[i]), (size_t)(b->n * own[i].each));
        to += b->n * own[i].each;
    }
    for (int64_t i = 0; i < b->n; i++) *to++ = b->dropped && b->dropped[i];
    for (int64_t i = 0; b->id && i < b->n; i++) to = stpcpy(to, b->id[i]) + 1;
    all->at[all->n++] = one;
done:
    return st;
}

static krein_status next_packet(void *user, const void **bytes, int64_t *n) {
    krein_packets *all = user;
    if (all->next > 0) { /* it was sent */
        krein__free(all->ctx, all->at[all->next - 1].bytes);
        all->at[all->next - 1].bytes = NULL;
    }
    *n = 0;
    if (all->next == all->n) return KREIN_OK;
    *bytes = all->at[all->next].bytes;
    *n = all->at[all->next++].length;
    return KREIN_OK;
}

/* Packets come from this program itself. */
static krein_status tell_packet(void *user, int rank, const void *bytes, int64_t n) {
    krein_packets *all = user;
    krein_ctx *ctx = all->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = all->m;
    const char *from = bytes;
    packet_head head;
    krein_scored b = {0};
    array own[ARRAYS];
    bool *dropped = NULL;
    char **id = NULL;
    b.in_set = all->in_set;
    (void)rank;
    arrays_of(all, own);
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    b.n = head.n;
    b.first = head.first;
    for (int i = 0; i < ARRAYS; i++) {
        if (!own[i].there) continue;
        int64_t size = b.n * own[i].each;
        char *at = krein__alloc(ctx, krein__max(1, size), 1);
        if (!at) {
            st = ctx->status;
            goto done;
        }
        memcpy(at, from, (size_t)size);
        set(&b, &own[i], at);
        from += size;
    }
    NEW(dropped, b.n);
    for (int64_t i = 0; i < b.n; i++) dropped[i] = *from++;
    b.dropped = dropped;
    if (head.ids > 0) {
        NEW(id, b.n);
        for (int64_t i = 0; i < b.n; i++) {
            id[i] = (char *)(uintptr_t)from;
            from += strlen(from) + 1;
        }
        b.id = id;
    }
    (void)n;
    TRY(krein__tell(m, &b, all->fn, all->user));
done:
    for (int i = 0; i < ARRAYS; i++) krein__free(ctx, get(&b, &own[i]));
    krein__free(ctx, dropped);
    krein__free(ctx, id);
    return st;
}

krein_status krein__packets_tell(krein_packets *all) {
    return krein__comm_collect(all->ctx, next_packet, tell_packet, all);
}

void krein__packets_clear(krein_packets *all) {
    for (int64_t i = 0; i < all->n; i++) krein__free(all->ctx, all->at[i].bytes);
    krein__free(all->ctx, all->at);
}
