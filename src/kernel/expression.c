/* expression.c -- parsing, printing and expanding kernel expressions; grammar in kernel.h. */
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* TEXT: of an expression, some hundred kernels with their values. */
enum { DEPTH = 64, TEXT = 1 << 17 };

static krein_status too_long(krein_ctx *ctx) {
    return krein__fail(
        ctx, KREIN_ESPEC,
        "the kernel expression is too long, with its values filled in: at most %d characters",
        TEXT - 1);
}

static krein_status too_many(krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_ESPEC, "the kernel expands to more than %d terms",
                       KREIN_EXPANSION_MAX);
}

void krein__kernel_destroy(krein_ctx *ctx, krein_kernel *k) {
    if (!k) return;
    krein__kernel_destroy(ctx, k->left);
    krein__kernel_destroy(ctx, k->right);
    krein__values_clear(ctx, &k->values);
    krein__free(ctx, k->own);
    krein__free(ctx, k);
}

krein_status krein__kernel_copy(krein_ctx *ctx, const krein_kernel *k, krein_kernel **out) {
    krein_status st = KREIN_OK;
    krein_kernel *copy = NULL;
    *out = NULL;
    ZNEW(copy, 1);
    copy->node = k->node;
    copy->kernel = k->kernel;
    copy->number = k->number;
    TRY(krein__values_copy(ctx, &k->values, &copy->values));
    if (k->own) {
        NEW(copy->own, k->owned);
        copy->owned = k->owned;
        memcpy(copy->own, k->own, (size_t)k->owned * sizeof *k->own);
    }
    if (k->left) TRY(krein__kernel_copy(ctx, k->left, &copy->left));
    if (k->right) TRY(krein__kernel_copy(ctx, k->right, &copy->right));
    *out = copy;
    return KREIN_OK;
done:
    krein__kernel_destroy(ctx, copy);
    return st;
}

/* ---- parsing ------------------------------------------------------------ */

/* A node over two subtrees, which it takes over, also on failure. */
static krein_status join(krein_ctx *ctx, krein_node node, double number, krein_kernel *left,
                         krein_kernel *right, krein_kernel **out) {
    krein_kernel *k = krein__zalloc(ctx, 1, sizeof *k);
    if (!k) {
        krein__kernel_destroy(ctx, left);
        krein__kernel_destroy(ctx, right);
        *out = NULL;
        return ctx->status;
    }
    k->node = node;
    k->number = number;
    k->left = left;
    k->right = right;
    *out = k;
    return KREIN_OK;
}

/* Expressions are kept in one form, so that text and tree determine each other: factors are pulled
 * out of products and multiplied into one, sums and products lean to the left. */

/* number * k; takes k over. */
static krein_status scale(krein_ctx *ctx, double number, krein_kernel *k, krein_kernel **out) {
    if (k->node == KREIN_NODE_SCALE) {
        krein_kernel *inner = k->left;
        number *= k->number;
        k->left = NULL;
        krein__kernel_destroy(ctx, k);
        k = inner;
    }
    *out = k;
    if (!isfinite(number)) {
        krein__kernel_destroy(ctx, k);
        *out = NULL;
        return krein__fail(ctx, KREIN_ESPEC, "a factor of the kernel is too large");
    }
    return number == 1 ? KREIN_OK : join(ctx, KREIN_NODE_SCALE, number, k, NULL, out);
}

/* left (+ or *) right, with right's own chain hung to the left one by one; takes both over. */
static krein_status chain(krein_ctx *ctx, krein_node node, krein_kernel *left, krein_kernel *right,
                          krein_kernel **out) {
    if (right->node != node) return join(ctx, node, 1, left, right, out);
    krein_kernel *first = right->left, *last = right->right, *front = NULL;
    right->left = right->right = NULL;
    krein__kernel_destroy(ctx, right);
    krein_status st = chain(ctx, node, left, first, &front);
    if (st != KREIN_OK) {
        krein__kernel_destroy(ctx, last);
        *out = NULL;
        return st;
    }
    return join(ctx, node, 1, front, last, out);
}

krein_status krein__term_kernel(krein_ctx *ctx, const krein_term *term, krein_kernel **out) {
    krein_status st = krein__kernel_copy(ctx, term->leaf[0], out);
    for (int64_t l = 1; st == KREIN_OK && l < term->n; l++) {
        krein_kernel *leaf = NULL;
        st = krein__kernel_copy(ctx, term->leaf[l], &leaf);
        if (st == KREIN_OK) {
            st = join(ctx, KREIN_NODE_PRODUCT, 1, *out, leaf, out);
        } else {
            krein__kernel_destroy(ctx, *out);
            *out = NULL;
        }
    }
    return st;
}

