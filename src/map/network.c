/* network -- the features of a network: all of its layers but the last
 *
 *     z(x) = layer_L-1( .. layer_1(x))
 *
 * of a named architecture (net/arch.c): convolutions with batch normalisation on images, residual
 * ones, or layers of a table's columns. The learner net trains them together with the last layer,
 * which is the weights of the model. Without it they are those of a model (file), or drawn as the
 * learner starts from (he2015): features of nothing but their kernel z(x)'z(y).
 *
 * Normalising layers use the means and variances that were noted while they were trained. Rows go
 * through GROUP at a time, always as many, so that the bits of a row do not depend on those that
 * came with it.
 *
 * Where no architecture is named it is convnet(c-32-..-32) for images of c channels, with up to
 * four convolutions, as many as the pools leave room for, and mlp(64-64) for tables.
 *
 * Cost: 2 (numbers of an output) (weights that make one) a convolution and a row. */
#include "map/network.h"

#include "kernel/alike.h"
#include "net/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ARCH, FILE_SLOT };
enum { GROUP = 4 }; /* a divisor of KREIN_TILE */

typedef struct network {
    krein_net net;
} network;

static const char *file(const krein_map *map) { return map->values.text[FILE_SLOT]; }

bool krein__map_is_network(const krein_map *map) { return map->cls == &krein__map_network; }
const krein_net *krein__network(const krein_map *map) {
    const network *s = map->state;
    return &s->net;
}
const char *krein__network_arch(const krein_map *map) { return map->values.text[ARCH]; }

void krein__network_give(krein_map *map, const float *p) {
    network *s = map->state;
    memcpy(s->net.p, p, (size_t)s->net.count * sizeof *p);
}

krein_shape krein__network_shape(const krein_map *map) {
    const int64_t *image = map->image;
    if (image[0] == 0) return (krein_shape){1, 1, map->d};
    return (krein_shape){image[0], image[1], image[2]};
}

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__is_linear(kernel)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, "network", "the linear kernel, of its own features");
}

/* ---- the architecture --------------------------------------------------- */

static char *default_arch(krein_ctx *ctx, const krein_map *map) {
    enum { MOST = 4 };
    char text[64];
    int64_t pools = 0;
    size_t used;
    if (map->image[0] == 0) return krein__strdup(ctx, "mlp(64-64)");
    while (pools < MOST && krein__min(map->image[0], map->image[1]) >> (pools + 1) > 0) pools++;
    used = (size_t)snprintf(text, sizeof text, "convnet(%lld", (long long)map->image[2]);
    for (int64_t l = 1; l < pools; l++)
        used += (size_t)snprintf(text + used, sizeof text - used, "-32");
    snprintf(text + used, sizeof text - used, ")");
    return krein__strdup(ctx, text);
}

static krein_status open_file(krein_ctx *ctx, const char *path, krein_archive **a) {
    krein_status st = krein__archive_load(ctx, path, a);
    if (st != KREIN_OK) return krein__prefix(ctx, st, "network(file): ");
    if (krein__archive_has(*a, "network.arch")) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "network(file): %.300s has no network; give a model that was trained with "
                       "learner=net",
                       path);
}

char *krein__network_choice(krein_ctx *ctx, const krein_map *map) {
    krein_archive *a = NULL;
    char *arch = NULL;
    if (!file(map))
        return krein__network_arch(map) ? krein__strdup(ctx, krein__network_arch(map))
                                        : default_arch(ctx, map);
    krein_status st = open_file(ctx, file(map), &a);
    if (st == KREIN_OK) st = krein__archive_text(a, "network.arch", &arch);
    krein__archive_destroy(a);
    if (st != KREIN_OK) {
        krein__free(ctx, arch);
        return NULL;
    }
    return arch;
}

/* The layers for rows of that map, without parameters to speak of. */
static krein_status make_net(krein_ctx *ctx, const krein_map *map, const char *arch,
                             krein_net *net) {
    return krein__net_arch(ctx, arch, krein__network_shape(map), 0, net);
}

/* The net of a map that is not fitted yet; false where there is none, which the fit will say. */
static bool net_to_be(const krein_map *map, krein_ctx *quiet, krein_net *net) {
    *quiet = krein__ctx_share(map->ctx, 1);
    char *arch = krein__network_choice(quiet, map);
    bool made = arch && make_net(quiet, map, arch, net) == KREIN_OK;
    krein__free(quiet, arch);
    return made;
}

/* ---- the state ---------------------------------------------------------- */

