/* fit.c -- mini-batches, steps and epochs
 *
 *     J = mean of w_i loss(f(x_i), y_i) + lambda_a penalty(W) + lambda_b mean |z(x_i)|^2
 *
 * W the weights of the last layer, z the output of the first. An epoch visits every row once, in
 * an order that is drawn anew (Philox, by seed, epoch and window), in batches of nearly the same
 * size. A step is
 *     forwards; loss and its gradient; backwards from the last layer: the gradient below a layer,
 *     then its own, part by part, each used by the optimiser while it is in the cache; then the
 *     proximal step of the penalty, where it has one: W <- prox(W, rate lambda_a).
 * The pieces of work are fixed (layer.h), and sums over rows have one order: the number of threads
 * does not change a bit. With a clip the whole gradient is made first, since its length decides; so
 * is it where the steps stay in a subspace with the orthonormal basis P (P-SGD, 4.17 of the
 * thesis): a = P'g;   the optimiser makes a step c of a;   th <- th + P c which for gradient
 * descent is th <- th - eta P P'g. An optimiser with states has them in the coordinates of the
 * subspace, so that its steps do not leave it either.
 *
 * Normalising layers use the means and variances of the batch in a step, and note them; rows that
 * are measured see the noted ones.
 *
 * With a deadline the rate falls by the clock where that is ahead of the steps. The result then
 * depends on it. It ends early enough for the rows held out to be measured three times, as long as
 * that took last: at the end of the epoch, and by those who look at what came out.
 *
 * The proximal step has the length of the plain rate also where the optimiser scales its steps
 * (adam, adadelta): the penalty is then that of the objective in another metric. */
#include "net/fit.h"

#include "base/rng.h"
#include "net/codes.h"
#include "num/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MEASURED = 3; /* times, behind the last step */

typedef struct fit {
    krein_net *net;
    const krein_fit_options *o;
    const krein_fit_rows *rows;
    krein_net_work work;
    float *s, *r;          /* states of the optimiser */
    float *g;              /* the whole gradient, with a clip or a subspace; else NULL */
    krein_trained trained; /* with a subspace */
    float *inside;         /* its m parameters or gradients, and twice s numbers behind them */
    float *best;           /* parameters */
    float *weight, *y;     /* of a batch */
    int32_t *class;
    int64_t *order;
    int64_t room;                     /* of order */
    krein_step plain, decayed, below; /* intercepts; weights of the last layer, of the others */
    krein_fit_place at;
    int64_t steps;            /* of all epochs */
    krein_fit_report *report; /* so far */
    krein_fit_place told;     /* at the last line in the log within an epoch */
    double start;             /* krein__clock() */
    double after;             /* seconds that are needed behind the last step */
} fit;

/* ---- measuring ---------------------------------------------------------- */

bool krein__net_wrong(int64_t k, const float *f, const float *y, int32_t class) {
    int64_t best = 0;
    if (k == 1) return !(f[0] * y[0] > 0);
    for (int64_t c = 1; c < k; c++)
        if (f[c] > f[best]) best = c;
    return best != class;
}

double krein__net_off(const krein_loss_class *loss, float f, float y) {
    return (loss->numbers ? (double)f : f > 0 ? 1 : -1) - (double)y;
}

static double squares(const krein_loss_class *loss, int64_t k, const float *f, const float *y) {
    double sum = 0;
    for (int64_t c = 0; c < k; c++) sum += pow(krein__net_off(loss, f[c], y[c]), 2);
    return sum;
}

