/* families.c -- lists of kernels, "k1; k2; ...", and ranges, which make families of kernels.
 *
 * A range low..high:count of a base kernel stands for values spaced geometrically,
 *
 *     x_i = 2^((a (count - 1 - i) + b i) / (count - 1)),   a = log2 low, b = log2 high,
 *
 * with the ends as they were given. Powers of two are exact; a decimal of few digits that the
 * formula misses by its rounding error alone is taken, so that 0.001..1000:7 has 0.1 and not
 * 0.10000000000000002. Whole-number options are rounded. Equal values count once. All values lie
 * between the ends, which the parser has checked against the option's limits.
 *
 * Several ranges in an expression give all combinations; the range that is written first changes
 * slowest. */
#include "kernel/kernel.h"

#include <math.h>

enum { DIGITS = 6 };

/* Values that one option of the base kernel `leaf` takes in turn. */
typedef struct range {
    krein_kernel *leaf;
    int64_t slot, place, n;
    double *value;
} range;

/* The i-th of `count` numbers from low to high. */
static double spaced(double low, double high, int64_t count, int64_t i) {
    if (i == 0) return low;
    if (i == count - 1) return high;
    double t = (double)i, rest = (double)(count - 1 - i);
    double power = (log2(low) * rest + log2(high) * t) / (double)(count - 1);
    double x = exp2(power), neat = krein__round_digits(x, DIGITS);
    if (fabs(neat - x) <= 0x1p-51 * (1 + fabs(power)) * x) x = neat;
    return fmax(fmin(low, high), fmin(x, fmax(low, high)));
}

/* The values of leaf's range at `slot`; it holds one number from then on. */
static krein_status take_range(krein_ctx *ctx, krein_kernel *leaf, int64_t slot, range *r) {
    krein_status st = KREIN_OK;
    krein_values *v = &leaf->values;
    const double low = v->number[slot], high = v->last[slot];
    const int64_t count = v->count[slot];
    *r = (range){.leaf = leaf, .slot = slot, .place = v->place[slot]};
    v->count[slot] = 1;
    v->last[slot] = 0;
    v->place[slot] = 0;
    NEW(r->value, count);
    for (int64_t i = 0; i < count; i++) {
        double x = spaced(low, high, count, i);
        if (leaf->kernel->cls.options[slot].type == KREIN_OPTION_INTEGER) x = round(x);
        if (i == 0 || x != r->value[r->n - 1]) r->value[r->n++] = x;
    }
done:
    return st;
}

static void free_ranges(krein_ctx *ctx, range *r, int64_t n) {
    for (int64_t i = 0; r && i < n; i++) krein__free(ctx, r[i].value);
    krein__free(ctx, r);
}

/* The n ranges of the expression in the order of its text; `k` has none afterwards. */
static krein_status take_ranges(krein_ctx *ctx, krein_kernel *k, int64_t n, range **out) {
    krein_status st = KREIN_OK;
    range *r = NULL;
    ZNEW(r, n);
    for (int64_t i = 0; i < n; i++) {
        krein_kernel *leaf = NULL;
        int64_t slot = 0, j = i;
        range next;
        krein__kernel_range(k, 0, &leaf, &slot); /* the first that is left */
        st = take_range(ctx, leaf, slot, &next);
        for (; j > 0 && r[j - 1].place > next.place; j--) r[j] = r[j - 1];
        r[j] = next;
        if (st != KREIN_OK) goto done;
    }
    *out = r;
    return KREIN_OK;
done:
    free_ranges(ctx, r, n);
    return st;
}

/* How many combinations there are, or something beyond KREIN_KERNELS_MAX. */
static int64_t combinations(const range *r, int64_t n) {
    int64_t total = 1;
    for (int64_t i = 0; i < n && total <= KREIN_KERNELS_MAX; i++) total *= r[i].n;
    return total;
}

static krein_status reserve(krein_ctx *ctx, krein_kernel_list *list, int64_t more, int64_t *room) {
    const int64_t need = list->n + more;
    if (need <= *room) return KREIN_OK;
    const int64_t new_room = krein__max(need, 2 * *room);
    void *grown = krein__resize(ctx, list->kernel, new_room, sizeof(krein_kernel *));
    if (!grown) return ctx->status;
    list->kernel = grown;
    *room = new_room;
    return KREIN_OK;
}

/* Appends k with every combination of the values; k's own values change. */
static krein_status append_all(krein_ctx *ctx, krein_kernel *k, const range *r, int64_t n,
                               int64_t total, krein_kernel_list *list) {
    for (int64_t c = 0; c < total; c++) {
        int64_t rest = c;
        for (int64_t i = n - 1; i >= 0; i--) {
            r[i].leaf->values.number[r[i].slot] = r[i].value[rest % r[i].n];
            rest /= r[i].n;
        }
        krein_status st = krein__kernel_check(ctx, k);
        if (st == KREIN_OK) st = krein__kernel_copy(ctx, k, &list->kernel[list->n]);
        if (st != KREIN_OK) return st;
        list->n++;
    }
    return KREIN_OK;
}

/* One entry of the list, to its ";" or the end of the text. */
static krein_status parse_entry(krein_ctx *ctx, krein_cursor *c, krein_kernel_list *list,
                                int64_t *room) {
    krein_status st = KREIN_OK;
    const krein_cursor start = *c;
    krein_kernel *k = NULL;
    range *r = NULL;
    int64_t n = 0, total;
    if (*c->at == ';')
        return krein__spec_error(ctx, c, "there is no kernel before this \";\"; leave it out");
    TRY(krein__kernel_parse_at(ctx, c, true, &k));
    n = krein__kernel_range(k, -1, NULL, NULL);
    TRY(take_ranges(ctx, k, n, &r));
    total = combinations(r, n);
    if (list->n + total > KREIN_KERNELS_MAX) {
        st = krein__spec_error(ctx, &start,
                               "with this there are more than 10,000 kernels in all; give ranges "
                               "a smaller count, or split the list");
        goto done;
    }
    TRY(reserve(ctx, list, total, room));
    TRY(append_all(ctx, k, r, n, total, list));
done:
    free_ranges(ctx, r, n);
    krein__kernel_destroy(ctx, k);
    return st;
}

krein_status krein__kernels_parse(krein_ctx *ctx, const char *text, krein_kernel_list *out) {
    krein_status st = KREIN_OK;
    krein_cursor c = {text, text, "kernel"};
    int64_t room = 0;
    *out = (krein_kernel_list){0, NULL};
    krein__skip_space(&c);
    if (!*c.at)
        return krein__spec_error(ctx, &c,
                                 "the list of kernels is empty; write for example "
                                 "\"gaussian(sigma=0.1..10:20); linear\"");
    while (*c.at) {
        TRY(parse_entry(ctx, &c, out, &room));
        if (*c.at == ';') c.at++;
        krein__skip_space(&c);
    }
    return KREIN_OK;
done:
    krein__kernels_clear(ctx, out);
    return st;
}

void krein__kernels_clear(krein_ctx *ctx, krein_kernel_list *list) {
    for (int64_t i = 0; i < list->n; i++) krein__kernel_destroy(ctx, list->kernel[i]);
    krein__free(ctx, list->kernel);
    *list = (krein_kernel_list){0, NULL};
}
