/* conv -- convolution of images, channels last
 *     out[y, x, o] = b_o + sum over d, e < size and channels c of  in[s y + d - pad, s x + e - pad,
 * c] W[d, e, c, o] with stride s, and 0 outside the image. The weights stand in the order d, e, c,
 * o: a matrix of size^2 channels rows; the intercepts behind them.
 *
 * An image is copied into a frame of zeros, where the size x channels numbers of a row of a window
 * are beside each other. A row of the output is then a product (num/strips.h) whose left side is
 * read in the frame, overlapping windows and all: nothing is copied size^2 times (im2col).
 * Backwards it is the same with W turned by half and its channels swapped, on the gradient of the
 * output with s - 1 zeros between its pixels. The gradient of W is a product over the pixels of an
 * image, summed over groups of rows; the sums of groups are added in their order.
 *
 * `settle` brings W into panels, once for a batch: forwards, and turned. Cost: 2 size^2 channels
 * width flops a pixel of the output, as much for each of the two ways back (s^2 times that for the
 * gradient of the input). */
#include "net/net.h"

#include "num/strips.h"

#include <math.h>
#include <string.h>

enum { WIDTH, SIZE, STRIDE, PAD, INTERCEPT };

static int64_t size_of(const krein_layer *l) { return (int64_t)l->values.number[SIZE]; }
static int64_t stride(const krein_layer *l) { return (int64_t)l->values.number[STRIDE]; }
static int64_t pad(const krein_layer *l) { return (int64_t)l->values.number[PAD]; }
static bool intercept(const krein_layer *l) { return l->values.number[INTERCEPT] > 0; }
/* Rows of W. */
static int64_t rows_of(const krein_layer *l) { return size_of(l) * size_of(l) * l->from.c; }
/* Rows of W turned. */
static int64_t turned(const krein_layer *l) { return size_of(l) * size_of(l) * l->to.c; }
static int64_t panels_size(int64_t rows, int64_t columns) {
    return krein__panels(columns) * rows * KREIN_PANEL;
}
/* Columns of the gradient of the output that the product may read. */
static int64_t readable(const krein_layer *l) {
    return (l->to.c + KREIN_STRIP - 1) / KREIN_STRIP * KREIN_STRIP;
}

/* Frames: of the input, and of the gradient of the output. */
static krein_shape in_frame(const krein_layer *l) {
    return (krein_shape){l->from.h + 2 * pad(l), l->from.w + 2 * pad(l), l->from.c};
}
static krein_shape out_frame(const krein_layer *l) {
    return (krein_shape){l->from.h + size_of(l) - 1, l->from.w + size_of(l) - 1, l->to.c};
}

static krein_status shape(const krein_net *net, krein_layer *l) {
    int64_t size = size_of(l), s = stride(l), p = pad(l);
    if (!l->values.given[WIDTH])
        return krein__fail(net->ctx, KREIN_ESPEC, "conv: the width is missing: conv(width=32)");
    if (p >= size)
        return krein__fail(net->ctx, KREIN_ESPEC, "conv: pad=%lld must be below size=%lld",
                           (long long)p, (long long)size);
    if (size > l->from.h + 2 * p || size > l->from.w + 2 * p)
        return krein__fail(net->ctx, KREIN_ESPEC,
                           "conv: windows of %lld x %lld do not fit into an image of %lld x %lld",
                           (long long)size, (long long)size, (long long)l->from.h,
                           (long long)l->from.w);
    l->to = (krein_shape){(l->from.h + 2 * p - size) / s + 1, (l->from.w + 2 * p - size) / s + 1,
                          (int64_t)l->values.number[WIDTH]};
    krein__weights_shape(l, rows_of(l), intercept(l));
    int64_t pixels = l->to.h * l->to.w;
    l->parts = 1;
    l->tile = krein__max(1, krein__min(KREIN_NET_TILE, 256 / pixels));
    l->fixed = krein__max(krein__shape_size(in_frame(l)) + pixels * readable(l),
                          krein__shape_size(out_frame(l)));
    l->whole = panels_size(rows_of(l), l->to.c) + panels_size(turned(l), l->from.c);
    l->sums = l->parameters;
    l->flops = 2 * (double)rows_of(l) * (double)krein__shape_size(l->to);
    return KREIN_OK;
}

static void start(const krein_layer *l, krein_rng g, float *p) {
    krein__weights_start(l, rows_of(l), g, p);
}

/* ---- weights ------------------------------------------------------------ */