krein_status krein__net_measure(krein_net_work *w, const krein_window *rows,
                                const krein_loss_class *loss, double *mean, double *error,
                                float *scores) {
    krein_status st = KREIN_OK;
    int64_t k = krein__net_out(w->net), n = rows->x.n;
    double sum = 0, off = 0, total = 0;
    const krein_aims *all = &rows->aims;
    krein_statistics was = w->statistics;
    w->statistics = KREIN_STATISTICS_RUNNING;
    for (int64_t from = 0; from < n; from += w->rows) {
        int64_t m = krein__min(w->rows, n - from);
        krein_rows x = krein__rows_slice(&rows->x, from, m);
        krein_aims a = {all->y + from * k, all->class ? all->class + from : NULL,
                        all->weight ? all->weight + from : NULL};
        TRY(krein__poll(w->net->ctx));
        krein__net_load(w, &x, NULL, m);
        const float *f = krein__net_forward(w, m);
        sum += krein__loss_rows(loss, m, k, f, &a, 1, w->gradient[w->net->layers - 1]);
        for (int64_t i = 0; i < m; i++) {
            double weight = a.weight ? (double)a.weight[i] : 1;
            total += weight;
            off +=
                weight * (a.class ? (double)krein__net_wrong(k, f + i * k, a.y + i * k, a.class[i])
                                  : squares(loss, k, f + i * k, a.y + i * k));
        }
        if (scores) memcpy(scores + from * k, f, (size_t)(m * k) * sizeof *f);
    }
    *mean = sum / total;
    *error = all->class ? off / total : sqrt(off / (total * (double)k));
done:
    w->statistics = was;
    return st;
}

/* ---- a step ------------------------------------------------------------- */

static int64_t head(const fit *f) { return f->net->layers - 1; }

/* A part of the gradient goes to the optimiser. */
static void update(void *user, int64_t layer, int64_t ranges, const krein_range *range, float *g) {
    const fit *f = user;
    for (int64_t q = 0; q < ranges; q++) {
        krein_step u = !range[q].weights ? f->plain : layer == head(f) ? f->decayed : f->below;
        if (f->o->pace[layer] > 0) u.rate *= (float)f->o->pace[layer];
        bool compact = range[q].columns == range[q].ld;
        int64_t rows = compact ? 1 : range[q].rows;
        int64_t columns = compact ? range[q].rows * range[q].columns : range[q].columns;
        for (int64_t i = 0; i < rows; i++, g += columns) {
            int64_t at = range[q].first + i * range[q].ld;
            f->o->optimizer.cls->update(&u, columns, f->net->p + at, g, f->s + at,
                                        f->r ? f->r + at : NULL);
        }
    }
}

/* In eight sums beside each other. */
static double sum_of_squares(int64_t n, const float *x) {
    double part[8] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; j++) part[j] += (double)x[i + j] * (double)x[i + j];
    for (; i < n; i++) sum += (double)x[i] * (double)x[i];
    for (int j = 0; j < 8; j++) sum += part[j];
    return sum;
}

/* The whole gradient, made shorter where it is too long, goes to the optimiser. */
static void update_clipped(fit *f) {
    double length = sqrt(sum_of_squares(f->net->count, f->g));
    float keep = length > f->o->clip ? (float)(f->o->clip / length) : 1;
    for (int64_t l = 0; l < f->net->layers; l++) {
        const krein_layer *at = &f->net->layer[l];
        krein_range range[KREIN_NET_RANGES];
        for (int64_t part = 0; !f->o->frozen[l] && part < at->weights_parts; part++) {
            int64_t ranges = at->cls->ranges(at, part, range);
            for (int64_t q = 0; q < ranges; q++)
                for (int64_t i = 0; i < range[q].rows; i++) {
                    krein_range row = range[q];
                    row.first += i * row.ld;
                    row.rows = 1;
                    float *g = f->g + row.first;
                    for (int64_t j = 0; j < row.columns; j++) g[j] *= keep;
                    update(f, l, 1, &row, g);
                }
        }
    }
}

/* The whole gradient, projected to the subspace, and a step there. */
static void update_projected(fit *f) {
    const krein_subspace *sub = f->o->subspace;
    int threads = f->net->ctx->threads;
    float *a = f->inside + sub->m, *c = a + sub->s;
    krein__trained_gather(&f->trained, f->g, f->inside);
    krein__subspace_project(sub, threads, f->inside, a);
    double length = sqrt(sum_of_squares(sub->s, a));
    if (f->o->clip > 0 && length > f->o->clip)
        for (int64_t j = 0; j < sub->s; j++) a[j] *= (float)(f->o->clip / length);
    memset(c, 0, (size_t)sub->s * sizeof *c);
    f->o->optimizer.cls->update(&f->plain, sub->s, c, a, f->s, f->r);
    krein__trained_gather(&f->trained, f->net->p, f->inside);
    krein__subspace_move(sub, threads, c, f->inside);
    krein__trained_scatter(&f->trained, f->inside, f->net->p);
}

