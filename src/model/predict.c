/* predict.c -- f(x) = r(x)'W + b, tile by tile: kernel values or features in float32 (float64 for
 * the exact map), sums in float64. A row's prediction does not depend on the rows around it. */
#include "model/model.h"

#include "base/sized.h"
#include "model/packets.h"
#include "model/probability.h"
#include "num/blas.h"
#include "stream/together.h"

#include <math.h>
#include <omp.h>
#include <string.h>

krein_status krein__predictor_begin(krein_ctx *ctx, const krein_model *m, krein_predictor *s) {
    const krein_map *map = m->map;
    bool wide = map->cls->tile64 != NULL;
    /* scratch of the map, features of a tile, the same in double, and the tile's scores */
    int64_t size = wide ? 8 : 4, features = wide ? 8 : 4 + 8;
    s->ctx = ctx;
    s->model = m;
    s->each = (map->scratch * size + KREIN_TILE * map->R * features + KREIN_TILE * m->k * 8 + 63) /
              64 * 64;
    if (m->packed.unit) /* products of codes, and their results */
        s->each = (map->scratch * 4 + krein__product_scratch(m->packed.product) +
                   KREIN_TILE * m->k * 4 + 191) /
                  64 * 64;
    /* or, at another time, what the probabilities of a row need */
    s->each = krein__max(
        s->each, krein__probability_scratch(m->head, m->encoding.nclass) * 8 / 64 * 64 + 64);
    s->scratch = krein__alloc(ctx, ctx->threads * s->each, 1);
    return s->scratch ? KREIN_OK : ctx->status;
}

void krein__predictor_end(krein_predictor *s) {
    if (s->ctx) krein__free(s->ctx, s->scratch);
    memset(s, 0, sizeof *s);
}

/* Eight partial sums: a fixed order that the compiler can put in SIMD registers. */
static double dot(int64_t n, const float *r, const double *w) {
    double part[8] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int64_t k = 0; k < 8; k++) part[k] += (double)r[j + k] * w[j + k];
    for (; j < n; j++) sum += (double)r[j] * w[j];
    for (int64_t k = 0; k < 8; k++) sum += part[k];
    return sum;
}

/* Whole numbers up to the scores. */
static void score_codes(const krein_predictor *s, const krein_rows *rows, char *scratch,
                        double *out) {
    const krein_model *m = s->model;
    const krein_packed *p = &m->packed;
    int64_t k = m->k;
    double factor = krein__map_codes(m->map).factor;
    char *room = scratch + (m->map->scratch * 4 + 63) / 64 * 64;
    float *sum = (float *)(room + (krein__product_scratch(p->product) + 63) / 64 * 64);
    const uint8_t *codes = m->map->cls->code_tile(m->map, rows, (float *)scratch);
    krein__product_reals(p->product, rows->n, codes, m->map->R, room, sum);
    for (int64_t e = 0; e < rows->n * k; e++)
        out[e] = factor * p->unit[e % k] * (double)sum[e] + m->intercept[e % k];
}

static void score_tile(const krein_predictor *s, const krein_rows *rows, char *scratch,
                       double *out) {
    const krein_model *m = s->model;
    const krein_map *map = m->map;
    int64_t R = map->R, k = m->k;
    double *score = (double *)scratch, *wide = score + KREIN_TILE * k;
    if (map->cls->tile64) {
        map->cls->tile64(map, rows, wide, R, wide + KREIN_TILE * R);
    } else {
        float *features = (float *)(wide + KREIN_TILE * R);
        map->cls->tile(map, rows, features, R, features + KREIN_TILE * R);
        if (k == 1) {
            for (int64_t i = 0; i < rows->n; i++)
                out[i] = dot(R, features + i * R, m->w) + m->intercept[0];
            return;
        }
        /* Rows beyond rows->n are padding; they must only be finite. */
        for (int64_t i = 0; i < KREIN_TILE * R; i++)
            wide[i] = i < rows->n * R ? (double)features[i] : 0;
    }
    if (map->cls->tile64)
        memset(wide + rows->n * R, 0, (size_t)((KREIN_TILE - rows->n) * R) * sizeof *wide);
    krein__dgemm(false, false, KREIN_TILE, k, R, 1, wide, R, m->w, k, 0, score, k);
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t c = 0; c < k; c++) out[i * k + c] = score[i * k + c] + m->intercept[c];
}

