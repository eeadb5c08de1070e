/* askl -- automated spectral kernel learning: frequencies and weights trained together (li2020)
 *
 *     min over W, V, w, b   mean loss(w'z(x_i) + b, y_i) + lambda_a |w|_* + lambda_b mean |z(x)|^2
 *     z(x) = (cos(W'x + p) + cos(V'x + p)) / sqrt(2 D), the same phases p in both terms
 *
 * by mini-batches and back-propagation (net/fit.c). |.|_* is the trace norm, by a proximal step; or
 * (norm) |w|^2, by its gradient, the sum of |w_ij|, or the sum of the lengths of the rows of w, by
 * proximal steps: the last drops features. The intercepts b have no penalty. The mean of |z|^2 is
 * over rows with and without labels, where the paper has the sum. W and V start as independent
 * draws from the spectral measure of the kernel, w at zero; the phases stay. A stationary spectrum
 * has V = W, and train=no leaves the frequencies as they were drawn. Numbers are divided by their
 * deviation while the net is trained.
 *
 * Steps of adam have the same length in every column, whatever the columns are. Those of the
 * frequencies are in units of the frequencies' typical size at the start, so that a phase moves as
 * far with many columns, where frequencies are small, as with few.
 *
 * A tenth of the rows is held out; the state of the epoch that did best there is kept. With refit
 * the last layer is then solved on all rows by ridge regression, as krr does with its own lambda.
 * Leave-one-out errors of that know the rows that the frequencies were trained on and are too
 * small. The errors that are reported are those of the held-out rows, before and after: by the net,
 * and by the new weights of the other rows (leave-one-out of these rows alone). The epoch was
 * chosen by these rows, so that both are a little too small.
 *
 * The machines of the thesis are presets: sk and nsk (nothing trained but w), skl and nskl, with
 * |w|^2, on a stationary and a non-stationary spectrum; askl is the whole; joint is skl with the
 * hinge loss.
 *
 * form=mixture trains no single frequency but the spectral mixture that they are drawn from, by the
 * evidence of a sample of the rows (spectral_mixture.c), and then the weights, as sk. The kernel
 * spectral takes the mixture from the model.
 *
 * Cost: epochs n d D flops, twelve of each with two sets of frequencies. */
#include "kernel/spectral_mixture.h"
#include "learn/krr.h"
#include "learn/spectral_mixture.h"
#include "learn/windows.h"
#include "map/learned.h"
#include "model/probability.h"
#include "num/speed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    D_SLOT,
    PRESET,
    LAMBDA_A,
    LAMBDA_B,
    SPECTRUM,
    SINES,
    TRAIN,
    NORM,
    LOSS,
    OPTIMIZER,
    EPOCHS,
    BATCH,
    RATE,
    SCHEDULE,
    PATIENCE,
    CLIP,
    REFIT,
    FREQUENCY_RATE,
    REPORT,
    FORM,
    COMPONENTS
};
enum { STATIONARY = 0, NONSTATIONARY = 1 };
enum { FROBENIUS = 0, TRACE = 1 };
static const krein_penalty penalties[] = {KREIN_PENALTY_FROBENIUS, KREIN_PENALTY_TRACE,
                                          KREIN_PENALTY_L1, KREIN_PENALTY_GROUP};
enum { NO = 0, YES = 1 };
/* Steps of the frequencies, in units of their size, over those of the weights. */
static const double FASTER = 20;
enum { FREE = 0, MIXTURE = 1 };
enum { SK = 1 }; /* a preset */

/* What the presets say of the options that were not given, in the order of their words. */
static const struct preset {
    double spectrum, train, norm;
    bool activity; /* lambda_b is not 0 */
    const krein_loss_class *loss;
} presets[] = {{NONSTATIONARY, YES, TRACE, true, NULL},
               {STATIONARY, NO, FROBENIUS, false, NULL},
               {NONSTATIONARY, NO, FROBENIUS, false, NULL},
               {STATIONARY, YES, FROBENIUS, false, NULL},
               {NONSTATIONARY, YES, FROBENIUS, false, NULL},
               {STATIONARY, YES, FROBENIUS, false, &krein__loss_hinge}};

