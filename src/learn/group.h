/* group.h -- the sums of ridge regression over many blocks at a time.
 *
 * Of few features a block has few tiles, and threads that share it wait for each other at every
 * step; worse where one of them also has a file to read. Instead each thread takes whole blocks:
 * their features, then their products. Those are added to the sums in the order of the blocks by
 * whoever is free, so that the sums are those of krein__ridge_add, block by block, to the bit.
 *
 * A group of one block is what it says: it is shared by the threads. So it is on one thread, with
 * many features, sparse rows, or where a sixteenth of the memory budget has no room for more.
 */
#ifndef KREIN_GROUP_H
#define KREIN_GROUP_H

#include "learn/blocks.h"
#include "solve/ridge.h"

typedef struct krein_group krein_group;

/* n: rows to come, at most. Adds to ridge; z and ridge are borrowed. */
krein_status krein__group_begin(krein_blocks *z, int64_t n, krein_ridge *ridge, krein_group **out);
void krein__group_end(krein_group *g); /* NULL is fine */
/* Takes a block, with its targets and weights (or NULL), unless the group is full. */
void krein__group_take(krein_group *g, const krein_rows *x, const double *y, const double *weight);
bool krein__group_full(const krein_group *g);
/* Adds what was taken. Before it, the sums may have blocks only of groups that were added. */
void krein__group_add(krein_group *g);
/* Upper bound of its bytes. */
double krein__group_bytes(const krein_map *map, int64_t n, int64_t k);

#endif