krein_status krein__kernel_add_term(krein_ctx *ctx, const krein_term *term, krein_kernel **sum) {
    krein_kernel *k = NULL, *left = *sum;
    *sum = NULL;
    krein_status st = krein__term_kernel(ctx, term, &k);
    if (st == KREIN_OK) st = scale(ctx, term->coefficient, k, &k);
    if (st == KREIN_OK && left) return join(ctx, KREIN_NODE_SUM, 1, left, k, sum);
    if (st == KREIN_OK)
        *sum = k;
    else
        krein__kernel_destroy(ctx, left);
    return st;
}

/* Takes the factor off k: *number times what remains in *k. */
static void take_factor(krein_ctx *ctx, krein_kernel **k, double *number) {
    krein_kernel *whole = *k;
    if (whole->node != KREIN_NODE_SCALE) return;
    *number *= whole->number;
    *k = whole->left;
    whole->left = NULL;
    krein__kernel_destroy(ctx, whole);
}

const char *krein__kernel_alias(const krein_class *kernel) {
    const char *alias = ((const krein_kernel_class *)kernel)->alias;
    return alias ? alias : "";
}

/* An expression that starts at `start`; in a list it may have ranges and ends with ";". */
typedef struct source {
    krein_cursor *c;
    const char *start;
    bool in_list;
    int64_t *leaves; /* so far: the tree is as deep as a sum is long */
} source;

static krein_status parse_sum(krein_ctx *ctx, const source *s, int depth, krein_kernel **out);

static krein_status parse_leaf(krein_ctx *ctx, const source *s, krein_kernel **out) {
    krein_cursor *c = s->c;
    char name[64];
    int64_t which;
    krein_cursor start = *c;
    if (!krein__read_name(c, name, sizeof name))
        return krein__spec_error(ctx, c, "expected a kernel, a number or \"(\"");
    for (int64_t i = 0; i < krein__kernel_count; i++)
        if (strcmp(name, krein__kernel_alias(krein__kernels[i])) == 0)
            snprintf(name, sizeof name, "%s", krein__kernels[i]->name);
    krein_status st =
        krein__find_class(ctx, &start, name, krein__kernels, krein__kernel_count, &which);
    if (st != KREIN_OK) return st;
    if (++*s->leaves > KREIN_EXPANSION_MAX) return too_many(ctx);
    krein_kernel *k = krein__zalloc(ctx, 1, sizeof *k);
    if (!k) return ctx->status;
    k->node = KREIN_NODE_LEAF;
    k->kernel = (const krein_kernel_class *)krein__kernels[which];
    st = krein__parse_options(ctx, c, &k->kernel->cls, s->in_list, &k->values);
    const char *wrong =
        st == KREIN_OK && k->kernel->complete ? k->kernel->complete(&k->values) : NULL;
    if (wrong) st = krein__spec_error(ctx, &start, "%s: %s", name, wrong);
    if (st != KREIN_OK)
        krein__kernel_destroy(ctx, k);
    else
        *out = k;
    return st;
}

/* A factor is a kernel (*out) or a plain number (*out stays NULL, *number set). */
static krein_status parse_factor(krein_ctx *ctx, const source *s, int depth, double *number,
                                 krein_kernel **out) {
    krein_cursor *c = s->c;
    *out = NULL;
    *number = 1;
    krein__skip_space(c);
    if (depth > DEPTH) return krein__spec_error(ctx, c, "nested too deeply");
    if (c->at - s->start >= TEXT) return too_long(ctx);
    if (*c->at == '-' || *c->at == '+') {
        double sign = *c->at++ == '-' ? -1 : 1;
        krein_status st = parse_factor(ctx, s, depth + 1, number, out);
        if (st != KREIN_OK || sign > 0) return st;
        *number = -*number;
        if (!*out) return st;
        *number = 1;
        return scale(ctx, -1, *out, out);
    }
    if (*c->at == '(') {
        c->at++;
        krein_status st = parse_sum(ctx, s, depth + 1, out);
        krein__skip_space(c);
        if (st == KREIN_OK && *c->at != ')') {
            krein__kernel_destroy(ctx, *out);
            *out = NULL;
            st = krein__spec_error(ctx, c, "expected \")\"");
        }
        if (st == KREIN_OK) c->at++;
        return st;
    }
    if (krein__read_number(c, number))
        return isfinite(*number) ? KREIN_OK : krein__spec_error(ctx, c, "the number is too large");
    return parse_leaf(ctx, s, out);
}