void krein__predictor_run(const krein_predictor *s, const krein_rows *x, double *out) {
    int64_t tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE, k = s->model->k;
    int threads = (int)krein__max(1, krein__min(s->ctx->threads, tiles));
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t from = t * KREIN_TILE;
        krein_rows rows = krein__rows_slice(x, from, krein__min(KREIN_TILE, x->n - from));
        (s->model->packed.unit ? score_codes : score_tile)(
            s, &rows, (char *)s->scratch + omp_get_thread_num() * s->each, out + from * k);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__predictor_probabilities(const krein_predictor *s, int64_t n, const double *score,
                                    double *p) {
    const krein_model *m = s->model;
    int64_t tiles = (n + KREIN_TILE - 1) / KREIN_TILE, k = m->k, classes = m->encoding.nclass;
    int threads = (int)krein__max(1, krein__min(s->ctx->threads, tiles));
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        double *scratch = (double *)((char *)s->scratch + omp_get_thread_num() * s->each);
        for (int64_t i = t * KREIN_TILE; i < krein__min(n, (t + 1) * KREIN_TILE); i++)
            krein__model_probabilities(m, score + i * k, p + i * classes, scratch);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

int64_t krein__pair(int64_t classes, int64_t a, int64_t b) {
    return a * classes - a * (a + 1) / 2 + b - a - 1;
}

static int64_t most_votes(int64_t classes, const double *score) {
    int64_t best = 0, most = -1;
    for (int64_t c = 0; c < classes; c++) {
        int64_t votes = 0;
        for (int64_t a = 0; a < c; a++) votes += score[krein__pair(classes, a, c)] > 0;
        for (int64_t b = c + 1; b < classes; b++) votes += !(score[krein__pair(classes, c, b)] > 0);
        if (votes > most) {
            most = votes;
            best = c;
        }
    }
    return best;
}

int64_t krein__decide(krein_head head, int64_t classes, const double *score) {
    if (head == KREIN_HEAD_VOTES) return most_votes(classes, score);
    if (classes == 2) return score[0] > 0;
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (score[c] > score[best]) best = c;
    return best;
}

int64_t krein__model_decide(const krein_model *m, const double *score) {
    return krein__decide(m->head, m->encoding.nclass, score);
}

krein_status krein__model_need_head(krein_ctx *ctx, const krein_model *m, const char *what) {
    if (m->head != KREIN_HEAD_NONE) return KREIN_OK;
    return krein__fail(
        ctx, KREIN_EARG,
        "the model makes features and has no head to %s with; train a model for that", what);
}

/* ---- prediction --------------------------------------------------------- */

/* Where processes share the rows of a file, the first one tells of all, in order, when all have
 * scored. Of rows of their own each tells of its own. */
krein_status krein_predict(krein_ctx *ctx, const krein_model *m, krein_data *data,
                           krein_predict_fn fn, void *user) {
    krein_status st = KREIN_OK;
    krein_stream *stream = NULL;
    krein_predictor predictor = {0};
    krein_block b;
    krein_packets all = {.ctx = ctx, .m = m, .fn = fn, .user = user};
    double *score = NULL, *p = NULL;
    int8_t *in_set = NULL;
    int64_t rows = krein__block_rows(m->encoding.d);
    krein__call_begin(ctx);
    TRY(krein__model_need_head(ctx, m, "predict"));
    TRY(krein__data_agree(data));
    data->share_rows = !data->options.own_rows;
    TRY(krein__data_match(data, &m->encoding, false));
    TRY(krein__stream_open(data, &m->encoding, -1, &stream));
    TRY(krein__predictor_begin(ctx, m, &predictor));
    NEW(score, rows * m->k);
    if (m->calibration.slope) NEW(p, rows * m->encoding.nclass);
    if (m->head == KREIN_HEAD_LABELS) NEW(in_set, m->k);
    all.in_set = in_set;
    for (;;) {
        TRY(krein__stream_next(stream, &b));
        if (b.x.n == 0) break;
        krein__predictor_run(&predictor, &b.x, score);
        if (p) krein__predictor_probabilities(&predictor, b.x.n, score, p);
        krein_scored block = {b.x.n, b.first, score, p, b.dropped, b.id, in_set};
        TRY(krein__stream_shared(stream) ? krein__packets_keep(&all, &block)
                                         : krein__tell(m, &block, fn, user));
    }
    if (krein__stream_shared(stream)) TRY(krein__packets_tell(&all));
done:
    st = krein__call_end(ctx, st);
    krein__packets_clear(&all);
    krein__predictor_end(&predictor);
    krein__stream_close(stream);
    krein__free(ctx, score);
    krein__free(ctx, p);
    krein__free(ctx, in_set);
    return st;
}

typedef struct filler {
    krein_ctx *ctx;
    krein_prediction_arrays *to;
    int64_t k, classes;
    bool sets; /* the caller's struct has room for label sets, and wants them */
} filler;

static krein_status fill_row(void *user, const krein_prediction *p) {
    const filler *f = user;
    krein_prediction_arrays *to = f->to;
    if (p->row >= to->capacity)
        return krein__fail(f->ctx, KREIN_EARG,
                           "there are more rows than the %lld that the arrays have room for",
                           (long long)to->capacity);
    if (to->labels) to->labels[p->row] = p->label;
    for (int64_t j = 0; to->scores && j < f->k; j++)
        to->scores[p->row * f->k + j] = p->scores ? p->scores[j] : NAN;
    for (int64_t j = 0; to->probabilities && j < f->classes; j++)
        to->probabilities[p->row * f->classes + j] = p->probabilities ? p->probabilities[j] : NAN;
    for (int64_t j = 0; f->sets && j < f->classes; j++)
        to->label_sets[p->row * f->classes + j] = p->labels ? p->labels[j] : -1;
    to->rows = p->row + 1;
    return KREIN_OK;
}

static bool wants_sets(const krein_prediction_arrays *a) {
    return a->size >= offsetof(krein_prediction_arrays, label_sets) + sizeof a->label_sets &&
           a->label_sets;
}

static krein_status check_arrays(krein_ctx *ctx, const krein_model *m,
                                 const krein_prediction_arrays *out) {
    size_t needed = offsetof(krein_prediction_arrays, rows) + sizeof out->rows;
    if (out->size < needed || out->capacity < 0)
        return krein__fail(ctx, KREIN_EARG,
                           "set the arrays up with krein_prediction_arrays_init and give their "
                           "capacity");
    if (krein__options_known(ctx, out, sizeof *out, "krein_prediction_arrays") != KREIN_OK)
        return ctx->status;
    if (wants_sets(out) && m->head != KREIN_HEAD_LABELS)
        return krein__fail(ctx, KREIN_EARG,
                           "the model has no label sets: train it with "
                           "`task=multilabel`");
    if (out->probabilities && !m->calibration.slope)
        return krein__fail(ctx, KREIN_EARG,
                           "the model has no probabilities; train it with `probabilities`");
    return KREIN_OK;
}

krein_status krein_predict_into(krein_ctx *ctx, const krein_model *m, krein_data *data,
                                krein_prediction_arrays *out) {
    filler f = {ctx, out, m->k, m->encoding.nclass, wants_sets(out)};
    krein__call_begin(ctx);
    krein_status st = check_arrays(ctx, m, out);
    if (st != KREIN_OK) return krein__call_end(ctx, st);
    out->rows = 0;
    return krein_predict(ctx, m, data, fill_row, &f);
}

krein_status krein_predict_dense(krein_ctx *ctx, const krein_model *m, int64_t n, int64_t d,
                                 const float *x, int64_t ld, double *scores) {
    krein_data *data = NULL;
    krein_prediction_arrays to;
    krein_prediction_arrays_init(&to);
    to.capacity = n;
    to.scores = scores;
    krein__call_begin(ctx);
    krein_status st = krein_data_from_dense(ctx, n, d, x, ld, NULL, NULL, NULL, &data);
    st = st == KREIN_OK ? krein_predict_into(ctx, m, data, &to) : krein__call_end(ctx, st);
    krein_data_close(data);
    return st;
}
