/* model.c -- saving, loading and describing models; the entries are listed in
 * docs/model-format.md. */
#include "model/posterior.h"

#include "base/limits.h"
#include "base/sized.h"

#include "map/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

krein_head krein__task_head(krein_task task) {
    if (task == KREIN_TASK_MULTILABEL) return KREIN_HEAD_LABELS;
    return task == KREIN_TASK_CLASSIFICATION ? KREIN_HEAD_BEST : KREIN_HEAD_VALUES;
}

int64_t krein__head_scores(krein_head head, const krein_encoding *e) {
    if (head == KREIN_HEAD_NONE) return 0;
    if (head == KREIN_HEAD_VALUES) return e->outputs;
    if (head == KREIN_HEAD_VOTES) return e->nclass * (e->nclass - 1) / 2;
    return head == KREIN_HEAD_BEST && e->nclass == 2 ? 1 : e->nclass;
}

void krein_model_destroy(krein_model *m) {
    if (!m) return;
    krein_ctx *ctx = m->ctx;
    krein__encoding_clear(ctx, &m->encoding);
    krein__map_destroy(m->map);
    krein__free(ctx, m->learner);
    krein__free(ctx, m->kernel_text);
    krein__free(ctx, m->map_text);
    krein__free(ctx, m->w);
    krein__packed_clear(ctx, &m->packed);
    krein__free(ctx, m->intercept);
    krein__free(ctx, m->calibration.slope);
    krein__free(ctx, m->calibration.shift);
    krein__free(ctx, m->threshold);
    krein__free(ctx, m->calibration.doubt);
    krein__posterior_destroy(ctx, m->posterior);
    krein__free(ctx, m->conformal.residual);
    krein__free(ctx, m->variance);
    krein__free(ctx, m->shift);
    krein__notes_free(ctx, m->note, m->notes);
    krein__weights_free(ctx, m->kernels, m->weights);
    krein__tries_clear(ctx, &m->tries);
    krein__free(ctx, m);
}

/* ---- the file ----------------------------------------------------------- */

/* Names of columns; a file without a header has none. */
static krein_status names_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    static char none[] = ""; /* an empty cell in the header */
    char **names = NULL;
    bool reading = krein__archive_reading(a);
    if (!reading) {
        NEW(names, e->ninput);
        for (int64_t j = 0; j < e->ninput; j++)
            names[j] = e->input[j].name ? e->input[j].name : none;
    }
    TRY(krein__archive_texts(a, "input.names", &names, e->ninput));
    for (int64_t j = 0; reading && j < e->ninput; j++) e->input[j].name = names[j];
done:
    krein__free(ctx, names);
    return st;
}

static krein_status enum_io(krein_archive *a, const char *name, int *value, int high) {
    int64_t number = *value;
    krein_status st = krein__archive_int(a, name, &number, 0, high);
    *value = (int)number;
    return st;
}

static krein_status categories_io(krein_archive *a, krein_ctx *ctx, krein_input *in, int64_t j) {
    krein_status st = KREIN_OK;
    char name[40];
    int texts = (int)in->texts;
    char **words = in->dict.word;
    int64_t n = in->dict.n;
    snprintf(name, sizeof name, "input.%lld.texts", (long long)j);
    if (krein__archive_reading(a) ? krein__archive_has(a, name) : texts != 0)
        TRY(enum_io(a, name, &texts, KREIN_TEXTS_HASH));
    in->texts = (krein_texts)texts;
    if (in->texts == KREIN_TEXTS_HASH) return KREIN_OK; /* words are not kept */
    snprintf(name, sizeof name, "input.%lld.categories", (long long)j);
    TRY(krein__archive_int(
        a, name, &n, 0, in->texts == KREIN_TEXTS_TARGET ? KREIN_WORDS_MAX : KREIN_CATEGORIES_MAX));
    snprintf(name, sizeof name, "input.%lld.words", (long long)j);
    TRY(krein__archive_texts(a, name, &words, n));
    if (krein__archive_reading(a)) {
        for (int64_t k = 0; k < n && st == KREIN_OK; k++) {
            int64_t code = krein__dict_add(ctx, &in->dict, words[k], strlen(words[k]));
            if (code < 0)
                st = ctx->status;
            else if (code != k)
                st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (categories repeat)");
        }
        for (int64_t k = 0; k < n; k++) krein__free(ctx, words[k]);
        krein__free(ctx, words);
        TRY(st);
    }
    if (in->texts != KREIN_TEXTS_TARGET) goto done;
    snprintf(name, sizeof name, "input.%lld.columns", (long long)j);
    TRY(krein__archive_int(a, name, &in->target.columns, 1, 64));
    in->target.words = n;
    snprintf(name, sizeof name, "input.%lld.means", (long long)j);
    TRY(krein__archive_array(a, name, KREIN_TYPE_F32, &in->target.mean,
                             (n + 2) * in->target.columns));
done:
    return st;
}

