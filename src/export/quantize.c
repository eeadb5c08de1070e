/* quantize.c -- the same model in a few bits (krein_model_quantize)
 *
 * A model on random features is a sum of waves (map/waves.h),
 *     f(x) = b + sum_f A_f cos(2 pi w_f'x) + B_f sin(2 pi w_f'x),
 * with the phases of the map in A and B. Frequencies, cosines and sines, and weights become codes
 * of so many bits, rows of 8 (map/deep.h, model/packed.c); each encoded column is divided by the
 * largest size that it has in the calibration rows (scored_rows.c) before. Where a column has few
 * values far out, they would leave a few codes to all others: such columns are also tried cut, and
 * the model that gives the scores better is kept.
 *
 * Rounding. What counts is the output, not the single number: an error e of the frequencies changes
 * the phase by e'x, in the mean square e'He with H = mean xx' over the calibration rows. Columns
 * are rounded one after the other, and each error is made up for by the columns that are still to
 * come, with the factor of H^-1 (frantar2023): w_k -= (w_j - q_j) U_jk / U_jj, H^-1 = U'U. Weights
 * the same with H of the features in codes; before that they are moved so that these features give
 * the scores of the model again, v = w + (S'S + m I)^-1 S'(f - Sw).
 *
 * A model on kernel values at rows, f(x) = b + sum_i v_i k(x, l_i), has these rows in the place of
 * the frequencies (map/coded.h): an error e of l_i changes <x, l_i> by e'x. Weights of kernel
 * values are large and of both signs in directions that hardly matter, and those do not survive
 * rounding: v = (S'S + m I)^-1 S'f, with the m of a few that gives the least error of the scores on
 * the calibration rows once all is rounded. */
#include "base/sized.h"
#include "export/scored_rows.h"
#include "export/source.h"
#include "map/coded.h"
#include "map/deep.h"
#include "map/waves.h"
#include "model/posterior.h"
#include "num/blas.h"
#include "stream/together.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 4000 };
static const double DAMPING = 1e-3; /* of the mean diagonal of H */
/* Of a model on kernel values: those that are tried. */
static const double DAMPINGS[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
/* Ranges that are tried, as parts of the largest number: few bits are better spent without it. */
static const double PARTS[] = {1, 0.8, 0.65, 0.5, 0.38, 0.28, 0.2};

typedef struct quantizing {
    krein_ctx *ctx;
    const krein_model *from;
    int bits;
    bool values;        /* features are kernel values at F rows, else F cosines and F sines */
    int64_t d, F, R, k; /* R features */
    krein_scored_rows rows;
    float *unit; /* d */
    double *w;   /* d x F: frequencies in turns or rows, divided by unit */
    double *v;   /* R x k: weights */
    uint8_t *w_codes, *v_codes;
    krein_quant w_quant;
    krein_model *to;
} quantizing;

/* ---- the waves ---------------------------------------------------------- */

static krein_status take_waves(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = q->from;
    krein_waves w = {0};
    int64_t k = q->k;
    TRY(krein__map_waves(ctx, m->map, &w));
    if (w.unit > 0) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "features that are brought to one length (nrff) cannot "
                         "be codes; use rff or orf");
        goto done;
    }
    q->F = w.F;
    q->R = 2 * w.F;
    NEW(q->w, q->d * q->F);
    ZNEW(q->v, 2 * q->F * k);
    for (int64_t f = 0; f < q->F; f++) {
        double angle = 2 * M_PI * (double)w.phase[f], a = (double)w.factor[f];
        for (int64_t j = 0; j < q->d; j++)
            q->w[j * q->F + f] =
                q->unit[j] > 0 ? (double)w.turns[f * q->d + j] / (double)q->unit[j] : 0;
        for (int64_t c = 0; c < k; c++) {
            double even = w.cosine[f] >= 0 ? a * m->w[w.cosine[f] * k + c] : 0;
            double odd = w.sine[f] >= 0 ? a * m->w[w.sine[f] * k + c] : 0;
            q->v[2 * f * k + c] = even * cos(angle) + odd * sin(angle);
            q->v[(2 * f + 1) * k + c] = odd * cos(angle) - even * sin(angle);
        }
    }
