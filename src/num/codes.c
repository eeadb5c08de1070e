/* codes.c -- products of rows of codes with the codes of a layer: see codes.h
 *
 * Rows go in blocks of a few tiles. For a block and a chunk of the inputs the rows are laid out for
 * the kernel; each panel of weights then meets all tiles of the block while it is in the cache. The
 * sums of the block wait in scratch memory for what is made of them, which is done row by row:
 *
 *     reals    c_w c_s (Q + z_w S) + column,   S the sum of the row's codes
 *     waves    the phase a (Q + z_w S) + column,   a = turns c_w c_s
 *
 * The phase is found modulo 1 in units of 2^-32 turns, by whole numbers alone. a and a z_w are cut
 * to 2^-64, so that a Q with Q < 2^32 is right to 2^-31; columns are rounded to 2^-32. */
#include "num/codes.h"

#include "num/codes_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct krein_product {
    const krein_codes_kernel *kernel;
    int64_t inputs, outputs;
    int64_t panels, panel_bytes, row_stride;
    uint8_t *weights;
    uint32_t *start; /* panels x outputs of one: the sums begin with it */
    double factor, row, *column;
    uint64_t turn, row_turn; /* in 2^-64 turns */
    uint32_t *column_turn;   /* in 2^-32 turns; NULL: no waves */
};

static int64_t padded(const krein_product *p) { return p->panels * p->kernel->outputs; }
static int64_t block_rows(const krein_product *p) { return p->kernel->tile * p->kernel->tiles; }

/* ---- which kernel ---------------------------------------------------------- */

static const krein_codes_kernel *kernel_at(int64_t i) {
    return i < krein__codes_x86_count ? krein__codes_x86[i]
                                      : &krein__codes_portable[i - krein__codes_x86_count];
}

/* From the first kernel of the path on; NULL: there is none such, or this CPU lacks it. */
static const krein_codes_kernel *choose(int bits, const char *path) {
    const int64_t count = krein__codes_x86_count + krein__codes_portable_count;
    for (int64_t i = 0; i < count; i++) {
        const krein_codes_kernel *k = kernel_at(i);
        if (path && strcmp(k->path, path) == 0) {
            if (!k->here()) return NULL;
            path = NULL;
        }
        if (!path && k->bits == bits && k->here()) return k;
    }
    return NULL;
}

/* ---- sizes ------------------------------------------------------------------- */

static int64_t steps_of(const krein_codes_kernel *k, int64_t inputs) {
    return (inputs + k->group - 1) / k->group;
}

static krein_product shape(const krein_codes_kernel *k, int64_t inputs, int64_t outputs) {
    const int64_t row = steps_of(k, krein__min(inputs, KREIN_CODES_CHUNK)) * k->row_bytes;
    return (krein_product){.kernel = k,
                           .inputs = inputs,
                           .outputs = outputs,
                           .panels = (outputs + k->outputs - 1) / k->outputs,
                           .panel_bytes = steps_of(k, inputs) * k->step_bytes,
                           /* A line more: rows at a power of two share places of the cache. */
                           .row_stride = (row + 63) / 64 * 64 + 64};
}

int64_t krein__product_inputs(int bits) {
    int64_t most = (1 << bits) - 1;
    return (int64_t)UINT32_MAX / (most * most);
}

int64_t krein__product_scratch(const krein_product *p) {
    return block_rows(p) * (p->row_stride + padded(p) * (int64_t)sizeof(uint32_t));
}

double krein__product_bytes(int bits, int64_t inputs, int64_t outputs, double *scratch) {
    const krein_product p = shape(choose(bits, NULL), inputs, outputs);
    const double pieces = 6 * 128; /* what each allocation has in front */
    *scratch = (double)krein__product_scratch(&p) + 128;
    return (double)p.panels * (double)p.panel_bytes + 4 * (double)padded(&p) +
           12 * (double)outputs + (double)inputs + (double)sizeof p + pieces;
}