/* How cells that are no plain numbers become numbers; nothing where all are plain. */
static krein_status readings_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a), any = false;
    int32_t *code = NULL;
    for (int64_t j = 0; j < e->ninput; j++) any = any || e->input[j].reading.as;
    if (reading ? !krein__archive_has(a, "input.readings") : !any) return KREIN_OK;
    if (!reading) {
        NEW(code, e->ninput);
        for (int64_t j = 0; j < e->ninput; j++)
            code[j] = (int32_t)e->input[j].reading.as * 256 + e->input[j].reading.style;
    }
    TRY(krein__archive_array(a, "input.readings", KREIN_TYPE_I32, &code, e->ninput));
    for (int64_t j = 0; reading && j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        int as = code[j] / 256, style = code[j] % 256;
        if (code[j] < 0 || !krein__reading_valid(as, style) || (as && in->text)) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (a column's cells)");
            break;
        }
        in->reading = (krein_reading){(krein_as)as, style};
    }
done:
    if (!reading && st == KREIN_OK) return krein__archive_own(a, code);
    krein__free(ctx, code);
    return st;
}

/* Which inputs have a column that says where they are missing (1), and which columns were left out
 * (2 + why); nothing where there are none. */
static krein_status indicators_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a), any = false;
    int8_t *flag = NULL;
    for (int64_t j = 0; j < e->ninput; j++)
        any = any || e->input[j].indicator || e->input[j].left_out;
    if (reading ? !krein__archive_has(a, "input.missing") : !any) return KREIN_OK;
    if (!reading) {
        NEW(flag, e->ninput);
        for (int64_t j = 0; j < e->ninput; j++) {
            const krein_input *in = &e->input[j];
            flag[j] = (int8_t)(in->left_out ? 1 + (int)in->left_out : in->indicator);
        }
    }
    TRY(krein__archive_array(a, "input.missing", KREIN_TYPE_BYTES, &flag, e->ninput));
    for (int64_t j = 0; reading && j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        in->indicator = flag[j] == 1;
        in->left_out = flag[j] > 1 ? (krein_left_out)(flag[j] - 1) : KREIN_LEFT_NOT;
        krein_role role = flag[j] == 1 ? KREIN_ROLE_FEATURE : KREIN_ROLE_IGNORE;
        if (flag[j] < 0 || flag[j] > 1 + KREIN_LEFT_MANY || (flag[j] > 0 && in->role != role))
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (missing cells)");
    }
done:
    if (!reading && st == KREIN_OK) return krein__archive_own(a, flag);
    krein__free(ctx, flag);
    return st;
}

/* Roles, kinds and shifts of the input columns as one array each. */
static krein_status inputs_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    int32_t *role = NULL;
    double *shift = NULL;
    TRY(krein__archive_int(a, "inputs", &e->ninput, 0, INT32_MAX));
    if (e->ninput == 0) goto done;
    if (reading) {
        ZNEW(e->input, e->ninput);
    } else {
        NEW(role, e->ninput);
        NEW(shift, e->ninput);
        for (int64_t j = 0; j < e->ninput; j++) {
            role[j] = (int32_t)e->input[j].role * 2 + e->input[j].text;
            shift[j] = e->input[j].shift;
        }
    }
    TRY(krein__archive_array(a, "input.roles", KREIN_TYPE_I32, &role, e->ninput));
    TRY(krein__archive_array(a, "input.shifts", KREIN_TYPE_F64, &shift, e->ninput));
    if (e->header) TRY(names_io(a, ctx, e));
    for (int64_t j = 0; j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        if (reading) {
            if (role[j] < 0 || role[j] > 2 * KREIN_ROLE_IGNORE + 1) {
                st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (a column's role)");
                goto done;
            }
            in->role = (krein_role)(role[j] / 2);
            in->text = role[j] % 2;
            in->shift = shift[j];
        }
        if (in->role == KREIN_ROLE_FEATURE && in->text) TRY(categories_io(a, ctx, in, j));
    }
    TRY(readings_io(a, ctx, e));
    TRY(indicators_io(a, ctx, e));
    if (reading && krein__place_inputs(e) != e->d)
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its columns)");
done:
    /* Written arrays are read by krein__archive_save later: the archive keeps the pointers. */
    if (!reading && st == KREIN_OK && e->ninput > 0) {
        st = krein__archive_own(a, role);
        if (st == KREIN_OK) st = krein__archive_own(a, shift);
    } else {
        krein__free(ctx, role);
        krein__free(ctx, shift);
    }
    return st;
}

