/* hulls -- nearest points of the convex hulls of two classes, softened by a ridge (aiolli2015)
 *
 *     min  f(g) = g'Qg,   Q = (1 - lambda) YKY + lambda W^-1,   g >= 0,   sum_+ g = sum_- g = 1
 *
 * with W the weights of the rows, 1 in the paper. (w copies of a row have g/w each, whose squares
 * sum to g^2/w.) A row of weight 0 has g = 0. At lambda -> 0 sum y_i g_i phi(x_i) joins the nearest
 * points of the two hulls; at lambda = 1 all g/w of a class are the same, and it joins their means.
 *
 * With G = Qg (half the gradient) and h any other point of the set, convexity gives
 *
 *     f(g) - f(h) <= 2 (G'g - G'h) <= 2 sum over classes of (G'g over the class - least G of it)
 *
 * which is the gap that ends the iterations, and zero at the minimum. Rounds of two parts:
 *
 *   pairs   g_i += t, g_j -= t within a class: i has the least G, j is the one of g_j > 0 with the
 *           largest decrease (G_j - G_i)^2 / (Q_ii + Q_jj - 2 Q_ij) of f, as in LIBSVM (fan2005).
 *           n / 4 such steps, which find out which g are zero.
 *   face    conjugate gradients for the g that are not zero, the sums of the classes held; what
 *           would become negative is set to zero and the sums restored, with a shorter step where
 *           f would not fall. The matrix of the face is a float32 copy: only a direction is wanted.
 *
 * Either alone takes long: pairs need 10 n to 100 n steps where kernels are smooth and lambda is
 * small, and a face must be known before it is worth a visit. G is computed anew at the end of
 * every round, so what ends the iterations is not an updated gradient.
 *
 * 4 n flops a step and 2 m^2 an iteration of conjugate gradients on m rows; 4 m^2 bytes. */
#include "solve/hulls.h"

#include "base/spec.h"
#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Products for a face: few while it still changes. */
enum { ROUNDS = 400, PRODUCTS = 30, PRODUCTS_SAME = 400, SHORTER = 4 };
static const double RESIDUAL = 0.03; /* of a face, where a round leaves it */

typedef struct work {
    krein_ctx *ctx;
    krein_hulls *h;
    int64_t *row, count[2]; /* n: the rows of -1 with a weight, then those of +1 */
    double *G, *diagonal;   /* n; diagonal of Q */
    double *ridge;          /* n: lambda / w_i, 0 where w_i is */
    double *trial, *Gt;     /* n: another g, and its G */
    double *step;           /* n: direction on the face */
    int64_t *face, m;       /* the rows with g > 0 */
    bool same;              /* as many as in the round before */
    float *Q;               /* m x m */
    float *p;               /* m */
    double *r, *s, *d, *q;  /* m */
} work;

/* ---- values ------------------------------------------------------------- */

