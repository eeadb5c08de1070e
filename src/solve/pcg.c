/* pcg -- ridge regression on features without D x D numbers
 *
 *     (Gc + W lambda I) w = Bc     for every output and lambda, as in ridge.c
 *
 * by conjugate gradients: all columns walk through the features together, each with steps of its
 * own, and drop out when they are done. A product with Gc is a pass there and back (passes.c):
 *
 *     f_i = (z_i - m)'p,   r_i = w_i f_i,   Gc p = sum r_i z_i - m sum r_i
 *
 * 4 n D flops a column, of which one is bound by reading the features, or making them. Everything
 * is divided by W: A = Gc / W + lambda I. The preconditioner P ~ A comes from a sample of the rows:
 * some eigenvectors, for all lambdas (sketch.c), or a Cholesky factor, for lambdas near each other
 * (precondition.c), which costs D x D numbers and needs fewer passes.
 *
 * Kernel values k at landmarks with the penalty lambda a'Ka are features z = T^-T k in the
 * coordinates w = T a of precondition.c. They are not made: a pass is over kernel values, with a =
 * T^-1 p before it and T^-T behind it. There a pass is expensive: the mean and the gradient at 0
 * take one together, and a step that is expected to be the last also finds the residual of its w.
 *
 * Passes are float32, vectors float64. The products' rounding is kept out of the solution by
 * rounds: the residual that a round starts from comes from the predictions,
 *
 *     r = sum w_i (y_i - ybar - (z_i - m)'w) (z_i - m) / W - lambda w,
 *
 * an error e of those moves the solution's predictions by no more than |e|; conjugate gradients
 * then find the correction, and need to find no more than a few digits of it.
 *
 * Of a rounded table (features.h) products and the first rounds have the numbers of 16 bits, whose
 * errors have a deviation e. Where they matter, e |w| > tol |b|_{P^-1}, a last round starts from
 * the residual of exact numbers. A round ends by what its own steps leave of its residual, without
 * a pass to look at that, where float32 products find as many digits. Where the errors hide more
 * than a hundredth of the predictions, products have exact numbers, too.
 *
 * Ends where |r|_{P^-1} <= tol |b|_{P^-1}. Where P is near A that is the error in the norm of A,
 * relative to the solution, which bounds the error of the predictions: |Z (w - w*)|^2 / W <=
 * |w - w*|_A^2.
 */
#include "solve/pcg.h"

#include "base/rng.h"
#include "base/spec.h"
#include "num/blas.h"
#include "solve/passes.h"
#include "solve/pcg_rows.h"
#include "solve/sketch.h"

#include <math.h>
#include <string.h>

/* What float32 products find of a correction: five digits. */
static const double DIGITS = 1e-5;

typedef struct column {
    int64_t at, output; /* among the solutions; of y */
    double lambda;
    double shift;              /* m'v of the vector that goes through the features */
    double rz, target, before; /* before: rz at the start of the round before */
    double last;               /* rz one step ago */
    double rounding;           /* of the residual that a round starts from, in the units of rz */
} column;

/* Of a solution. */
typedef struct progress {
    double first; /* rz at the start, -1: not begun */
    double end;   /* where its last round ended, by that round's steps */
    double moved; /* by no more than this in that round */
    double shift; /* what the residuals had for a mean, which is m's error times the weights */
} progress;

struct krein_pcg {
    krein_ctx *ctx;
    krein_pcg_rows rows;
    int64_t n, D, k, most;
    double weight, mean_square, *mean; /* W; without a basis; D */
    double *ymean, *yvariance;         /* k */
    double *variance, *first; /* with a basis, of raw features: D; k x D, the gradient at 0 */
    krein_sketch sketch;
    krein_factor factor; /* in its place; or none */
    krein_basis *basis;  /* or NULL */
    int64_t beside;      /* with a basis: rows in the factor beside its points */
    bool stale;          /* these are not of the present rows */
    bool near;           /* krein__pcg_near */
    uint64_t seed;
    krein_passes passes;
    /* With a basis, twice as many columns as `most` in a last step: */
    column *column;      /* those that iterate */
    double *p, *q, *sum; /* columns x D, columns x D, columns */
    double *raw;         /* columns x D: what goes through the features */
    column *round;       /* most: those of the round */
    double *r, *z;       /* most x D */
    double *work;        /* most x rank */
    float *narrow;       /* with a factor, most x D */
    double *lambda;      /* most: of the columns */
    bool known;          /* r, and P^-1 times it, are those that the next round starts from */
    progress *progress;  /* most: of the solutions */
    double noise;        /* of rounded features: the deviation of their errors */
};