static const krein_option options[] = {
    [D_SLOT] = {.name = "D",
                .type = KREIN_OPTION_INTEGER,
                .value = NAN,
                .low = 1,
                .high = 1e7,
                .help = "number of features; chosen from the data when not given"},
    [PRESET] = {.name = "preset",
                .type = KREIN_OPTION_WORD,
                .value = 0,
                .words = "askl|sk|nsk|skl|nskl|joint",
                .help = "what spectrum, train, norm, lambda_b and loss are where they are not "
                        "given: all of it; random features; learned ones with |w|^2, each on a "
                        "stationary (sk, skl) or a non-stationary spectrum (nsk, nskl); skl with "
                        "the hinge loss"},
    [LAMBDA_A] = {.name = "lambda_a",
                  .type = KREIN_OPTION_NUMBER,
                  .value = 1e-5,
                  .low = 0,
                  .high = 1e6,
                  .help = "penalty of the weights"},
    [LAMBDA_B] = {.name = "lambda_b",
                  .type = KREIN_OPTION_NUMBER,
                  .value = 1e-3,
                  .low = 0,
                  .high = 1e6,
                  .help = "penalty of the features, on rows with and without labels"},
    [SPECTRUM] = {.name = "spectrum",
                  .type = KREIN_OPTION_WORD,
                  .value = NONSTATIONARY,
                  .words = "stationary|nonstationary",
                  .help = "one set of frequencies, or one for each of the two terms"},
    [SINES] = {.name = "sines",
               .type = KREIN_OPTION_YESNO,
               .value = 0,
               .help = "cos and sin pairs instead of cosines with phases"},
    [TRAIN] = {.name = "train",
               .type = KREIN_OPTION_YESNO,
               .value = 1,
               .help = "train the frequencies; else the weights alone"},
    [NORM] = {.name = "norm",
              .type = KREIN_OPTION_WORD,
              .value = TRACE,
              .words = "frobenius|trace|l1|group",
              .help =
                  "lambda_a is of |w|^2, of the trace norm, of the sum of |w_ij|, or of that of "
                  "the lengths of a feature's weights"},
    [LOSS] = {.name = "loss",
              .type = KREIN_OPTION_WORD,
              .value = NAN,
              .words = "hinge|hinge2|square|softmax|logistic",
              .help = "softmax for classes, square for numbers when not given"},
    [OPTIMIZER] = {.name = "optimizer",
                   .type = KREIN_OPTION_WORD,
                   .value = 1,
                   .words = "sgd|adam|adadelta",
                   .help = "how steps follow from gradients"},
    [EPOCHS] = {.name = "epochs",
                .type = KREIN_OPTION_INTEGER,
                .value = NAN,
                .low = 1,
                .high = 1e6,
                .help = "visits of every row, at most; when not given 10 to 200, so that there are "
                        "about 20,000 steps"},
    [BATCH] = {.name = "batch",
               .type = KREIN_OPTION_INTEGER,
               .value = 32,
               .low = 1,
               .high = 1e6,
               .help = "rows of a step"},
    [RATE] = {.name = "rate",
              .type = KREIN_OPTION_NUMBER,
              .value = NAN,
              .low = 0,
              .low_open = true,
              .high = 1e30,
              .help = "length of the steps; the optimiser's own when not given"},
    [SCHEDULE] = {.name = "schedule",
                  .type = KREIN_OPTION_WORD,
                  .value = KREIN_SCHEDULE_COSINE,
                  .words = KREIN_SCHEDULE_WORDS,
                  .help = "how the rate falls over the epochs"},
    [PATIENCE] = {.name = "patience",
                  .type = KREIN_OPTION_INTEGER,
                  .value = 20,
                  .low = 0,
                  .high = 1e6,
                  .help = "epochs without a better held-out error before the end; 0: all epochs"},
    [CLIP] = {.name = "clip",
              .type = KREIN_OPTION_NUMBER,
              .value = 0,
              .low = 0,
              .high = 1e30,
              .help = "gradients are made no longer than that; 0: as they are"},
    [REFIT] = {.name = "refit",
               .type = KREIN_OPTION_WORD,
               .value = NAN,
               .words = "no|yes",
               .help = "solve for the weights by ridge regression in the end; when not given: with "
                       "the square loss"},
    [FREQUENCY_RATE] = {.name = "frequency_rate",
                        .type = KREIN_OPTION_NUMBER,
                        .value = NAN,
                        .low = 0,
                        .low_open = true,
                        .high = 1e30,
                        .help = "length of the steps of frequencies, in units of their typical "
                                "size at the start; when not given 20 times the rate with adam, "
                                "and with others the rate itself in no unit"},
    [REPORT] = {.name = "report",
                .type = KREIN_OPTION_INTEGER,
                .value = 0,
                .low = 0,
                .high = 1e9,
                .help = "steps between two lines with loss and held-out error in the log (-vv); "
                        "0: one an epoch"},
    [FORM] = {.name = "form",
              .type = KREIN_OPTION_WORD,
              .value = FREE,
              .words = "free|mixture",
              .help = "each frequency is trained, or the spectral mixture that all are drawn from; "
                      "with it everything else is as in the preset sk"},
    [COMPONENTS] = {.name = "q",
                    .type = KREIN_OPTION_INTEGER,
                    .value = NAN,
                    .low = 1,
                    .high = KREIN_COMPONENTS_MAX,
                    .help = "components of the mixture; when not given those of the kernel "
                            "spectral, else 4"},
    [COMPONENTS + 1] = {0}};

