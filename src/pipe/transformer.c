/* transformer.c -- pipes that end at their features. */
#include "pipe/pipe.h"

void krein__pipe_name_labels(krein_pipe *p) {
    const krein_data *data = p->job.data;
    krein_encoding *e = &p->job.model->encoding;
    int64_t first = data->label_column, count = krein__max(1, data->options.targets);
    for (int64_t j = first; first >= 0 && j < first + count && j < e->ninput; j++)
        if (e->input[j].role == KREIN_ROLE_IGNORE) e->input[j].role = KREIN_ROLE_LABEL;
    e->outputs = krein__max(1, e->outputs); /* a model file wants to know; nothing comes of it */
}

krein_status krein__pipe_close_headless(krein_pipe *p) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = p->job.model;
    krein__pipe_name_labels(p);
    m->head = KREIN_HEAD_NONE;
    m->k = 0;
    DUP(m->learner, "none");
    NEW(m->w, 0);
    NEW(m->intercept, 0);
done:
    return st;
}

/* Labels are read where the map looks at them, or where they are written with the features. */
static krein_label_use labels_for(const krein_map *map, const krein_data *data, bool carried) {
    if (!krein__data_may_have_labels(data)) return KREIN_LABELS_IGNORED;
    if (map && map->cls->traits & KREIN_MAP_LABELS) return KREIN_LABELS_WANTED;
    return carried ? KREIN_LABELS_CARRIED : KREIN_LABELS_IGNORED;
}

static krein_status begin(krein_ctx *ctx, const krein_train_options *given, krein_data *data,
                          bool carried, krein_pipe *p, krein_label_use *labels) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    krein_train_options o;
    krein_train_options_init(&o);
    TRY(krein__options_copy(ctx, given, &o, "krein_train_options"));
    krein_pipe_options asked = {.kernel = o.kernel,
                                .map = o.map,
                                .features = o.features,
                                .seed = o.seed,
                                .max_exact = o.max_exact};
    krein_purpose purpose = {.what = "the transform"};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, p));
    TRY(krein__pipe_asked_map(p, &map));
    if (map && map->cls->traits & KREIN_MAP_DUAL) {
        st = krein__fail(ctx, KREIN_EARG,
                         "the exact map has no features to write; use gram for "
                         "kernel values, or nystrom");
        goto done;
    }
    *labels = labels_for(map, data, carried);
done:
    krein__map_destroy(map);
    return st;
}

krein_status krein__pipe_transformer(krein_ctx *ctx, const krein_train_options *options,
                                     krein_data *data, bool carried, krein_pipe *p) {
    krein_status st = KREIN_OK;
    krein_label_use labels = KREIN_LABELS_IGNORED;
    TRY(begin(ctx, options, data, carried, p, &labels));
    TRY(krein__pipe_meet(p, data, labels));
    TRY(krein__pipe_median(p));
    TRY(krein__pipe_map(p, NULL));
    TRY(krein__pipe_fit(p));
    TRY(krein__pipe_close_headless(p));
done:
    return st;
}
