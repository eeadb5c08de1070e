/* bins.h -- which tuples of bin numbers have been seen: 128-bit hashes to codes 0, 1, ... in order
 * of first appearance.
 *
 * Two of N different tuples share a hash with probability below N^2 / 2^129: 1e-25 for ten million.
 */
#ifndef KREIN_BINS_H
#define KREIN_BINS_H

#include "base/base.h"

typedef struct krein_key {
    uint64_t low, high;
} krein_key;

typedef struct krein_bins {
    int64_t n, room;
    krein_key *key; /* of each code */
    int32_t *slot;  /* open-addressed, -1 empty */
    int64_t slots;  /* a power of two, at least 2 room */
} krein_bins;

krein_key krein__bins_key(const int32_t *tuple, int64_t length);
/* Room for `more` tuples, so that adding them cannot fail. */
krein_status krein__bins_reserve(krein_ctx *ctx, krein_bins *b, int64_t more);
int64_t krein__bins_find(const krein_bins *b, krein_key key); /* code, or -1 */
void krein__bins_add(krein_bins *b, krein_key key);           /* where it is new */
void krein__bins_clear(krein_ctx *ctx, krein_bins *b);
/* Most bytes that grids with so many bins in all hold, each with room for `more`. */
double krein__bins_bytes(double grids, double bins, double more);

#endif
