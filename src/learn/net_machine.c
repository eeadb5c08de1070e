/* net_machine.c -- training of a net as a learner: see net_machine.h
 *
 * A tenth of the rows is held out; the state of the epoch that did best there is kept. With refit
 * the last layer is then solved on all rows by ridge regression, as krr does with its own lambda.
 * Leave-one-out errors of that know the rows that the layers were trained on and are too small. The
 * errors that are reported are those of the held-out rows, before and after: by the net, and by the
 * new weights of the other rows (leave-one-out of these rows alone). The epoch was chosen by these
 * rows, so that both are a little too small. */
#include "learn/net_machine.h"

#include "learn/krr.h"
#include "model/probability.h"
#include "net/codes.h"
#include "num/speed.h"

#include <math.h>
#include <stdio.h>

/* ---- options ------------------------------------------------------------ */

static double option(const krein_net_machine *m, const krein_values *v, int64_t which) {
    return v->number[m->first + which];
}

const krein_loss_class *krein__net_loss(const krein_net_machine *m, const krein_values *v,
                                        bool classes) {
    double which = option(m, v, KREIN_NET_LOSS);
    if (isnan(which)) return classes ? &krein__loss_softmax : &krein__loss_square;
    return (const krein_loss_class *)krein__losses[(int)which];
}

bool krein__net_refits(const krein_net_machine *m, const krein_values *v,
                       const krein_loss_class *loss) {
    double refit = option(m, v, KREIN_NET_REFIT);
    return isnan(refit) ? loss == &krein__loss_square : refit > 0;
}

int64_t krein__net_epochs(const krein_net_machine *m, const krein_values *v, int64_t n) {
    static const double STEPS = 20000, LEAST = 10, MOST = 200;
    double epochs = option(m, v, KREIN_NET_EPOCHS);
    if (!isnan(epochs)) return (int64_t)epochs;
    return (int64_t)fmax(LEAST,
                         fmin(MOST, rint(STEPS * option(m, v, KREIN_NET_BATCH) / (double)n)));
}

static krein_status check_loss(const krein_net_machine *m) {
    bool labels = krein__job_labels(m->job);
    if (labels && !m->o.loss->numbers && m->o.loss != &krein__loss_logistic)
        return krein__fail(m->job->ctx, KREIN_EARG,
                           "%s: loss=%s is for one class a row; several labels take loss=square or "
                           "loss=logistic",
                           m->name, m->o.loss->cls.name);
    if (!krein__job_classes(m->job) && !labels && !m->o.loss->numbers)
        return krein__fail(m->job->ctx, KREIN_EARG,
                           "%s: loss=%s is for classes and the labels are numbers; use "
                           "loss=square, or `task=classification`",
                           m->name, m->o.loss->cls.name);
    if (!m->refit && m->job->lambda >= 0)
        return krein__fail(m->job->ctx, KREIN_EARG,
                           "%s without refit has no `lambda`: give lambda_a, or refit=yes",
                           m->name);
    return KREIN_OK;
}

/* What adam has by itself. */
static void settle_rates(const krein_net_machine *m, krein_values *v, double rate, double faster) {
    double *own = v->number + m->first;
    const krein_class *c = krein__optimizers[(int)own[KREIN_NET_OPTIMIZER]];
    if (c != &krein__optimizer_adam.cls) return;
    if (isnan(own[KREIN_NET_RATE]))
        own[KREIN_NET_RATE] = rate > 0 ? rate : krein__optimizer_adam.rate;
    if (!m->plain && isnan(own[KREIN_NET_FREQUENCY_RATE]))
        own[KREIN_NET_FREQUENCY_RATE] = faster * own[KREIN_NET_RATE];
}