/* ---- options ------------------------------------------------------------ */

static bool mixed(const krein_values *v) { return v->number[FORM] == MIXTURE; }

/* What the preset says. */
static krein_values settled(const krein_values *values) {
    krein_values v = *values;
    if (mixed(&v)) v.number[PRESET] = SK;
    const struct preset *p = &presets[(int)v.number[PRESET]];
    if (!v.given[SPECTRUM]) v.number[SPECTRUM] = p->spectrum;
    if (!v.given[TRAIN]) v.number[TRAIN] = p->train;
    if (!v.given[NORM]) v.number[NORM] = p->norm;
    if (!v.given[LAMBDA_B] && !p->activity) v.number[LAMBDA_B] = 0;
    for (int64_t i = 0; !v.given[LOSS] && p->loss && i < krein__loss_count; i++)
        if (krein__losses[i] == &p->loss->cls) v.number[LOSS] = (double)i;
    return v;
}

static const krein_loss_class *loss_of(const krein_values *v, bool classes) {
    if (isnan(v->number[LOSS])) return classes ? &krein__loss_softmax : &krein__loss_square;
    return (const krein_loss_class *)krein__losses[(int)v->number[LOSS]];
}

static bool refits(const krein_values *v, const krein_loss_class *loss) {
    return isnan(v->number[REFIT]) ? loss == &krein__loss_square : v->number[REFIT] > 0;
}

static int64_t epochs_of(const krein_values *v, int64_t n) {
    static const double STEPS = 20000, LEAST = 10, MOST = 200;
    if (!isnan(v->number[EPOCHS])) return (int64_t)v->number[EPOCHS];
    return (int64_t)fmax(LEAST, fmin(MOST, rint(STEPS * v->number[BATCH] / (double)n)));
}

static char *map_spec(krein_ctx *ctx, const krein_values *values) {
    krein_values v = settled(values);
    char D[48] = "";
    if (!isnan(v.number[D_SLOT])) snprintf(D, sizeof D, "D=%.0f, ", v.number[D_SLOT]);
    return krein__format(ctx, "learned(%sspectrum=%s, sines=%s)", D,
                         v.number[SPECTRUM] > 0 ? "nonstationary" : "stationary",
                         v.number[SINES] > 0 ? "yes" : "no");
}

/* A mixture is of stationary frequencies, which are draws from it. */
static krein_status check_form(krein_ctx *ctx, const krein_values *v) {
    if (!mixed(v)) {
        if (!v->given[COMPONENTS] || isnan(v->number[COMPONENTS])) return KREIN_OK;
        return krein__fail(ctx, KREIN_EARG, "askl: q is the number of components of form=mixture");
    }
    if (v->given[PRESET] && v->number[PRESET] != SK)
        return krein__fail(ctx, KREIN_EARG,
                           "askl: form=mixture is as the preset sk in everything else; leave "
                           "`preset` out");
    if ((v->given[TRAIN] && v->number[TRAIN] > 0) ||
        (v->given[SPECTRUM] && v->number[SPECTRUM] != STATIONARY))
        return krein__fail(ctx, KREIN_EARG,
                           "askl: the frequencies of form=mixture are draws from a stationary "
                           "spectrum; leave `train` and `spectrum` out");
    return KREIN_OK;
}

static krein_status check(krein_ctx *ctx, const krein_values *values, const krein_map *map) {
    krein_status st = check_form(ctx, values);
    if (st != KREIN_OK) return st;
    if (!map || krein__map_traits(map) & KREIN_MAP_TRAINED) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "askl trains its own features, and the map %s has none that can be trained; "
                       "leave `map` out, or use map=learned",
                       map->cls->cls.name);
}