/* ---- create ------------------------------------------------------------------ */

/* x modulo 1 in units of 2^-64 and 2^-32. */
static uint64_t turns64(double x) {
    double f = x - floor(x);
    return f < 1 ? (uint64_t)(f * 0x1p64) : 0;
}
static uint32_t turns32(double x) { return (uint32_t)((turns64(x) + 0x80000000u) >> 32); }

/* 256 codes at a time fit into 16 bits, of which a vector has most. */
static uint64_t sum_codes(int64_t n, const uint8_t *codes) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i += 256) {
        uint16_t part = 0;
        for (int64_t k = i; k < krein__min(i + 256, n); k++) part = (uint16_t)(part + codes[k]);
        sum += part;
    }
    return sum;
}

/* Lays out the weights, output by output, and what follows from their sums. */
static krein_status lay_out(krein_ctx *ctx, krein_product *p, const krein_codes *w,
                            const krein_product_plan *plan) {
    krein_status st = KREIN_OK;
    const krein_codes_kernel *k = p->kernel;
    const int64_t K = w->inputs, bytes = krein__packed_bytes(w->quant.bits, K);
    const double zw = w->quant.zero, zs = plan->rows.zero;
    uint8_t *codes = NULL;
    NEW(codes, K);
    for (int64_t o = 0; o < w->outputs; o++) {
        krein__unpack(w->quant.bits, K, w->packed + o * bytes, codes);
        const uint64_t sum = sum_codes(K, codes);
        k->weights(k, K, codes, (int)(o % k->outputs),
                   p->weights + o / k->outputs * p->panel_bytes);
        p->start[o] = (uint32_t)sum * (uint32_t)k->shift;
        double rest = zs * (double)sum + (double)K * zw * zs;
        p->column[o] = p->factor * rest;
        if (p->column_turn)
            p->column_turn[o] =
                turns32(plan->turns * p->factor * rest + (plan->phase ? plan->phase[o] : 0));
    }
done:
    krein__free(ctx, codes);
    return st;
}

krein_status krein__product_create(krein_ctx *ctx, const krein_codes *w,
                                   const krein_product_plan *plan, krein_product **out) {
    krein_status st = KREIN_OK;
    krein_product *p = NULL;
    const char *path = plan->path ? plan->path : getenv("KREIN_TEST_CODES");
    *out = NULL;
    TRY(krein__codes_check(ctx, w));
    TRY(krein__quant_check(ctx, &plan->rows));
    const int bits = (int)krein__max(w->quant.bits, plan->rows.bits);
    const krein_codes_kernel *k = choose(bits, path);
    if (!k) {
        st = krein__fail(ctx, KREIN_EARG,
                         "products of codes by \"%s\": the path does not exist, or this CPU lacks "
                         "it; avx512, avxvnni, avx2 and portable are paths",
                         path);
        goto done;
    }
    if (w->inputs > krein__product_inputs(bits)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "%lld inputs of %d bits: sums of more than %lld do not fit into 32 bits; "
                         "use fewer bits or fewer inputs",
                         (long long)w->inputs, bits, (long long)krein__product_inputs(bits));
        goto done;
    }
    ZNEW(p, 1);
    *p = shape(k, w->inputs, w->outputs);
    p->factor = w->quant.scale * plan->rows.scale;
    p->row = w->quant.zero;
    p->turn = turns64(plan->turns * p->factor);
    p->row_turn = turns64(plan->turns * p->factor * w->quant.zero);
    ZNEW(p->weights, p->panels * p->panel_bytes);
    ZNEW(p->start, padded(p));
    NEW(p->column, p->outputs);
    if (plan->turns != 0) NEW(p->column_turn, p->outputs);
    TRY(lay_out(ctx, p, w, plan));
    *out = p;
    p = NULL;
done:
    krein__product_destroy(ctx, p);
    return st;
}

