/* features.c -- blocks of a table of features. */
#include "solve/features.h"

krein_status krein__features_block(krein_features *t, int64_t block, const float **z, int64_t *n) {
    int64_t first = block * t->rows;
    *n = krein__min(t->rows, t->n - first);
    *z = t->kept ? t->kept + first * t->D : t->made;
    if (t->kept || t->at == block) return KREIN_OK;
    t->at = -1;
    krein_status st = t->make(t->state, block, t->made);
    if (st == KREIN_OK) t->at = block;
    return st;
}
