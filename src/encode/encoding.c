/* encoding.c -- small things around krein_encoding. */
#include "encode/encoding.h"

#include <string.h>

void krein__encoding_clear(krein_ctx *ctx, krein_encoding *e) {
    for (int64_t j = 0; e->input && j < e->ninput; j++) {
        krein__free(ctx, e->input[j].name);
        krein__dict_clear(ctx, &e->input[j].dict);
    }
    krein__free(ctx, e->input);
    krein__free(ctx, e->centre);
    krein__free(ctx, e->factor);
    krein__free(ctx, e->fill);
    for (int64_t k = 0; e->class_name && k < e->nclass; k++) krein__free(ctx, e->class_name[k]);
    krein__free(ctx, e->class_name);
    krein__free(ctx, e->class_value);
    memset(e, 0, sizeof *e);
}

int64_t krein__block_rows(int64_t d) {
    enum { ROWS = 10 * KREIN_TILE, WIDE = 4096 };
    if (d <= WIDE) return ROWS;
    return krein__max(KREIN_TILE, (int64_t)ROWS * WIDE / d / KREIN_TILE * KREIN_TILE);
}

const char *krein__scale_name(krein_scale scale) {
    static const char *const name[] = {"standard", "minmax", "unit", "none"};
    return name[scale];
}
