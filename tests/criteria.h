/* criteria.h -- the criteria of kernel selection the obvious way: dense loops over the kernel
 * matrix, from the definitions, for tests.
 *
 *   problem    rows of det(), labels of any kind, the Gaussian kernel's matrix in double
 *   asked      a criterion: its spec, and the function and numbers that say what it is
 */
#ifndef KREIN_TEST_CRITERIA_H
#define KREIN_TEST_CRITERIA_H

#include "parsed.h"

#include "num/blas.h"
#include "select/select.h"

enum { INPUTS = 3, SEED = 7 };

typedef struct problem {
    int64_t n, k, classes; /* classes 0: numbers */
    float *x;
    double *K, *y, *weight;
    int32_t *class;
} problem;

/* Row i's class of three or more; the larger ones are rarer. */
static inline int32_t class_of(int64_t i, int64_t classes) {
    if (classes > 6) return (int32_t)(i * 5 % classes);
    double t = det(i, 0, .4) + .5 * det(i, 1, .4) + .3 * det(i, 7, 1.3);
    for (int32_t c = 0; c < classes - 1; c++)
        if (t > .25 - .35 * c) return c == 1 && t > .2 ? 2 % (int32_t)classes : c;
    return (int32_t)classes - 1;
}

/* exp(-|x - y|^2 / (2 sigma^2)) on the float32 rows, in double. */
static inline void gaussian_matrix(int64_t n, const float *x, double sigma, double *K) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double square = 0;
            for (int64_t c = 0; c < INPUTS; c++) {
                double delta = (double)x[i * INPUTS + c] - (double)x[j * INPUTS + c];
                square += delta * delta;
            }
            K[i * n + j] = exp(-square / (2 * sigma * sigma));
        }
}

/* The targets of classes, as ridge regression has them. */
static inline void code_classes(problem *p) {
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t c = 0; c < p->k; c++)
            p->y[i * p->k + c] = p->class[i] == (p->classes == 2 ? 1 : c) ? 1 : -1;
}

/* classes < 0: numbers, that many targets. empty: a class of which no row is. */
static inline problem make_problem(int64_t n, int64_t classes, int64_t empty, double sigma) {
    problem p = {.n = n, .classes = classes > 0 ? classes : 0};
    p.k = classes < 0 ? -classes : classes == 2 ? 1 : classes;
    p.x = test_dense(n, INPUTS, .4);
    p.K = test_new(n * n, sizeof *p.K);
    p.y = test_new(n * p.k, sizeof *p.y);
    gaussian_matrix(n, p.x, sigma, p.K);
    if (classes > 0) {
        p.class = test_new(n, sizeof *p.class);
        for (int64_t i = 0; i < n; i++) {
            int32_t c = class_of(i, classes - (empty >= 0));
            p.class[i] = c + (empty >= 0 && c >= empty);
        }
        code_classes(&p);
    }
    for (int64_t i = 0; i < n && classes < 0; i++)
        for (int64_t c = 0; c < p.k; c++)
            p.y[i * p.k + c] = 2 + (double)c + det(i, c, .4) + .3 * det(i, c + 5, 2);
    return p;
}
static inline void drop_problem(problem *p) {
    free(p->x);
    free(p->K);
    free(p->y);
    free(p->weight);
    free(p->class);
}

/* Row i as often as times[i] says; with its weight multiplied by that instead where `repeat` is
 * not set (none is dropped then). */
static inline problem repeated(const problem *p, const int *times, bool repeat) {
    problem q = *p;
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++) count += repeat ? times[i] : 1;
    q.n = count;
    q.x = test_new(count * INPUTS, sizeof *q.x);
    q.K = test_new(count * count, sizeof *q.K);
    q.y = test_new(count * p->k, sizeof *q.y);
    q.class = p->class ? test_new(count, sizeof *q.class) : NULL;
    q.weight = repeat ? NULL : test_new(count, sizeof *q.weight);
    int64_t at = 0, *from = test_new(count, sizeof *from);
    for (int64_t i = 0; i < p->n; i++)
        for (int t = 0; t < (repeat ? times[i] : 1); t++, at++) {
            from[at] = i;
            memcpy(q.x + at * INPUTS, p->x + i * INPUTS, INPUTS * sizeof *q.x);
            memcpy(q.y + at * p->k, p->y + i * p->k, (size_t)p->k * sizeof *q.y);
            if (p->class) q.class[at] = p->class[i];
            if (!repeat) q.weight[at] = times[i];
        }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) q.K[i * count + j] = p->K[from[i] * p->n + from[j]];
    free(from);
    return q;
}