/* Least and greatest values of the inputs. */
static krein_status ranges_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    const int64_t n = krein__encoding_ranges(e);
    if (krein__archive_reading(a)
            ? !krein__archive_has(a, "input.low") && !krein__archive_has(a, "input.high")
            : !e->range_low)
        return KREIN_OK;
    TRY(krein__archive_array(a, "input.low", KREIN_TYPE_F64, &e->range_low, n));
    TRY(krein__archive_array(a, "input.high", KREIN_TYPE_F64, &e->range_high, n));
    for (int64_t j = 0; j < n; j++)
        if (!(e->range_low[j] <= e->range_high[j])) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (ranges of its columns)");
            goto done;
        }
done:
    return st;
}

/* What is done before and after scaling. Programs that do not know it must not read the file. */
static krein_status around_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    double clip = (double)e->clip;
    if (reading ? krein__archive_has(a, "encoding.log") : e->log != NULL) {
        krein__archive_needs(a, 2);
        TRY(krein__archive_array(a, "encoding.log", KREIN_TYPE_F32, &e->log, e->d));
        for (int64_t j = 0; j < e->d; j++) {
            if (!e->sparse && e->log[j] >= 0 && isfinite(e->log[j])) continue;
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its logarithms)");
            goto done;
        }
    }
    if (reading ? krein__archive_has(a, "encoding.clip") : krein__encoding_clips(e)) {
        krein__archive_needs(a, 2);
        TRY(krein__archive_double(a, "encoding.clip", &clip));
        e->clip = (float)clip;
        if (!krein__encoding_clips(e)) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its clip)");
            goto done;
        }
    }
    if (reading ? krein__archive_has(a, "encoding.metric") : e->metric != NULL) {
        krein__archive_needs(a, 2);
        TRY(krein__archive_array(a, "encoding.metric", KREIN_TYPE_F32, &e->metric, e->d));
    }
    if (reading ? krein__archive_has(a, "encoding.matrix") : e->matrix != NULL) {
        krein__archive_needs(a, 2);
        if (e->sparse || e->d > KREIN_MATRIX_MAX) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its metric)");
            goto done;
        }
        TRY(krein__archive_array(a, "encoding.matrix", KREIN_TYPE_F32, &e->matrix, e->d * e->d));
    }
done:
    return st;
}

static krein_status scaling_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_array(a, "encoding.centre", KREIN_TYPE_F32, &e->centre, e->d));
    TRY(krein__archive_array(a, "encoding.factor", KREIN_TYPE_F32, &e->factor, e->d));
    TRY(krein__archive_array(a, "encoding.fill", KREIN_TYPE_F32, &e->fill, e->d));
    TRY(around_io(a, ctx, e));
done:
    return st;
}

krein_status krein__scaling_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    float **array[] = {&e->centre, &e->factor, &e->fill, &e->log, &e->metric, &e->matrix};
    for (int64_t i = 0; krein__archive_reading(a) && i < KREIN__COUNT(array); i++) {
        krein__free(ctx, *array[i]);
        *array[i] = NULL;
    }
    if (krein__archive_reading(a)) e->clip = 0;
    return scaling_io(a, ctx, e);
}