done:
    krein__waves_clear(ctx, &w);
    return st;
}

/* ---- kernel values ------------------------------------------------------ */

static krein_status take_values(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    krein_rows rows = krein__map_landmarks(q->from->map);
    const double *v = q->from->w;
    int64_t *used = NULL, k = q->k;
    float *row = NULL;
    NEW(used, rows.n);
    for (int64_t i = 0; i < rows.n; i++) { /* support vectors */
        bool any = false;
        for (int64_t c = 0; c < k; c++) any = any || v[i * k + c] != 0;
        if (any) used[q->F++] = i;
    }
    q->R = q->F;
    if (q->F == 0 || q->F > MOST_VALUES) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "the model has kernel values at %lld rows, and from 1 to %d can be put "
                         "into few bits; train with `map=nystrom` or a map of frequencies",
                         (long long)q->F, MOST_VALUES);
        goto done;
    }
    NEW(q->w, q->d * q->F);
    NEW(q->v, q->R * q->k);
    NEW(row, q->d);
    for (int64_t i = 0; i < q->F; i++) {
        krein__row_copy(&rows, used[i], row);
        for (int64_t j = 0; j < q->d; j++)
            q->w[j * q->F + i] = q->unit[j] > 0 ? (double)row[j] / (double)q->unit[j] : 0;
    }
    for (int64_t e = 0; e < q->R * k; e++) q->v[e] = v[used[e / k] * k + e % k];
done:
    krein__free(ctx, used);
    krein__free(ctx, row);
    return st;
}

/* ---- rounding ----------------------------------------------------------- */

/* U with H^-1 = U'U in the upper triangle; H (m x m) is damped and overwritten. */
static krein_status inverse_factor(krein_ctx *ctx, int64_t m, double damping, double *H) {
    krein_status st = KREIN_OK;
    double *inverse = NULL, mean = 0;
    for (int64_t i = 0; i < m; i++) mean += H[i * m + i] / (double)m;
    for (int64_t i = 0; i < m; i++) H[i * m + i] += damping * mean + 1e-12;
    ZNEW(inverse, m * m);
    for (int64_t i = 0; i < m; i++) inverse[i * m + i] = 1;
    TRY(krein__cholesky(ctx, m, H, m, NULL));
    TRY(krein__cholesky_solve(ctx, m, H, m, m, inverse, m));
    memcpy(H, inverse, (size_t)(m * m) * sizeof *H);
    TRY(krein__cholesky(ctx, m, H, m, NULL));
done:
    krein__free(ctx, inverse);
    return st;
}

/* Codes (m x r) of w (m x r, overwritten), row by row; what a row's rounding leaves goes to the
 * rows behind it. */
static krein_status round_rows(krein_ctx *ctx, int64_t m, int64_t r, const double *U,
                               const krein_quant *quant, double *w, uint8_t *codes) {
    krein_status st = KREIN_OK;
    float *row = NULL, *back = NULL;
    NEW(row, r);
    NEW(back, r);
    for (int64_t j = 0; j < m; j++) {
        double *at = w + j * r;
        for (int64_t c = 0; c < r; c++) row[c] = (float)at[c];
        krein__quant_codes(quant, r, row, codes + j * r);
        krein__quant_reals(quant, r, codes + j * r, back);
        for (int64_t c = 0; c < r; c++) at[c] = (at[c] - (double)back[c]) / U[j * m + j];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t l = j + 1; l < m; l++)
            for (int64_t c = 0; c < r; c++) w[l * r + c] -= at[c] * U[j * m + l];
        if (j % 64 == 0) TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, row);
    krein__free(ctx, back);
    return st;
}