/* ---- what is fitted ----------------------------------------------------- */

/* Residuals of weights that are zero, and in a last column the rows' weights. */
static void first_residuals(const void *state, int64_t first, int64_t n, float *score, double *wide,
                            double *tail) {
    const krein_pcg *s = state;
    int64_t k = s->k;
    (void)wide;
    for (int64_t i = 0; i < n; i++) {
        double weight = krein__pcg_weight(&s->rows, first + i);
        for (int64_t c = 0; c <= k; c++) {
            double r = c < k ? weight * (s->rows.y[(first + i) * k + c] - s->ymean[c]) : weight;
            score[i * (k + 1) + c] = (float)r;
            tail[c] += r;
        }
    }
}

/* The mean of the features and the gradient at 0, with a basis: one pass for both. */
static krein_status look_together(krein_pcg *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k;
    double *v = NULL, *out = NULL, *sum = NULL;
    ZNEW(v, (k + 1) * D);
    NEW(out, (k + 1) * D);
    NEW(sum, k + 1);
    s->passes.k = k + 1;
    TRY(krein__passes_run(&s->passes, s->rows.features, first_residuals, s, (krein_strides){1, D},
                          v, out, sum));
    for (int64_t j = 0; j < D; j++) s->mean[j] = out[k * D + j] / s->weight;
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < D; j++)
            s->first[c * D + j] = (out[c * D + j] - s->mean[j] * sum[c]) / s->weight;
done:
    krein__free(ctx, v);
    krein__free(ctx, out);
    krein__free(ctx, sum);
    return st;
}

/* The mean of the features, and of their squares; a sample of the rows (ascending `index`) to z. */
static krein_status look_at(krein_pcg *s, int64_t sample, const int64_t *index, float *z) {
    krein_status st = KREIN_OK;
    double square;
    TRY(krein__pcg_sums(&s->rows, s->mean, &square, sample, index, z));
    square /= s->weight;
    for (int64_t j = 0; j < s->D; j++) {
        s->mean[j] /= s->weight;
        square -= s->mean[j] * s->mean[j];
    }
    s->mean_square = fmax(square, 0);
done:
    return st;
}

/* The weights and means of the rows. */
static krein_status look(krein_pcg *s, int64_t sample, const int64_t *index, float *z) {
    krein_status st = KREIN_OK;
    int64_t k = s->k;
    s->weight = 0;
    memset(s->ymean, 0, (size_t)k * sizeof *s->ymean);
    memset(s->yvariance, 0, (size_t)k * sizeof *s->yvariance);
    for (int64_t i = 0; i < s->n; i++) {
        double w = krein__pcg_weight(&s->rows, i);
        s->weight += w;
        for (int64_t c = 0; c < k; c++) {
            double y = s->rows.y[i * k + c];
            s->ymean[c] += w * y;
            s->yvariance[c] += w * y * y;
        }
    }
    if (!(s->weight > 0)) return krein__fail(s->ctx, KREIN_EDATA, "all row weights are zero");
    for (int64_t c = 0; c < k; c++) {
        s->ymean[c] /= s->weight;
        s->yvariance[c] = fmax(s->yvariance[c] / s->weight - s->ymean[c] * s->ymean[c], 0);
    }
    TRY(s->basis ? look_together(s) : look_at(s, sample, index, z));
    s->noise = krein__pcg_noise(&s->rows);
done:
    return st;
}

krein_status krein__pcg_set_rows(krein_pcg *s, const krein_pcg_rows *rows) {
    s->rows = *rows;
    s->stale = true;
    return look(s, 0, NULL, NULL);
}

void krein__pcg_near(krein_pcg *s, bool near) { s->near = near; }