void krein__product_destroy(krein_ctx *ctx, krein_product *p) {
    if (!p) return;
    krein__free(ctx, p->weights);
    krein__free(ctx, p->start);
    krein__free(ctx, p->column);
    krein__free(ctx, p->column_turn);
    krein__free(ctx, p);
}

krein_phases krein__product_phases(const krein_product *p) {
    return (krein_phases){p->turn, p->row_turn, p->column_turn};
}

const char *krein__product_path(const krein_product *p) { return p->kernel->path; }

/* ---- products ---------------------------------------------------------------- */

/* Sums of at most block_rows rows, padded(p) numbers a row. */
static void sum_block(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                      uint8_t *rows, uint32_t *sums) {
    const krein_codes_kernel *k = p->kernel;
    for (int64_t i = 0; i < n; i++)
        memcpy(sums + i * padded(p), p->start, (size_t)padded(p) * sizeof *sums);
    for (int64_t from = 0; from < p->inputs; from += KREIN_CODES_CHUNK) {
        const int64_t K = krein__min(KREIN_CODES_CHUNK, p->inputs - from);
        const int64_t steps = (K + k->group - 1) / k->group;
        for (int64_t i = 0; i < n; i++) k->row(K, codes + i * ld + from, rows + i * p->row_stride);
        for (int64_t j = 0; j < p->panels; j++) {
            const uint8_t *panel =
                p->weights + j * p->panel_bytes + from / k->group * k->step_bytes;
            for (int64_t i = 0; i < n; i += k->tile)
                k->product((int)krein__min(k->tile, n - i), steps, panel, rows + i * p->row_stride,
                           p->row_stride, sums + i * padded(p) + j * k->outputs, padded(p));
        }
    }
}

/* What is made of a row's sums. */
typedef struct result {
    uint32_t *sums;
    float *reals;
    const krein_wave_codes *waves;
    uint8_t *pairs;
} result;

static void finish(const krein_product *p, const result *to, int64_t row, const uint8_t *codes,
                   const uint32_t *sums) {
    const int64_t M = p->outputs;
    if (to->sums) {
        memcpy(to->sums + row * M, sums, (size_t)M * sizeof *sums);
        return;
    }
    const uint64_t S = sum_codes(p->inputs, codes);
    if (to->reals) {
        const double add = p->row * (double)S;
        for (int64_t j = 0; j < M; j++)
            to->reals[row * M + j] = (float)(p->factor * ((double)sums[j] + add) + p->column[j]);
        return;
    }
    const uint32_t turn = (uint32_t)((p->row_turn * S) >> 32);
    krein__wave_codes_of_sums(to->waves, p->kernel->level, M, sums, p->turn, p->column_turn, turn,
                              to->pairs + row * 2 * M);
}

static void product(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                    void *scratch, const result *to) {
    const int64_t block = block_rows(p); /* a multiple of 4: rows begin at a multiple of 16 */
    uint32_t *sums = scratch;
    uint8_t *rows = (uint8_t *)(sums + block * padded(p));
    for (int64_t i = 0; i < n; i += block) {
        const int64_t count = krein__min(block, n - i);
        sum_block(p, count, codes + i * ld, ld, rows, sums);
        for (int64_t r = 0; r < count; r++)
            finish(p, to, i + r, codes + (i + r) * ld, sums + r * padded(p));
    }
}

void krein__product_sums(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                         void *scratch, uint32_t *sums) {
    product(p, n, codes, ld, scratch, &(result){.sums = sums});
}

void krein__product_reals(const krein_product *p, int64_t n, const uint8_t *codes, int64_t ld,
                          void *scratch, float *out) {
    product(p, n, codes, ld, scratch, &(result){.reals = out});
}

void krein__product_waves(const krein_product *p, const krein_wave_codes *waves, int64_t n,
                          const uint8_t *codes, int64_t ld, void *scratch, uint8_t *pairs) {
    product(p, n, codes, ld, scratch, &(result){.waves = waves, .pairs = pairs});
}