/* H (m x m) = mean of s s' over the calibration rows s (n x m, float32). */
static krein_status moments(quantizing *q, int64_t m, const float *s, double *H) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    double *wide = NULL;
    NEW(wide, q->rows.n * m);
    for (int64_t e = 0; e < q->rows.n * m; e++) wide[e] = (double)s[e];
    krein__pgemm(ctx, true, false, m, m, q->rows.n, 1 / (double)q->rows.n, wide, m, wide, m, 0, H,
                 m);
done:
    krein__free(ctx, wide);
    return st;
}

/* sum_f e_f'He_f over the columns e_f of e (d x F); product has room for as many. */
static double quadratic(const quantizing *q, const double *H, const double *e, double *product) {
    int64_t d = q->d, F = q->F;
    double sum = 0;
    krein__pgemm(q->ctx, false, false, d, F, d, 1, H, d, e, F, 0, product, F);
    for (int64_t i = 0; i < d * F; i++) sum += e[i] * product[i];
    return sum;
}

static krein_status round_frequencies(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    double *H = NULL, *U = NULL, *w = NULL, *product = NULL;
    double low = 0, high = 0, least = INFINITY;
    float *x = NULL;
    uint8_t *codes = NULL;
    NEW(H, q->d * q->d);
    NEW(U, q->d * q->d);
    NEW(w, q->d * q->F);
    NEW(product, q->d * q->F);
    NEW(codes, q->d * q->F);
    NEW(x, q->rows.n * q->d);
    NEW(q->w_codes, q->d * q->F);
    for (int64_t e = 0; e < q->rows.n * q->d; e++)
        x[e] = fmaxf(-1, fminf(1, q->rows.x[e] * q->unit[e % q->d]));
    for (int64_t e = 0; e < q->d * q->F; e++) {
        low = fmin(low, q->w[e]);
        high = fmax(high, q->w[e]);
    }
    TRY(moments(q, q->d, x, H));
    memcpy(U, H, (size_t)(q->d * q->d) * sizeof *U);
    TRY(inverse_factor(ctx, q->d, DAMPING, U));
    for (int64_t i = 0; i < KREIN__COUNT(PARTS); i++) {
        krein_quant quant = krein__quant(q->bits, PARTS[i] * low, PARTS[i] * high);
        memcpy(w, q->w, (size_t)(q->d * q->F) * sizeof *w);
        TRY(round_rows(ctx, q->d, q->F, U, &quant, w, codes));
        for (int64_t e = 0; e < q->d * q->F; e++)
            w[e] = quant.scale * ((double)codes[e] + quant.zero) - q->w[e];
        double error = quadratic(q, H, w, product);
        if (!(error < least)) continue;
        least = error;
        q->w_quant = quant;
        memcpy(q->w_codes, codes, (size_t)(q->d * q->F));
    }
done:
    krein__free(ctx, H);
    krein__free(ctx, U);
    krein__free(ctx, w);
    krein__free(ctx, product);
    krein__free(ctx, codes);
    krein__free(ctx, x);
    return st;
}

/* The features of the calibration rows in codes, as numbers: n x R. */
static krein_status features(quantizing *q, float *s) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    krein_rows x = krein__rows_dense(q->rows.n, q->d, q->rows.x, q->d);
    float *scratch = NULL;
    NEW(scratch, krein__map_scratch(q->to->map));
    krein__map_raw(q->to->map, &x, NULL, s, scratch);
done:
    krein__free(ctx, scratch);
    return st;
}

/* What is left of the scores by weights v: n x k. */
static void leave(quantizing *q, const double *s, const double *v, double *rest) {
    memcpy(rest, q->rows.f, (size_t)(q->rows.n * q->k) * sizeof *rest);
    krein__pgemm(q->ctx, false, false, q->rows.n, q->k, q->R, -1, s, q->R, v, q->k, 1, rest, q->k);
}