/* Nothing below layer l is trained. */
static bool rest_frozen(const fit *f, int64_t l) {
    for (int64_t i = 0; i < l; i++)
        if (!f->o->frozen[i]) return false;
    return true;
}

/* lambda_b |z|^2 / n, and its gradient added to that of z. */
static double add_activity(fit *f, int64_t n, bool gradient) {
    const krein_pass *b = &f->work.pass[0];
    int64_t size = n * f->net->layer[0].out;
    double lambda = f->o->lambda_b / (double)n;
    float twice = (float)(2 * lambda), *g = f->work.gradient[0];
    if (lambda == 0) return 0;
    for (int64_t i = 0; gradient && i < size; i++) g[i] += twice * b->out[i];
    return lambda * sum_of_squares(size, b->out);
}

/* Backwards, and the optimiser; returns the value of the penalty on z. */
static double descend(fit *f, int64_t n) {
    double activity = 0;
    bool counted = false;
    for (int64_t l = head(f); l >= 0; l--) {
        bool below = !rest_frozen(f, l);
        if (below) krein__net_backward(&f->work, l);
        if (below && l == 1) {
            activity = add_activity(f, n, true);
            counted = true;
        }
        if (!f->o->frozen[l])
            krein__net_gradient(&f->work, l, f->g ? krein__net_store_part : update,
                                f->g ? (void *)f->g : f);
    }
    if (!counted) activity = add_activity(f, n, false);
    if (f->o->subspace)
        update_projected(f);
    else if (f->g)
        update_clipped(f);
    return activity;
}

/* The weights of the last layer. */
static float *head_weights(const fit *f, int64_t *rows, int64_t *columns) {
    const krein_layer *l = &f->net->layer[head(f)];
    *rows = l->in;
    *columns = l->out;
    return f->net->p + l->first;
}

/* Steps of the schedule: those that were made, or as many as the time that has passed stands for,
 * so that the rate has come down where the time ends. */
static int64_t progress(const fit *f) {
    double all = f->o->deadline - f->after - f->start;
    if (f->o->deadline == 0 || !(all > 0)) return f->at.step;
    double late = (krein__clock() - f->start) / all * (double)f->steps;
    return krein__max(f->at.step, (int64_t)fmin(late, (double)f->steps - 1));
}

/* *loss: sum over the rows; *activity: value of the penalty on z. */
static krein_status make_step(fit *f, const krein_window *w, const int64_t *index, int64_t n,
                              double *loss, double *activity) {
    const krein_fit_options *o = f->o;
    int64_t k = krein__net_out(f->net), rows, columns;
    const krein_aims *all = &w->aims;
    krein_aims a = {f->y, all->class ? f->class : NULL, all->weight ? f->weight : NULL};
    for (int64_t i = 0; i < n; i++) {
        memcpy(f->y + i * k, all->y + index[i] * k, (size_t)k * sizeof *f->y);
        if (all->class) f->class[i] = all->class[index[i]];
        if (all->weight) f->weight[i] = all->weight[index[i]];
    }
    double rate = o->rate * krein__schedule(o->schedule, progress(f), f->steps);
    f->plain = f->decayed = f->below = o->optimizer.cls->step(&o->optimizer, ++f->at.step, rate);
    f->below.decay = (float)o->decay;
    f->decayed.decay = (float)krein__penalty_decay(o->penalty, o->lambda_a);
    krein__net_load(&f->work, &w->x, index, n);
    const float *scores = krein__net_forward(&f->work, n);
    *loss = krein__loss_rows(o->loss, n, k, scores, &a, 1 / (double)n, f->work.gradient[head(f)]);
    if (!isfinite(*loss)) return KREIN_OK;
    krein__net_note_statistics(&f->work, KREIN_NET_MOMENTUM, f->net->p);
    *activity = descend(f, n);
    float *W = head_weights(f, &rows, &columns);
    krein_status st =
        krein__penalty_prox(f->net->ctx, o->penalty, rate * o->lambda_a, rows, columns, W);
    krein__net_round(f->net);
    return st;
}