/* Components of the mixture; 0: they cannot be as many as asked for. */
static int64_t components(const krein_values *v, const krein_map *map) {
    int64_t own = krein__spectral_mixture_own(map->kernel);
    double q = v->number[COMPONENTS];
    if (isnan(q)) return own > 0 ? own : KREIN_COMPONENTS;
    return own > 0 && (int64_t)q != own ? 0 : (int64_t)q;
}

static krein_status take_mixture(krein_job *job, krein_values *values) {
    const krein_map *map = job->model->map;
    int64_t q = components(values, map);
    if (krein__learned(map)->V)
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl: form=mixture needs a map with spectrum=stationary");
    if (q == 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl: q=%g components, and the kernel starts with %lld; leave q out",
                           values->number[COMPONENTS],
                           (long long)krein__spectral_mixture_own(map->kernel));
    if (job->checkpoint && job->deadline > 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl: within a time limit what form=mixture finds depends on the "
                           "clock, and a `checkpoint` cannot go on with it; leave `checkpoint` or "
                           "`time_limit` out");
    values->number[COMPONENTS] = (double)q;
    return KREIN_OK;
}

/* The map is as its own spec says; what the learner's says must be the same. */
static krein_status take_map(krein_job *job, krein_values *values) {
    const krein_learned *s = krein__learned(job->model->map);
    double spectrum = s->V ? NONSTATIONARY : STATIONARY;
    krein_status st = mixed(values) ? take_mixture(job, values) : KREIN_OK;
    if (st != KREIN_OK) return st;
    if ((values->given[SPECTRUM] && values->number[SPECTRUM] != spectrum) ||
        (values->given[SINES] && (values->number[SINES] > 0) != s->sines))
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl and its map say different things of spectrum or sines: give them "
                           "to one of the two");
    if (values->given[D_SLOT] && values->number[D_SLOT] != (double)job->model->map->D)
        krein__log(job->ctx, KREIN_LOG_INFO, "askl: %lld features, by the map",
                   (long long)job->model->map->D);
    values->number[SPECTRUM] = spectrum;
    values->number[SINES] = s->sines;
    values->number[D_SLOT] = (double)job->model->map->D;
    return KREIN_OK;
}

static krein_status check_loss(const krein_job *job, const krein_loss_class *loss, bool refit) {
    if (krein__job_labels(job) && !loss->numbers && loss != &krein__loss_logistic)
        return krein__fail(
            job->ctx, KREIN_EARG,
            "askl: loss=%s is for one class a row; several labels take loss=square or "
            "loss=logistic",
            loss->cls.name);
    if (!krein__job_classes(job) && !krein__job_labels(job) && !loss->numbers)
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl: loss=%s is for classes and the labels are numbers; use "
                           "loss=square, or `task=classification`",
                           loss->cls.name);
    if (!refit && job->lambda >= 0)
        return krein__fail(job->ctx, KREIN_EARG,
                           "askl without refit has no `lambda`: give lambda_a, or refit=yes");
    return KREIN_OK;
}

/* ---- the net ------------------------------------------------------------ */

static krein_status make_net(krein_ctx *ctx, const krein_values *v, int64_t d, int64_t D, int64_t k,
                             krein_net *net) {
    krein_status st = KREIN_OK;
    char spec[96];
    krein__net_begin(ctx, d, net);
    snprintf(spec, sizeof spec, "spectral(width=%lld, spectrum=%s, sines=%s)", (long long)D,
             v->number[SPECTRUM] > 0 ? "nonstationary" : "stationary",
             v->number[SINES] > 0 ? "yes" : "no");
    TRY(krein__net_add(net, spec));
    snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)k);
    TRY(krein__net_add(net, spec));
done:
    return st;
}

/* The frequencies of the map to the net, or back. */
static krein_status start_net(const krein_map *map, krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    bool two = at.second != at.first;
    float *W = NULL, *V = NULL;
    NEW(W, map->d * at.F);
    if (two) NEW(V, map->d * at.F);
    krein__learned_get(map, W, V, at.phase);
    krein__panels_from(map->d, at.F, W, at.first);
    if (two) krein__panels_from(map->d, at.F, V, at.second);
done:
    krein__free(ctx, W);
    krein__free(ctx, V);
    return st;
}