/* ---- what is asked ------------------------------------------------------ */

typedef struct asked {
    const char *spec;
    double (*value)(const problem *p, const struct asked *a);
    double number; /* r, h, t, theta or lambda */
    bool balanced, ideal, hinge, trace, intercept, one;
    bool square; /* of held-out errors the mean square */
    int64_t folds;
} asked;

/* ---- small algebra ------------------------------------------------------ */

static inline double weight_of(const problem *p, int64_t i) { return p->weight ? p->weight[i] : 1; }
static inline double total_weight(const problem *p) {
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) sum += weight_of(p, i);
    return sum;
}
static inline int64_t rows_of(const problem *p, int64_t c) {
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++) count += p->class[i] == c;
    return count;
}
static inline int64_t classes_present(const problem *p) {
    int64_t count = 0;
    for (int64_t c = 0; c < p->classes; c++) count += rows_of(p, c) > 0;
    return count;
}
static inline double frobenius(int64_t n, const double *A, const double *B) {
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) sum += A[i] * B[i];
    return sum;
}
static inline double *product(int64_t n, const double *A, const double *B) {
    double *C = test_new(n * n, sizeof *C);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
    return C;
}
/* H A H, H = I - 11'/n. */
static inline double *centred(int64_t n, const double *A) {
    double *H = test_new(n * n, sizeof *H);
    for (int64_t i = 0; i < n * n; i++) H[i] = (i % (n + 1) == 0) - 1 / (double)n;
    double *HA = product(n, H, A), *out = product(n, HA, H);
    free(H);
    free(HA);
    return out;
}

/* ---- label matrices ----------------------------------------------------- */

/* The q-th of the matrices that the kernel's should be like: yy' of each class against the rest, or
 * of each target less its mean, or the ideal kernel; NULL behind the last. */
static inline double *label_matrix(const problem *p, int64_t q, bool balanced, bool ideal) {
    int64_t n = p->n, present = p->class ? classes_present(p) : 0, c = -1;
    double *T = test_new(n * n, sizeof *T), *y = test_new(n, sizeof *y), N = (double)n, mean = 0;
    if (p->class && ideal && q == 0) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double C = (double)present, t = p->class[i] == p->class[j] ? 1 : -1 / (C - 1);
                if (balanced)
                    t *= N / (C * (double)rows_of(p, p->class[i])) * N /
                         (C * (double)rows_of(p, p->class[j]));
                T[i * n + j] = t;
            }
        free(y);
        return T;
    }
    if (p->classes == 2)
        c = q == 0 ? 1 : 2;
    else if (p->class)
        for (int64_t seen = -1; seen < q && ++c < p->classes;) seen += rows_of(p, c) > 0;
    if (p->class ? c >= p->classes || ideal : q >= p->k) {
        free(T);
        free(y);
        return NULL;
    }
    for (int64_t i = 0; i < n && !p->class; i++) mean += p->y[i * p->k + q] / N;
    for (int64_t i = 0; i < n; i++) {
        bool in = p->class && p->class[i] == c;
        double plus = p->class ? (double)rows_of(p, c) : 0;
        y[i] = p->class ? in ? 1 : -1 : p->y[i * p->k + q] - mean;
        if (balanced) y[i] *= N / (2 * (in ? plus : N - plus));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) T[i * n + j] = y[i] * y[j];
    free(y);
    return T;
}

typedef double (*match)(const problem *p, const asked *a, const double *T);
/* Mean over the matrices. */
static inline double over_labels(const problem *p, const asked *a, match one) {
    double sum = 0;
    int64_t q = 0;
    for (double *T; (T = label_matrix(p, q, a->balanced, a->ideal)); q++) {
        sum += one(p, a, T);
        free(T);
    }
    return sum / (double)q;
}

/* ---- the criteria ------------------------------------------------------- */

