/* test_net_torch.c -- nets of image layers beside PyTorch (tests/torch_net.py): scores, gradients,
 * Hessian-vector products and running statistics. Skipped where PyTorch is not installed. */
#include "common.h"

#include "net/net.h"

#include <sys/wait.h>

static void write_to(const char *end, const void *data, int64_t count, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "net.%s", end);
    FILE *file = fopen(test_path(name), "wb");
    CHECK(file && fwrite(data, size, (size_t)count, file) == (size_t)count && fclose(file) == 0);
}

static double *read_from(const char *end, int64_t count) {
    char name[64];
    double *out = test_new(count, sizeof *out);
    snprintf(name, sizeof name, "net.%s", end);
    FILE *file = fopen(test_path(name), "rb");
    CHECK(file && fread(out, sizeof *out, (size_t)count, file) == (size_t)count);
    if (file) fclose(file);
    return out;
}

/* The largest difference, of the largest number. */
static double off(int64_t n, const float *a, const double *b) {
    double worst = 0, top = 0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)a[i] - b[i]));
        top = fmax(top, fabs(b[i]));
    }
    return top > 0 ? worst / top : INFINITY;
}

static void beside(const char *const *spec, krein_shape image, int64_t n) {
    krein_ctx *ctx = test_ctx(2);
    krein_net net;
    krein_net_work w;
    char command[2048];
    krein__net_begin_image(ctx, image, &net);
    for (int64_t i = 0; spec[i]; i++) CHECK(krein__net_add(&net, spec[i]) == KREIN_OK);
    CHECK(krein__net_ready(&net) == KREIN_OK &&
          krein__net_work_begin(&net, n, true, &w) == KREIN_OK);
    CHECK(krein__net_work_second(&w) == KREIN_OK);
    krein__net_start(&net, 3);
    int64_t count = net.count, k = krein__net_out(&net);
    float *x = test_dense(n, net.in, 0.3), *y = test_dense(n, k, 0),
          *v = test_new(count, sizeof *v);
    float *g = test_new(count, sizeof *g), *Hv = test_new(count, sizeof *Hv);
    int32_t *class = test_new(n, sizeof *class);
    for (int64_t i = 0; i < n; i++) class[i] = (int32_t)(i % k);
    for (int64_t l = 0; l < net.layers; l++) { /* not where nothing is trained */
        krein_range range[KREIN_NET_RANGES];
        for (int64_t part = 0; part < net.layer[l].weights_parts; part++)
            for (int64_t q = net.layer[l].cls->ranges(&net.layer[l], part, range) - 1; q >= 0; q--)
                for (int64_t i = 0; i < range[q].rows * range[q].columns; i++) {
                    v[range[q].first + i] = (float)det(i, i % 7, 0.6);
                    net.p[range[q].first + i] += (float)(0.1 * det(i, i % 5, 0.1));
                }
    }
    write_to("p", net.p, count, sizeof *net.p);
    write_to("v", v, count, sizeof *v);
    write_to("x", x, n * net.in, sizeof *x);
    write_to("y", class, n, sizeof *class);
    int used =
        snprintf(command, sizeof command, "/usr/bin/python3 tests/torch_net.py '%s' %d %d %d %d",
                 test_path("net"), (int)n, (int)image.h, (int)image.w, (int)image.c);
    for (int64_t i = 0; spec[i]; i++)
        used += snprintf(command + used, sizeof command - (size_t)used, " '%s'", spec[i]);
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 77) {
        krein_rows rows = krein__rows_dense(n, net.in, x, net.in);
        krein_aims aims = {y, class, NULL};
        CHECK_ELSE(code == 0, "tests/torch_net.py ended with %d\n", code);
        krein__net_load(&w, &rows, NULL, n);
        krein__net_loss_gradient(&w, net.p, &krein__loss_softmax, &aims, n, g);
        krein__net_hessian_vector(&w, &krein__loss_softmax, &aims, v, Hv);
        double *want = read_from("out", 2 * n * k), *want_g = read_from("g", count);
        double *want_Hv = read_from("Hv", count), *after = read_from("after", count);
        const float *f = w.pass[net.layers - 1].out;
        CHECK(off(n * k, f, want) < 1e-5);
        CHECK(off(count, g, want_g) < 3e-5);
        CHECK(off(count, Hv, want_Hv) < 1e-4);
        krein__net_note_statistics(&w, 0.1, net.p);
        CHECK(off(count, net.p, after) < 1e-6);
        w.statistics = KREIN_STATISTICS_RUNNING;
        CHECK(off(n * k, krein__net_forward(&w, n), want + n * k) < 1e-5);
        free(want), free(want_g), free(want_Hv), free(after);
    }
    krein__net_work_end(&w);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    free(x), free(y), free(v), free(g), free(Hv), free(class);
    if (code == 77) SKIP("/usr/bin/python3 has no PyTorch (scripts/deps.sh torch)");
}

#define LAYERS(...) ((const char *[]){__VA_ARGS__, NULL})

static void convolutions(void) {
    beside(LAYERS("conv(width=32)", "batchnorm", "relu", "maxpool",
                  "conv(width=20, intercept=yes, stride=2)", "tanh",
                  "conv(width=16, size=5, pad=2)", "batchnorm", "relu", "affine(width=4)"),
           (krein_shape){13, 12, 3}, 9);
}

static void blocks(void) {
    beside(LAYERS("conv(width=8)", "batchnorm", "relu", "conv(width=16, stride=2)", "batchnorm",
                  "relu", "conv(width=16)", "batchnorm", "add(back=5)", "relu", "avgpool(size=2)",
                  "maxpool", "avgpool(whole=yes)", "affine(width=3)"),
           (krein_shape){12, 16, 1}, 7);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(convolutions);
    RUN(blocks);
    return DONE();
}
