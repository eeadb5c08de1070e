/* episodes.h -- images by class, and the small tasks that are drawn of them. */
#ifndef KREIN_FEWSHOT_EPISODES_H
#define KREIN_FEWSHOT_EPISODES_H

#include "net/layer.h"
#include "num/matrix.h"

/* Rows of images with their classes. */
typedef struct krein_images {
    krein_ctx *ctx;
    int64_t n, classes;
    krein_shape shape;
    krein_matrix x; /* n rows */
    int64_t *start; /* classes + 1 */
    int64_t *row;   /* rows of class c: row[start[c]] .. row[start[c + 1] - 1], ascending */
    char **name;    /* classes */
} krein_images;
void krein__images_clear(krein_images *im);

/* Some of the classes, from which tasks are drawn. */
typedef struct krein_pool {
    const krein_images *images;
    int64_t n;
    const int64_t *class;
} krein_pool;

/* What is drawn of them; the number of a stream. */
typedef enum krein_episode_use {
    KREIN_EPISODE_TRAIN = 0,
    KREIN_EPISODE_VALIDATE = 1,
    KREIN_EPISODE_TEST = 2,
    KREIN_EPISODE_PATH = 3 /* the one task whose path is taken */
} krein_episode_use;

typedef struct krein_episode_size {
    int64_t ways, shots, queries;
} krein_episode_size;

/* A task: rows of the images, class by class; labels are 0 .. ways - 1. */
typedef struct krein_episode {
    krein_ctx *ctx;
    const krein_images *images;
    krein_episode_size size;  /* queries may be fewer from one draw to the next */
    int64_t *class;           /* ways, of the images */
    int64_t *support, *query; /* ways x shots, ways x queries */
    int32_t *support_label, *query_label;
    int64_t *order; /* for drawing */
} krein_episode;
krein_status krein__episode_begin(krein_ctx *ctx, krein_episode_size size, int64_t classes,
                                  int64_t rows, krein_episode *e);
void krein__episode_end(krein_episode *e);
/* Task number `which`: a function of (seed, use, which) alone. The pool has `ways` classes or more,
 * and each of them shots + queries rows or more. */
void krein__episode_draw(krein_episode *e, const krein_pool *pool, uint64_t seed,
                         krein_episode_use use, int64_t which);
/* KREIN_EDATA where it has too few; what: which classes they are, for the message. */
krein_status krein__pool_check(krein_ctx *ctx, const krein_pool *pool, krein_episode_size size,
                               const char *what);
int64_t krein__pool_most_rows(const krein_pool *pool); /* of a class */

#endif