static krein_status give_frequencies(krein_map *map, const krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    float *W = NULL, *V = NULL;
    NEW(W, map->d * at.F);
    NEW(V, map->d * at.F);
    krein__panels_to(map->d, at.F, at.first, W);
    krein__panels_to(map->d, at.F, at.second, V);
    krein__learned_set(map, W, V);
done:
    krein__free(ctx, W);
    krein__free(ctx, V);
    return st;
}

/* The geometric mean of the frequencies' sizes: that of heavy tails is no larger for a few far out.
 * 0 where all are 0. */
static double typical_size(const krein_net *net) {
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    int64_t n = net->layer[0].in * krein__panels(at.F) * KREIN_PANEL, some = 0; /* with zeros */
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (at.first[i] == 0) continue;
        sum += log(fabs((double)at.first[i]));
        some++;
    }
    return some > 0 ? exp(sum / (double)some) : 0;
}

/* The last layer becomes the weights of the model. */
static void give_weights(krein_job *job, const krein_net *net, const krein_windows *w) {
    krein_model *m = job->model;
    int64_t D = m->map->R, k = m->k;
    const float *W = net->p + net->layer[1].first, *b = W + D * k;
    double root = sqrt(krein__learned(m->map)->mass);
    for (int64_t i = 0; i < D * k; i++) m->w[i] = (double)W[i] * w->unit[i % k] / root;
    for (int64_t c = 0; c < k; c++)
        m->intercept[c] = (double)b[c] * w->unit[c] + krein__job_mean(job, c);
}

static krein_status fit_options(krein_job *job, const krein_values *v, krein_fit_options *o) {
    krein_ctx *ctx = job->ctx;
    int64_t which;
    *o = (krein_fit_options){.loss = loss_of(v, krein__job_classes(job)),
                             .rate = v->number[RATE],
                             .schedule = (krein_schedule_kind)v->number[SCHEDULE],
                             .epochs = (int64_t)v->number[EPOCHS],
                             .batch = krein__min((int64_t)v->number[BATCH], job->n),
                             .patience = (int64_t)v->number[PATIENCE],
                             .report = (int64_t)v->number[REPORT],
                             .clip = v->number[CLIP],
                             .penalty = penalties[(int)v->number[NORM]],
                             .lambda_a = v->number[LAMBDA_A],
                             .lambda_b = v->number[LAMBDA_B],
                             .frozen = {!(v->number[TRAIN] > 0)},
                             .seed = job->seed,
                             .deadline = job->deadline};
    const char *name = krein__optimizers[(int)v->number[OPTIMIZER]]->name;
    krein_status st = krein__parse_spec(ctx, name, "optimizer", krein__optimizers,
                                        krein__optimizer_count, &which, &o->optimizer.values);
    if (st != KREIN_OK) return st;
    o->optimizer.cls = (const krein_optimizer_class *)krein__optimizers[which];
    if (isnan(o->rate)) o->rate = o->optimizer.cls->rate;
    return KREIN_OK;
}

/* ---- what came out ------------------------------------------------------ */

static const char *measure(const krein_job *job) {
    return krein__job_classes(job) ? "error" : "rmse";
}

static void report(krein_job *job, const krein_fit_options *o, const krein_fit_report *r,
                   const krein_windows *w, bool refit) {
    krein_ctx *ctx = job->ctx;
    char error[96] = "";
    if (w->held > 0)
        snprintf(error, sizeof error, ", %s %.4g on %lld rows held out", measure(job), job->loo,
                 (long long)w->held);
    if (r->end == KREIN_FIT_DIVERGED)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "askl: the loss is no number any more in epoch %lld: rate=%g is too large; the "
                   "state of epoch %lld is kept%s; give a smaller rate",
                   (long long)r->epochs + 1, o->rate, (long long)r->best.epoch,
                   r->best.epoch > 0 ? ""
                   : refit           ? " (the start)"
                                     : " (the start: weights of 0)");
    else if (r->best.epoch == 0)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "askl: no epoch was better than the start; give another rate, or more epochs");
    if (r->end == KREIN_FIT_TIME)
        krein__log(ctx, KREIN_LOG_WARNING, "askl: time limit: best of %lld epochs",
                   (long long)r->epochs);
    char best[96] = "the start";
    if (r->best.epoch > 0)
        snprintf(best, sizeof best, "epoch %lld: loss %.4g, objective %.4g",
                 (long long)r->best.epoch, r->best.loss, r->best.objective);
    krein__log(ctx, KREIN_LOG_INFO, "askl: %lld epochs, %lld steps%s; best: %s%s",
               (long long)r->epochs, (long long)r->steps,
               r->end == KREIN_FIT_PATIENCE ? ", nothing better came" : "", best, error);
}