/* (1/n) tr(T phi(N)) by an eigendecomposition of N = K / sum K, or K / Tr K. */
static inline double one_measure(const problem *p, const asked *a, const double *T) {
    int64_t n = p->n;
    double *N = test_new(n * n, sizeof *N), *w = test_new(n, sizeof *w), sum = 0, out = 0;
    for (int64_t i = 0; i < n * n; i++)
        if (!a->trace || i / n == i % n) sum += p->K[i];
    for (int64_t i = 0; i < n * n; i++) N[i] = p->K[i] / sum;
    CHECK(krein__eigen(ctx, n, N, n, w) == KREIN_OK);
    for (int64_t v = 0; v < n; v++) {
        double phi = a->hinge ? (w[v] > a->number ? w[v] : 0) : pow(w[v], a->number), part = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) part += N[v * n + i] * T[i * n + j] * N[v * n + j];
        out += phi * part;
    }
    free(N);
    free(w);
    return out / (double)n;
}
static inline double sm_value(const problem *p, const asked *a) {
    return over_labels(p, a, one_measure);
}

static inline double one_alignment(const problem *p, const asked *a, const double *T) {
    (void)a;
    return frobenius(p->n, p->K, T) / sqrt(frobenius(p->n, p->K, p->K) * frobenius(p->n, T, T));
}
static inline double kta_value(const problem *p, const asked *a) {
    return over_labels(p, a, one_alignment);
}

static inline double one_centred(const problem *p, const asked *a, const double *T) {
    problem q = *p;
    q.K = centred(p->n, p->K);
    double *HTH = centred(p->n, T), value = one_alignment(&q, a, HTH);
    free(q.K);
    free(HTH);
    return value;
}
static inline double ckta_value(const problem *p, const asked *a) {
    return over_labels(p, a, one_centred);
}

static inline double one_polarization(const problem *p, const asked *a, const double *T) {
    (void)a;
    return frobenius(p->n, p->K, T);
}
static inline double polarization_value(const problem *p, const asked *a) {
    return over_labels(p, a, one_polarization);
}

/* Mean of K over the pairs of rows inside (outside) class c. */
static inline double mean_between(const problem *p, int64_t c, bool in, bool other) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if ((p->class[i] == c) == in && (p->class[j] == c) == other) {
                sum += p->K[i * p->n + j];
                count++;
            }
    return sum / (double)count;
}
static inline double mean_of_row(const problem *p, int64_t i, int64_t c, bool in) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < p->n; j++)
        if ((p->class[j] == c) == in) {
            sum += p->K[i * p->n + j];
            count++;
        }
    return sum / (double)count;
}
static inline double fsm_one(const problem *p, int64_t c) {
    double A = mean_between(p, c, true, true), B = mean_between(p, c, true, false),
           C = mean_between(p, c, false, false), plus = 0, minus = 0;
    int64_t count = rows_of(p, c);
    for (int64_t i = 0; i < p->n; i++) {
        double in = mean_of_row(p, i, c, true), out = mean_of_row(p, i, c, false);
        if (p->class[i] == c)
            plus += pow(out - in + A - B, 2);
        else
            minus += pow(in - out + C - B, 2);
    }
    return (sqrt(plus / (double)(count - 1)) + sqrt(minus / (double)(p->n - count - 1))) /
           (A + C - 2 * B);
}
static inline double fsm_value(const problem *p, const asked *a) {
    (void)a;
    double sum = 0;
    for (int64_t c = p->classes == 2; c < p->classes; c++)
        if (rows_of(p, c) > 0) sum += fsm_one(p, c);
    return sum / (double)(p->classes == 2 ? 1 : classes_present(p));
}

/* Sums of the `number` largest eigenvalues and of the others. */
static inline void eigen_sums(const problem *p, double number, double *main, double *tail) {
    int64_t n = p->n;
    double *A = test_new(n * n, sizeof *A), *w = test_new(n, sizeof *w);
    memcpy(A, p->K, (size_t)(n * n) * sizeof *A);
    CHECK(krein__eigenvalues(ctx, n, A, n, w) == KREIN_OK);
    *main = *tail = 0;
    for (int64_t j = 0; j < n; j++) *((double)(n - 1 - j) < number ? main : tail) += w[j];
    free(A);
    free(w);
}
static inline double er_value(const problem *p, const asked *a) {
    double main, tail;
    eigen_sums(p, a->number, &main, &tail);
    return main / tail;
}
static inline double tail_value(const problem *p, const asked *a) {
    double main, tail;
    eigen_sums(p, a->number, &main, &tail);
    return tail;
}

/* ---- ridge regression --------------------------------------------------- */

/* Share of wrong classes, or root mean square (for classes too: `square`), of held-out predictions.
 */
