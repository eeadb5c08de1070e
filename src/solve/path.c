/* path.c -- the lambda path: grid, tally of held-out predictions, choice, and the walk
 *
 * Where a whole path has no cheap form (one eigendecomposition), lambda is sought by steps along
 * its grid of quarter decades: from a start by half decades down, else up, while the loss falls,
 * then a quarter from the best to the side where the loss rises less. Where a start is known to be
 * near (krein__path_climb) that last step is taken only if the parabola through the three losses
 * around the best promises something: three visits instead of four. Where losses near a lambda that
 * was visited can be guessed (krein__path_follow), only the best guess is visited, or one as far
 * again: one or two.
 */
#include "solve/ridge.h"

#include "stream/together.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double grid(int64_t i, int per_decade) {
    return krein__round_digits(pow(10, (double)i / per_decade), 3);
}

void krein__path_grid(krein_path *p, double low, double high, int per_decade) {
    p->n = p->guesses = 0;
    if (!(high > 0)) low = high = 1; /* equal rows: every lambda has the same solution, the mean */
    int64_t from = (int64_t)ceil(log10(low) * per_decade - 1e-9);
    int64_t to = (int64_t)floor(log10(high) * per_decade + 1e-9);
    to = krein__max(from, to); /* one value at least */
    for (int64_t i = from; i <= to && p->n < KREIN_PATH_MAX; i++)
        p->lambda[p->n++] = grid(i, per_decade);
}

void krein__path_choose(krein_path *p) {
    p->best = 0;
    for (int64_t l = 1; l < p->n; l++) {
        bool classes = !isnan(p->error[l]);
        double a = classes ? p->error[l] : p->loss[l];
        double b = classes ? p->error[p->best] : p->loss[p->best];
        if (a < b || (a == b && p->loss[l] < p->loss[p->best])) p->best = l;
    }
}

static bool wrong(const double *score, int64_t k, int32_t class) {
    if (k == 1) return (score[0] > 0) != (class == 1);
    int64_t best = 0;
    for (int64_t c = 1; c < k; c++)
        if (score[c] > score[best]) best = c;
    return best != class;
}

void krein__tally_add(krein_tally *t, const krein_targets *rows, int64_t L, const double *score) {
    int64_t k = rows->k;
    for (int64_t i = 0; i < rows->n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        if (w == 0) continue;
        t->weight += w;
        for (int64_t l = 0; l < L; l++) {
            const double *f = score + (i * L + l) * k;
            double square = 0;
            for (int64_t c = 0; c < k; c++) {
                double e = rows->y[i * k + c] - f[c];
                square += e * e;
            }
            t->loss[l] += w * square / (double)k;
            if (rows->class) t->error[l] += w * wrong(f, k, rows->class[i]);
        }
    }
}

/* Means of the l-th lambda as loss and error number `at` of the path. Scores that are no numbers
 * have classes all the same: they must not win by them. */
static void means(const krein_tally *t, int64_t l, bool classes, krein_path *p, int64_t at) {
    p->loss[at] = t->loss[l] / t->weight;
    p->error[at] = classes ? t->error[l] / t->weight : NAN;
    if (!isnan(p->loss[at])) return;
    p->loss[at] = INFINITY;
    if (classes) p->error[at] = INFINITY;
}

krein_status krein__tally_together(krein_tally *t, krein_stream *rows) {
    krein_status st = KREIN_OK;
    TRY(krein__stream_sum(rows, 1, &t->weight));
    TRY(krein__stream_sum(rows, KREIN_PATH_MAX, t->loss));
    TRY(krein__stream_sum(rows, KREIN_PATH_MAX, t->error));
done:
    return st;
}

void krein__tally_end(const krein_tally *t, bool classes, krein_path *p) {
    for (int64_t l = 0; l < p->n; l++) means(t, l, classes, p, l);
    krein__path_choose(p);
}

const char *krein__error_text(double error, char out[40]) {
    out[0] = 0;
    if (!isnan(error)) snprintf(out, 40, ", error %.6g", error);
    return out;
}

/* ---- the walk ----------------------------------------------------------- */

enum { QUARTERS = 4, STEPS = 8, REACH = 2 }; /* REACH: of a guess, in quarters of a decade */
static const double WORTH = 0.002;           /* of the loss: what a parabola should promise */
static const double LITTLE = 0.001;          /* of the loss: a fall that is none */
static const double FLAT = 0.01;             /* of the loss: a fall that ends a walk by guesses */
static const double STEEP = 0.03;   /* of the loss: a fall over the last quarter of a decade */
static const double GUESSED = 0.01; /* of loss and wrong rows: what a guess should promise */

