/* dict.c -- words to codes: open addressing with linear probing, at most two thirds full.
 *
 * A slot holds the code in its low 32 bits and 31 bits of the word's hash above them, so that
 * most probes that miss never touch the word.
 */
#include "file/dict.h"

#include <string.h>
#include <xxhash.h>

static uint64_t hash_of(const char *word, size_t length) { return XXH3_64bits(word, length); }
static int64_t tag_of(uint64_t hash) { return (int64_t)(hash >> 33) << 32; }

/* The slot of the word, or the empty one where it belongs. There is always an empty one. */
static int64_t probe(const krein_dict *d, uint64_t hash, const char *word, size_t length) {
    int64_t mask = d->slots - 1, tag = tag_of(hash);
    for (int64_t i = (int64_t)(hash & (uint64_t)mask);; i = (i + 1) & mask) {
        int64_t s = d->slot[i];
        if (s < 0) return i;
        if ((s ^ tag) >> 32) continue;
        const char *w = d->word[s & INT64_C(0xffffffff)];
        if (!strncmp(w, word, length) && !w[length]) return i;
    }
}

int64_t krein__word_hash(const char *word, size_t length) {
    return (int64_t)(XXH3_64bits_withSeed(word, length, 0x6b7265696e) % KREIN_HASHED);
}

int64_t krein__dict_find(const krein_dict *d, const char *word, size_t length) {
    if (d->n == 0) return -1;
    int64_t s = d->slot[probe(d, hash_of(word, length), word, length)];
    return s < 0 ? -1 : s & INT64_C(0xffffffff);
}

/* Room for one more word. On failure the dictionary is as it was. */
static bool grow(krein_ctx *ctx, krein_dict *d) {
    if (d->n == d->capacity) {
        int64_t capacity = d->capacity ? 2 * d->capacity : 8;
        char **word = krein__resize(ctx, d->word, capacity, sizeof *word);
        if (!word) return false;
        d->word = word;
        d->capacity = capacity;
    }
    if (3 * (d->n + 1) > 2 * d->slots) {
        int64_t slots = d->slots ? 2 * d->slots : 16;
        int64_t *slot = krein__alloc(ctx, slots, sizeof *slot);
        if (!slot) return false;
        for (int64_t i = 0; i < slots; i++) slot[i] = -1;
        for (int64_t i = 0; i < d->slots; i++) {
            int64_t s = d->slot[i];
            if (s < 0) continue;
            const char *w = d->word[s & INT64_C(0xffffffff)];
            int64_t at = (int64_t)(hash_of(w, strlen(w)) & (uint64_t)(slots - 1));
            while (slot[at] >= 0) at = (at + 1) & (slots - 1);
            slot[at] = s;
        }
        krein__free(ctx, d->slot);
        d->slot = slot;
        d->slots = slots;
    }
    return true;
}

int64_t krein__dict_add(krein_ctx *ctx, krein_dict *d, const char *word, size_t length) {
    uint64_t hash = hash_of(word, length);
    if (d->n > 0) {
        int64_t s = d->slot[probe(d, hash, word, length)];
        if (s >= 0) return s & INT64_C(0xffffffff);
    }
    if (d->n >= INT32_MAX - 1) {
        krein__fail(ctx, KREIN_EMEMORY, "more than 2^31 different words in one column");
        return -1;
    }
    if (!grow(ctx, d)) return -1;
    char *copy = krein__strndup(ctx, word, length);
    if (!copy) return -1;
    d->slot[probe(d, hash, word, length)] = tag_of(hash) | d->n;
    d->word[d->n] = copy;
    return d->n++;
}

krein_status krein__dict_copy(krein_ctx *ctx, const krein_dict *from, krein_dict *to) {
    krein_dict copy = {0};
    for (int64_t i = 0; i < from->n; i++) {
        if (krein__dict_add(ctx, &copy, from->word[i], strlen(from->word[i])) < 0) {
            krein__dict_clear(ctx, &copy);
            return ctx->status;
        }
    }
    *to = copy;
    return KREIN_OK;
}

void krein__dict_clear(krein_ctx *ctx, krein_dict *d) {
    for (int64_t i = 0; i < d->n; i++) krein__free(ctx, d->word[i]);
    krein__free(ctx, d->word);
    krein__free(ctx, d->slot);
    *d = (krein_dict){0};
}