/* Scores of the rows held out (held x k), the caller's. */
static krein_status held_scores(const krein_net *net, const krein_fit_options *o,
                                const krein_windows *w, float **out) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    krein_net_work work = {0};
    double mean, error;
    NEW(*out, w->held * w->k);
    TRY(krein__net_work_begin(net, o->batch, true, &work));
    TRY(krein__net_measure(&work, &w->fit.held, o->loss, &mean, &error, *out));
done:
    krein__net_work_end(&work);
    return st;
}

/* Probabilities: of the softmax they are those of the scores; else scores of the held-out rows are
 * calibrated. */
static krein_status calibrate(krein_job *job, const krein_fit_options *o, const krein_windows *w,
                              const float *f) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    double *score = NULL, *weight = NULL, *y = NULL;
    const bool labels = krein__job_labels(job);
    if (o->loss->probabilities && !labels) {
        NEW(m->calibration.slope, m->k);
        ZNEW(m->calibration.shift, m->k);
        for (int64_t c = 0; c < m->k; c++) m->calibration.slope[c] = 1;
        goto done;
    }
    if (!job->probabilities || (labels && w->held == 0)) goto done;
    if (w->held == 0) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "askl: there are too few rows to hold some out, which `probabilities` "
                         "need; use loss=softmax");
        goto done;
    }
    NEW(score, w->held * m->k);
    NEW(weight, w->held);
    for (int64_t i = 0; i < w->held * m->k; i++) score[i] = (double)f[i];
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

/* Where lambda was chosen by the errors of all rows, these are said with a warning: the frequencies
 * were trained on most of them. */
static void report_refit(const krein_job *job, double before, const krein_apart *apart) {
    char held[96] = "", chosen[96] = "";
    if (isfinite(apart->error))
        snprintf(held, sizeof held, ": %s %.4g on the rows held out (before: %.4g)", measure(job),
                 apart->error, before);
    if (isfinite(job->loo))
        snprintf(chosen, sizeof chosen, "; %s of all rows, too small, %.4g",
                 job->cv_folds > 0 ? "cross-validated" : "leave-one-out", job->loo);
    krein__log(job->ctx, KREIN_LOG_INFO, "askl: refit with lambda %.3g%s%s", job->lambda, held,
               chosen);
}