typedef struct walk {
    krein_ctx *ctx;
    const krein_targets *rows;
    krein_visitor *visitor;
    void *state;
    double *score; /* n x k */
    int64_t least; /* the walk does not go below this value of the grid */
    krein_path *p;
} walk;

/* Appends the i-th lambda of the grid. */
static krein_status visit(const walk *w, int64_t i) {
    krein_path *p = w->p;
    krein_tally tally = {0};
    double lambda = grid(i, QUARTERS);
    krein_status st = w->visitor(w->state, lambda, w->score);
    if (st != KREIN_OK) return st;
    krein__tally_add(&tally, w->rows, 1, w->score);
    p->lambda[p->n] = lambda;
    means(&tally, 0, w->rows->class != NULL, p, p->n++);
    krein__path_choose(p);
    krein__progress(w->ctx, "leave-one-out", (double)p->n, 0);
    char error[40];
    krein__log(w->ctx, KREIN_LOG_DEBUG, "lambda %g: loss %g%s", lambda, p->loss[p->n - 1],
               krein__error_text(p->error[p->n - 1], error));
    return krein__poll(w->ctx);
}

int64_t krein__path_least(const krein_path *p) {
    int64_t best = 0;
    for (int64_t l = 1; l < p->n; l++)
        if (p->loss[l] < p->loss[best]) best = l;
    return best;
}

/* Goes on from `at` by `by` while the loss falls by more than LITTLE; `at` is then the best. A
 * model that interpolates has the same loss at every small lambda. */
static krein_status step(const walk *w, int64_t by, int64_t *at) {
    for (int64_t k = 0; k < STEPS && *at + by >= w->least && !krein__enough(w->ctx); k++) {
        double least = w->p->loss[krein__path_least(w->p)];
        krein_status st = visit(w, *at + by);
        if (st != KREIN_OK) return st;
        double loss = w->p->loss[w->p->n - 1];
        bool none = by > 0 && isinf(loss); /* a larger lambda has a solution */
        if (!none && !(loss < least)) return KREIN_OK;
        *at += by;
        if (!none && isfinite(least) && loss > (1 - LITTLE) * least) return KREIN_OK;
    }
    return KREIN_OK;
}

/* The loss at the i-th lambda of the grid; none where the steps ended before it. */
static double loss_at(const krein_path *p, int64_t i) {
    for (int64_t l = 0; l < p->n; l++)
        if (p->lambda[l] == grid(i, QUARTERS)) return p->loss[l];
    return -INFINITY;
}

/* What the least of the parabola through the losses at `at` and two quarters to each side is below
 * the one at `at`; *by: on which side. 0 where one of them is not known. */
static double promised(const krein_path *p, int64_t at, int64_t *by) {
    double down = loss_at(p, at - 2), up = loss_at(p, at + 2),
           bend = up - 2 * loss_at(p, at) + down;
    *by = down < up ? -1 : 1;
    return isfinite(bend) && bend > 0 ? (up - down) * (up - down) / (8 * bend) : 0;
}

/* Visits the start. */
static krein_status begin(walk *w, double start, double least, int64_t *at) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    w->least = least > 0 ? (int64_t)ceil(log10(least) * QUARTERS) : INT64_MIN;
    *at = krein__max(w->least, (int64_t)rint(log10(start) * QUARTERS));
    w->p->n = w->p->guesses = 0;
    NEW(w->score, w->rows->n * w->rows->k);
    TRY(visit(w, *at));
done:
    return st;
}

/* Half decades from the start while the loss falls; *at is then the best. A time limit ends the
 * walk with the best of those visited, the first always. */
static krein_status climb(walk *w, double start, double least, int64_t *at) {
    krein_status st = KREIN_OK;
    int64_t first;
    TRY(begin(w, start, least, &first));
    *at = first;
    TRY(step(w, -2, at));
    if (*at == first) TRY(step(w, 2, at));
done:
    return st;
}

krein_status krein__path_walk(krein_ctx *ctx, const krein_targets *rows, double start, double least,
                              krein_visitor *visitor, void *state, krein_path *p) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .rows = rows, .visitor = visitor, .state = state, .p = p};
    int64_t at;
    TRY(climb(&w, start, least, &at));
    bool down = loss_at(p, at - 2) < loss_at(p, at + 2) && at > w.least;
    if (!krein__enough(ctx)) TRY(visit(&w, down ? at - 1 : at + 1));
