/* net -- a network, trained end to end: images by convolutions, tables by layers
 *
 *     min over th, w, b   mean loss(w'z_th(x_i) + b, y_i) + decay/2 (|w|^2 + |weights of th|^2)
 *
 * by mini-batches and back-propagation (net/fit.c). z_th is the map network: all layers of a named
 * architecture but the last (net/arch.c), which start as the map has drawn them, or as they are in
 * a model (network(file=..)). w and b are the last layer, and the weights of the model. Factors and
 * offsets of normalising layers, and intercepts, have no penalty.
 *
 * Batch normalisation (ioffe2015) uses the means and variances of the batch while it is trained,
 * and notes them: th_mean <- 0.9 th_mean + 0.1 mean of the batch; rows that are held out, and the
 * model, are predicted with the noted ones.
 *
 * How rows are held out, and the refit, stand in net_machine.c. Images that are bytes stay bytes
 * until a batch is made of them (windows.c).
 *
 * Cost: 6 epochs n (flops of a row forwards) / 2. */
#include "learn/net_machine.h"
#include "map/network.h"
#include "net/trail.h"

#include <math.h>
#include <string.h>

enum {
    ARCH,
    DECAY,
    MOMENTUM,
    LOSS /* and the others of net_machine.h */
};
static const double RATE = 0.005; /* of adam */
enum { DIMENSIONS = 40, SNAPSHOTS = 200 };

static const krein_option options[] = {
    [ARCH] = {.name = "arch",
              .type = KREIN_OPTION_TEXT,
              .help = "the network: \"convnet(3-32-32-32)\" (channels that come into each "
                      "convolution), \"resnet(20)\", \"mlp(64-64)\"; when not given four "
                      "convolutions of 32 channels for images, mlp(64-64) for tables"},
    [DECAY] = {.name = "decay",
               .type = KREIN_OPTION_NUMBER,
               .value = 5e-4,
               .low = 0,
               .high = 1e6,
               .help = "penalty decay/2 |w|^2 of the weights of all layers"},
    [MOMENTUM] = {.name = "momentum",
                  .type = KREIN_OPTION_NUMBER,
                  .value = NAN,
                  .low = 0,
                  .high = 1,
                  .high_open = true,
                  .help = "of optimizer=sgd; 0.9 when not given"},
    [LOSS] = KREIN_NET_PLAIN_OPTIONS(64, "0.005 with adam, the optimiser's own with others"),
    [LOSS + KREIN_NET_PLAIN] = {0}};

/* ---- options ------------------------------------------------------------ */

static char *map_spec(krein_ctx *ctx, const krein_values *v) {
    const char *arch = v->text[ARCH];
    return arch ? krein__format(ctx, "network(arch=\"%s\")", arch) : krein__strdup(ctx, "network");
}

static krein_status check(krein_ctx *ctx, const krein_values *v, const krein_map *map) {
    krein_status st = KREIN_OK;
    const char *asked = v->text[ARCH];
    if (asked) TRY(krein__net_arch_check(ctx, asked));
    if (!map) return KREIN_OK;
    if (!krein__map_is_network(map))
        return krein__fail(ctx, KREIN_EARG,
                           "the learner net trains a network of its own, which the map %s does not "
                           "have; leave `map` out",
                           map->cls->cls.name);
    const char *there = krein__network_arch(map);
    if (asked && there && strcmp(asked, there) != 0)
        return krein__fail(ctx, KREIN_EARG,
                           "the learner net has the network %.60s, and its map %.60s; leave `map` "
                           "out",
                           asked, there);
done:
    return st;
}

/* The optimiser's momentum, where it has one. */
static krein_status set_momentum(krein_net_machine *m, krein_values *v) {
    krein_optimizer *o = &m->o.optimizer;
    int64_t slot = krein__option_index(&o->cls->cls, "momentum");
    double asked = v->number[MOMENTUM];
    if (slot < 0 && !isnan(asked))
        return krein__fail(m->job->ctx, KREIN_EARG,
                           "net: optimizer=%s has no momentum; use optimizer=sgd, or leave "
                           "momentum out",
                           o->cls->cls.name);
    if (slot < 0) return KREIN_OK;
    if (!isnan(asked)) o->values.number[slot] = asked;
    v->number[MOMENTUM] = o->values.number[slot];
    return KREIN_OK;
}

/* ---- the learner -------------------------------------------------------- */

/* The layers of the map, and the last one. */
static krein_status make_net(krein_net_machine *m, const krein_map *map) {
    krein_status st = KREIN_OK;
    const krein_net *below = krein__network(map);
    TRY(krein__net_arch(map->ctx, krein__network_arch(map), krein__network_shape(map),
                        m->job->model->k, &m->net));
    krein__net_start(&m->net, m->job->seed);
    memcpy(m->net.p, below->p, (size_t)below->count * sizeof *below->p);
done:
    return st;
}

static krein_status give_weights(krein_net_machine *m) {
    krein_model *model = m->job->model;
    krein__net_weights(m, 1, model->w, model->intercept);
    return KREIN_OK;
}

/* The spec of the model says what was trained. */
static krein_status settle(krein_ctx *ctx, const krein_map *map, krein_values *v) {
    krein_status st = KREIN_OK;
    krein__free(ctx, v->text[ARCH]);
    v->text[ARCH] = NULL;
    DUP(v->text[ARCH], krein__network_arch(map));
    v->given[ARCH] = true;
done:
    return st;
}

/* ---- the path, and subspaces --------------------------------------------- */

static krein_net_kind kind_of(const krein_net_machine *m, const krein_map *map) {
    return (krein_net_kind){krein__network_arch(map), krein__network_shape(map), m->job->model->k};
}