/* A seeded sample of the rows, centred, times the roots of their weights, which sum up to *weight;
 * the means are those of all rows. The caller frees *z. */
static krein_status take_sample(krein_pcg *s, int64_t sample, float **out, double *weight) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t D = s->D, *index = NULL;
    float *z = NULL;
    *out = NULL;
    *weight = 0;
    NEW(index, sample);
    NEW(z, sample * D);
    krein__rng_choose(krein__substream(s->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_PRECONDITION),
                      s->n, sample, index);
    if (s->basis) /* the mean is known */
        TRY(krein__pcg_gather(&s->rows, sample, index, z));
    else
        TRY(look(s, sample, index, z));
    for (int64_t i = 0; i < sample; i++) *weight += krein__pcg_weight(&s->rows, index[i]);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < sample; i++) {
        double root = sqrt(krein__pcg_weight(&s->rows, index[i]));
        for (int64_t j = 0; j < D; j++)
            z[i * D + j] = (float)(root * ((double)z[i * D + j] - s->mean[j]));
    }
    *out = z;
    z = NULL;
done:
    krein__free(ctx, index);
    krein__free(ctx, z);
    return st;
}

/* Rows beside the points of the basis: for small lambdas these alone know too little of the
 * covariance. Passes to 3e-5 on 28,000 rows of kin40k and 2,048 landmarks, without others and with
 * as many (a product with them costs about as much as 15 passes):
 *
 *   lambda        1e-4  1e-5  1e-6  1e-7  1e-8
 *   landmarks       17    32    61   112   185
 *   and rows                    34    49    52
 */
static int64_t beside(const krein_pcg *s, double lambda) {
    static const double SMALL = 1e-5;
    return lambda < SMALL * s->basis->size ? krein__min(s->D, s->n / 2) : 0;
}

/* The factors for lambdas from low to high. They follow from these alone, not from what was solved
 * before; near, the basis stays as it is (its jitter may be that of another lambda). */
static krein_status factor(krein_pcg *s, double low, double high) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    bool changed = false;
    float *z = NULL;
    double weight;
    if (!s->factor.s && !s->basis) return KREIN_OK;
    krein__progress(ctx, "preconditioner", 0, 0);
    int64_t more = s->basis ? beside(s, low) : 0;
    if (s->basis && !(s->near && s->basis->jitter >= 0 && more <= s->beside)) {
        TRY(krein__basis_factor(s->basis, low, &changed));
        if (changed || more != s->beside || (more > 0 && s->stale)) {
            s->beside = more;
            s->stale = false;
            TRY(krein__factor_of_basis(s->basis, &s->factor));
            if (more > 0) TRY(take_sample(s, more, &z, &weight));
            if (more > 0 && weight > 0)
                TRY(krein__factor_add_rows(&s->factor, s->basis, more, z, weight));
        }
    }
    TRY(krein__factor_at(&s->factor, sqrt(low * high)));
done:
    krein__free(ctx, z);
    return st;
}

static krein_status make_sketch(krein_pcg *s, int64_t sample, bool cholesky) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    float *z = NULL;
    double weight;
    sample = krein__min(sample, s->n);
    TRY(take_sample(s, sample, &z, &weight));
    if (cholesky && weight > 0 && s->mean_square > 0)
        TRY(krein__factor_of_rows(ctx, sample, s->D, z, weight, &s->factor));
    else
        TRY(krein__sketch_make(ctx, sample, s->D, z, weight, sample == s->n, s->mean_square,
                               &s->sketch));
done:
    krein__free(ctx, z);
    return st;
}

