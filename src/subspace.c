/* subspace.c -- the public view of the file of a subspace of a network's parameters. */
#include "base/sized.h"
#include "net/subspace.h"

#include <string.h>

void krein_subspace_info_clear(krein_ctx *ctx, krein_subspace_info *info) {
    krein_subspace_info r = KREIN_SIZED(krein_subspace_info);
    if (!info) return;
    krein__report_take(&r, info);
    krein__free(ctx, r.arch);
    krein__free(ctx, r.share);
}

krein_status krein_subspace_read(krein_ctx *ctx, const char *path, krein_subspace_info *info) {
    krein_status st = KREIN_OK;
    krein_subspace s = {0};
    krein_subspace_info own = KREIN_SIZED(krein_subspace_info), *r = &own;
    TRY(krein__report_check(ctx, info, "krein_subspace_info"));
    TRY(krein__subspace_load(ctx, path, &s));
    r->arch = s.arch;
    r->share = s.share;
    s.arch = NULL;
    s.share = NULL;
    r->height = s.image.h;
    r->width = s.image.w;
    r->channels = s.image.c;
    r->scores = s.scores;
    r->parameters = s.m;
    r->dimensions = s.s;
    r->snapshots = s.snapshots;
done:
    krein__subspace_clear(&s);
    krein__report_finish(st, info, r);
    krein_subspace_info_clear(ctx, r);
    return st;
}
