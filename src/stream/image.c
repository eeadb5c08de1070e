/* image.c -- rows that are images: the shape that an option or a file says, and whether the inputs
 * have it. */
#include "stream/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 }; /* of a side, and of the channels */

static int64_t numbers(const int64_t *image) { return image[0] * image[1] * image[2]; }

/* "HxWxC" or "HxW". */
static bool parse(const char *text, int64_t *image) {
    int64_t k = 0;
    image[2] = 1;
    for (; k < 3; k++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        long long v = strtoll(text, &end, 10);
        if (v < 1 || v > MOST) return false;
        image[k] = v;
        if (!*end) return k > 0;
        if (*end != 'x') return false;
        text = end + 1;
    }
    return false;
}

krein_status krein__data_image(krein_data *data) {
    const char *text = data->options.image;
    const int64_t *own = data->reader->image;
    memcpy(data->image, own, sizeof data->image);
    if (!text) return KREIN_OK;
    if (data->reader->sparse)
        return krein__fail(data->ctx, KREIN_EARG, "%s: `image` is for dense rows", data->name);
    if (!parse(text, data->image))
        return krein__fail(data->ctx, KREIN_EARG,
                           "`image` takes height x width x channels, such as 32x32x3, and no more "
                           "than %d of each; not \"%.40s\"",
                           MOST, text);
    if (own[0] > 0 && memcmp(own, data->image, sizeof data->image) != 0)
        return krein__fail(data->ctx, KREIN_EARG,
                           "%s has images of %lldx%lldx%lld, and `image` says %.40s; leave it out",
                           data->name, (long long)own[0], (long long)own[1], (long long)own[2],
                           text);
    return KREIN_OK;
}

static int64_t inputs(const krein_data *data) {
    int64_t n = 0;
    for (int64_t j = 0; j < data->reader->ncolumn; j++)
        n += data->reader->column[j].role == KREIN_ROLE_FEATURE;
    return n;
}

bool krein__data_image_alone(const krein_data *data) {
    return data->image[0] > 0 && inputs(data) == numbers(data->image);
}

krein_status krein__data_image_check(const krein_data *data) {
    const int64_t *image = data->image;
    const krein_reader *r = data->reader;
    if (image[0] == 0) return KREIN_OK;
    if (inputs(data) != numbers(image))
        return krein__fail(
            data->ctx, KREIN_EDATA,
            "%s: an image of %lldx%lldx%lld has %lld numbers, and the rows have %lld "
            "inputs; give the right `image`, and say which columns are no inputs "
            "with `label` and `ignore`",
            data->name, (long long)image[0], (long long)image[1], (long long)image[2],
            (long long)numbers(image), (long long)inputs(data));
    for (int64_t j = 0; j < r->ncolumn; j++)
        if (r->column[j].role == KREIN_ROLE_FEATURE && r->column[j].text)
            return krein__fail(data->ctx, KREIN_EDATA,
                               "%s: column %lld is text, and images are numbers", data->name,
                               (long long)krein__reader_number(r, j));
    return KREIN_OK;
}

krein_status krein__data_image_match(const krein_data *data, const krein_encoding *e) {
    const int64_t *here = data->image, *there = e->image;
    if (here[0] == 0 || there[0] == 0 || memcmp(here, there, sizeof data->image) == 0)
        return KREIN_OK;
    return krein__fail(
        data->ctx, KREIN_EDATA,
        "%s has images of %lldx%lldx%lld, and the model was trained on %lldx%lldx%lld", data->name,
        (long long)here[0], (long long)here[1], (long long)here[2], (long long)there[0],
        (long long)there[1], (long long)there[2]);
}
