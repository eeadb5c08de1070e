/* logistic.c -- truncated Newton for logistic regression on features
 *
 *     min  sum_i w_i loss(y_i, W'z_i + b) + lambda |W|^2,      sum_i w_i = 1
 *     two classes   loss = log(1 + exp(f)) - [second class] f,          one score
 *     k classes     loss = log sum_c exp(f_c) - f_y,                    k scores
 *
 * Each step solves Newton's equations H d = -g by preconditioned conjugate gradients (curvature.c)
 * up to a residual of min(1/4, sqrt(|g| / |g at W = 0|)) of its start, in the preconditioner's
 * norm, which makes the convergence superlinear (dembo1982), and halves d until the objective falls
 * enough (Armijo). A product with H costs one pass over the features, as a gradient does. Lin, Weng
 * and Keerthi (lin2008) use a trust region in the place of halving, to the same end: the objective
 * is convex, and after the first step or two whole steps are taken. It ends where the gradient's
 * length is below tol times that at W = 0, or below what rounding makes of a gradient that is zero
 * and no longer halved by a step: constant features, or such that the classes share, begin there.
 *
 * Preconditioner: it is made (again) once the steps since the last have taken
 * as many passes as it costs, so that neither an easy problem nor a hard one costs more than about
 * twice what the better choice would have cost. The decision rests on sizes and iteration counts,
 * not on clocks. Passes and seconds of one core (Zen 4) until the gradient is 1e-3 of the first, on
 * 1,024 features of a Gaussian kernel (orf):
 *
 *                 ijcnn1, 49,990 rows, 2 classes      letter, 15,000 rows, 26 classes
 *   lambda        plain          preconditioned       plain          preconditioned
 *   1e-4           33    0.6 s     18   0.5 s          63    3.0 s     51   3.2 s
 *   1e-6          122    2.3 s     32   0.9 s         267   11.0 s    103   5.1 s
 *   1e-8          455    9.1 s    151   5.0 s         467   18.1 s    256  13.3 s
 *
 * With k scores the intercepts are fixed up to a common constant only; steps from a start that sums
 * to zero keep the sum. */
#include "solve/logistic.h"

#include "base/spec.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 100, MOST_PRODUCTS = 500, MOST_HALVINGS = 20, LEAST_COST = 8 };

struct krein_newton {
    krein_ctx *ctx;
    int64_t n, D, k, size; /* unknowns */
    krein_passes passes;
    krein_curvature curvature;
    double cost, spent;         /* of the preconditioner, and since it was made, in passes */
    double size2;               /* mean square of the features of a row */
    float *probability, *other; /* n x k, here and at a trial */
    double *loss, *other_loss;  /* n */
    double *g, *trial_g, *trial, *d, *r, *z, *p, *Hp;
};

/* Of the first block: rows come mixed. */
static krein_status mean_square(krein_features *t, double *out) {
    const float *z;
    int64_t n;
    double sum = 0;
    krein_status st = krein__features_block(t, 0, &z, &n);
    for (int64_t i = 0; st == KREIN_OK && i < n * t->D; i++) sum += (double)z[i] * (double)z[i];
    *out = sum / (double)n;
    return st;
}

krein_status krein__newton_create(krein_features *t, int64_t k, krein_newton **out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_newton *s = NULL;
    *out = NULL;
    ZNEW(s, 1);
    s->ctx = ctx;
    s->n = t->n;
    s->D = t->D;
    s->k = k;
    s->size = (t->D + 1) * k;
    s->cost = fmax(LEAST_COST, krein__curvature_cost(t->n, t->D, k));
    TRY(mean_square(t, &s->size2));
    TRY(krein__passes_begin(t, k, &s->passes));
    TRY(krein__curvature_begin(t, &s->curvature));
    NEW(s->probability, s->n * k);
    NEW(s->other, s->n * k);
    NEW(s->loss, s->n);
    NEW(s->other_loss, s->n);
    double **vector[] = {&s->g, &s->trial_g, &s->trial, &s->d, &s->r, &s->z, &s->p, &s->Hp};
    for (int64_t i = 0; i < KREIN__COUNT(vector); i++) NEW(*vector[i], s->size);
    *out = s;
    s = NULL;
done:
    krein__newton_destroy(s);
    return st;
}

void krein__newton_destroy(krein_newton *s) {
    if (!s) return;
    krein_ctx *ctx = s->ctx;
    void *all[] = {s->probability, s->other, s->loss, s->other_loss, s->g, s->trial_g,
                   s->trial,       s->d,     s->r,    s->z,          s->p, s->Hp};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__passes_end(&s->passes);
    krein__curvature_end(&s->curvature);
    krein__free(ctx, s);
}