static inline double error_of(const problem *p, const double *f, bool by_square) {
    double wrong = 0, square = 0, W = total_weight(p);
    for (int64_t i = 0; i < p->n; i++) {
        int64_t best = 0;
        for (int64_t c = 0; c < p->k; c++) {
            square += weight_of(p, i) * pow(p->y[i * p->k + c] - f[i * p->k + c], 2);
            if (f[i * p->k + c] > f[i * p->k + best]) best = c;
        }
        if (p->class) wrong += weight_of(p, i) * (p->class[i] != (p->k == 1 ? f[i] > 0 : best));
    }
    return p->class && !by_square ? wrong / W : sqrt(square / W / (double)p->k);
}

/* Each fold predicted by the others; each row by the others where folds is 0. The penalty is n
 * lambda of all rows for leave-one-out, of the others for folds. */
static inline double held_out(const problem *p, const asked *a) {
    int64_t n = p->n, k = p->k, folds = a->folds ? a->folds : n;
    bool *in = test_new(n, sizeof *in);
    double *f = test_new(n * k, sizeof *f), *score = test_new(n * k, sizeof *score);
    int32_t *fold = test_new(n, sizeof *fold);
    for (int64_t i = 0; i < n; i++) fold[i] = (int32_t)i;
    if (a->folds) CHECK(krein__folds(ctx, SEED, n, folds, NULL, p->class, fold) == KREIN_OK);
    for (int64_t g = 0; g < folds; g++) {
        double W = 0;
        for (int64_t i = 0; i < n; i++) {
            in[i] = fold[i] != g;
            W += in[i] || !a->folds ? weight_of(p, i) : 0;
        }
        test_ridge(n, k, p->K, p->y, p->weight, in, W * a->number, a->intercept, f);
        for (int64_t i = 0; i < n; i++)
            if (fold[i] == g) memcpy(score + i * k, f + i * k, (size_t)k * sizeof *f);
    }
    double error = error_of(p, score, a->square);
    free(in);
    free(f);
    free(score);
    free(fold);
    return error;
}

/* Outputs that gcv and evidence have: those of classes without rows have none. */
static inline bool output_used(const problem *p, int64_t c) {
    return !p->class || p->classes == 2 || rows_of(p, c) > 0;
}

/* (1/W) sum w (y - f)^2 / (1 - tr H / n)^2, the columns of H by fits to unit vectors. */
static inline double gcv_value(const problem *p, const asked *a) {
    int64_t n = p->n, k = p->k, heavy = 0, used = 0;
    bool *in = test_new(n, sizeof *in);
    double *unit = test_new(n * n, sizeof *unit), *H = test_new(n * n, sizeof *H), trace = 0,
           square = 0, W = total_weight(p);
    for (int64_t i = 0; i < n; i++) {
        in[i] = true;
        unit[i * n + i] = 1;
        heavy += weight_of(p, i) > 0;
    }
    test_ridge(n, n, p->K, unit, p->weight, in, W * a->number, true, H);
    for (int64_t i = 0; i < n; i++) trace += weight_of(p, i) > 0 ? H[i * n + i] : 0;
    for (int64_t c = 0; c < k; c++) {
        used += output_used(p, c);
        for (int64_t i = 0; i < n && output_used(p, c); i++) {
            double f = 0;
            for (int64_t j = 0; j < n; j++) f += H[i * n + j] * p->y[j * k + c];
            square += weight_of(p, i) * pow(p->y[i * k + c] - f, 2);
        }
    }
    free(in);
    free(unit);
    free(H);
    return square / (W * (double)used) / pow(1 - trace / (double)heavy, 2);
}

/* log N(z; 0, s2 (SKS + W lambda I)) of z = S (y - mean), S = diag sqrt w, rows with a weight; s2
 * 1, or the best. By Cholesky: log det and |L^-1 z|^2. */