/* ---- epochs ------------------------------------------------------------- */

static int64_t batches_of(const fit *f, int64_t n) { return (n + f->o->batch - 1) / f->o->batch; }

static void tell(fit *f, const krein_fit_state *s, int64_t done) {
    char text[64];
    if (isnan(s->loss))
        snprintf(text, sizeof text, "training");
    else if (isnan(s->error))
        snprintf(text, sizeof text, "loss %.4g", s->loss);
    else
        snprintf(text, sizeof text, "loss %.3g, error %.3g", s->loss, s->error);
    krein__progress(f->net->ctx, text, (double)done, (double)f->steps);
}

static krein_status make_room(fit *f, int64_t n) {
    krein_ctx *ctx = f->net->ctx;
    krein_status st = KREIN_OK;
    if (n <= f->room) return KREIN_OK;
    krein__free(ctx, f->order);
    f->room = 0;
    NEW(f->order, n);
    f->room = n;
done:
    return st;
}

static krein_status look(fit *f, krein_fit_state *s);

static void note(const fit *f, const krein_fit_state *s) {
    krein__log(f->net->ctx, KREIN_LOG_DEBUG,
               "epoch %lld, step %lld: loss %.5g, objective %.5g, held out: loss %.5g, error %.5g",
               (long long)s->epoch, (long long)f->at.step, s->loss, s->objective, s->held,
               s->error);
}

/* A line in the log within an epoch: means over its steps since the last one. */
static krein_status report_steps(fit *f) {
    krein_status st = KREIN_OK;
    const krein_fit_place *now = &f->at;
    krein_fit_state s = {.epoch = now->epoch};
    if (f->o->report == 0 || now->step % f->o->report != 0) return KREIN_OK;
    krein_fit_place from = f->told.epoch == now->epoch ? f->told : (krein_fit_place){0};
    s.loss = (now->loss - from.loss) / (double)(now->seen - from.seen);
    s.objective = s.loss + (now->activity - from.activity) / (double)(now->batches - from.batches);
    f->told = *now;
    TRY(look(f, &s));
    note(f, &s);
done:
    return st;
}

/* ---- the state on the way ----------------------------------------------- */

static krein_fit_snapshot snapshot(fit *f) {
    return (krein_fit_snapshot){.at = f->at,
                                .report = *f->report,
                                .count = f->net->count,
                                .p = f->net->p,
                                .best = f->best,
                                .s = f->s,
                                .r = f->r};
}

