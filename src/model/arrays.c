/* arrays.c -- the arrays of a model by their names: those of the model itself, then those of its
 * map. */
#include "model/model.h"

#include <string.h>

/* The i-th array of the model itself; false past the last. What it has not has no address. */
static bool own(const krein_model *m, int64_t i, krein_named_array *out) {
    const krein_encoding *e = &m->encoding;
    const krein_held_out *p = &m->path;
    const struct {
        const char *name;
        krein_type type;
        int64_t rows, columns;
        const void *at;
    } all[] = {{"weights", KREIN_TYPE_F64, m->map->R, m->k, m->w},
               {"intercepts", KREIN_TYPE_F64, 1, m->k, m->intercept},
               {"calibration.slope", KREIN_TYPE_F64, 1, m->k, m->calibration.slope},
               {"calibration.shift", KREIN_TYPE_F64, 1, m->k, m->calibration.shift},
               {"thresholds", KREIN_TYPE_F64, 1, m->k, m->threshold},
               {"variances", KREIN_TYPE_F64, 1, m->k, m->variance},
               {"classes", KREIN_TYPE_F64, 1, e->nclass, e->class_value},
               {"path.lambda", KREIN_TYPE_F64, 1, p->n, p->lambda},
               {"path.error", KREIN_TYPE_F64, 1, p->n, p->error},
               {"encoding.shift", KREIN_TYPE_F64, 1, e->d, m->shift},
               {"encoding.log", KREIN_TYPE_F32, 1, e->d, e->log},
               {"encoding.centre", KREIN_TYPE_F32, 1, e->d, e->centre},
               {"encoding.factor", KREIN_TYPE_F32, 1, e->d, e->factor},
               {"encoding.fill", KREIN_TYPE_F32, 1, e->d, e->fill},
               {"encoding.clip", KREIN_TYPE_F32, 1, krein__encoding_clips(e), &e->clip},
               {"encoding.metric", KREIN_TYPE_F32, 1, e->d, e->metric},
               {"encoding.matrix", KREIN_TYPE_F32, e->d, e->d, e->matrix},
               {"signs", KREIN_TYPE_BYTES, 1, m->map->D, m->map->sign},
               {"mix", KREIN_TYPE_F64, m->map->R, m->map->D, m->map->mix}};
    if (i >= KREIN__COUNT(all)) return false;
    krein__array_set(out, all[i].name, all[i].type, all[i].rows, all[i].columns, all[i].at);
    return true;
}

static bool there(const krein_named_array *a) {
    return a->array.at && a->array.rows > 0 && a->array.columns > 0;
}

/* The i-th that is there. */
static bool array(const krein_model *m, int64_t i, krein_named_array *out) {
    const krein_map *map = m->map;
    if (i < 0) return false;
    for (int64_t j = 0; own(m, j, out); j++)
        if (there(out) && i-- == 0) return true;
    for (int64_t j = 0; map->cls->array && map->cls->array(map, j, out); j++)
        if (there(out) && i-- == 0) return true;
    return false;
}

const char *krein_model_array_name(const krein_model *m, int64_t i) {
    static _Thread_local krein_named_array found;
    return array(m, i, &found) ? found.name : NULL;
}

int krein_model_array(const krein_model *m, const char *name, krein_array *out) {
    krein_named_array one;
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; array(m, i, &one); i++)
        if (strcmp(one.name, name) == 0) {
            *out = one.array;
            return 1;
        }
    return 0;
}