/* W turned by half, rows d, e, o and columns c: size - 1 - d, size - 1 - e of W. */
static void turn(const krein_layer *l, const float *W, float *to) {
    int64_t size = size_of(l), in = l->from.c, out = l->to.c, taps = size * size;
    memset(to, 0, (size_t)panels_size(turned(l), in) * sizeof *to);
    for (int64_t t = 0; t < taps; t++)
        for (int64_t c = 0; c < in; c++) {
            const float *from = W + (t * in + c) * out;
            float *at = to + krein__panel_index(turned(l), (taps - 1 - t) * out, c);
            for (int64_t o = 0; o < out; o++) at[o * KREIN_PANEL] = from[o];
        }
}

static float *turned_at(const krein_layer *l, float *whole) {
    return whole + panels_size(rows_of(l), l->to.c);
}

static void settle(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                   krein_way way, int64_t groups) {
    const float *W = (v ? v : p) + l->first;
    float *to = v ? b->rwhole : b->whole;
    (void)groups;
    if (way == KREIN_WAY_FORWARD || way == KREIN_WAY_R_FORWARD)
        krein__panels_from(rows_of(l), l->to.c, W, to);
    else
        turn(l, W, turned_at(l, to));
}

/* ---- images ------------------------------------------------------------- */

/* An image with `step - 1` zeros between its pixels into a frame of zeros, from pixel `first` of
 * row `first` on. */
static void into_frame(krein_shape image, const float *x, int64_t step, int64_t first,
                       krein_shape frame, float *to) {
    memset(to, 0, (size_t)krein__shape_size(frame) * sizeof *to);
    for (int64_t y = 0; y < image.h; y++) {
        float *row = to + ((first + y * step) * frame.w + first) * frame.c;
        if (step == 1)
            memcpy(row, x + y * image.w * image.c, (size_t)(image.w * image.c) * sizeof *row);
        else
            for (int64_t q = 0; q < image.w; q++)
                memcpy(row + q * step * image.c, x + (y * image.w + q) * image.c,
                       (size_t)image.c * sizeof *row);
    }
}

/* out (or out +): the frame's windows at every s-th pixel times W in panels. */
static void correlate(int64_t size, int64_t s, krein_shape frame, const float *x, const float *W,
                      bool add, krein_shape to, float *out) {
    int64_t k = size * frame.c, line = frame.w * frame.c;
    for (int64_t y = 0; y < to.h; y++)
        for (int64_t from = 0; from < to.c; from += KREIN_PANEL) {
            krein_strips piece = {.pieces = size,
                                  .k = k,
                                  .a = x + y * s * line,
                                  .a_next = line,
                                  .a_row = s * frame.c,
                                  .a_term = 1,
                                  .b = W + from * size * k,
                                  .b_next = k * KREIN_PANEL,
                                  .b_row = KREIN_PANEL};
            krein__strips(add, to.w, krein__min(KREIN_PANEL, to.c - from), &piece,
                          out + y * to.w * to.c + from, to.c);
        }
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    const float *bias = p + l->first + rows_of(l) * l->to.c;
    bool begun = intercept(l) && !b->add;
    (void)part;
    for (int64_t i = row; i < row + n; i++) {
        float *out = b->out + i * l->out;
        for (int64_t q = 0; begun && q < l->out; q++) out[q] = bias[q % l->to.c];
        into_frame(l->from, b->x + i * l->in, 1, pad(l), in_frame(l), scratch);
        correlate(size_of(l), stride(l), in_frame(l), scratch, b->whole, begun || b->add, l->to,
                  out);
    }
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p;
    for (int64_t i = row; i < row + n; i++) {
        into_frame(l->to, b->gout + i * l->out, stride(l), size_of(l) - 1 - pad(l), out_frame(l),
                   scratch);
        correlate(size_of(l), 1, out_frame(l), scratch, turned_at(l, b->whole), b->add, l->from,
                  b->gx + i * l->in);
    }
}

/* ---- the gradient ------------------------------------------------------- */

/* Adds what comes from one image, in a frame, to the gradient of W. */
static void add_image(const krein_layer *l, const float *x, const float *g, int64_t ldg, bool add,
                      float *sum) {
    krein_shape frame = in_frame(l);
    int64_t line = frame.w * frame.c, m = size_of(l) * frame.c, s = stride(l);
    for (int64_t d = 0; d < size_of(l); d++)
        for (int64_t from = 0; from < l->to.c; from += KREIN_PANEL) {
            krein_strips piece = {.pieces = l->to.h,
                                  .k = l->to.w,
                                  .a = x + d * line,
                                  .a_next = s * line,
                                  .a_row = 1,
                                  .a_term = s * frame.c,
                                  .b = g + from,
                                  .b_next = l->to.w * ldg,
                                  .b_row = ldg};
            krein__strips(add, m, krein__min(KREIN_PANEL, l->to.c - from), &piece,
                          sum + d * m * l->to.c + from, l->to.c);
        }
}