double krein__newton_bytes(int64_t n, int64_t D, int64_t k, int64_t rows, int threads) {
    double N = (double)n, K = (double)k;
    return krein__passes_bytes(D, k, rows, 0) + krein__curvature_bytes(D, rows, threads) +
           8 * N * K + 16 * N + 64 * ((double)D + 1) * K + 4096;
}

double krein__newton_mean_square(const krein_newton *s) { return s->size2; }
const double *krein__newton_loss(const krein_newton *s) { return s->loss; }
const float *krein__newton_probability(const krein_newton *s) { return s->probability; }

krein_status krein__logistic_start(krein_ctx *ctx, const krein_logistic *p, double *w) {
    /* A class without weight has no best intercept: one that is small enough. */
    static const double NONE = 1e-9;
    krein_status st = KREIN_OK;
    int64_t classes = p->k == 1 ? 2 : p->k, D = p->features->D;
    double *mass = NULL, mean = 0;
    memset(w, 0, (size_t)((D + 1) * p->k) * sizeof *w);
    if (!p->intercept) return KREIN_OK;
    ZNEW(mass, classes);
    for (int64_t i = 0; i < p->features->n; i++) mass[p->class[i]] += p->weight[i];
    for (int64_t c = 0; c < classes; c++) mass[c] = log(fmax(mass[c], NONE));
    for (int64_t c = 0; c < classes; c++) mean += mass[c] / (double)classes;
    for (int64_t c = 0; c < p->k; c++) w[D * p->k + c] = mass[c] - mean;
    if (p->k == 1) w[D] = mass[1] - mass[0];
done:
    krein__free(ctx, mass);
    return st;
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* d = -M^-1 g improved by at most `most` products with H, until the residual has shrunk by `eta`. A
 * descent direction whenever it ends. */
static krein_status direction(krein_newton *s, const krein_logistic *p, double eta, int64_t most,
                              int64_t *products) {
    krein_status st = KREIN_OK;
    int64_t size = s->size;
    memset(s->d, 0, (size_t)size * sizeof *s->d);
    for (int64_t i = 0; i < size; i++) s->r[i] = -s->g[i];
    TRY(krein__curvature_apply(&s->curvature, s->k, s->r, s->z));
    memcpy(s->p, s->z, (size_t)size * sizeof *s->p);
    double rz = dot(size, s->r, s->z), enough = eta * eta * rz;
    for (*products = 0; *products < most && rz > enough;) {
        TRY(krein__logistic_product(&s->passes, p, s->probability, s->p, s->Hp));
        double bend = dot(size, s->p, s->Hp);
        if (!(bend > 0)) break;
        double step = rz / bend;
        for (int64_t i = 0; i < size; i++) {
            s->d[i] += step * s->p[i];
            s->r[i] -= step * s->Hp[i];
        }
        ++*products;
        if (krein__late(p->deadline)) break;
        TRY(krein__curvature_apply(&s->curvature, s->k, s->r, s->z));
        double next = dot(size, s->r, s->z), turn = next / rz;
        rz = next;
        for (int64_t i = 0; i < size; i++) s->p[i] = s->z[i] + turn * s->p[i];
    }
    if (*products == 0) memcpy(s->d, s->z, (size_t)size * sizeof *s->d);
done:
    return st;
}

/* w + t d for the first t = 1, 1/2, ... that lowers the objective enough. *moved is false where
 * none does. */
static krein_status search(krein_newton *s, const krein_logistic *p, double *w, double *objective,
                           bool *moved) {
    /* Objectives are sums over rows of losses from float32 scores: they are not known better. */
    static const double NOISE = 1e-7;
    krein_status st = KREIN_OK;
    double slope = dot(s->size, s->g, s->d), t = 1, value;
    *moved = false;
    for (int i = 0; i < MOST_HALVINGS && !*moved; i++, t /= 2) {
        for (int64_t j = 0; j < s->size; j++) s->trial[j] = w[j] + t * s->d[j];
        TRY(krein__logistic_gradient(&s->passes, p, s->trial, s->other, s->other_loss, &value,
                                     s->trial_g));
        *moved = value <= *objective + 1e-4 * t * slope + NOISE * fabs(*objective);
    }
    if (!*moved) goto done;
    *objective = value;
    memcpy(w, s->trial, (size_t)s->size * sizeof *w);
    float *probability = s->probability;
    double *loss = s->loss, *g = s->g;
    s->probability = s->other;
    s->loss = s->other_loss;
    s->g = s->trial_g;
    s->other = probability;
    s->other_loss = loss;
    s->trial_g = g;
done:
    return st;
}

/* What the residual of Newton's equations may be: superlinear, and no smaller than the end needs.
 */
static double forcing(double relative, double tol) {
    static const double MOST = .25;
    return fmin(MOST, fmax(sqrt(relative), .3 * tol / relative));
}

/* How many products the next direction may take before the preconditioner is worth making. */
static int64_t allowed(const krein_newton *s) {
    bool fresh = s->curvature.ready && s->spent == 0;
    if (fresh || !(s->cost < MOST_PRODUCTS)) return MOST_PRODUCTS;
    return krein__max(1, (int64_t)(s->cost - s->spent));
}

static krein_status precondition(krein_newton *s, const krein_logistic *p, int64_t *factors) {
    if (s->spent < s->cost) return KREIN_OK;
    krein_status st = krein__curvature_make(&s->curvature, p, s->probability);
    s->spent = 0;
    if (!s->curvature.ready) s->cost = INFINITY;
    ++*factors;
    return st;
}

/* Rounding lets the sum of the intercepts drift, which nothing else depends on. */
static void centre(int64_t k, double *intercept) {
    double mean = 0;
    for (int64_t c = 0; c < k; c++) mean += intercept[c] / (double)k;
    for (int64_t c = 0; c < k; c++) intercept[c] -= mean;
}

/* The length that rounding gives to a gradient sum_i r_i z_i that is zero, r_i the residuals of row
 * i. float32 (unit u) has r_i wrong by u r_i, which for rows of one class may be the same and add
 * up: u sum |r_i| |z_i|. The m additions of a slice, of terms of one sign at worst, are wrong by
 * about u m |r| |z| each time, independently: u m sqrt(sum |r_i|^2 |z_i|^2) in all. The
 * intercept's part, in float64, has |z| = 1; up to sqrt(n) of its errors are left by a sum of n. */
static double rounding(const krein_newton *s, const krein_logistic *p) {
    int64_t k = s->k;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double r2 = 0;
        for (int64_t c = 0; c < k; c++) {
            bool own = k == 1 ? p->class[i] == 1 : p->class[i] == c;
            double r = p->weight[i] * ((double)s->probability[i * k + c] - own);
            r2 += r * r;
        }
        sum += sqrt(r2);
        squares += r2;
    }
    double unit = 0x1p-24 * sqrt(s->size2) + 0x1p-53 * sqrt((double)s->n);
    return unit * (sum + KREIN_SLICE * sqrt(squares));
}