static inline double evidence_value(const problem *p, const asked *a) {
    int64_t n = p->n, k = p->k, m = 0, used = 0, *row = test_new(n, sizeof *row);
    double *L = test_new(n * n, sizeof *L), *z = test_new(n, sizeof *z), W = total_weight(p),
           log_det = 0, form = 0;
    for (int64_t i = 0; i < n; i++)
        if (weight_of(p, i) > 0) row[m++] = i;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double e =
                sqrt(weight_of(p, row[i]) * weight_of(p, row[j])) * p->K[row[i] * n + row[j]] +
                (i == j ? W * a->number : 0);
            for (int64_t l = 0; l < j; l++) e -= L[i * n + l] * L[j * n + l];
            L[i * n + j] = i == j ? sqrt(e) : e / L[j * n + j];
            if (i == j) log_det += log(e);
        }
    for (int64_t c = 0; c < k; c++) {
        double mean = 0;
        if (!output_used(p, c)) continue;
        used++;
        for (int64_t i = 0; i < n; i++) mean += weight_of(p, i) * p->y[i * k + c] / W;
        for (int64_t i = 0; i < m; i++) {
            z[i] = sqrt(weight_of(p, row[i])) * (p->y[row[i] * k + c] - mean);
            for (int64_t l = 0; l < i; l++) z[i] -= L[i * n + l] * z[l];
            z[i] /= L[i * n + i];
            form += z[i] * z[i];
        }
    }
    double count = (double)(m * used), s2 = a->one ? 1 : form / count;
    free(row);
    free(L);
    free(z);
    return -.5 * (form / s2 + (double)used * log_det + count * log(2 * M_PI * s2));
}

/* ---- the program's way -------------------------------------------------- */

static inline krein_probe probe_of(const problem *p) {
    return (krein_probe){.n = p->n,
                         .k = p->k,
                         .classes = p->classes,
                         .x = {.n = p->n, .d = INPUTS, .x = p->x},
                         .y = p->y,
                         .weight = p->weight,
                         .class = p->class,
                         .seed = SEED};
}

static inline krein_criterion criterion_of(const char *spec) {
    krein_criterion c = {0};
    if (krein__criterion_parse(ctx, spec, &c) != KREIN_OK) {
        printf("%s: %s\n", spec, krein_message(ctx));
        exit(1);
    }
    return c;
}

/* The score of one kernel, from its rows; a refusal goes to `why` where that is not NULL, and is
 * an error where it is. */
static inline krein_score score_rows(const problem *p, const char *kernel, const char *spec,
                                     char why[KREIN__MESSAGE]) {
    krein_criterion c = criterion_of(spec);
    krein_scoring scoring;
    krein_scored v = {0};
    krein_kernel *k = NULL;
    krein_probe s = probe_of(p);
    CHECK(krein__kernel_parse(ctx, kernel, &k) == KREIN_OK);
    krein__scoring_begin(&c, 1, p->n, &scoring);
    krein_status st = krein__score_exact(ctx, &k, 1, &s, &scoring, 0, NULL, &v);
    if (st != KREIN_OK || (v.refused[0] && !why)) {
        printf("%s, %s: %s\n", spec, kernel, st == KREIN_OK ? v.refused[0] : krein_message(ctx));
        test_bad++;
    }
    if (why) snprintf(why, KREIN__MESSAGE, "%s", v.refused[0] ? v.refused[0] : "");
    krein_score score = v.score[0];
    krein__scored_clear(ctx, &v);
    krein__kernel_destroy(ctx, k);
    krein__criterion_clear(ctx, &c);
    return score;
}

/* The same from the matrix in double. */
static inline krein_score score_matrix(const problem *p, const char *spec) {
    krein_criterion c = criterion_of(spec);
    krein_scoring scoring;
    krein_scored v = {0};
    krein_view view = {0};
    krein_labels labels = {0};
    krein_kernel *k = NULL;
    krein_probe s = probe_of(p);
    double *K = test_new(p->n * p->n, sizeof *K);
    memcpy(K, p->K, (size_t)(p->n * p->n) * sizeof *K);
    CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1)", &k) == KREIN_OK);
    krein__scoring_begin(&c, 1, p->n, &scoring);
    CHECK(krein__labels_of(ctx, &s, &labels) == KREIN_OK);
    CHECK(krein__view_exact(ctx, k, &s, &labels, &scoring.needs, scoring.trial, scoring.trials, K,
                            &view) == KREIN_OK);
    CHECK(krein__scoring_apply(ctx, &scoring, KREIN_OK, &view, scoring.trial, &v) == KREIN_OK);
    CHECK(!v.refused[0]);
    krein_score score = v.score[0];
    krein__view_clear(&view);
    krein__labels_end(ctx, &labels);
    krein__scored_clear(ctx, &v);
    krein__kernel_destroy(ctx, k);
    krein__criterion_clear(ctx, &c);
    free(K);
    return score;
}

#endif