krein_status krein__pcg_create(const krein_pcg_rows *rows, const krein_pcg_options *o,
                               krein_pcg **out) {
    krein_ctx *ctx = rows->features->ctx;
    krein_status st = KREIN_OK;
    krein_pcg *s = NULL;
    int64_t D = rows->features->D, m = o->columns;
    *out = NULL;
    ZNEW(s, 1);
    s->ctx = ctx;
    s->rows = *rows;
    s->n = rows->features->n;
    s->D = D;
    s->k = rows->k;
    s->most = m;
    NEW(s->mean, D);
    NEW(s->ymean, s->k);
    NEW(s->yvariance, s->k);
    s->seed = o->seed;
    s->basis = o->basis;
    s->beside = -1;
    int64_t wide = s->basis ? 2 * m : m; /* of a last step, and at least k + 1 */
    if (s->basis) {
        TRY(krein__passes_begin(rows->features, wide, &s->passes));
        NEW(s->raw, wide * D);
        NEW(s->variance, D);
        NEW(s->first, s->k * D);
        krein__basis_variance(s->basis, s->variance);
        TRY(look(s, 0, NULL, NULL));
        TRY(factor(s, o->lambda, o->lambda));
    } else {
        TRY(make_sketch(s, o->sample, o->cholesky));
        TRY(krein__passes_begin(rows->features, wide, &s->passes));
    }
    NEW(s->column, wide);
    NEW(s->round, m);
    NEW(s->r, m * D);
    NEW(s->p, wide * D);
    NEW(s->q, wide * D);
    NEW(s->z, m * D);
    NEW(s->work, m * s->sketch.rank);
    NEW(s->sum, wide);
    if (s->factor.s) NEW(s->narrow, m * D);
    NEW(s->lambda, m);
    NEW(s->progress, m);
    *out = s;
    s = NULL;
done:
    krein__pcg_destroy(s);
    return st;
}

void krein__pcg_destroy(krein_pcg *s) {
    if (!s) return;
    void *all[] = {s->mean, s->variance, s->ymean,  s->yvariance, s->column, s->round,
                   s->r,    s->p,        s->q,      s->z,         s->work,   s->sum,
                   s->raw,  s->progress, s->lambda, s->first,     s->narrow};
    krein__sketch_clear(&s->sketch);
    krein__factor_clear(&s->factor);
    krein__passes_end(&s->passes);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(s->ctx, all[i]);
    krein__free(s->ctx, s);
}

double krein__pcg_mean_square(const krein_pcg *s) {
    return s->basis ? s->factor.trace : s->mean_square;
}

krein_status krein__pcg_top(const krein_pcg *s, double *out) {
    krein_status st = KREIN_OK;
    double top = 0;
    if (s->factor.s) TRY(krein__factor_top(&s->factor, &top));
    for (int64_t i = 0; i < s->sketch.rank; i++) top = fmax(top, s->sketch.value[i]);
    *out = fmax(top, krein__pcg_mean_square(s) / (double)s->D);
done:
    return st;
}

double krein__pcg_bytes(int64_t n, int64_t D, int64_t k, int64_t rows, int threads, bool basis,
                        bool rounded, const krein_pcg_options *o) {
    int64_t sample = krein__min(o->sample, n);
    double m = (double)o->columns, d = (double)D;
    double look = rounded ? 4 * d * ((double)rows / KREIN_SLICE + 1) + 12 * (double)rows : 0;
    double rest =
        krein__passes_bytes(D, (basis ? 2 : 1) * o->columns, rows, rounded ? threads : 0) + look +
        (basis ? 60 : 36) * m * d + 8 * m * ((double)sample + 64);
    if (basis) /* a sample of D rows and a factor in single precision, or what iterates */
        return 32 * d + 16 * (double)k + krein__factor_bytes(D, threads) + rest + 8 * m * d +
               krein__passes_strip_bytes(D, 2 * o->columns, threads) + 32 * (double)k * d +
               4 * ((double)rows / KREIN_SLICE + 4) * d + (8 * d + 8) * d + 8192;
    if (o->cholesky)
        return 16 * d + 16 * (double)k + krein__factor_bytes(D, threads) + 8192 +
               fmax(rest, (4 * d + 8) * (double)sample);
    return 16 * d + 16 * (double)k + krein__sketch_bytes(sample, D, sample == n) + 8192 +
           fmax(rest, krein__sketch_work_bytes(sample) + (4 * d + 8) * (double)sample);
}

/* ---- passes ------------------------------------------------------------- */

typedef struct sweep {
    const krein_pcg *s;
    int64_t columns, products; /* the first of them are products, the others residuals of y */
    double *score;             /* held rows x all, or NULL */
    int64_t all;               /* columns of the score */
} sweep;