/* G = Qg. */
static void gradient(const work *w, const double *g, double *G) {
    const krein_hulls *h = w->h;
    int64_t n = h->n;
    double *v = w->step; /* Yg */
    for (int64_t i = 0; i < n; i++) v[i] = h->y[i] * g[i];
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(w->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            G[i] = (1 - h->lambda) * h->y[i] * krein__ddot(n, h->K + i * n, v) + w->ridge[i] * g[i];
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

static double value_of(int64_t n, const double *g, const double *G) {
    double f = 0;
    for (int64_t i = 0; i < n; i++) f += g[i] * G[i];
    return f;
}

/* Value and gap of g; true: near enough. The gradient's own rounding bounds what can be asked. */
static bool finished(work *w) {
    krein_hulls *h = w->h;
    double least[2] = {INFINITY, INFINITY}, largest = 0;
    for (int64_t k = 0; k < w->count[0] + w->count[1]; k++) {
        int64_t i = w->row[k];
        int c = h->y[i] > 0;
        least[c] = fmin(least[c], w->G[i]);
        largest = fmax(largest, (1 - h->lambda) * h->K[i * h->n + i] + w->ridge[i] * h->g[i]);
    }
    h->value = value_of(h->n, h->g, w->G);
    h->gap = fmax(0, 2 * (h->value - least[0] - least[1]));
    return h->gap <= fmax(h->tol * h->value, 256 * DBL_EPSILON * largest);
}

/* ---- pairs -------------------------------------------------------------- */

/* The most violating pair's i, and its class; false: none is above `least`. */
static bool first_of_pair(const work *w, double least, int64_t *first, int *class) {
    double most = least;
    for (int c = 0; c < 2; c++) {
        const int64_t *row = w->row + (c ? w->count[0] : 0);
        double low = INFINITY, high = -INFINITY;
        int64_t at = -1;
        for (int64_t k = 0; k < w->count[c]; k++) {
            int64_t i = row[k];
            double G = w->G[i];
            if (G < low) {
                low = G;
                at = i;
            }
            if (G > high && w->h->g[i] > 0) high = G;
        }
        if (!(high - low > most)) continue;
        most = high - low;
        *first = at;
        *class = c;
    }
    return most > least;
}

/* The j that lowers f most with i, as if no g could be negative. */
static int64_t second_of_pair(const work *w, int64_t i, int class) {
    const krein_hulls *h = w->h;
    const double *K = h->K + i * h->n;
    const int64_t *row = w->row + (class ? w->count[0] : 0);
    double low = w->G[i], best = 0, twice = 2 * (1 - h->lambda);
    int64_t at = -1;
    for (int64_t k = 0; k < w->count[class]; k++) {
        int64_t j = row[k];
        double slope = w->G[j] - low, eta = w->diagonal[i] + w->diagonal[j] - twice * K[j];
        if (slope * slope > best * eta && h->g[j] > 0) {
            best = slope * slope / eta;
            at = j;
        }
    }
    return at;
}

static void move(work *w, int64_t i, int64_t j) {
    krein_hulls *h = w->h;
    const double *a = h->K + i * h->n, *b = h->K + j * h->n, *y = h->y;
    double eta = w->diagonal[i] + w->diagonal[j] - 2 * (1 - h->lambda) * a[j];
    double t = fmin((w->G[j] - w->G[i]) / eta, h->g[j]);
    h->g[i] += t;
    h->g[j] = t < h->g[j] ? h->g[j] - t : 0;
    double change = (1 - h->lambda) * t * y[i];
    for (int64_t k = 0; k < h->n; k++) w->G[k] += change * y[k] * (a[k] - b[k]);
    w->G[i] += w->ridge[i] * t;
    w->G[j] -= w->ridge[j] * t;
}

static void pairs(work *w, int64_t steps) {
    krein_hulls *h = w->h;
    int64_t i = 0, j;
    int class = 0;
    double least = h->tol * h->value / 8;
    for (; steps > 0 && first_of_pair(w, least, &i, &class); steps--) {
        if ((j = second_of_pair(w, i, class)) < 0) break;
        move(w, i, j);
        h->steps++;
    }
}

/* ---- the face ----------------------------------------------------------- */

static void face_begin(work *w) {
    const krein_hulls *h = w->h;
    int64_t n = h->n;
    int64_t before = w->m;
    w->m = 0;
    for (int64_t i = 0; i < n; i++)
        if (h->g[i] > 0) w->face[w->m++] = i;
    w->same = w->m == before;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
    for (int64_t a = 0; a < w->m; a++) {
        int64_t i = w->face[a];
        const double *K = h->K + i * n;
        float *Q = w->Q + a * w->m;
        for (int64_t b = 0; b < w->m; b++) {
            int64_t j = w->face[b];
            Q[b] = (float)((1 - h->lambda) * h->y[i] * h->y[j] * K[j]);
        }
        Q[a] += (float)w->ridge[i];
    }
}

/* x less its mean in each class. */
static void balance(const work *w, double *x) {
    double sum[2] = {0, 0}, count[2] = {0, 0};
    for (int64_t a = 0; a < w->m; a++) {
        int c = w->h->y[w->face[a]] > 0;
        sum[c] += x[a];
        count[c]++;
    }
    for (int64_t a = 0; a < w->m; a++) {
        int c = w->h->y[w->face[a]] > 0;
        x[a] -= sum[c] / count[c];
    }
}

/* q = the balanced part of Q s. */
static void face_product(work *w) {
    int64_t m = w->m;
    for (int64_t a = 0; a < m; a++) w->p[a] = (float)w->s[a];
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(w->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t a = 0; a < m; a++) w->q[a] = (double)krein__sdot(m, w->Q + a * m, w->p);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    balance(w, w->q);
    w->h->products++;
}

/* d: from g towards the minimum over the face without regard to signs. */
static void face_solve(work *w) {
    int64_t m = w->m;
    double *r = w->r, *s = w->s, *d = w->d, *q = w->q, square = 0, first, unit = 0;
    int64_t most = w->same ? PRODUCTS_SAME : PRODUCTS;
    for (int64_t a = 0; a < m; a++) unit = fmax(unit, fabs(w->G[w->face[a]]));
    for (int64_t a = 0; a < m; a++) r[a] = -w->G[w->face[a]] / unit; /* float32 has no small ones */
    balance(w, r);
    for (int64_t a = 0; a < m; a++) {
        s[a] = r[a];
        d[a] = 0;
        square += r[a] * r[a];
    }
    first = square;
    for (int64_t k = 0; k < most && square > RESIDUAL * RESIDUAL * first; k++) {
        double curve = 0, next = 0;
        face_product(w);
        for (int64_t a = 0; a < m; a++) curve += s[a] * q[a];
        if (!(curve > 0)) break;
        double along = square / curve;
        for (int64_t a = 0; a < m; a++) {
            d[a] += along * s[a];
            r[a] -= along * q[a];
            next += r[a] * r[a];
        }
        for (int64_t a = 0; a < m; a++) s[a] = r[a] + next / square * s[a];
        square = next;
    }
    for (int64_t a = 0; a < m; a++) d[a] *= unit;
}

/* trial = g + t d, without what is negative, its sums restored. */
static void face_point(work *w, double t) {
    const krein_hulls *h = w->h;
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < h->n; i++) w->trial[i] = 0;
    for (int64_t a = 0; a < w->m; a++) {
        int64_t i = w->face[a];
        w->trial[i] = fmax(0, h->g[i] + t * w->d[a]);
        sum[h->y[i] > 0] += w->trial[i];
    }
    for (int64_t i = 0; i < h->n; i++) w->trial[i] /= sum[h->y[i] > 0];
}

/* One visit to the face; G is exact when it ends. */
static void face(work *w) {
    krein_hulls *h = w->h;
    double t = 1;
    gradient(w, h->g, w->G);
    double value = value_of(h->n, h->g, w->G);
    face_begin(w);
    face_solve(w);
    for (int k = 0; k < SHORTER; k++, t /= 4) {
        face_point(w, t);
        gradient(w, w->trial, w->Gt);
        if (!(value_of(h->n, w->trial, w->Gt) < value)) continue;
        memcpy(h->g, w->trial, (size_t)h->n * sizeof *h->g);
        memcpy(w->G, w->Gt, (size_t)h->n * sizeof *w->G);
        return;
    }
}

/* ---- all of it ---------------------------------------------------------- */

static double weight_of(const krein_hulls *h, int64_t i) { return h->weight ? h->weight[i] : 1; }

/* The means of the classes. */
static void start(krein_hulls *h) {
    double count[2] = {0, 0};
    for (int64_t i = 0; i < h->n; i++) count[h->y[i] > 0] += weight_of(h, i);
    for (int64_t i = 0; i < h->n; i++) h->g[i] = weight_of(h, i) / count[h->y[i] > 0];
    h->value = count[0] > 0 && count[1] > 0 ? 1 / count[0] + 1 / count[1] : 0;
    h->gap = 0;
    h->converged = true;
    h->rounds = h->steps = h->products = 0;
}

static krein_status work_begin(work *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    const krein_hulls *h = w->h;
    int64_t n = h->n;
    NEW(w->row, n);
    NEW(w->G, n);
    NEW(w->diagonal, n);
    NEW(w->ridge, n);
    NEW(w->trial, n);
    NEW(w->Gt, n);
    NEW(w->step, n);
    NEW(w->face, n);
    NEW(w->Q, n * n);
    NEW(w->p, n);
    NEW(w->r, n);
    NEW(w->s, n);
    NEW(w->d, n);
    NEW(w->q, n);
    for (int64_t i = 0; i < n; i++) {
        w->ridge[i] = weight_of(h, i) > 0 ? h->lambda / weight_of(h, i) : 0;
        w->diagonal[i] = (1 - h->lambda) * h->K[i * n + i] + w->ridge[i];
        w->count[h->y[i] > 0] += weight_of(h, i) > 0;
    }
    for (int64_t i = 0, at[2] = {0, w->count[0]}; i < n; i++)
        if (weight_of(h, i) > 0) w->row[at[h->y[i] > 0]++] = i;
done:
    return st;
}

static void work_end(work *w) {
    krein_ctx *ctx = w->ctx;
    krein__free(ctx, w->row);
    krein__free(ctx, w->G);
    krein__free(ctx, w->diagonal);
    krein__free(ctx, w->ridge);
    krein__free(ctx, w->trial);
    krein__free(ctx, w->Gt);
    krein__free(ctx, w->step);
    krein__free(ctx, w->face);
    krein__free(ctx, w->Q);
    krein__free(ctx, w->p);
    krein__free(ctx, w->r);
    krein__free(ctx, w->s);
    krein__free(ctx, w->d);
    krein__free(ctx, w->q);
}

krein_status krein__hulls(krein_ctx *ctx, krein_hulls *h) {
    krein_status st = KREIN_OK;
    work w = {.ctx = ctx, .h = h};
    start(h);
    if (h->lambda == 1) return KREIN_OK;
    TRY(work_begin(&w));
    gradient(&w, h->g, w.G);
    h->converged = finished(&w);
    for (; !h->converged && h->rounds < ROUNDS; h->rounds++) {
        TRY(krein__poll(ctx));
        pairs(&w, krein__max(h->n / 4, 100));
        face(&w);
        h->converged = finished(&w);
    }
done:
    work_end(&w);
    return st;
}

double krein__hulls_bytes(int64_t n) { return 4 * (double)n * (double)n + 120 * (double)n; }

const krein_class krein__solver_hulls = {
    "hulls", "nearest points of the hulls of two classes, by pairs and conjugate gradients",
    "aiolli2015", NULL,
    "Softened by a ridge; ends at a gap. On kernel matrices. Learner: mkl(method=easymkl)."};