krein_status krein__net_machine_begin(krein_net_machine *m, krein_values *v, double rate,
                                      double faster) {
    krein_job *job = m->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_fit_options *o = &m->o;
    double *number = v->number + m->first;
    int64_t which;
    settle_rates(m, v, rate, faster);
    number[KREIN_NET_EPOCHS] = (double)krein__net_epochs(m, v, job->n);
    *o = (krein_fit_options){.loss = krein__net_loss(m, v, krein__job_classes(job)),
                             .rate = number[KREIN_NET_RATE],
                             .schedule = (krein_schedule_kind)number[KREIN_NET_SCHEDULE],
                             .epochs = (int64_t)number[KREIN_NET_EPOCHS],
                             .batch = krein__min((int64_t)number[KREIN_NET_BATCH], job->n),
                             .patience = (int64_t)number[KREIN_NET_PATIENCE],
                             .clip = number[KREIN_NET_CLIP],
                             .report = (int64_t)number[KREIN_NET_REPORT],
                             .seed = job->seed,
                             .deadline = job->deadline};
    const char *name = krein__optimizers[(int)number[KREIN_NET_OPTIMIZER]]->name;
    TRY(krein__parse_spec(ctx, name, "optimizer", krein__optimizers, krein__optimizer_count, &which,
                          &o->optimizer.values));
    o->optimizer.cls = (const krein_optimizer_class *)krein__optimizers[which];
    if (isnan(o->rate)) o->rate = o->optimizer.cls->rate;
    number[KREIN_NET_RATE] = o->rate;
    m->refit = krein__net_refits(m, v, o->loss);
    TRY(check_loss(m));
done:
    return st;
}

void krein__net_machine_clear(krein_net_machine *m) {
    if (!m->job) return;
    krein__free(m->job->ctx, m->scores);
    krein__values_clear(m->job->ctx, &m->o.optimizer.values);
    krein__windows_close(&m->w);
    krein__net_clear(&m->net);
}

/* ---- the net ------------------------------------------------------------ */

/* The geometric mean of the sizes of the frequencies of layer l: that of heavy tails is no larger
 * for a few far out. 0 where all are 0. */
static double typical_size(const krein_net *net, int64_t l) {
    const krein_layer *layer = &net->layer[l];
    krein_spectrum_at at = krein__spectral_at(layer, net->p);
    int64_t n = layer->in * krein__panels(at.F) * KREIN_PANEL, some = 0; /* with zeros */
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (at.first[i] == 0) continue;
        sum += log(fabs((double)at.first[i]));
        some++;
    }
    return some > 0 ? exp(sum / (double)some) : 0;
}

void krein__net_machine_pace(krein_net_machine *m, const krein_values *v, int64_t l) {
    double rate = option(m, v, KREIN_NET_FREQUENCY_RATE);
    if (!isnan(rate)) m->o.pace[l] = rate / m->o.rate * typical_size(&m->net, l);
}

void krein__net_weights(const krein_net_machine *m, double root, double *w, double *intercept) {
    const krein_layer *last = &m->net.layer[m->net.layers - 1];
    int64_t R = last->in, k = last->out;
    const float *W = krein__layer_parameters(&m->net, m->net.layers - 1) + last->first,
                *b = W + R * k;
    for (int64_t i = 0; i < R * k; i++) w[i] = (double)W[i] * m->w.unit[i % k] / root;
    for (int64_t c = 0; c < k; c++)
        intercept[c] = (double)b[c] * m->w.unit[c] + krein__job_mean(m->job, c);
}

/* ---- what came out ------------------------------------------------------ */

static const char *measure(const krein_net_machine *m) {
    return krein__job_classes(m->job) ? "error" : "rmse";
}

static void report(const krein_net_machine *m) {
    krein_ctx *ctx = m->job->ctx;
    const krein_fit_report *r = &m->r;
    char error[96] = "", best[96] = "the start";
    if (m->w.held > 0)
        snprintf(error, sizeof error, ", %s %.4g on %lld rows held out", measure(m), m->error,
                 (long long)m->w.held);
    if (r->end == KREIN_FIT_DIVERGED)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s: the loss is no number any more in epoch %lld: rate=%g is too large; the "
                   "state of epoch %lld is kept%s; give a smaller rate",
                   m->name, (long long)r->epochs + 1, m->o.rate, (long long)r->best.epoch,
                   r->best.epoch > 0 ? ""
                   : m->refit        ? " (the start)"
                                     : " (the start: weights of 0)");
    else if (r->best.epoch == 0)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s: no epoch was better than the start; give another rate, or more epochs",
                   m->name);
    if (r->end == KREIN_FIT_TIME)
        krein__log(ctx, KREIN_LOG_WARNING, "%s: time limit: best of %lld epochs", m->name,
                   (long long)r->epochs);
    if (r->best.epoch > 0)
        snprintf(best, sizeof best, "epoch %lld: loss %.4g, objective %.4g",
                 (long long)r->best.epoch, r->best.loss, r->best.objective);
    krein__log(ctx, KREIN_LOG_INFO, "%s: %lld epochs, %lld steps%s; best: %s%s", m->name,
               (long long)r->epochs, (long long)r->steps,
               r->end == KREIN_FIT_PATIENCE ? ", nothing better came" : "", best, error);
}