krein_status krein__logistic_solve(krein_newton *s, const krein_logistic *p, double *w,
                                   krein_logistic_result *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t before = s->passes.count, products;
    bool moved;
    memset(out, 0, sizeof *out);
    TRY(krein__logistic_gradient(&s->passes, p, w, s->probability, s->loss, &out->objective, s->g));
    out->gradient = sqrt(dot(s->size, s->g, s->g));
    out->scale = p->scale > 0 ? p->scale : out->gradient;
    if (!isfinite(out->objective) || !isfinite(out->gradient)) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "logistic: the features or the weights of the rows are not finite; scale "
                         "the data (`scale=standard`)");
        goto done;
    }
    double nothing = rounding(s, p), last = 0;
    for (;; out->steps++) {
        double relative = out->gradient / out->scale;
        if (!(relative > p->tol) || (out->gradient <= nothing && out->gradient > last / 2))
            out->stop = KREIN_STOP_GRADIENT;
        else if (out->steps > 0 && krein__late(p->deadline))
            out->stop = KREIN_STOP_TIME;
        else if (out->steps == MOST_STEPS)
            out->stop = KREIN_STOP_STEPS;
        else
            goto step;
        break;
    step:
        last = out->gradient;
        TRY(precondition(s, p, &out->factors));
        TRY(direction(s, p, forcing(relative, p->tol), allowed(s), &products));
        s->spent += (double)products;
        TRY(search(s, p, w, &out->objective, &moved));
        if (!moved) {
            out->stop = last <= nothing ? KREIN_STOP_GRADIENT : KREIN_STOP_ROUNDING;
            break;
        }
        out->gradient = sqrt(dot(s->size, s->g, s->g));
    }
    if (p->intercept && s->k > 1) centre(s->k, w + s->D * s->k);
    out->passes = s->passes.count - before;
done:
    return st;
}

const krein_class krein__solver_newton = {
    .name = "newton",
    .summary = "logistic regression on features: truncated Newton, preconditioned",
    .cite = "lin2008",
    .details =
        "Conjugate gradients on Newton's equations, a pass over the features each, with a "
        "Cholesky factor of the Hessian on a sample of the rows as preconditioner where that "
        "pays. Ends by the length of the gradient. Used by logistic."};