static krein_status parse_product(krein_ctx *ctx, const source *s, int depth, krein_kernel **out) {
    krein_cursor *c = s->c;
    krein_status st = KREIN_OK;
    krein_kernel *product = NULL, *next = NULL;
    double number = 1, factor;
    do {
        TRY(parse_factor(ctx, s, depth, &factor, &next));
        number *= factor;
        if (next) take_factor(ctx, &next, &number);
        if (next && product) {
            krein_kernel *left = product;
            product = NULL;
            TRY(chain(ctx, KREIN_NODE_PRODUCT, left, next, &product));
        } else if (next) {
            product = next;
        }
        next = NULL;
        krein__skip_space(c);
    } while (*c->at == '*' && c->at++);
    if (!product) {
        st = krein__spec_error(ctx, c, "a number alone is not a kernel; write number*kernel");
        goto done;
    }
    return scale(ctx, number, product, out);
done:
    krein__kernel_destroy(ctx, product);
    return st;
}

static krein_status parse_sum(krein_ctx *ctx, const source *s, int depth, krein_kernel **out) {
    krein_cursor *c = s->c;
    krein_status st = KREIN_OK;
    krein_kernel *sum = NULL, *next = NULL;
    *out = NULL;
    TRY(parse_product(ctx, s, depth, &sum));
    for (krein__skip_space(c); *c->at == '+' || *c->at == '-'; krein__skip_space(c)) {
        bool minus = *c->at++ == '-';
        TRY(parse_product(ctx, s, depth, &next));
        if (minus) {
            krein_kernel *right = next;
            next = NULL;
            TRY(scale(ctx, -1, right, &next));
        }
        krein_kernel *left = sum, *right = next;
        sum = next = NULL;
        TRY(chain(ctx, KREIN_NODE_SUM, left, right, &sum));
    }
    *out = sum;
    return KREIN_OK;
done:
    krein__kernel_destroy(ctx, sum);
    return st;
}

/* Base kernels in the longest product of the expansion. */
static int64_t longest(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return 1;
    int64_t left = longest(k->left), right = k->right ? longest(k->right) : 0;
    return k->node == KREIN_NODE_PRODUCT ? left + right : krein__max(left, right);
}

/* It must have few enough terms, and it must be possible to print it, with a value for every
 * parameter, and to read it again. */
static krein_status check_size(krein_ctx *ctx, krein_kernel *k) {
    if (longest(k) > KREIN_TERM_LEAVES)
        return krein__fail(ctx, KREIN_ESPEC, "a product has more than %d kernels",
                           KREIN_TERM_LEAVES);
    if (krein__kernel_term_count(k) > KREIN_EXPANSION_MAX) return too_many(ctx);
    char *printed = krein__kernel_text(ctx, k);
    if (!printed) return ctx->status;
    int64_t n = krein__kernel_free(k, -1, NULL, NULL) + krein__kernel_range(k, -1, NULL, NULL);
    bool fits = strlen(printed) + 24 * (size_t)n < TEXT;
    krein__free(ctx, printed);
    return fits ? KREIN_OK : too_long(ctx);
}

krein_status krein__kernel_check(krein_ctx *ctx, const krein_kernel *k) {
    krein_status st = KREIN_OK;
    if (k->left) TRY(krein__kernel_check(ctx, k->left));
    if (k->right) TRY(krein__kernel_check(ctx, k->right));
    if (k->node != KREIN_NODE_LEAF || !k->kernel->check) return KREIN_OK;
    for (int i = 0; i < KREIN_OPTIONS_MAX; i++)
        if (k->values.count[i] > 1) return KREIN_OK;
    const char *wrong = k->kernel->check(k->values.number);
    if (wrong) st = krein__fail(ctx, KREIN_ESPEC, "%s: %s", k->kernel->cls.name, wrong);
done:
    return st;
}

krein_status krein__kernel_weighted_sum(krein_ctx *ctx, krein_kernel *const *kernel,
                                        const double *weight, int64_t n, krein_kernel **out) {
    krein_status st = KREIN_OK;
    krein_kernel *sum = NULL, *next = NULL;
    *out = NULL;
    for (int64_t i = 0; i < n; i++) {
        krein_kernel *copy = NULL, *left = sum;
        TRY(krein__kernel_copy(ctx, kernel[i], &copy));
        TRY(scale(ctx, weight[i], copy, &next));
        sum = NULL;
        if (left)
            TRY(chain(ctx, KREIN_NODE_SUM, left, next, &sum));
        else
            sum = next;
    }
    TRY(check_size(ctx, sum));
    *out = sum;
    return KREIN_OK;
done:
    krein__kernel_destroy(ctx, sum);
    return st;
}

