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
 * How the rows are held out, and the refit, stand in net_machine.c.
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
#include "learn/net_machine.h"
#include "learn/spectral_mixture.h"
#include "map/learned.h"

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
    LOSS, /* and the others of net_machine.h */
    FORM = LOSS + KREIN_NET_OWN,
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
    [LOSS] = KREIN_NET_OPTIONS(32, "the optimiser's own", "20 times the rate"),
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

static krein_status give_weights(krein_net_machine *n) {
    krein_model *m = n->job->model;
    krein__net_weights(n, sqrt(krein__learned(m->map)->mass), m->w, m->intercept);
    return KREIN_OK;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_status st = KREIN_OK;
    krein_map *map = job->model->map;
    krein_net_machine m = {.name = "askl", .first = LOSS, .job = job};
    TRY(take_map(job, values));
    *values = settled(values);
    TRY(krein__net_machine_begin(&m, values, 0, FASTER));
    m.o.penalty = penalties[(int)values->number[NORM]];
    m.o.lambda_a = values->number[LAMBDA_A];
    m.o.lambda_b = values->number[LAMBDA_B];
    m.o.frozen[0] = !(values->number[TRAIN] > 0);
    TRY(make_net(job->ctx, values, map->d, map->D, job->model->k, &m.net));
    TRY(krein__net_ready(&m.net));
    TRY(krein__windows_open(job, job->unlabelled.n > 0 && m.o.lambda_b > 0, &m.w));
    if (mixed(values))
        TRY(krein__spectral_mixture_learn(job, &m.w, (int64_t)values->number[COMPONENTS]));
    TRY(start_net(map, &m.net));
    krein__net_machine_pace(&m, values, 0);
    TRY(krein__net_machine_train(&m));
    if (!m.o.frozen[0]) TRY(give_frequencies(map, &m.net));
    TRY(krein__net_machine_end(&m, give_weights));
done:
    krein__net_machine_clear(&m);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    krein_values v = settled(values);
    krein_net_machine m = {.name = "askl", .first = LOSS};
    const bool frozen[] = {!(v.number[TRAIN] > 0), false};
    if (make_net(map->ctx, &v, map->d, map->cls->features(map, n), k, &m.net) != KREIN_OK) return;
    krein__net_machine_cost(&m, map, &v, n, k, path, frozen, out, passes);
    if (mixed(&v)) {
        krein_cost mixture;
        krein__spectral_mixture_cost(n, map->d, k, krein__max(1, components(&v, map)), &mixture);
        out->bytes += mixture.bytes;
        out->flops += mixture.flops;
        *passes += 1;
    }
    krein__net_clear(&m.net);
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