static bool all_finite(int64_t n, const float *x) {
    for (int64_t i = 0; x && i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* Numbers that are none are not kept: the next loss shows them, and the last state stays. */
static krein_status keep(fit *f, bool must) {
    const krein_fit_keeper *k = f->o->keeper;
    int64_t n = f->net->count;
    krein_fit_snapshot now = snapshot(f);
    if (!k || !all_finite(n, f->net->p) || !all_finite(n, f->s) || !all_finite(n, f->r))
        return KREIN_OK;
    return k->keep(k->user, &now, must);
}

/* Goes on where another training stood; *found: there was one. */
static krein_status recall(fit *f, bool *found) {
    const krein_fit_keeper *k = f->o->keeper;
    krein_fit_snapshot was = snapshot(f);
    *found = false;
    if (!k) return KREIN_OK;
    krein_status st = k->recall(k->user, &was, found);
    if (st != KREIN_OK || !*found) return st;
    f->at = was.at;
    *f->report = was.report;
    return KREIN_OK;
}

/* ---- an epoch ----------------------------------------------------------- */

/* The batches of a window, from the next one on. */
static krein_status run_window(fit *f, bool *ended) {
    krein_ctx *ctx = f->net->ctx;
    krein_status st = KREIN_OK;
    krein_fit_place *at = &f->at;
    krein_window window;
    TRY(f->rows->window(f->rows->user, at->window, &window));
    int64_t n = window.x.n, count = batches_of(f, n);
    TRY(make_room(f, n));
    krein_rng g = krein__substream(f->o->seed, KREIN_STREAM_BATCHES,
                                   1 + (at->epoch - 1) * f->rows->windows + at->window);
    krein__rng_permute(g, n, f->order);
    while (at->batch < count) {
        int64_t b = at->batch, from = n * b / count, m = n * (b + 1) / count - from;
        double loss, part = 0;
        TRY(krein__poll(ctx));
        if (f->o->keeper && f->o->keeper->due(f->o->keeper->user)) TRY(keep(f, false));
        st = make_step(f, &window, f->order + from, m, &loss, &part);
        if (st == KREIN_ENUMERIC) { /* the proximal step met weights that are none */
            ctx->message[0] = 0;
            ctx->status = st = KREIN_OK;
            loss = NAN;
        }
        TRY(st);
        *ended = !isfinite(loss);
        f->report->end = KREIN_FIT_DIVERGED;
        if (*ended) break;
        at->batch++;
        at->loss += loss;
        at->activity += part;
        at->seen += m;
        at->batches++;
        if (f->o->record) TRY(f->o->record(f->o->record_user, at->step, f->net->p));
        TRY(report_steps(f));
        if (at->step % 16 == 0) tell(f, &f->report->last, at->step);
        *ended =
            (f->o->deadline > 0 && krein__late(f->o->deadline - f->after)) || krein__enough(ctx);
        f->report->end = KREIN_FIT_TIME;
        if (*ended) break;
    }
done:
    return st;
}

/* The rest of an epoch; *ended: it is the last, and report->end says why. */
static krein_status run_epoch(fit *f, bool *ended) {
    krein_status st = KREIN_OK;
    for (; f->at.window < f->rows->windows; f->at.window++, f->at.batch = 0) {
        TRY(run_window(f, ended));
        if (*ended) break;
    }
done:
    return st;
}

/* Penalty, and the rows held out. */
static krein_status look(fit *f, krein_fit_state *s) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = f->net->ctx;
    int64_t rows, columns;
    double value = 0;
    float *W = head_weights(f, &rows, &columns);
    s->held = s->error = NAN;
    st = krein__penalty_value(ctx, f->o->penalty, f->o->lambda_a, rows, columns, W, &value);
    if (st == KREIN_ENUMERIC) { /* not finite: the next loss shows it */
        ctx->message[0] = 0;
        ctx->status = st = KREIN_OK;
        value = INFINITY;
    }
    TRY(st);
    s->objective += value;
    double begun = krein__clock();
    if (f->rows->held.x.n > 0)
        TRY(krein__net_measure(&f->work, &f->rows->held, f->o->loss, &s->held, &s->error, NULL));
    f->after = MEASURED * (krein__clock() - begun);
done:
    return st;
}

/* a is better than b. What is no number is not. */
static bool better(const krein_fit_state *a, const krein_fit_state *b) {
    if (isnan(b->held)) return isfinite(a->objective) && !(a->objective >= b->objective);
    if (a->error != b->error) return a->error < b->error;
    return a->held < b->held;
}

static krein_status begin(fit *f) {
    krein_ctx *ctx = f->net->ctx;
    krein_status st = KREIN_OK;
    const krein_fit_options *o = f->o;
    int64_t k = krein__net_out(f->net), count = f->net->count;
    TRY(krein__net_work_begin(f->net, o->batch, true, &f->work));
    ZNEW(f->s, count);
    if (o->optimizer.cls->states > 1) ZNEW(f->r, count);
    if (o->clip > 0 || o->subspace) ZNEW(f->g, count);
    if (o->subspace) {
        TRY(krein__trained_find(ctx, f->net, &f->trained));
        NEW(f->inside, o->subspace->m + 2 * o->subspace->s);
    }
    for (int64_t l = 0; l < f->net->layers && !f->g; l++) {
        const float **ahead = f->work.pass[l].ahead;
        ahead[0] = f->net->p, ahead[1] = f->s, ahead[2] = f->r;
    }
    NEW(f->best, count);
    NEW(f->y, o->batch * k);
    NEW(f->weight, o->batch);
    NEW(f->class, o->batch);
done:
    return st;
}

static void end_fit(fit *f) {
    krein_ctx *ctx = f->net->ctx;
    krein__net_work_end(&f->work);
    krein__free(ctx, f->s);
    krein__free(ctx, f->r);
    krein__free(ctx, f->g);
    krein__free(ctx, f->inside);
    krein__trained_clear(&f->trained);
    krein__free(ctx, f->best);
    krein__free(ctx, f->y);
    krein__free(ctx, f->weight);
    krein__free(ctx, f->class);
    krein__free(ctx, f->order);
}

double krein__net_fit_bytes(const krein_net *net, const krein_fit_options *o) {
    double copies =
        1 + o->optimizer.cls->states + (o->clip > 0 || o->subspace) + 2 * (o->subspace != NULL);
    return krein__net_work_bytes(net, o->batch, true) + 4 * copies * (double)net->count +
           (double)o->batch * (4 * (double)krein__net_out(net) + 8) + 4096;
}

/* The state that an epoch left behind; *ended as above. */
static krein_status end_epoch(fit *f, bool *ended) {
    krein_status st = KREIN_OK;
    krein_fit_report *out = f->report;
    const krein_fit_place *at = &f->at;
    krein_fit_state now = {.epoch = at->epoch};
    now.loss = at->loss / (double)krein__max(1, at->seen);
    now.objective = now.loss + at->activity / (double)krein__max(1, at->batches);
    TRY(look(f, &now));
    out->epochs = at->epoch;
    out->last = now;
    if (f->o->report == 0) note(f, &now);
    tell(f, &now, at->step);
    if (better(&now, &out->best) && all_finite(f->net->count, f->net->p)) {
        out->best = now;
        memcpy(f->best, f->net->p, (size_t)f->net->count * sizeof *f->best);
    } else if (!*ended && f->o->patience > 0 && at->epoch - out->best.epoch >= f->o->patience) {
        *ended = true;
        out->end = KREIN_FIT_PATIENCE;
    }
    f->at = (krein_fit_place){.epoch = at->epoch + 1, .step = at->step};
done:
    return st;
}

static krein_status run_epochs(fit *f) {
    krein_status st = KREIN_OK;
    bool ended = false;
    while (!ended && f->at.epoch <= f->o->epochs) {
        TRY(run_epoch(f, &ended));
        if (ended && f->report->end == KREIN_FIT_DIVERGED) break;
        TRY(end_epoch(f, &ended));
    }
    if (!ended) f->report->end = KREIN_FIT_EPOCHS;
done:
    /* All that can be cancelled leaves the parameters as they were before or behind a step. */
    if (st == KREIN_ECANCEL && f->o->keeper) {
        krein_status kept = keep(f, true);
        return kept == KREIN_OK ? st : kept;
    }
    return st;
}

static krein_status run(fit *f) {
    krein_status st = KREIN_OK;
    size_t bytes = (size_t)f->net->count * sizeof *f->best;
    krein_fit_report *out = f->report;
    bool found;
    /* Windows have sizes of their own: the steps are counted as if they were even. */
    f->steps = f->o->epochs * krein__max(f->rows->windows, batches_of(f, f->rows->n));
    TRY(recall(f, &found));
    krein__net_round(f->net);
    if (!found) {
        f->at = (krein_fit_place){.epoch = 1};
        if (f->o->record) TRY(f->o->record(f->o->record_user, 0, f->net->p));
        out->last.loss = out->last.objective = NAN;
        TRY(look(f, &out->last));
        out->best = out->last;
        memcpy(f->best, f->net->p, bytes);
    }
    if (f->at.done) goto done;
    TRY(run_epochs(f));
    memcpy(f->net->p, f->best, bytes);
    krein__net_round(f->net);
    out->steps = f->at.step;
    f->at.done = true;
    TRY(keep(f, false));
done:
    return st;
}

krein_status krein__net_fit(krein_net *net, const krein_fit_rows *rows,
                            const krein_fit_options *options, krein_fit_report *out) {
    krein_status st = KREIN_OK;
    fit f = {.net = net, .o = options, .rows = rows, .report = out, .start = krein__clock()};
    *out = (krein_fit_report){.end = KREIN_FIT_EPOCHS};
    TRY(begin(&f));
    TRY(run(&f));
done:
    end_fit(&f);
    return st;
}
