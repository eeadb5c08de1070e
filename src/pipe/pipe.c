/* pipe.c -- the stages of a pipe but the choice of its map (choose_map.c). */
#include "pipe/pipe.h"

#include "kernel/inputs.h"
#include "kernel/median.h"

#include <string.h>

/* ---- begin -------------------------------------------------------------- */

krein_status krein__pipe_check_map(const krein_pipe *p, const char *spec,
                                   const krein_kernel *kernel, int64_t features, bool *dual) {
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    TRY(krein__map_create(p->ctx, spec, kernel, features, p->o.seed, &map));
    TRY(krein__map_check(map, features, p->purpose.blind));
    if (dual) *dual = map->cls->traits & KREIN_MAP_DUAL;
done:
    krein__map_destroy(map);
    return st;
}

krein_status krein__pipe_begin_with(krein_ctx *ctx, const krein_pipe_options *o,
                                    const krein_purpose *purpose, krein_kernel *kernel,
                                    krein_pipe *p) {
    krein_status st = KREIN_OK;
    *p = (krein_pipe){.ctx = ctx, .o = *o, .purpose = *purpose, .kernel = kernel};
    p->job = (krein_job){
        .ctx = ctx, .seed = o->seed, .loo = NAN, .refit = NAN, .residual = NAN, .condition = NAN};
    ZNEW(p->job.model, 1);
    p->job.model->ctx = ctx;
    p->job.model->lambda = NAN;
    if (o->features != 0) TRY(krein__limit_check(ctx, "features", (double)o->features));
    TRY(krein__limit_check(ctx, "max_exact", (double)o->max_exact));
done:
    return st;
}

krein_status krein__pipe_begin(krein_ctx *ctx, const krein_pipe_options *o,
                               const krein_purpose *purpose, krein_pipe *p) {
    krein_status st = KREIN_OK;
    TRY(krein__pipe_begin_with(ctx, o, purpose, NULL, p));
    TRY(krein__map_kernel(ctx, o->map, &p->o.kernel));
    TRY(krein__kernel_parse(ctx, p->o.kernel ? p->o.kernel : KREIN_KERNEL_DEFAULT, &p->kernel));
    if (o->map) TRY(krein__pipe_check_map(p, o->map, p->kernel, o->features, NULL));
done:
    return st;
}

krein_status krein__pipe_asked_map(const krein_pipe *p, krein_map **out) {
    *out = NULL;
    if (!p->o.map) return KREIN_OK;
    return krein__map_create(p->ctx, p->o.map, p->kernel, p->o.features, p->o.seed, out);
}

/* ---- meet --------------------------------------------------------------- */

krein_status krein__pipe_scan(krein_pipe *p, krein_data *data, krein_label_use labels) {
    krein_status st = KREIN_OK;
    krein_job *job = &p->job;
    krein_model *m = job->model;
    TRY(krein__data_scan(data, labels, 0, p->o.seed, &m->encoding));
    TRY(krein__encoding_say(p->ctx, &m->encoding));
    job->data = data;
    m->n = job->n = p->rows = data->count[KREIN_PART_TRAIN];
    TRY(krein__stream_open(data, &m->encoding, KREIN_PART_TRAIN, &job->rows));
done:
    return st;
}

krein_status krein__pipe_meet_kernel(krein_pipe *p, bool symmetric) {
    krein_status st = krein__kernel_meet(p->ctx, p->kernel, &p->job.model->encoding);
    if (st != KREIN_OK) return st;
    return krein__kernel_meet_rows(p->ctx, p->kernel, p->job.rows, symmetric);
}

krein_status krein__pipe_meet(krein_pipe *p, krein_data *data, krein_label_use labels) {
    krein_status st = krein__pipe_scan(p, data, labels);
    return st == KREIN_OK ? krein__pipe_meet_kernel(p, true) : st;
}

krein_status krein__pipe_median(krein_pipe *p) {
    return krein__kernel_set_median(p->ctx, p->kernel, p->job.rows, p->job.n, p->o.seed);
}

/* ---- fit and end -------------------------------------------------------- */

void krein__pipe_settle(krein_pipe *p) {
    krein_map *map = p->job.model->map;
    if (!p->kernel) return;
    krein__kernel_destroy(p->ctx, map->kernel);
    map->kernel = p->kernel;
    p->kernel = NULL;
}

krein_status krein__pipe_fit(krein_pipe *p) {
    krein_status st = KREIN_OK;
    krein_model *m = p->job.model;
    krein__pipe_settle(p);
    TRY(krein__map_fit(m->map, m->encoding.d, m->encoding.sparse, p->job.rows, p->job.n));
    TRY(krein__model_finish(m));
done:
    return st;
}

krein_model *krein__pipe_take_model(krein_pipe *p) {
    krein_model *m = p->job.model;
    p->job.model = NULL;
    return m;
}

void krein__pipe_end(krein_pipe *p) {
    krein__stream_close(p->job.rows);
    krein__kernel_destroy(p->ctx, p->kernel);
    krein_model_destroy(p->job.model);
    *p = (krein_pipe){0};
}