/* The codes of v for units that are `part` of the largest weights, and what they stand for. */
static krein_status round_codes(quantizing *q, const double *U, double part, double *v,
                                uint8_t *codes, double *back) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    int64_t R = q->R, k = q->k;
    krein_quant quant = krein__quant(q->bits, -1, 1);
    double *unit = NULL;
    NEW(unit, k);
    krein__packed_units(R, k, v, unit);
    for (int64_t c = 0; c < k; c++) unit[c] *= part;
    for (int64_t e = 0; e < R * k; e++) back[e] = v[e] / unit[e % k];
    TRY(round_rows(ctx, R, k, U, &quant, back, codes));
    for (int64_t e = 0; e < R * k; e++) {
        v[e] = fmax(-unit[e % k], fmin(unit[e % k], v[e])); /* what says the unit, model/packed.c */
        back[e] = unit[e % k] * quant.scale * ((double)codes[e] + quant.zero);
    }
done:
    krein__free(ctx, unit);
    return st;
}

/* Weights that give the model's scores on features in codes: those of the model moved by the least
 * squares of what is left, or, from zero, least squares alone. */
static krein_status solve_weights(quantizing *q, const double *H, double damping, const double *s,
                                  double *v) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    int64_t R = q->R, k = q->k;
    double *A = NULL, *rest = NULL, *step = NULL, mean = 0;
    NEW(A, R * R);
    NEW(rest, q->rows.n * k);
    NEW(step, R * k);
    leave(q, s, v, rest);
    krein__pgemm(ctx, true, false, R, k, q->rows.n, 1 / (double)q->rows.n, s, R, rest, k, 0, step,
                 k);
    memcpy(A, H, (size_t)(R * R) * sizeof *A);
    for (int64_t i = 0; i < R; i++) mean += A[i * R + i] / (double)R;
    for (int64_t i = 0; i < R; i++) A[i * R + i] += damping * mean;
    TRY(krein__cholesky(ctx, R, A, R, NULL));
    TRY(krein__cholesky_solve(ctx, R, A, R, k, step, k));
    for (int64_t e = 0; e < R * k; e++) v[e] += step[e];
done:
    krein__free(ctx, A);
    krein__free(ctx, rest);
    krein__free(ctx, step);
    return st;
}

/* Codes of the weights for one damping and all PARTS; kept where the scores are nearer than *least.
 */
static krein_status try_weights(quantizing *q, const double *H, double damping, const double *s,
                                double *least) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    int64_t R = q->R, k = q->k;
    double *v = NULL, *cut = NULL, *back = NULL, *rest = NULL, *U = NULL;
    uint8_t *codes = NULL;
    ZNEW(v, R * k);
    NEW(cut, R * k);
    NEW(back, R * k);
    NEW(U, R * R);
    NEW(rest, q->rows.n * k);
    NEW(codes, R * k);
    if (!q->values) memcpy(v, q->v, (size_t)(R * k) * sizeof *v);
    TRY(solve_weights(q, H, damping, s, v));
    memcpy(U, H, (size_t)(R * R) * sizeof *U);
    TRY(inverse_factor(ctx, R, damping, U));
    for (int64_t i = 0; i < KREIN__COUNT(PARTS); i++) {
        double error = 0;
        memcpy(cut, v, (size_t)(R * k) * sizeof *v);
        TRY(round_codes(q, U, PARTS[i], cut, codes, back));
        leave(q, s, back, rest);
        for (int64_t e = 0; e < q->rows.n * k; e++) error += rest[e] * rest[e];
        if (!(error < *least)) continue;
        *least = error;
        memcpy(q->v_codes, codes, (size_t)(R * k));
        memcpy(q->v, cut, (size_t)(R * k) * sizeof *v);
    }
