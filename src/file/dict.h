/* dict.h -- words to codes, in order of first appearance. */
#ifndef KREIN_DICT_H
#define KREIN_DICT_H

#include "base/base.h"

typedef struct krein_dict {
    int64_t n, capacity; /* words */
    char **word;         /* NUL-terminated, owned */
    int64_t *slot;       /* open-addressed hash table, -1 empty */
    int64_t slots;
} krein_dict;

/* Code of the word, or -1. */
int64_t krein__dict_find(const krein_dict *d, const char *word, size_t length);
/* Code of the word, added if new; -1 when memory fails (message set). */
int64_t krein__dict_add(krein_ctx *ctx, krein_dict *d, const char *word, size_t length);
krein_status krein__dict_copy(krein_ctx *ctx, const krein_dict *from, krein_dict *to);
/* A number for a word without a dictionary, 0 .. KREIN_HASHED - 1; it is part of model files. */
enum { KREIN_HASHED = 512 };
int64_t krein__word_hash(const char *word, size_t length);
void krein__dict_clear(krein_ctx *ctx, krein_dict *d);

#endif
