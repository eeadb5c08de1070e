/* bins.c -- see bins.h. */
#include "map/bins.h"

#include <string.h>
#include <xxhash.h>

krein_key krein__bins_key(const int32_t *tuple, int64_t length) {
    XXH128_hash_t h = XXH3_128bits(tuple, (size_t)length * sizeof *tuple);
    return (krein_key){h.low64, h.high64};
}

/* Where the key is, or the empty slot where it would be. */
static int64_t place(const krein_bins *b, krein_key key) {
    int64_t at = (int64_t)(key.low & (uint64_t)(b->slots - 1));
    while (b->slot[at] >= 0) {
        const krein_key *other = &b->key[b->slot[at]];
        if (other->low == key.low && other->high == key.high) break;
        at = (at + 1) & (b->slots - 1);
    }
    return at;
}

krein_status krein__bins_reserve(krein_ctx *ctx, krein_bins *b, int64_t more) {
    krein_status st = KREIN_OK;
    int64_t room = krein__max(2 * b->room, b->n + more), slots = 16;
    int32_t *slot = NULL;
    if (b->n + more <= b->room) return KREIN_OK;
    while (slots < 2 * room) slots *= 2;
    krein_key *key = krein__resize(ctx, b->key, room, sizeof *key);
    if (!key) return ctx->status;
    b->key = key;
    NEW(slot, slots);
    memset(slot, -1, (size_t)slots * sizeof *slot);
    krein__free(ctx, b->slot);
    b->slot = slot;
    b->slots = slots;
    b->room = room;
    for (int64_t i = 0; i < b->n; i++) b->slot[place(b, b->key[i])] = (int32_t)i;
done:
    return st;
}

int64_t krein__bins_find(const krein_bins *b, krein_key key) { return b->slot[place(b, key)]; }

void krein__bins_add(krein_bins *b, krein_key key) {
    int64_t at = place(b, key);
    if (b->slot[at] >= 0) return;
    b->key[b->n] = key;
    b->slot[at] = (int32_t)b->n++;
}

void krein__bins_clear(krein_ctx *ctx, krein_bins *b) {
    krein__free(ctx, b->key);
    krein__free(ctx, b->slot);
    memset(b, 0, sizeof *b);
}

double krein__bins_bytes(double grids, double bins, double more) {
    /* room <= 2 (n + more), slots < 4 room, and what the allocator adds to each array */
    return (16 + 16) * 2 * (bins + grids * more) + 512 * grids;
}
