/* images.h -- images of a data set with their classes, all in memory. */
#ifndef KREIN_FEWSHOT_IMAGES_H
#define KREIN_FEWSHOT_IMAGES_H

#include "fewshot/episodes.h"
#include "stream/data.h"

/* All rows, unscaled; bytes stay bytes. */
krein_status krein__images_read(krein_ctx *ctx, krein_data *data, krein_images *out);
/* One centre and one factor a channel, of the rows of the pool, for columns of such images: to mean
 * 0 and variance 1. */
void krein__images_scaling(const krein_pool *pool, float *centre, float *factor);
/* Rows become (row - centre) factor; bytes when they are read. Both arrays outlive the images. */
void krein__images_scale(krein_images *im, const float *centre, const float *factor);

#endif