/* The shape of rows that are images. */
static krein_status image_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    static const char *const name[] = {"encoding.height", "encoding.width", "encoding.channels"};
    krein_status st = KREIN_OK;
    if (krein__archive_reading(a) ? !krein__archive_has(a, name[0]) : e->image[0] == 0)
        return KREIN_OK;
    krein__archive_needs(a, 2);
    for (int k = 0; k < 3; k++) TRY(krein__archive_int(a, name[k], &e->image[k], 1, 1 << 16));
    if (e->sparse || e->image[0] * e->image[1] * e->image[2] != e->d)
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its images are wrong)");
done:
    return st;
}

krein_status krein__encoding_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e) {
    krein_status st = KREIN_OK;
    int scale = (int)e->scale, missing = (int)e->missing, task = (int)e->task;
    TRY(krein__archive_int(a, "encoding.d", &e->d, 1, INT32_MAX));
    TRY(krein__archive_bool(a, "encoding.header", &e->header));
    TRY(krein__archive_bool(a, "encoding.sparse", &e->sparse));
    TRY(krein__archive_bool(a, "encoding.unknown", &e->unknown_ignore));
    TRY(enum_io(a, "encoding.scale", &scale, KREIN_SCALE_NONE));
    TRY(enum_io(a, "encoding.missing", &missing, KREIN_MISSING_AUTO));
    TRY(enum_io(a, "encoding.task", &task, KREIN_TASK_MULTILABEL));
    e->scale = (krein_scale)scale;
    e->missing = (krein_missing)missing;
    e->task = (krein_task)task;
    TRY(krein__archive_int(a, "encoding.outputs", &e->outputs, 1, KREIN_TARGETS_MAX));
    TRY(inputs_io(a, ctx, e));
    TRY(image_io(a, ctx, e));
    TRY(ranges_io(a, ctx, e));
    TRY(scaling_io(a, ctx, e));
    const bool labels = e->task == KREIN_TASK_MULTILABEL;
    if (e->task != KREIN_TASK_CLASSIFICATION && !labels) goto done;
    TRY(krein__archive_bool(a, "classes.text", &e->label_text));
    if (labels) {
        krein__archive_needs(a, 2);
        TRY(krein__archive_bool(a, "classes.blanks", &e->label_blanks));
    }
    TRY(krein__archive_int(a, "classes", &e->nclass, labels ? 1 : 2, KREIN_CLASSES_MAX));
    TRY(krein__archive_texts(a, "class.names", &e->class_name, e->nclass));
    if (!e->label_text)
        TRY(krein__archive_array(a, "class.values", KREIN_TYPE_F64, &e->class_value, e->nclass));
done:
    return st;
}

/* A model without a task (principal components) has as many scores as it says, others as many as
 * the head needs. */
static bool fitting_head(const krein_model *m) {
    const krein_encoding *e = &m->encoding;
    if (m->head == KREIN_HEAD_NONE) return m->k == 0;
    const bool labels = e->task == KREIN_TASK_MULTILABEL;
    if (labels != (m->head == KREIN_HEAD_LABELS) || (labels && !e->label_text)) return false;
    if (m->k == 0 || (e->nclass > 0) == (m->head == KREIN_HEAD_VALUES)) return false;
    return e->task == KREIN_TASK_AUTO || m->k == krein__head_scores(m->head, e);
}

static krein_status head_io(krein_archive *a, krein_model *m) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = m->ctx;
    const krein_encoding *e = &m->encoding;
    int head = (int)m->head;
    bool calibrated = m->calibration.slope != NULL;
    if (krein__archive_reading(a) && !krein__archive_has(a, "head") &&
        !krein__archive_has(a, "scores")) { /* a file of version 0.1 */
        m->head = krein__task_head(e->task);
        m->k = krein__head_scores(m->head, e);
        goto done;
    }
    TRY(enum_io(a, "head", &head, KREIN_HEAD_LABELS));
    m->head = (krein_head)head;
    TRY(krein__archive_int(a, "scores", &m->k, 0, INT32_MAX));
    if (!fitting_head(m)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its scores)");
        goto done;
    }
    if (m->head == KREIN_HEAD_LABELS &&
        (krein__archive_reading(a) ? krein__archive_has(a, "thresholds") : m->threshold != NULL))
        TRY(krein__archive_array(a, "thresholds", KREIN_TYPE_F64, &m->threshold, m->k));
    TRY(krein__archive_bool(a, "calibrated", &calibrated));
    if (!calibrated) goto done;
    TRY(krein__archive_array(a, "calibration.slope", KREIN_TYPE_F64, &m->calibration.slope, m->k));
    TRY(krein__archive_array(a, "calibration.shift", KREIN_TYPE_F64, &m->calibration.shift, m->k));
    TRY(krein__doubt_io(a, ctx, &m->calibration));