done:
    krein__free(ctx, v);
    krein__free(ctx, cut);
    krein__free(ctx, U);
    krein__free(ctx, back);
    krein__free(ctx, rest);
    krein__free(ctx, codes);
    return st;
}

static krein_status round_weights(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    int64_t R = q->R, ways = q->values ? KREIN__COUNT(DAMPINGS) : 1;
    double *H = NULL, *wide = NULL, least = INFINITY;
    float *s = NULL;
    NEW(s, q->rows.n * R);
    NEW(wide, q->rows.n * R);
    NEW(H, R * R);
    NEW(q->v_codes, R * q->k);
    TRY(features(q, s));
    for (int64_t e = 0; e < q->rows.n * R; e++) wide[e] = (double)s[e];
    krein__pgemm(ctx, true, false, R, R, q->rows.n, 1 / (double)q->rows.n, wide, R, wide, R, 0, H,
                 R);
    for (int64_t i = 0; i < ways; i++)
        TRY(try_weights(q, H, q->values ? DAMPINGS[i] : DAMPING, wide, &least));
    if (!(least < INFINITY))
        st = krein__fail(ctx, KREIN_ENUMERIC, "the scores of the model are not finite");
done:
    krein__free(ctx, s);
    krein__free(ctx, wide);
    krein__free(ctx, H);
    return st;
}

/* ---- the model ---------------------------------------------------------- */

/* Everything of the model but its map and weights. */
static krein_status copy_model(krein_ctx *ctx, const krein_model *from, krein_model **out) {
    krein_status st = KREIN_OK;
    int64_t bytes = 0;
    char *file = NULL;
    TRY(krein_model_save_memory(ctx, from, NULL, 0, &bytes));
    NEW(file, bytes);
    TRY(krein_model_save_memory(ctx, from, file, bytes, &bytes));
    TRY(krein_model_load_memory(ctx, file, bytes, out));
done:
    krein__free(ctx, file);
    return st;
}

static krein_status give_waves(quantizing *q, krein_map *map) {
    krein_deep_given given = {.layers = 1,
                              .F = &q->F,
                              .codes = (const uint8_t *const[]){q->w_codes},
                              .quant = &q->w_quant,
                              .bits = q->bits,
                              .reach = 1,
                              .mass = (double)q->F, /* the factor of the features is 1 */
                              .unit = q->unit};
    return krein__deep_give(map, &given);
}

static krein_status give_values(quantizing *q, krein_map *map) {
    krein_rows sample = krein__rows_dense(q->rows.n, q->d, q->rows.x, q->d);
    krein_coded_given given = {.bits = q->bits,
                               .m = q->F,
                               .unit = q->unit,
                               .codes = q->w_codes,
                               .quant = &q->w_quant,
                               .sample = &sample};
    return krein__coded_give(map, &given);
}

static krein_status make_map(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = q->to;
    krein_map *map = NULL;
    char spec[64];
    snprintf(spec, sizeof spec, q->values ? "nystrom(bits=%d)" : "deep(layers=1, bits=%d)",
             q->bits);
    TRY(krein__map_create(ctx, spec, m->map->kernel, q->R, m->map->seed, &map));
    map->d = q->d;
    map->sparse = m->map->sparse;
    TRY(q->values ? give_values(q, map) : give_waves(q, map));
    krein__map_destroy(m->map);
    m->map = map;
    map = NULL;
done:
    krein__map_destroy(map);
    return st;
}

static bool has_values(const krein_model *m) {
    return krein__map_traits(m->map) & (KREIN_MAP_DUAL | KREIN_MAP_VALUES);
}