static void clear(krein_map *map) {
    network *s = map->state;
    krein__net_clear(&s->net);
}

static void shape(krein_map *map) {
    const network *s = map->state;
    map->D = map->R = krein__net_out(&s->net);
    map->scratch = GROUP * map->d + krein__net_run_floats(&s->net, GROUP);
}

/* Takes `arch` over. */
static krein_status begin(krein_map *map, char *arch) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    network *s = map->state;
    krein__free(ctx, map->values.text[ARCH]);
    map->values.text[ARCH] = arch;
    map->values.given[ARCH] = true;
    if (!s) {
        ZNEW(s, 1);
        map->state = s;
    }
    krein__net_clear(&s->net);
    TRY(make_net(ctx, map, arch, &s->net));
    shape(map);
done:
    return st;
}

/* A vector that is there, in both directions. */
static krein_status parameters_io(krein_map *map, krein_archive *a) {
    network *s = map->state;
    int64_t n = s->net.count;
    float *copy = s->net.p;
    krein_status st = krein__archive_array(a, "network.p", KREIN_TYPE_F32, &copy, n);
    if (st != KREIN_OK || !krein__archive_reading(a)) return st;
    memcpy(s->net.p, copy, (size_t)n * sizeof *copy);
    krein__free(map->ctx, copy);
    return KREIN_OK;
}

static krein_status damaged(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its network is wrong)");
}

static krein_status io(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    static const char *const name[] = {"network.height", "network.width", "network.channels"};
    bool reading = krein__archive_reading(a);
    krein_shape from = krein__network_shape(map);
    int64_t shape[] = {from.h, from.w, from.c}, D = map->D, R = map->R;
    char *arch = map->values.text[ARCH], *read = NULL;
    krein__archive_needs(a, 2);
    if (!reading) TRY(krein__archive_text(a, "network.arch", &arch));
    for (int k = 0; k < 3; k++) TRY(krein__archive_int(a, name[k], &shape[k], 1, INT32_MAX));
    if (!reading) {
        TRY(parameters_io(map, a));
        goto done;
    }
    TRY(krein__archive_text(a, "network.arch", &read));
    int64_t size;
    if (__builtin_mul_overflow(shape[0], shape[1], &size) ||
        __builtin_mul_overflow(size, shape[2], &size) || size != map->d) {
        st = damaged(ctx);
        goto done;
    }
    if (shape[0] * shape[1] > 1) memcpy(map->image, shape, sizeof map->image);
    arch = read;
    read = NULL;
    if (begin(map, arch) != KREIN_OK || map->D != D || map->R != R) {
        st = ctx->status == KREIN_EMEMORY ? ctx->status : damaged(ctx);
        goto done;
    }
    TRY(parameters_io(map, a));
done:
    krein__free(ctx, read);
    return st;
}

/* ---- from a model, or drawn --------------------------------------------- */

static krein_status check_shape(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_shape here = krein__network_shape(map), there = {0};
    TRY(krein__archive_int(a, "network.height", &there.h, 1, INT32_MAX));
    TRY(krein__archive_int(a, "network.width", &there.w, 1, INT32_MAX));
    TRY(krein__archive_int(a, "network.channels", &there.c, 1, INT32_MAX));
    if (here.h == 1 && here.w == 1 && there.h * there.w > 1 &&
        here.c == krein__shape_size(there)) /* rows without a shape, of as many numbers */
        memcpy(map->image, (int64_t[]){there.h, there.w, there.c}, sizeof map->image);
    else if (here.h != there.h || here.w != there.w || here.c != there.c)
        st = krein__fail(ctx, KREIN_EDATA,
                         "network(file): %.300s has a network for rows of %lldx%lldx%lld, and the "
                         "data have %lldx%lldx%lld; take such as it was trained on",
                         file(map), (long long)there.h, (long long)there.w, (long long)there.c,
                         (long long)here.h, (long long)here.w, (long long)here.c);
done:
    return st;
}

static krein_status fit_file(krein_map *map, const krein_stream *rows) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    char *arch = NULL, what[400];
    TRY(open_file(ctx, file(map), &a));
    TRY(check_shape(map, a));
    TRY(krein__archive_text(a, "network.arch", &arch));
    st = begin(map, arch);
    if (st != KREIN_OK) goto done;
    TRY(parameters_io(map, a));
    snprintf(what, sizeof what, "network(file): %.300s", file(map));
    if (rows) TRY(krein__encoding_alike(ctx, a, krein__stream_encoding(rows), what));