/* The steps stay in the subspace of a file, where one is asked for. */
static krein_status stay_inside(krein_net_machine *m, const krein_map *map, krein_subspace *s) {
    const krein_job_path *path = &m->job->path;
    krein_ctx *ctx = m->job->ctx;
    krein_status st = KREIN_OK;
    krein_trained t = {0};
    krein_net_kind kind = kind_of(m, map);
    if (!path->subspace) return KREIN_OK;
    TRY(krein__subspace_load(ctx, path->subspace, s));
    TRY(krein__trained_find(ctx, &m->net, &t));
    TRY(krein__subspace_check(s, path->subspace, &kind, t.m));
    if (path->start) krein__trained_scatter(&t, s->start, m->net.p);
    m->o.subspace = s;
    m->o.decay = m->o.lambda_a = 0; /* penalties would lead out of it */
done:
    krein__trained_clear(&t);
    return st;
}

static krein_status note(void *user, int64_t step, const float *p) {
    return krein__trail_note(user, step, p);
}

/* The parameters are noted on their way, where that is asked for. */
static krein_status follow(krein_net_machine *m, krein_trail *t) {
    const krein_job_path *path = &m->job->path;
    krein_status st = KREIN_OK;
    if (!path->record) return KREIN_OK;
    int64_t rows = m->w.fit.n;
    int64_t steps = krein__max(m->w.fit.windows, (rows + m->o.batch - 1) / m->o.batch);
    int64_t last = (path->epochs > 0 ? path->epochs : m->o.epochs) * steps;
    int64_t every = path->every > 0 ? path->every : krein__max(1, last / SNAPSHOTS);
    TRY(krein__trail_begin(m->job->ctx, &m->net, every, 0, t));
    if (path->epochs > 0) t->last = last;
    m->o.record = note;
    m->o.record_user = t;
done:
    return st;
}

static krein_status give_path(krein_net_machine *m, const krein_map *map, krein_trail *t) {
    const krein_job_path *path = &m->job->path;
    krein_status st = KREIN_OK;
    krein_subspace s = {0};
    krein_net_kind kind = kind_of(m, map);
    if (!path->record) return KREIN_OK;
    TRY(krein__trail_components(t, &kind, path->dimensions > 0 ? path->dimensions : DIMENSIONS,
                                &s));
    TRY(krein__subspace_save(&s, path->record));
    double sum = 0;
    for (int64_t j = 0; j < s.s; j++) sum += s.share[j];
    krein__log(m->job->ctx, KREIN_LOG_INFO,
               "net: %lld snapshots of the path; %lld components have %.2f %% of its variance, the "
               "first %.2f %%",
               (long long)s.snapshots, (long long)s.s, 100 * sum, 100 * s.share[0]);
done:
    krein__subspace_clear(&s);
    return st;
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = job->model->map;
    krein_net_machine m = {.name = "net", .first = LOSS, .job = job, .plain = true};
    krein_subspace inside = {0};
    krein_trail trail = {0};
    TRY(settle(ctx, map, values));
    TRY(krein__net_machine_begin(&m, values, RATE, 1));
    TRY(set_momentum(&m, values));
    m.o.decay = values->number[DECAY];
    m.o.penalty = KREIN_PENALTY_FROBENIUS;
    m.o.lambda_a = m.o.decay / 2;
    TRY(make_net(&m, map));
    TRY(krein__windows_open(job, false, &m.w));
    TRY(stay_inside(&m, map, &inside));
    TRY(follow(&m, &trail));
    TRY(krein__net_machine_train(&m));
    TRY(give_path(&m, map, &trail));
    krein__network_give(map, m.net.p);
    TRY(krein__model_retell_map(job->model));
    TRY(krein__net_machine_end(&m, give_weights));
done:
    krein__subspace_clear(&inside);
    krein__trail_end(&trail);
    krein__net_machine_clear(&m);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    static const bool frozen[KREIN_NET_LAYERS] = {false};
    krein_ctx quiet = krein__ctx_share(map->ctx, 1);
    krein_net_machine m = {.name = "net", .first = LOSS, .plain = true};
    char *arch = krein__network_choice(&quiet, map);
    if (arch && krein__net_arch(&quiet, arch, krein__network_shape(map), k, &m.net) == KREIN_OK) {
        m.net.ctx = map->ctx; /* its threads */
        krein__net_machine_cost(&m, map, values, n, k, path, frozen, out, passes);
        m.net.ctx = &quiet;
        /* The parameters once more, and the descriptions of layers. */
        out->bytes += 4 * (double)m.net.count + 2 * sizeof(krein_net) + 65536;
    }
    krein__net_clear(&m.net);
    krein__free(&quiet, arch);
}

const krein_learner_class krein__learner_net = {
    .cls =
        {"net", "a network, trained: convolutions for images, layers for tables", "he2016", options,
         "For numbers and classes. The architecture is named: convnet(3-32-32-32) is four "
         "convolutions, whose input channels are the numbers, each with batch normalisation, ReLU "
         "and a maximum over 2 x 2; resnet(20) has residual blocks; mlp(64-64) takes any columns. "
         "Images come as an .npy of n x h x w x c numbers, or as rows of h w c numbers with "
         "`image`; they are scaled by channel, and bytes stay bytes in memory. A tenth of the rows "
         "is held out to choose the epoch. With the square loss the weights are then solved for as "
         "by krr. loss=softmax has probabilities by itself; with other losses they are calibrated "
         "on the rows held out. The map network(file=MODEL) has the trained features, for any "
         "learner, and for this one to go on from."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .probabilities = true,
    .checkpoint = true,
    .path = true,
    .map = map_spec,
    .check = check,
    .fit = fit,
    .cost = cost};