/* w_i (z_i - m)'p, or w_i (y_i - f_i), where held rows leave their f_i */
static void residuals(const void *state, int64_t first, int64_t n, float *score, double *wide,
                      double *tail) {
    const sweep *w = state;
    const krein_pcg *s = w->s;
    int64_t m = w->columns;
    (void)wide;
    for (int64_t i = 0; i < n; i++) {
        double weight = krein__pcg_weight(&s->rows, first + i);
        int64_t held = s->rows.held ? s->rows.held[first + i] : -1;
        for (int64_t c = 0; c < m; c++) {
            const column *a = s->column + c;
            double f = (double)score[i * m + c] - a->shift, r = weight * f;
            if (c >= w->products) {
                f += s->ymean[a->output];
                r = weight * (s->rows.y[(first + i) * s->k + a->output] - f);
                if (held >= 0 && w->score) w->score[held * w->all + a->at] = f;
            }
            score[i * m + c] = (float)r;
            tail[c] += r;
        }
    }
}

/* out (columns x D) = sum of residuals times z - m, over W. */
static krein_status run(krein_pcg *s, sweep *w, const double *v, double *out) {
    int64_t D = s->D, m = w->columns;
    if (s->basis) {
        memcpy(s->raw, v, (size_t)(m * D) * sizeof *v);
        krein__basis_to_raw(s->basis, m, s->raw);
        v = s->raw;
    }
    for (int64_t c = 0; c < m; c++) s->column[c].shift = krein__ddot(D, s->mean, v + c * D);
    s->passes.k = m;
    krein_status st = krein__passes_run(&s->passes, s->rows.features, residuals, w,
                                        (krein_strides){1, D}, v, out, s->sum);
    for (int64_t c = 0; c < m; c++)
        for (int64_t j = 0; j < D; j++)
            out[c * D + j] = (out[c * D + j] - s->mean[j] * s->sum[c]) / s->weight;
    if (s->basis) krein__basis_from_raw(s->basis, m, out);
    return st;
}

/* ---- conjugate gradients ------------------------------------------------ */

/* z = P^-1 r and r'z of the columns. */
static void precondition(krein_pcg *s, int64_t m) {
    int64_t D = s->D;
    for (int64_t c = 0; c < m; c++) s->lambda[c] = s->column[c].lambda;
    if (s->factor.s)
        krein__factor_apply(&s->factor, m, s->r, s->z, s->narrow);
    else
        krein__sketch_apply(&s->sketch, m, s->lambda, s->r, s->z, s->work);
    for (int64_t c = 0; c < m; c++) s->sum[c] = krein__ddot(D, s->r + c * D, s->z + c * D);
}

/* The residual that rounding leaves at the solution. With a basis it can be large in directions
 * that kernel values do not resolve, where it does no harm: T^-T v of random errors v of the sums
 * that make it, each ROUNDOFF of a feature's deviation times that of the targets over the root of
 * the rows. */
static void set_rounding(krein_pcg *s, int64_t m) {
    static const double ROUNDOFF = 1e-7;
    krein_rng g = krein__substream(s->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_ROUNDING);
    double size = 0;
    if (s->basis) {
        for (int64_t j = 0; j < s->D; j++) {
            bool minus = krein__rng_bits(g, (uint64_t)j, 0) & 1;
            s->r[j] = (minus ? -ROUNDOFF : ROUNDOFF) * sqrt(s->variance[j] / (double)s->n);
        }
        krein__basis_from_raw(s->basis, 1, s->r);
        precondition(s, 1);
        size = s->sum[0];
    }
    for (int64_t c = 0; c < m; c++)
        s->column[c].rounding = size * s->yvariance[s->column[c].output];
}

/* Column c gives way to the last of m. */
static void drop(krein_pcg *s, int64_t c, int64_t m) {
    int64_t D = s->D, last = m - 1;
    if (c == last) return;
    double *all[] = {s->r, s->p, s->z};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++)
        memcpy(all[i] + c * D, all[i] + last * D, (size_t)D * sizeof(double));
    s->column[c] = s->column[last];
    s->sum[c] = s->sum[last];
}