done:
    return st;
}

/* Files of version 0.1 say it by the learner alone. */
static krein_status clusters_io(krein_archive *a, krein_model *m) {
    bool reading = krein__archive_reading(a);
    if (reading ? krein__archive_has(a, "clusters") : m->clusters)
        return krein__archive_bool(a, "clusters", &m->clusters);
    if (reading) m->clusters = strncmp(m->learner, "kmeans(", 7) == 0;
    return KREIN_OK;
}

/* A model without a task may give principal components. */
static krein_status variance_io(krein_archive *a, krein_model *m) {
    krein_status st = KREIN_OK;
    bool components = m->variance != NULL;
    if (m->encoding.task != KREIN_TASK_AUTO) return KREIN_OK;
    TRY(krein__archive_bool(a, "components", &components));
    if (!components) goto done;
    TRY(krein__archive_array(a, "variance", KREIN_TYPE_F64, &m->variance, m->k));
    TRY(krein__archive_double(a, "variance.total", &m->variance_total));
    if (!(m->variance_total > 0) || isinf(m->variance_total))
        st = krein__fail(m->ctx, KREIN_EMODEL, "the model is damaged (its variance)");
done:
    return st;
}

/* The signs of the features, where some are negative. */
static krein_status signs_io(krein_archive *a, krein_model *m) {
    krein_status st = KREIN_OK;
    krein_map *map = m->map;
    int8_t *sign = map->sign;
    int64_t negative = 0;
    if (krein__archive_reading(a) ? !krein__archive_has(a, "signs") : !sign) return KREIN_OK;
    TRY(krein__archive_array(a, "signs", KREIN_TYPE_BYTES, &sign, map->D));
    if (!krein__archive_reading(a)) goto done;
    krein__free(map->ctx, map->sign); /* a map that is drawn again has them */
    map->sign = sign;
    bool valid = true;
    for (int64_t i = 0; i < map->D; i++) {
        valid = valid && (sign[i] == 1 || sign[i] == -1);
        negative += sign[i] < 0;
    }
    if (!valid || negative != map->negative)
        st = krein__fail(m->ctx, KREIN_EMODEL, "the model is damaged (its signs)");
done:
    return st;
}

/* Weights are of raw features. A model without weights needs the matrix that makes features of
 * them. */
static krein_status mix_io(krein_archive *a, krein_model *m) {
    krein_map *map = m->map;
    int64_t cells;
    if (m->head != KREIN_HEAD_NONE || !(krein__map_traits(map) & KREIN_MAP_MIX)) return KREIN_OK;
    if (krein__archive_reading(a) ? !krein__archive_has(a, "mix") : !map->mix) return KREIN_OK;
    if (__builtin_mul_overflow(map->R, map->D, &cells))
        return krein__fail(m->ctx, KREIN_EMODEL, "the model is damaged (its features)");
    return krein__archive_array(a, "mix", KREIN_TYPE_F64, &map->mix, cells);
}

static krein_status model_io(krein_archive *a, krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__archive_text(a, "learner", &m->learner));
    TRY(krein__archive_double(a, "lambda", &m->lambda));
    if (m->lambda < 0 || isinf(m->lambda)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its lambda)");
        goto done;
    }
    TRY(krein__archive_int(a, "n", &m->n, 1, INT64_MAX / 2));
    TRY(krein__encoding_io(a, ctx, &m->encoding));
    TRY(krein__map_io(ctx, a, m->encoding.d, m->encoding.sparse, &m->map));
    TRY(head_io(a, m));
    TRY(clusters_io(a, m));
    TRY(variance_io(a, m));
    TRY(krein__weights_io(a, ctx, &m->kernels, &m->weights));
    TRY(krein__held_out_io(a, ctx, &m->path));
    TRY(krein__tries_io(a, ctx, &m->tries));
    TRY(signs_io(a, m));
    TRY(mix_io(a, m));
    if (krein__archive_reading(a) ? krein__archive_has(a, "weights.codes")
                                  : m->packed.unit != NULL) {
        krein__archive_needs(a, 2);
        TRY(krein__packed_io(a, m));
    } else {
        TRY(krein__archive_array(a, "weights", KREIN_TYPE_F64, &m->w, m->map->R * m->k));
    }
    TRY(krein__archive_array(a, "intercept", KREIN_TYPE_F64, &m->intercept, m->k));
    TRY(krein__posterior_io(a, m));
    TRY(krein__conformal_io(a, m));