static krein_status check(krein_ctx *ctx, const krein_model *m, int bits) {
    krein_status st = krein__model_need_head(ctx, m, "predict");
    if (st != KREIN_OK) return st;
    if (bits != 8 && bits != 4 && bits != 2 && bits != 1)
        return krein__fail(ctx, KREIN_EARG, "bits=%d is not offered: 8, 4, 2 or 1", bits);
    if (m->packed.unit)
        return krein__fail(ctx, KREIN_EDATA,
                           "the model is in a few bits already; take the one that "
                           "it was made of");
    if (has_values(m)) return krein__coded_check(ctx, m->map->kernel);
    if (!krein__map_has_waves(m->map))
        return krein__fail(ctx, KREIN_EDATA,
                           "a model with the map %s cannot be put into few bits: its features are "
                           "neither cosines nor kernel values; train with rff, orf, sorf, fastfood "
                           "or another map of frequencies, or with nystrom",
                           m->map->cls->cls.name);
    return KREIN_OK;
}

static krein_status set_units(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    NEW(q->unit, q->d);
    for (int64_t j = 0; j < q->d; j++) /* a column of zeros counts for nothing */
        q->unit[j] = q->rows.most[j] > 1e-30f ? 1 / q->rows.most[j] : 0;
done:
    return st;
}

/* The model with columns up to q->rows.most, and the square of what its scores are off. */
static krein_status attempt(quantizing *q, double *error) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = q->ctx;
    double *f = NULL;
    TRY(set_units(q));
    TRY(q->values ? take_values(q) : take_waves(q));
    TRY(round_frequencies(q));
    TRY(copy_model(ctx, q->from, &q->to));
    krein__posterior_destroy(ctx, q->to->posterior); /* of features that it will not have */
    q->to->posterior = NULL;
    krein__free(ctx, q->to->conformal.residual); /* of scores that it will not have */
    q->to->conformal = (krein_conformal){0};
    TRY(make_map(q));
    TRY(round_weights(q));
    krein__free(ctx, q->to->w);
    q->to->w = NULL;
    TRY(krein__model_pack(q->to, q->bits, q->v, q->v_codes));
    TRY(krein__model_retell_map(q->to));
    NEW(f, q->rows.n * q->k);
    TRY(krein__source_try(ctx, q->to, q->rows.n, q->rows.x, f));
    *error = 0;
    for (int64_t e = 0; e < q->rows.n * q->k; e++)
        *error += pow(f[e] - q->from->intercept[e % q->k] - q->rows.f[e], 2);
done:
    krein__free(ctx, f);
    return st;
}

static void end_attempt(quantizing *q) {
    krein_ctx *ctx = q->ctx;
    void *all[] = {q->unit, q->w, q->v, q->w_codes, q->v_codes};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein_model_destroy(q->to);
}

static krein_status work(quantizing *q, krein_data *data, krein_model **out) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = q->ctx;
    bool any;
    double error, other;
    TRY(krein__scored_rows_make(ctx, q->from, data, &q->rows));
    quantizing all = *q, cut = *q;
    if ((st = attempt(&all, &error)) == KREIN_OK) st = krein__scored_rows_cut(ctx, &cut.rows, &any);
    if (st == KREIN_OK && any) st = attempt(&cut, &other);
    if (st == KREIN_OK) {
        quantizing *best = any && other < error ? &cut : &all;
        *out = best->to;
        best->to = NULL;
    }
    end_attempt(&all);
    end_attempt(&cut);
done:
    return st;
}

krein_status krein_model_quantize(krein_ctx *ctx, const krein_model *m, int bits, krein_data *data,
                                  krein_model **out) {
    krein_status st = KREIN_OK;
    quantizing q = {.ctx = ctx, .from = m, .bits = bits, .d = m->encoding.d, .k = m->k};
    *out = NULL;
    krein__call_begin(ctx);
    TRY(check(ctx, m, bits));
    q.values = has_values(m);
    TRY(work(&q, data, out));
    if (m->posterior || m->conformal.residual)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "the model in few bits does not keep `uncertainty`: no deviations, intervals or "
                   "novelty");
done:
    st = krein__call_end(ctx, st);
    krein__scored_rows_clear(ctx, &q.rows);
    return st;
}
