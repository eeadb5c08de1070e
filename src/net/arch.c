/* arch.c -- networks by name
 *
 * convnet(3-32-32-32): convolutions of 3 x 3 with batch normalisation, ReLU and maxima of 2 x 2
 * pixels. The numbers are the channels that come in; the last convolution has as many out. Here
 * there are four, with 32 out each.
 *
 * resnet(20): 6 m + 2 layers, m = 3 (he2016). A convolution, three times m blocks of two with a
 * shortcut around them, of 16, 32 and 64 channels, the mean over the image. The second and third
 * m begin with stride 2 and shortcuts of option A.
 *
 * mlp(64-64): affine layers of that width with tanh.
 *
 * A last affine layer makes the scores. */
#include "net/net.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 16 }; /* numbers of an architecture */

/* Reads "name(a-b-c)". */
static krein_status parse(krein_ctx *ctx, const char *arch, char *name, size_t size,
                          int64_t *number, int64_t *count) {
    krein_cursor c = {arch, arch, "network"};
    *count = 0;
    krein__skip_space(&c);
    if (!krein__read_name(&c, name, size))
        return krein__spec_error(ctx, &c, "a name is missing: convnet, resnet or mlp");
    krein__skip_space(&c);
    if (*c.at != '(')
        return krein__spec_error(ctx, &c, "expected (, as in convnet(3-32-32-32), resnet(20)");
    do {
        int64_t value = 0;
        int digits = 0;
        c.at++;
        krein__skip_space(&c);
        for (; *c.at >= '0' && *c.at <= '9' && digits < 7; c.at++, digits++)
            value = 10 * value + (*c.at - '0');
        if (digits == 0 || value == 0) return krein__spec_error(ctx, &c, "expected a number");
        if (*count == MOST) return krein__spec_error(ctx, &c, "more than %d numbers", MOST);
        number[(*count)++] = value;
        krein__skip_space(&c);
    } while (*c.at == '-');
    if (*c.at != ')') return krein__spec_error(ctx, &c, "expected - or )");
    c.at++;
    krein__skip_space(&c);
    if (*c.at) return krein__spec_error(ctx, &c, "nothing may follow");
    return KREIN_OK;
}

static krein_status add_conv(krein_net *net, int64_t width, int64_t stride, bool relu) {
    krein_status st = KREIN_OK;
    char spec[64];
    snprintf(spec, sizeof spec, "conv(width=%lld, stride=%lld)", (long long)width,
             (long long)stride);
    TRY(krein__net_add(net, spec));
    TRY(krein__net_add(net, "batchnorm"));
    if (relu) TRY(krein__net_add(net, "relu"));
done:
    return st;
}

/* Convolutions have nothing to go over in a row of a table. */
static krein_status need_image(const krein_net *net, const char *name) {
    if (net->image.h > 1 || net->image.w > 1) return KREIN_OK;
    return krein__fail(
        net->ctx, KREIN_EDATA,
        "%s needs images, and the rows have no such shape; give their shape, such as "
        "`image=32x32x3`, or an .npy of n x h x w x c numbers; mlp(64-64) takes any "
        "columns",
        name);
}

static krein_status convnet(krein_net *net, const int64_t *number, int64_t count) {
    krein_status st = KREIN_OK;
    TRY(need_image(net, "convnet"));
    if (number[0] != net->image.c)
        return krein__fail(net->ctx, KREIN_ESPEC,
                           "convnet(%lld-...): the images have %lld channels; begin with "
                           "convnet(%lld-...)",
                           (long long)number[0], (long long)net->image.c, (long long)net->image.c);
    for (int64_t i = 0; i < count; i++) {
        TRY(add_conv(net, number[i + 1 < count ? i + 1 : i], 1, true));
        TRY(krein__net_add(net, "maxpool"));
    }
done:
    return st;
}

static krein_status resnet(krein_net *net, const int64_t *number, int64_t count) {
    krein_status st = KREIN_OK;
    int64_t blocks = (number[0] - 2) / 6, most = (KREIN_NET_LAYERS - 5) / 21;
    TRY(need_image(net, "resnet"));
    if (count != 1 || number[0] != 6 * blocks + 2 || blocks < 1 || blocks > most)
        return krein__fail(net->ctx, KREIN_ESPEC,
                           "resnet has 6 m + 2 layers, m from 1 to %lld: resnet(8), resnet(14), "
                           "resnet(20), ...",
                           (long long)most);
    TRY(add_conv(net, 16, 1, true));
    for (int64_t i = 0; i < 3 * blocks; i++) {
        int64_t stage = i / blocks, width = 16 << stage;
        TRY(add_conv(net, width, stage > 0 && i % blocks == 0 ? 2 : 1, true));
        TRY(add_conv(net, width, 1, false));
        TRY(krein__net_add(net, "add(back=5)"));
        TRY(krein__net_add(net, "relu"));
    }
    TRY(krein__net_add(net, "avgpool(whole=yes)"));
done:
    return st;
}

static krein_status mlp(krein_net *net, const int64_t *number, int64_t count) {
    krein_status st = KREIN_OK;
    char spec[64];
    for (int64_t i = 0; i < count; i++) {
        snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)number[i]);
        TRY(krein__net_add(net, spec));
        TRY(krein__net_add(net, "tanh"));
    }
done:
    return st;
}

typedef krein_status make_fn(krein_net *net, const int64_t *number, int64_t count);

static krein_status find(krein_ctx *ctx, const char *arch, make_fn **make, int64_t *number,
                         int64_t *count) {
    static const struct {
        const char *name;
        make_fn *make;
    } known[] = {{"convnet", convnet}, {"resnet", resnet}, {"mlp", mlp}};
    char name[32];
    size_t which = 0;
    krein_status st = parse(ctx, arch, name, sizeof name, number, count);
    if (st != KREIN_OK) return st;
    while (which < KREIN__COUNT(known) && strcmp(known[which].name, name) != 0) which++;
    if (which == KREIN__COUNT(known))
        return krein__fail(ctx, KREIN_ESPEC, "no network %s; there are convnet, resnet and mlp",
                           name);
    *make = known[which].make;
    return KREIN_OK;
}

krein_status krein__net_arch_check(krein_ctx *ctx, const char *arch) {
    int64_t number[MOST], count;
    make_fn *make;
    return find(ctx, arch, &make, number, &count);
}

krein_status krein__net_arch(krein_ctx *ctx, const char *arch, krein_shape image, int64_t scores,
                             krein_net *net) {
    krein_status st = KREIN_OK;
    char spec[64];
    int64_t number[MOST], count;
    make_fn *make;
    krein__net_begin_image(ctx, image, net);
    TRY(find(ctx, arch, &make, number, &count));
    TRY(make(net, number, count));
    if (scores > 0) {
        snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)scores);
        TRY(krein__net_add(net, spec));
    }
    TRY(krein__net_ready(net));
done:
    if (st != KREIN_OK) krein__net_clear(net);
    return st;
}