/* Scores of the rows held out, and their error. */
static krein_status measure_held(krein_net_machine *m) {
    krein_ctx *ctx = m->job->ctx;
    krein_status st = KREIN_OK;
    krein_net_work work = {0};
    double mean, error;
    m->error = NAN;
    if (m->w.held == 0) return KREIN_OK;
    NEW(m->scores, m->w.held * m->w.k);
    TRY(krein__net_work_begin(&m->net, m->o.batch, true, &work));
    TRY(krein__net_measure(&work, &m->w.fit.held, m->o.loss, &mean, &error, m->scores));
    m->error = krein__windows_error(&m->w, m->o.loss, m->scores);
done:
    krein__net_work_end(&work);
    return st;
}

/* Probabilities: of the softmax they are those of the scores; else scores of the held-out rows are
 * calibrated. */
static krein_status calibrate(krein_net_machine *n) {
    krein_job *job = n->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    const krein_windows *w = &n->w;
    double *score = NULL, *weight = NULL, *y = NULL;
    bool labels = krein__job_labels(job);
    if (n->o.loss->probabilities && !labels) {
        NEW(m->calibration.slope, m->k);
        ZNEW(m->calibration.shift, m->k);
        for (int64_t c = 0; c < m->k; c++) m->calibration.slope[c] = 1;
        goto done;
    }
    if (!job->probabilities || (labels && w->held == 0)) goto done;
    if (w->held == 0) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "%s: there are too few rows to hold some out, which `probabilities` "
                         "need; use loss=softmax",
                         n->name);
        goto done;
    }
    NEW(score, w->held * m->k);
    NEW(weight, w->held);
    for (int64_t i = 0; i < w->held * m->k; i++) score[i] = (double)n->scores[i];
    for (int64_t i = 0; i < w->held; i++) weight[i] = (double)w->held_weight[i];
    NEW(y, w->held * m->k);
    for (int64_t i = 0; i < w->held * m->k; i++) y[i] = (double)w->held_y[i];
    TRY(krein__model_calibrate(ctx, m, w->held, score, w->held_class, y, weight));
done:
    krein__free(ctx, score);
    krein__free(ctx, weight);
    krein__free(ctx, y);
    return st;
}

/* ---- the refit ---------------------------------------------------------- */

/* Where lambda was chosen by the errors of all rows, these are said with a warning: the layers were
 * trained on most of them. */
static void report_refit(const krein_net_machine *m, const krein_apart *apart) {
    const krein_job *job = m->job;
    char held[96] = "", chosen[96] = "";
    if (isfinite(apart->error))
        snprintf(held, sizeof held, ": %s %.4g on the rows held out (before: %.4g)", measure(m),
                 apart->error, m->error);
    if (isfinite(job->loo))
        snprintf(chosen, sizeof chosen, "; %s of all rows, too small, %.4g",
                 job->cv_folds > 0 ? "cross-validated" : "leave-one-out", job->loo);
    krein__log(job->ctx, KREIN_LOG_INFO, "%s: refit with lambda %.3g%s%s", m->name, job->lambda,
               held, chosen);
}

/* The last layer by ridge regression on all rows. */
static krein_status refit_weights(krein_net_machine *m) {
    krein_job *job = m->job;
    krein_values plain = {0};
    krein_apart apart = {.index = m->w.held_row, .n = m->w.held, .error = NAN};
    job->apart = m->w.held > 0 ? &apart : NULL;
    job->loo = NAN;
    krein_status st = krein__learner_krr.fit(job, &plain);
    job->apart = NULL;
    if (st != KREIN_OK) return st;
    report_refit(m, &apart);
    job->refit = apart.error;
    return KREIN_OK;
}

/* With a time limit: the net ends early enough for the refit, as long as that is predicted to take,
 * but gets half of the time. */