/* One step of column c along p, with q = Gc p / W: its length. */
static double step(krein_pcg *s, int64_t c, double *w) {
    int64_t D = s->D;
    column *a = s->column + c;
    double *p = s->p + c * D, *q = s->q + c * D, *r = s->r + c * D, *x = w + a->at * D;
    for (int64_t j = 0; j < D; j++) q[j] += a->lambda * p[j];
    double curve = krein__ddot(D, p, q), alpha = curve > 0 ? a->rz / curve : 0;
    for (int64_t j = 0; j < D; j++) {
        x[j] += alpha * p[j];
        r[j] -= alpha * q[j];
    }
    s->progress[a->at].moved += alpha * sqrt(krein__ddot(D, p, p));
    if (!(curve > 0)) a->target = INFINITY; /* rounding has the say: the next round */
    return alpha;
}

static bool late(const krein_pcg_limits *o, const krein_pcg_result *out) {
    return out->iterations >= o->iterations || krein__late(o->deadline);
}

/* Whether all of m columns will have met their targets after a step that brings as much as the
 * last one. */
static bool nearly_done(const krein_pcg *s, int64_t m) {
    bool all = true;
    for (int64_t c = 0; c < m; c++) {
        const column *a = s->column + c;
        all = all && a->rz * (a->rz / a->last) <= a->target;
    }
    return all;
}

/* A step of all m columns whose pass also finds the residuals of w before it, so that the round
 * that follows knows its own without one. */
static krein_status last_step(krein_pcg *s, int64_t m, double *w) {
    krein_status st = KREIN_OK;
    int64_t D = s->D;
    sweep sw = {.s = s, .columns = 2 * m, .products = m};
    for (int64_t c = 0; c < m; c++) {
        s->column[m + c] = s->column[c];
        memcpy(s->p + (m + c) * D, w + s->column[c].at * D, (size_t)D * sizeof *w);
    }
    TRY(run(s, &sw, s->p, s->q));
    for (int64_t c = 0; c < m; c++) {
        const double *x = s->p + (m + c) * D, *found = s->q + (m + c) * D;
        for (int64_t j = 0; j < D; j++) s->r[c * D + j] = found[j] - s->column[c].lambda * x[j];
        double alpha = step(s, c, w);
        s->progress[s->column[c].at].shift = (s->sum[m + c] - alpha * s->sum[c]) / s->weight;
    }
    precondition(s, m);
    s->known = true;
done:
    return st;
}

/* Steps of m columns until each has met its target. look: the last one may be of that kind. */
static krein_status iterate(krein_pcg *s, int64_t m, bool look, double *w,
                            const krein_pcg_limits *o, krein_pcg_result *out) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, all = m;
    memcpy(s->p, s->z, (size_t)(m * D) * sizeof *s->p);
    for (int64_t c = 0; c < m; c++) s->column[c].last = s->column[c].rz;
    while (m > 0 && !late(o, out)) {
        sweep sw = {.s = s, .columns = m, .products = m};
        out->iterations++;
        if (look && m == all && nearly_done(s, m)) return last_step(s, m, w);
        TRY(run(s, &sw, s->p, s->q));
        for (int64_t c = 0; c < m; c++) step(s, c, w);
        precondition(s, m);
        for (int64_t c = m - 1; c >= 0; c--) {
            column *a = s->column + c;
            double *p = s->p + c * D, *z = s->z + c * D, beta = s->sum[c] / a->rz;
            a->last = a->rz;
            a->rz = s->sum[c];
            for (int64_t j = 0; j < D; j++) p[j] = z[j] + beta * p[j];
            bool lost = !(a->rz <= 1e4 * a->before); /* to rounding: the next round */
            s->progress[a->at].end = a->rz;
            if (!(a->rz > a->target) || lost) drop(s, c, m--);
        }
        krein__progress(s->ctx, o->what, (double)out->iterations, 0);
    }
done:
    return st;
}

/* Predictions of held rows have the intercept that goes with the exact features, too. */
static void shift_scores(const krein_pcg *s, const sweep *sw, int64_t at, double shift) {
    for (int64_t i = 0; s->rows.held && i < s->n; i++) {
        int64_t held = s->rows.held[i];
        if (held >= 0) sw->score[held * sw->all + at] += shift;
    }
}