done:
    return st;
}

/* An archive of it. *view is the model on the caller's context, and what is written to on the way;
 * it lives as long as the archive, which refers to arrays of both. */
static krein_status archive(krein_ctx *ctx, const krein_model *model, krein_model *view,
                            krein_archive **out) {
    krein_status st = KREIN_OK;
    *view = *model;
    view->ctx = ctx;
    TRY(krein__archive_create(ctx, out));
    TRY(model_io(*out, view));
done:
    return st;
}

krein_status krein_model_save(krein_ctx *ctx, const krein_model *model, const char *path) {
    krein_archive *a = NULL;
    krein_model view;
    krein_status st = archive(ctx, model, &view, &a);
    if (st == KREIN_OK) st = krein__archive_save(a, path);
    krein__archive_destroy(a);
    return st;
}

krein_status krein_model_save_memory(krein_ctx *ctx, const krein_model *model, void *to,
                                     int64_t room, int64_t *bytes) {
    krein_archive *a = NULL;
    krein_model view;
    krein_status st = archive(ctx, model, &view, &a);
    *bytes = 0;
    if (st == KREIN_OK) {
        st = krein__archive_save_memory(a, to, room);
        *bytes = krein__archive_bytes(a);
    }
    krein__archive_destroy(a);
    return st;
}

/* What is taken off each encoded column before it is centred. */
static krein_status find_shifts(krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &m->encoding;
    if (e->ninput == 0) return KREIN_OK;
    ZNEW(m->shift, e->d);
    for (int64_t j = 0; j < e->ninput; j++)
        if (e->input[j].at >= 0 && !e->input[j].text)
            m->shift[e->input[j].at + krein__input_values(&e->input[j]) - 1] = e->input[j].shift;
done:
    return st;
}

krein_status krein__model_finish(krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    if (!(m->kernel_text = krein__kernel_text(ctx, m->map->kernel))) return ctx->status;
    if (m->kernels > 0) TRY(krein__joint_text(m->map, &m->map_text));
    if (!m->map_text && !(m->map_text = krein__map_text(m->map))) {
        st = ctx->status;
        goto done;
    }
    TRY(find_shifts(m));
    TRY(krein__encoding_notes(ctx, &m->encoding, &m->note, &m->notes));
done:
    return st;
}

krein_status krein__model_retell_map(krein_model *m) {
    krein__free(m->ctx, m->map_text);
    m->map_text = krein__map_text(m->map);
    return m->map_text ? KREIN_OK : m->ctx->status;
}

/* name: of the file, for messages. */
static krein_status from_archive(krein_ctx *ctx, krein_archive *a, const char *name,
                                 krein_model **out) {
    krein_status st = KREIN_OK;
    krein_model *m = NULL;
    if (krein__archive_has(a, "checkpoint")) {
        st = krein__fail(ctx, KREIN_EMODEL,
                         "%s: this is the checkpoint of a training that has not ended; give the "
                         "train command again to go on",
                         name);
        goto done;
    }
    if (krein__archive_has(a, "subspace.arch") || krein__archive_has(a, "fewshot.job")) {
        st = krein__fail(ctx, KREIN_EMODEL, "%s: this is %s, and no model", name,
                         krein__archive_has(a, "fewshot.job")
                             ? "the checkpoint of a few-shot run"
                             : "the subspace of a network's parameters (`subspace` takes it)");
        goto done;
    }
    ZNEW(m, 1);
    m->ctx = ctx;
    st = model_io(a, m);
    if (st == KREIN_EMODEL && !strstr(ctx->message, name)) krein__prefix(ctx, st, "%s: ", name);
    TRY(st);
    TRY(krein__model_finish(m));
    m->bytes = krein__archive_bytes(a);
    *out = m;
    m = NULL;
done:
    krein_model_destroy(m);
    return st;
}