done:
    krein__free(ctx, w.score);
    return st;
}

krein_status krein__path_climb(krein_ctx *ctx, const krein_targets *rows, double start,
                               double least, krein_visitor *visitor, void *state, krein_path *p) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .rows = rows, .visitor = visitor, .state = state, .p = p};
    int64_t at, by;
    TRY(climb(&w, start, least, &at));
    if (promised(p, at, &by) > WORTH * loss_at(p, at) && !krein__enough(ctx))
        TRY(visit(&w, at + by));
done:
    krein__free(ctx, w.score);
    return st;
}

/* By how many quarters of a decade to go on from `at`, the last one visited; 0: the guesses promise
 * nothing. They are compared with the guess at `at` itself, which has the same errors. Of classes
 * fewer wrong rows win (krein__path_choose): less loss alone is not worth a visit. Where the loss
 * still falls steeply at the end of what can be guessed, twice as far. */
static krein_status best_guess(const walk *w, krein_visitor *guess, int64_t at, int64_t *by) {
    double here = 0, wrong_here = NAN, best = INFINITY, wrong_best = NAN, all[2 * REACH + 1];
    *by = 0;
    for (int64_t q = -REACH; q <= REACH; q++) {
        krein_path p = {.n = 1};
        krein_tally tally = {0};
        if (at + q < w->least) continue;
        krein_status st = guess(w->state, grid(at + q, QUARTERS), w->score);
        if (st != KREIN_OK) return st;
        krein__tally_add(&tally, w->rows, 1, w->score);
        krein__tally_end(&tally, w->rows->class != NULL, &p);
        char error[40];
        krein__log(w->ctx, KREIN_LOG_DEBUG, "lambda %g: about loss %g%s", grid(at + q, QUARTERS),
                   p.loss[0], krein__error_text(p.error[0], error));
        if (w->p->guesses < KREIN_GUESSES_MAX)
            w->p->guess[w->p->guesses++] =
                (krein_guess){grid(at + q, QUARTERS), p.loss[0], p.error[0]};
        all[q + REACH] = p.loss[0];
        if (q == 0) here = p.loss[0], wrong_here = p.error[0];
        if (p.loss[0] < best) best = p.loss[0], wrong_best = p.error[0], *by = q;
    }
    if (!(best < (1 - GUESSED) * here) || wrong_best >= (1 - GUESSED) * wrong_here) *by = 0;
    double before = llabs(*by) == REACH ? all[*by < 0 ? 1 : 2 * REACH - 1] : NAN;
    if (isfinite(before) && best < (1 - STEEP) * before) *by *= 2;
    if (at + *by < w->least) *by = w->least - at;
    return krein__poll(w->ctx);
}

/* From one visited lambda to the one that is guessed to be better, until there is none, or until
 * what was guessed to be better brought little. */
krein_status krein__path_follow(krein_ctx *ctx, const krein_targets *rows, double start,
                                double least, krein_visitor *visitor, krein_visitor *guess,
                                void *state, krein_path *p) {
    krein_status st = KREIN_OK;
    walk w = {.ctx = ctx, .rows = rows, .visitor = visitor, .state = state, .p = p};
    int64_t at, by;
    TRY(begin(&w, start, least, &at));
    /* Up to where there is a solution, and no further: guesses are about the last one visited. */
    for (int k = 0; k < STEPS && isinf(loss_at(p, at)) && !krein__enough(ctx); k++)
        TRY(visit(&w, at += 2));
    for (int k = 0; k < STEPS && !krein__enough(ctx) && isfinite(loss_at(p, at)); k++) {
        double before = loss_at(p, at);
        TRY(best_guess(&w, guess, at, &by));
        if (by == 0 || loss_at(p, at + by) > -INFINITY) break; /* it was visited */
        TRY(visit(&w, at + by));
        bool fell = p->loss[p->n - 1] < (1 - FLAT) * before;
        if (!fell && llabs(by) > REACH && !krein__enough(ctx)) /* too far: what was guessed */
            TRY(visit(&w, at + (by < 0 ? -REACH : REACH)));
        if (!fell || llabs(by) < REACH) break;
        at += by;
    }
done:
    krein__free(ctx, w.score);
    return st;
}