/* The residuals of m columns whose weights are zero are known. */
static void begin_at_zero(krein_pcg *s, int64_t m) {
    int64_t D = s->D;
    for (int64_t c = 0; c < m; c++) {
        memcpy(s->r + c * D, s->first + s->column[c].output * D, (size_t)D * sizeof *s->r);
        s->sum[c] = 0;
    }
    krein__basis_from_raw(s->basis, m, s->r);
}

/* Residuals and P^-1 times them of m columns, at w. */
static krein_status find_residuals(krein_pcg *s, int64_t m, const double *w, sweep *sw) {
    krein_status st = KREIN_OK;
    int64_t D = s->D;
    sw->columns = m;
    for (int64_t c = 0; c < m; c++)
        memcpy(s->p + c * D, w + s->column[c].at * D, (size_t)D * sizeof *w);
    if (m > 0 && s->basis && !sw->score && s->progress[s->column[0].at].first < 0)
        begin_at_zero(s, m);
    else
        TRY(run(s, sw, s->p, s->r));
    for (int64_t c = 0; c < m; c++) {
        double shift = s->sum[c] / s->weight;
        s->progress[s->column[c].at].shift = shift;
        if (sw->score && s->rows.features->rounded) shift_scores(s, sw, s->column[c].at, shift);
        for (int64_t j = 0; j < D; j++) s->r[c * D + j] -= s->column[c].lambda * s->p[c * D + j];
    }
    precondition(s, m);
done:
    return st;
}

/* The start of a round for *m columns. Those that are done drop out. */
static krein_status begin_round(krein_pcg *s, int64_t *m, const double *w, sweep *sw,
                                const krein_pcg_limits *o, krein_pcg_result *out) {
    krein_status st = KREIN_OK;
    if (!s->known) TRY(find_residuals(s, *m, w, sw));
    s->known = false;
    for (int64_t c = *m - 1; c >= 0; c--) {
        column *a = s->column + c;
        progress *e = s->progress + a->at;
        a->rz = s->sum[c];
        bool lost = !(a->rz >= 0); /* P is not positive to single precision */
        if (e->first < 0) e->first = lost ? 0 : a->rz;
        e->moved = 0;
        double reached = lost ? 1 : e->first > 0 ? sqrt(a->rz / e->first) : 0;
        bool good = !lost && (reached <= o->tol || a->rz <= 4 * a->rounding);
        bool stuck = lost || !(a->rz < a->before / 4);
        if (good || stuck || late(o, out)) {
            out->residual = fmax(out->residual, reached);
            out->converged = out->converged && good;
            drop(s, c, (*m)--);
            continue;
        }
        a->target = fmax(o->tol * o->tol / 4 * e->first, DIGITS * DIGITS * a->rz);
        a->before = a->rz;
    }
done:
    return st;
}

/* Those of the *m columns that a round has led to the end drop out. */
static void end_round(krein_pcg *s, int64_t *m, const krein_pcg_limits *o, krein_pcg_result *out) {
    for (int64_t c = *m - 1; c >= 0; c--) {
        const progress *e = s->progress + s->column[c].at;
        double reached = sqrt(e->end / e->first);
        if (!(reached <= o->tol) || s->noise * e->moved > o->tol * sqrt(e->first)) continue;
        out->residual = fmax(out->residual, reached);
        s->column[c] = s->column[--*m];
    }
}

/* Which numbers of a rounded table are used. */
typedef enum digits {
    ROUNDED,   /* as they are */
    CORRECTED, /* exact ones where a round starts */
    EXACT      /* these everywhere */
} digits;

/* Lambdas times k solutions, and what is asked of them. */
typedef struct task {
    int64_t all;
    const double *lambda;
    double *w; /* all x D */
    sweep sweep;
    const krein_pcg_limits *limits;
    krein_pcg_result *result;
    bool coarse; /* the errors of rounded features matter, and rounds have ended for that */
} task;

/* The errors of rounded features in the predictions, in parts of these: the worst solution's. */
static double noise_of(const krein_pcg *s, const task *t) {
    double most = 0;
    for (int64_t c = 0; s->noise > 0 && c < t->all; c++) {
        const double *w = t->w + c * s->D;
        double first = s->progress[c].first;
        if (first > 0) most = fmax(most, s->noise * sqrt(krein__ddot(s->D, w, w) / first));
    }
    return most;
}