/* The last layer by ridge regression on all rows. job->loo stays what it was: that of the net. */
static krein_status refit_weights(krein_job *job, const krein_windows *w) {
    krein_values plain = {0};
    krein_apart apart = {.index = w->held_row, .n = w->held, .error = NAN};
    double before = job->loo;
    job->apart = w->held > 0 ? &apart : NULL;
    job->loo = NAN;
    krein_status st = krein__learner_krr.fit(job, &plain);
    job->apart = NULL;
    if (st != KREIN_OK) return st;
    report_refit(job, before, &apart);
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
static krein_status give_up_refit(krein_job *job, krein_status st) {
    krein_ctx *ctx = job->ctx;
    if (st != KREIN_ETIME) return st;
    krein__log(
        ctx, KREIN_LOG_WARNING,
        "askl: time limit: there was no time for the refit; the weights are those of the net");
    ctx->message[0] = 0;
    ctx->status = KREIN_OK;
    krein__free(ctx, job->model->calibration.slope);
    krein__free(ctx, job->model->calibration.shift);
    krein__free(ctx, job->model->threshold);
    job->model->calibration.slope = job->model->calibration.shift = job->model->threshold = NULL;
    job->model->path.n = 0;
    return KREIN_OK;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    krein_net net = {0};
    krein_windows w = {0};
    krein_fit_options o = {0};
    krein_fit_report r;
    float *scores = NULL;
    double before = NAN;
    TRY(take_map(job, values));
    *values = settled(values);
    values->number[EPOCHS] = (double)epochs_of(values, job->n);
    TRY(fit_options(job, values, &o));
    values->number[RATE] = o.rate;
    if (isnan(values->number[FREQUENCY_RATE]) && o.optimizer.cls == &krein__optimizer_adam)
        values->number[FREQUENCY_RATE] = FASTER * o.rate;
    bool refit = refits(values, o.loss);
    TRY(check_loss(job, o.loss, refit));
    TRY(make_net(ctx, values, m->map->d, m->map->D, m->k, &net));
    TRY(krein__net_ready(&net));
    TRY(krein__windows_open(job, job->unlabelled.n > 0 && o.lambda_b > 0, &w));
    if (mixed(values))
        TRY(krein__spectral_mixture_learn(job, &w, (int64_t)values->number[COMPONENTS]));
    TRY(start_net(m->map, &net));
    if (!isnan(values->number[FREQUENCY_RATE]))
        o.pace[0] = values->number[FREQUENCY_RATE] / o.rate * typical_size(&net);
    if (refit && o.deadline > 0) TRY(leave_time(job, &o.deadline));
    TRY(krein__windows_fit(&w, &net, &o, &r));
    if (w.held > 0) {
        TRY(held_scores(&net, &o, &w, &scores));
        before = krein__windows_error(&w, o.loss, scores);
    }
    job->loo = before;
    report(job, &o, &r, &w, refit);
    if (!o.frozen[0]) TRY(give_frequencies(m->map, &net));
    if (refit) {
        st = refit_weights(job, &w);
        refit = st == KREIN_OK;
        TRY(give_up_refit(job, st));
    }
    if (!refit) {
        give_weights(job, &net, &w);
        TRY(calibrate(job, &o, &w, scores));
    }
    job->loo = before;
    job->cv_folds = w.held > 0;
done:
    krein__free(ctx, scores);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__windows_close(&w);
    krein__net_clear(&net);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    krein_values v = settled(values), plain = {0};
    int64_t D = map->cls->features(map, n);
    krein_net net = {0};
    krein_fit_options o = {
        .batch = krein__min((int64_t)v.number[BATCH], krein__max(1, n)),
        .clip = v.number[CLIP],
        .optimizer = {
            .cls = (const krein_optimizer_class *)krein__optimizers[(int)v.number[OPTIMIZER]]}};
    krein_cost ridge = *out;
    ridge.probabilities = true; /* the error of rows that are held out takes as much */
    *passes = 2;
    if (refits(&v, loss_of(&v, k > 1)) || isnan(v.number[REFIT]))
        krein__learner_krr.cost(map, &plain, n, k, path, &ridge, passes);
    else
        ridge = (krein_cost){0};
    if (make_net(map->ctx, &v, map->d, D, k, &net) != KREIN_OK) return;
    double flops = net.layer[0].flops * (v.number[TRAIN] > 0 ? 2 : 1) + 3 * net.layer[1].flops;
    double p = 4 * (double)net.count;
    out->bytes += fmax(ridge.bytes, krein__net_fit_bytes(&net, &o)) + p +
                  krein__windows_bytes(map, n, k) + 8 * (double)n +
                  64 * (double)k * ((double)D + (double)k) + 65536;
    out->early = (double)(epochs_of(&v, n) - 1) * (double)n * flops;
    out->flops = out->early + (double)n * flops + ridge.flops;
    *passes += 3;
    if (mixed(&v)) {
        krein_cost mixture;
        krein__spectral_mixture_cost(n, map->d, k, krein__max(1, components(&v, map)), &mixture);
        out->bytes += mixture.bytes;
        out->flops += mixture.flops;
        *passes += 1;
    }
    krein__net_clear(&net);
}

const krein_learner_class krein__learner_askl = {
    .cls =
        {"askl", "automated spectral kernel learning: trained frequencies", "li2020", options,
         "For numbers and classes; the features are those of map=learned, its frequencies start "
         "from the spectral measure of the kernel (one stationary kernel, or a product of such) "
         "and are trained with the weights by mini-batches. A tenth of the rows is held out to "
         "choose the epoch. Where the loss is the square, the weights are then solved for as by "
         "krr, with `lambda` by leave-one-out. The model has a map of its own, whose frequencies "
         "other learners take with map=learned(file=MODEL). loss=softmax has probabilities by "
         "itself; with other losses they are calibrated on the rows held out. form=mixture learns "
         "weights, means and deviations of a spectral mixture by the evidence of at most 1,000 "
         "rows instead; the kernel spectral(file=MODEL) is that mixture."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .probabilities = true,
    .unlabelled = true,
    .checkpoint = true,
    .map = map_spec,
    .check = check,
    .fit = fit,
    .cost = cost};
