/* packets.c -- predictions of several processes, given to the caller by the first of them in the
 * order of the rows.
 *
 * What other processes scored is kept, block by block, until the rows before are through:
 *     n, first, bytes of the ids; scores; probabilities; dropped (n bytes); ids, each ended by 0
 */
#include "model/packets.h"

#include "dist/dist.h"

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
                                .nclasses = nclass};
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

krein_status krein__packets_keep(krein_packets *all, const krein_scored *b) {
    krein_ctx *ctx = all->ctx;
    krein_status st = KREIN_OK;
    packet_head head = {b->n, b->first, 0};
    int64_t scores = b->n * all->m->k * (int64_t)sizeof *b->score;
    int64_t chances = b->p ? b->n * all->m->encoding.nclass * (int64_t)sizeof *b->p : 0;
    for (int64_t i = 0; b->id && i < b->n; i++) head.ids += (int64_t)strlen(b->id[i]) + 1;
    if (all->n == all->room) {
        int64_t room = krein__max(16, 2 * all->room);
        krein_packet *at = krein__resize(ctx, all->at, room, sizeof *at);
        if (!at) return ctx->status;
        all->at = at;
        all->room = room;
    }
    krein_packet one = {.length = (int64_t)sizeof head + scores + chances + b->n + head.ids};
    NEW(one.bytes, one.length);
    char *to = one.bytes;
    memcpy(to, &head, sizeof head);
    memcpy(to += sizeof head, b->score, (size_t)scores);
    to += scores;
    if (b->p) memcpy(to, b->p, (size_t)chances);
    to += chances;
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
    bool *dropped = NULL;
    char **id = NULL;
    b.in_set = all->in_set;
    (void)rank;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    b.n = head.n;
    b.first = head.first;
    NEW(b.score, krein__max(1, b.n * m->k));
    memcpy(b.score, from, (size_t)(b.n * m->k) * sizeof *b.score);
    from += b.n * m->k * (int64_t)sizeof *b.score;
    if (m->calibration.slope) {
        int64_t size = b.n * m->encoding.nclass;
        NEW(b.p, size);
        memcpy(b.p, from, (size_t)size * sizeof *b.p);
        from += size * (int64_t)sizeof *b.p;
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
    krein__free(ctx, b.score);
    krein__free(ctx, b.p);
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