/* The gradient of all parameters from some rows. */
static void add_rows(const krein_layer *l, const float *x, const float *gout, bool add,
                     bool intercepts, int64_t row, int64_t n, float *sum, float *scratch) {
    int64_t pixels = l->to.h * l->to.w, c = l->to.c, ld = readable(l);
    float *copy = scratch + krein__shape_size(in_frame(l)), *bias = sum + rows_of(l) * c;
    if (intercepts) memset(bias, 0, (size_t)c * sizeof *bias);
    for (int64_t i = row; i < row + n; i++, add = true) {
        const float *g = gout + i * l->out;
        into_frame(l->from, x + i * l->in, 1, pad(l), in_frame(l), scratch);
        for (int64_t q = 0; intercepts && q < pixels; q++)
            for (int64_t j = 0; j < c; j++) bias[j] += g[q * c + j];
        if (ld == c) {
            add_image(l, scratch, g, c, add, sum);
            continue;
        }
        memset(copy, 0, (size_t)(pixels * ld) * sizeof *copy);
        for (int64_t q = 0; q < pixels; q++)
            memcpy(copy + q * ld, g + q * c, (size_t)c * sizeof *copy);
        add_image(l, scratch, copy, ld, add, sum);
    }
}

static void gather(const krein_layer *l, const krein_pass *b, krein_way way, int64_t row, int64_t n,
                   float *sum, float *scratch) {
    bool second = way == KREIN_WAY_R_GRADIENT;
    add_rows(l, b->x, second ? b->rgout : b->gout, false, intercept(l), row, n, sum, scratch);
    if (second && !b->still) add_rows(l, b->rx, b->gout, true, false, row, n, sum, scratch);
}

static int64_t ranges(const krein_layer *l, int64_t part, krein_range *out) {
    return krein__weights_ranges(l, rows_of(l), intercept(l), part, out);
}

/* Sums of the groups, in their order. */
static void gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch) {
    krein_range range[KREIN_NET_RANGES];
    int64_t groups = krein__min(KREIN_NET_GROUPS, b->n), count = ranges(l, part, range);
    (void)scratch;
    for (int64_t q = 0; q < count; q++) {
        int64_t size = range[q].rows * range[q].columns;
        const float *sum = b->sums + range[q].first - l->first;
        memcpy(g, sum, (size_t)size * sizeof *g);
        for (int64_t k = 1; k < groups; k++)
            for (int64_t i = 0; i < size; i++) g[i] += sum[k * l->sums + i];
        g += size;
    }
}

static const krein_option options[] = {{.name = "width",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = NAN,
                                        .low = 1,
                                        .high = 1e5,
                                        .help = "channels of the output"},
                                       {.name = "size",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 3,
                                        .low = 1,
                                        .high = 1e3,
                                        .help = "of a window, in both directions"},
                                       {.name = "stride",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 1,
                                        .low = 1,
                                        .high = 1e3,
                                        .help = "pixels from a window to the next"},
                                       {.name = "pad",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 1,
                                        .low = 0,
                                        .high = 1e3,
                                        .help = "pixels of zeros around the image"},
                                       {.name = "intercept",
                                        .type = KREIN_OPTION_YESNO,
                                        .value = 0,
                                        .help = "add a number to each channel of the output"},
                                       {0}};

const krein_layer_class krein__layer_conv = {
    .cls = {"conv", "convolution of images", "", options, NULL},
    .shape = shape,
    .start = start,
    .gathers = KREIN_WAY_GRADIENT | KREIN_WAY_R_GRADIENT,
    .settles = KREIN_WAY_FORWARD | KREIN_WAY_BACKWARD | KREIN_WAY_R_FORWARD | KREIN_WAY_R_BACKWARD,
    .gather = gather,
    .settle = settle,
    .forward = forward,
    .backward = backward,
    .ranges = ranges,
    .gradient = gradient,
    .r_forward = krein__bilinear_r_forward,
    .r_backward = krein__bilinear_r_backward,
    .r_gradient = gradient};