krein_status krein__kernel_parse_at(krein_ctx *ctx, krein_cursor *c, bool in_list,
                                    krein_kernel **out) {
    krein_status st = KREIN_OK;
    int64_t leaves = 0;
    const source s = {c, c->at, in_list, &leaves};
    TRY(parse_sum(ctx, &s, 0, out));
    krein__skip_space(c);
    if (*c->at == ';' && !in_list)
        st = krein__spec_error(ctx, c, "one kernel is wanted here; lists are for `kernels`");
    else if (*c->at && *c->at != ';')
        st = krein__spec_error(ctx, c, "unexpected \"%c\" after the expression", *c->at);
    else if (c->at - s.start >= TEXT)
        st = too_long(ctx);
    else
        st = check_size(ctx, *out);
    if (st == KREIN_OK) st = krein__kernel_check(ctx, *out);
done:
    if (st != KREIN_OK) {
        krein__kernel_destroy(ctx, *out);
        *out = NULL;
    }
    return st;
}

krein_status krein__kernel_parse(krein_ctx *ctx, const char *text, krein_kernel **out) {
    krein_cursor c = {text, text, "kernel"};
    return krein__kernel_parse_at(ctx, &c, false, out);
}

/* ---- printing ----------------------------------------------------------- */

typedef struct printer {
    char *text;
    size_t used, room;
} printer;

static krein_status put(krein_ctx *ctx, printer *p, const char *text) {
    size_t n = strlen(text) + 1;
    if (p->used + n > p->room) {
        size_t room = 2 * (p->room + n) + 128;
        char *grown = krein__resize(ctx, p->text, (int64_t)room, 1);
        if (!grown) return ctx->status;
        p->text = grown;
        p->room = room;
    }
    memcpy(p->text + p->used, text, n);
    p->used += n - 1;
    return KREIN_OK;
}

static krein_status print(krein_ctx *ctx, const krein_kernel *k, bool inside_product, printer *p);

static krein_status print_leaf(krein_ctx *ctx, const krein_kernel *k, printer *p) {
    char *text = krein__spec_text(ctx, &k->kernel->cls, &k->values);
    if (!text) return ctx->status;
    krein_status st = put(ctx, p, text);
    krein__free(ctx, text);
    return st;
}

static krein_status print_factor(krein_ctx *ctx, double number, printer *p) {
    char text[40];
    krein_status st = put(ctx, p, krein__number_text(number, text));
    return st == KREIN_OK ? put(ctx, p, "*") : st;
}

/* "- 2*x" instead of "+ -2*x" */
static krein_status print_summand(krein_ctx *ctx, const krein_kernel *k, printer *p) {
    krein_status st = KREIN_OK;
    bool minus = k->node == KREIN_NODE_SCALE && k->number < 0;
    TRY(put(ctx, p, minus ? " - " : " + "));
    if (minus && k->number != -1) TRY(print_factor(ctx, -k->number, p));
    TRY(print(ctx, minus ? k->left : k, minus, p));
done:
    return st;
}

static krein_status print(krein_ctx *ctx, const krein_kernel *k, bool inside_product, printer *p) {
    krein_status st = KREIN_OK;
    if (k->node == KREIN_NODE_LEAF) {
        TRY(print_leaf(ctx, k, p));
    } else if (k->node == KREIN_NODE_SCALE) {
        TRY(print_factor(ctx, k->number, p));
        TRY(print(ctx, k->left, true, p));
    } else if (k->node == KREIN_NODE_PRODUCT) {
        TRY(print(ctx, k->left, true, p));
        TRY(put(ctx, p, "*"));
        TRY(print(ctx, k->right, true, p));
    } else {
        if (inside_product) TRY(put(ctx, p, "("));
        TRY(print(ctx, k->left, false, p));
        TRY(print_summand(ctx, k->right, p));
        if (inside_product) TRY(put(ctx, p, ")"));
    }
done:
    return st;
}

char *krein__kernel_text(krein_ctx *ctx, const krein_kernel *k) {
    printer p = {NULL, 0, 0};
    if (print(ctx, k, false, &p) == KREIN_OK) {
        char *text = krein__resize(ctx, p.text, (int64_t)p.used + 1, 1);
        if (text) return text;
    }
    krein__free(ctx, p.text);
    return NULL;
}