static krein_status leave_time(const krein_job *job, double *deadline) {
    krein_ctx *ctx = job->ctx;
    const krein_map *map = job->model->map;
    const krein_data *data = job->data;
    krein_values plain = {0};
    krein_cost of_map = {0}, ridge = {.probabilities = true};
    double speed, now = krein__clock(), N = (double)job->n;
    int64_t passes;
    krein_status st = krein__speed(ctx, &speed);
    if (st != KREIN_OK) return st;
    map->cls->cost(map, job->n, &of_map);
    krein__learner_krr.cost(map, &plain, job->n, job->model->k, job->lambda < 0, &ridge, &passes);
    double pass = data->in_memory ? 0 : data->seconds_read / (double)krein__max(1, data->passes);
    double seconds = (ridge.flops + (double)passes * N * of_map.flops) / speed;
    *deadline = fmax(job->deadline - seconds - (double)passes * pass, (now + job->deadline) / 2);
    return KREIN_OK;
}

/* Where the refit was not done in time the weights are those of the net. */
static krein_status give_up_refit(krein_net_machine *m, krein_status st) {
    krein_job *job = m->job;
    krein_ctx *ctx = job->ctx;
    if (st != KREIN_ETIME) return st;
    krein__log(ctx, KREIN_LOG_WARNING,
               "%s: time limit: there was no time for the refit; the weights are those of the net",
               m->name);
    ctx->message[0] = 0;
    ctx->status = KREIN_OK;
    krein__free(ctx, job->model->calibration.slope);
    krein__free(ctx, job->model->calibration.shift);
    krein__free(ctx, job->model->threshold);
    job->model->calibration.slope = job->model->calibration.shift = job->model->threshold = NULL;
    job->model->path.n = 0;
    return KREIN_OK;
}

/* ---- the whole ---------------------------------------------------------- */

krein_status krein__net_machine_train(krein_net_machine *m) {
    krein_status st = KREIN_OK;
    if (m->refit && m->o.deadline > 0) TRY(leave_time(m->job, &m->o.deadline));
    TRY(krein__windows_fit(&m->w, &m->net, &m->o, &m->r));
    TRY(measure_held(m));
    report(m);
done:
    return st;
}

krein_status krein__net_machine_end(krein_net_machine *m, krein_give_fn *give) {
    krein_status st = KREIN_OK;
    if (m->refit) {
        st = refit_weights(m);
        m->refit = st == KREIN_OK;
        TRY(give_up_refit(m, st));
    }
    if (!m->refit) {
        TRY(give(m));
        TRY(calibrate(m));
    }
    m->job->loo = m->error;
    m->job->cv_folds = m->w.held > 0;
done:
    return st;
}

void krein__net_machine_cost(const krein_net_machine *m, const krein_map *map,
                             const krein_values *v, int64_t n, int64_t k, bool path,
                             const bool *frozen, krein_cost *out, int64_t *passes) {
    const krein_net *net = &m->net;
    krein_values plain = {0};
    krein_fit_options o = {
        .batch = krein__min((int64_t)option(m, v, KREIN_NET_BATCH), krein__max(1, n)),
        .clip = option(m, v, KREIN_NET_CLIP),
        .optimizer = {.cls = (const krein_optimizer_class *)
                          krein__optimizers[(int)option(m, v, KREIN_NET_OPTIMIZER)]}};
    krein_cost ridge = *out;
    double flops = 0;
    ridge.probabilities = true; /* the error of rows that are held out takes as much */
    *passes = 2;
    if (krein__net_refits(m, v, krein__net_loss(m, v, k > 1)) ||
        isnan(option(m, v, KREIN_NET_REFIT)))
        krein__learner_krr.cost(map, &plain, n, k, path, &ridge, passes);
    else
        ridge = (krein_cost){0};
    /* forwards; the gradient of the parameters; that of the input */
    for (int64_t l = 0; l < net->layers; l++)
        flops += net->layer[l].flops * (1 + !frozen[l] + (l > 0));
    out->bytes += fmax(ridge.bytes, krein__net_fit_bytes(net, &o)) + krein__net_bytes(net) +
                  krein__windows_bytes(map, n, k) + 8 * (double)n +
                  64 * (double)k * ((double)net->layer[net->layers - 1].in + (double)k) + 65536;
    out->early = (double)(krein__net_epochs(m, v, n) - 1) * (double)n * flops;
    out->flops = out->early + (double)n * flops + ridge.flops;
    *passes += 3;
}