krein_status krein_model_load(krein_ctx *ctx, const char *path, krein_model **out) {
    krein_archive *a = NULL;
    *out = NULL;
    krein_status st = krein__archive_load(ctx, path, &a);
    if (st == KREIN_OK) st = from_archive(ctx, a, path, out);
    krein__archive_destroy(a);
    return st;
}

krein_status krein_model_load_memory(krein_ctx *ctx, const void *bytes, int64_t size,
                                     krein_model **out) {
    krein_archive *a = NULL;
    *out = NULL;
    krein_status st = krein__archive_load_memory(ctx, bytes, size, &a);
    if (st == KREIN_OK) st = from_archive(ctx, a, "(memory)", out);
    krein__archive_destroy(a);
    return st;
}

/* ---- describing --------------------------------------------------------- */

static int64_t inputs(const krein_encoding *e) {
    int64_t n = 0;
    for (int64_t j = 0; j < e->ninput; j++) n += e->input[j].role == KREIN_ROLE_FEATURE;
    return e->ninput ? n : e->d;
}

void krein_model_describe(const krein_model *m, krein_model_info *info) {
    krein_model_info own = KREIN_SIZED(krein_model_info), *out = &own;
    out->task = m->encoding.task;
    out->n = m->n;
    out->d = m->encoding.d;
    out->D = m->map->D;
    out->inputs = inputs(&m->encoding);
    out->outputs = m->k;
    out->classes = m->encoding.nclass;
    out->bytes = m->bytes;
    out->learner = m->learner;
    out->kernel = m->kernel_text;
    out->map = m->map_text;
    out->scale = krein__scale_name(m->encoding.scale);
    out->lambda = m->lambda;
    out->seed = m->map->seed;
    out->negative = m->map->negative;
    out->probabilities = m->calibration.slope != NULL;
    out->variance = m->variance;
    out->variance_total = m->variance ? m->variance_total : NAN;
    out->kernels = m->kernels;
    out->weights = m->weights;
    out->metric = krein__encoding_metric(&m->encoding);
    out->uncertainty = krein__model_says(m);
    out->clip = krein__encoding_clips(&m->encoding) ? (double)m->encoding.clip : INFINITY;
    krein__report_finish(KREIN_OK, info, out);
}

const char *krein_model_class(const krein_model *m, int64_t k) {
    return k >= 0 && k < m->encoding.nclass ? m->encoding.class_name[k] : NULL;
}

const char *krein_model_note(const krein_model *m, int64_t i) {
    return i >= 0 && i < m->notes ? m->note[i] : NULL;
}

const char *krein_model_column(const krein_model *m, int64_t j) {
    for (int64_t i = 0; i < m->encoding.ninput; i++)
        if (m->encoding.input[i].role == KREIN_ROLE_FEATURE && j-- == 0)
            return m->encoding.input[i].name;
    return NULL;
}

int64_t krein_model_column_number(const krein_model *m, int64_t j) {
    if (j < 0) return 0;
    if (m->encoding.ninput == 0) return j < m->encoding.d ? j + 1 : 0; /* sparse rows */
    for (int64_t i = 0; i < m->encoding.ninput; i++)
        if (m->encoding.input[i].role == KREIN_ROLE_FEATURE && j-- == 0) return i + 1;
    return 0;
}

int krein_model_range(const krein_model *m, int64_t j, double *low, double *high) {
    return krein__encoding_range(&m->encoding, krein_model_column_number(m, j) - 1, low, high);
}

const krein_tried *krein_model_tried(const krein_model *m, int64_t i) {
    return i >= 0 && i < m->tries.n ? &m->tries.tried[i] : NULL;
}

const krein_searched *krein_model_searched(const krein_model *m, int64_t i) {
    return i >= 0 && i < m->tries.nsearched ? &m->tries.searched[i] : NULL;
}

int krein_model_encoded_name(const krein_model *m, int64_t j, char *text, size_t size) {
    if (j < 0 || j >= m->encoding.d) return 0;
    krein__encoded_name(&m->encoding, j, text, size);
    return 1;
}

int krein_model_fact(const krein_model *m, int64_t i, krein_fact *out) {
    const krein_map *map = m->map;
    return map->cls->fact && i >= 0 && map->cls->fact(map, i, out);
}