done:
    krein__archive_destroy(a);
    return st;
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    network *s;
    (void)n;
    if (rows) memcpy(map->image, krein__stream_encoding(rows)->image, sizeof map->image);
    if (file(map)) return fit_file(map, rows);
    char *arch = krein__network_choice(ctx, map);
    if (!arch) return ctx->status;
    TRY(begin(map, arch));
    s = map->state;
    krein__net_start(&s->net, map->seed);
done:
    return st;
}

/* ---- features ----------------------------------------------------------- */

static int64_t features(const krein_map *map, int64_t n) {
    krein_ctx quiet;
    krein_net net = {0};
    (void)n;
    if (map->state) return map->D;
    int64_t D = net_to_be(map, &quiet, &net) ? krein__net_out(&net) : 1;
    krein__net_clear(&net);
    return D;
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    krein_ctx quiet;
    krein_net net = {0};
    (void)n;
    if (net_to_be(map, &quiet, &net)) {
        double each = (double)(GROUP * map->d + krein__net_run_floats(&net, GROUP));
        out->bytes = sizeof(network) + 2 * krein__net_bytes(&net) + 65536 +
                     4 * map->ctx->threads *
                         (each + (double)KREIN_TILE * (double)(krein__net_out(&net) + map->d));
        for (int64_t l = 0; l < net.layers; l++) out->flops += net.layer[l].flops;
        out->fit_flops = 100 * (double)net.count;
    }
    krein__net_clear(&net);
}

static void tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                 float *scratch) {
    const network *s = map->state;
    int64_t d = map->d, R = map->R;
    float *x = scratch;
    for (int64_t from = 0; from < rows->n; from += GROUP) {
        int64_t m = krein__min(GROUP, rows->n - from);
        for (int64_t i = 0; i < m; i++) krein__row_copy(rows, from + i, x + i * d);
        memset(x + m * d, 0, (size_t)((GROUP - m) * d) * sizeof *x);
        const float *z = krein__net_run(&s->net, GROUP, x, scratch + GROUP * d);
        for (int64_t i = 0; i < m; i++)
            memcpy(out + (from + i) * ld, z + i * R, (size_t)R * sizeof *out);
    }
    for (int64_t i = rows->n; i < KREIN_TILE; i++) memset(out + i * ld, 0, (size_t)R * sizeof *out);
}

static bool fact(const krein_map *map, int64_t i, krein_fact *out) {
    const network *s = map->state;
    int64_t parameters = 0;
    for (int64_t l = 0; l < s->net.layers; l++) parameters += s->net.layer[l].parameters;
    if (i == 0)
        *out = (krein_fact){"layers", NULL, (double)s->net.layers};
    else if (i == 1)
        *out = (krein_fact){"parameters", NULL, (double)parameters};
    else
        return false;
    return true;
}

static bool array(const krein_map *map, int64_t i, krein_named_array *out) {
    const network *s = map->state;
    char name[64];
    int64_t l = 0;
    for (int64_t before = 0; l < s->net.layers; l++)
        if (s->net.layer[l].parameters > 0 && before++ == i) break;
    if (l == s->net.layers) return false;
    const krein_layer *at = &s->net.layer[l];
    snprintf(name, sizeof name, "%s.%lld", at->cls->cls.name, (long long)l + 1);
    krein__array_set(out, name, KREIN_TYPE_F32, 1, at->parameters, s->net.p + at->first);
    return true;
}

static int own_traits(const krein_map *map) { return file(map) ? KREIN_MAP_SEEDLESS : 0; }

static const krein_option options[] = {
    [ARCH] = {.name = "arch",
              .type = KREIN_OPTION_TEXT,
              .help = "the network: \"convnet(3-32-32-32)\" (channels that come into each "
                      "convolution), \"resnet(20)\", \"mlp(64-64)\"; by the rows when not given"},
    [FILE_SLOT] = {.name = "file",
                   .type = KREIN_OPTION_TEXT,
                   .help = "the network of this model, as it was trained"},
    {0}};

const krein_map_class krein__map_network = {
    .cls = {"network", "features of a network: all of its layers but the last", "he2016", options,
            "The features that the learner net trains, for images and for tables. For other "
            "learners they are those of a model (file), on rows of the same shape, or random "
            "ones. They stand for the kernel z(x)'z(y) of their own."},
    .kernels = "its own",
    .kernel = "linear",
    .time = "n D + n weights",
    .own_traits = own_traits,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .tile = tile,
    .array = array,
    .fact = fact,
    .io = io,
    .clear = clear};