/* Rounds until all columns are done, or features are too coarse. */
static krein_status rounds(krein_pcg *s, task *t, digits which) {
    krein_status st = KREIN_OK;
    krein_features *features = s->rows.features;
    t->result->converged = true;
    t->result->residual = 0;
    for (int64_t c = 0; c < t->all; c++)
        s->column[c] = (column){
            .at = c, .output = c % s->k, .lambda = t->lambda[c / s->k], .before = (double)INFINITY};
    set_rounding(s, t->all);
    for (int64_t left = t->all; left > 0;) {
        krein__features_exact(features, which >= CORRECTED);
        TRY(begin_round(s, &left, t->w, &t->sweep, t->limits, t->result));
        krein__features_exact(features, which == EXACT);
        memcpy(s->round, s->column, (size_t)left * sizeof *s->round);
        bool look = s->basis && !t->sweep.score && !features->rounded;
        TRY(iterate(s, left, look, t->w, t->limits, t->result));
        memcpy(s->column, s->round, (size_t)left * sizeof *s->round);
        if (late(t->limits, t->result)) continue; /* the next round says how far they are */
        t->coarse = which == ROUNDED && noise_of(s, t) > t->limits->tol;
        if (t->coarse) break;
        bool enough = which == CORRECTED || (which == ROUNDED && t->limits->tol >= DIGITS);
        if (features->rounded && enough && !t->sweep.score)
            end_round(s, &left, t->limits, t->result);
    }
done:
    return st;
}

krein_status krein__pcg_solve(krein_pcg *s, int64_t lambdas, const double *lambda,
                              const krein_pcg_limits *o, double *w, double *intercept,
                              double *score, krein_pcg_result *out) {
    /* Exact features for every product take long: only where 16 bits lose so much, or leave a
     * residual so far off. */
    static const double LOST = 1e-2, FAR = 30;
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k, all = lambdas * k, before = s->passes.count;
    double low = INFINITY, high = 0;
    task t = {all, lambda, w, {.s = s, .score = score, .all = all}, o, out, false};
    *out = (krein_pcg_result){0};
    s->known = false;
    for (int64_t l = 0; l < lambdas; l++) {
        low = fmin(low, lambda[l]);
        high = fmax(high, lambda[l]);
    }
    TRY(factor(s, low, high));
    memset(w, 0, (size_t)(all * D) * sizeof *w);
    for (int64_t c = 0; c < all; c++) s->progress[c] = (progress){.first = -1};
    TRY(rounds(s, &t, ROUNDED));
    double noise = t.coarse ? noise_of(s, &t) : 0;
    if (t.coarse && noise <= LOST) TRY(rounds(s, &t, CORRECTED));
    bool exact = noise > LOST || (noise > 0 && out->residual > FAR * o->tol && !late(o, out));
    if (exact) {
        krein__features_exact(s->rows.features, true);
        TRY(look(s, 0, NULL, NULL));
        s->passes.count++;
        TRY(rounds(s, &t, EXACT));
    }
    if (s->basis) krein__basis_to_raw(s->basis, all, w);
    for (int64_t c = 0; c < all; c++)
        intercept[c] = s->ymean[c % k] - krein__ddot(D, s->mean, w + c * D) + s->progress[c].shift;
    out->passes = s->passes.count - before;
    krein__features_exact(s->rows.features, false);
    if (exact) TRY(look(s, 0, NULL, NULL)); /* the means are those of rounded ones again */
done:
    krein__features_exact(s->rows.features, false);
    return st;
}

const krein_class krein__solver_pcg = {
    .name = "pcg",
    .summary = "ridge regression on features by preconditioned conjugate gradients",
    .cite = "frangella2023",
    .details =
        "Needs no D x D numbers: passes over the features, kept or made again, 4 n D flops "
        "an output each; preconditioned by eigenvectors of a sample of the rows. Features of more "
        "than 8,192 rows and 64 MB, but kernel values at landmarks, are in 16 bits, and made once "
        "more for the last round where their errors matter. "
        "Used by krr where the normal equations do not fit into memory, or with solver=pcg."};
