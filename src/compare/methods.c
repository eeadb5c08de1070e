/* methods.c -- the methods of a comparison: lists of specs, their product, and other programs. */
#include "compare/compare.h"

#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

/* Items of a list, as typed but for blanks around them. */
typedef struct items {
    char **text;
    int64_t n;
} items;

static void items_clear(krein_ctx *ctx, items *l) {
    for (int64_t i = 0; i < l->n; i++) krein__free(ctx, l->text[i]);
    krein__free(ctx, l->text);
    *l = (items){0};
}

static krein_status append(krein_ctx *ctx, items *l, const char *text, size_t length) {
    krein_status st = KREIN_OK;
    if (l->n == KREIN_METHODS_MAX)
        return krein__fail(ctx, KREIN_EARG, "at most %d methods at once", KREIN_METHODS_MAX);
    char **grown = krein__resize(ctx, l->text, l->n + 1, sizeof *grown);
    if (!grown) return ctx->status;
    l->text = grown;
    if (!(l->text[l->n] = krein__strndup(ctx, text, length))) st = ctx->status;
    if (st == KREIN_OK) l->n++;
    return st;
}

/* The end of the item at text: a ";" outside quotes, parentheses and braces. */
static const char *item_end(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '"') quoted = !quoted;
        if (quoted) continue;
        depth += (*text == '(' || *text == '{') - (*text == ')' || *text == '}');
        if (*text == ';' && depth <= 0) break;
    }
    return text;
}

static krein_status split_list(krein_ctx *ctx, const char *name, const char *text, items *out) {
    krein_status st = KREIN_OK;
    while (text && *text) {
        const char *end = item_end(text), *last = end;
        text += strspn(text, " \t\n");
        while (last > text && strchr(" \t\n", last[-1])) last--;
        if (last > text) TRY(append(ctx, out, text, (size_t)(last - text)));
        text = *end ? end + 1 : end;
    }
    if (out->n == 0) st = krein__fail(ctx, KREIN_EARG, "`%s` is an empty list", name);
done:
    return st;
}

static bool is_default(const char *item) { return !item || strcmp(item, "default") == 0; }
static bool is_sum(const char *item) { return item[0] == '{'; }

/* The list in braces. */
static krein_status inside(krein_ctx *ctx, const char *item, char **out) {
    size_t length = strlen(item);
    if (item[length - 1] != '}')
        return krein__fail(ctx, KREIN_ESPEC, "kernels \"%s\": the brace is not closed", item);
    *out = krein__strndup(ctx, item + 1, length - 2);
    return *out ? KREIN_OK : ctx->status;
}

/* A kernel, its family, or several in braces. */
static krein_status add_kernels(krein_ctx *ctx, const char *item, items *out) {
    krein_status st = KREIN_OK;
    krein_kernel_list list = {0};
    char *text = NULL;
    if (is_default(item)) return append(ctx, out, item, strlen(item));
    if (is_sum(item)) {
        TRY(inside(ctx, item, &text));
        TRY(krein__kernels_parse(ctx, text, &list));
        TRY(append(ctx, out, item, strlen(item)));
        goto done;
    }
    TRY(krein__kernels_parse(ctx, item, &list));
    if (list.n == 1) TRY(append(ctx, out, item, strlen(item)));
    for (int64_t i = 0; list.n > 1 && i < list.n; i++) {
        krein__free(ctx, text);
        if (!(text = krein__kernel_text(ctx, list.kernel[i]))) {
            st = ctx->status;
            goto done;
        }
        TRY(append(ctx, out, text, strlen(text)));
    }
done:
    krein__free(ctx, text);
    krein__kernels_clear(ctx, &list);
    return st;
}

static krein_status kernel_items(krein_ctx *ctx, const char *text, items *out) {
    krein_status st = KREIN_OK;
    items typed = {0};
    TRY(split_list(ctx, "kernels", text, &typed));
    for (int64_t i = 0; i < typed.n; i++) TRY(add_kernels(ctx, typed.text[i], out));
done:
    items_clear(ctx, &typed);
    return st;
}

static krein_status spec_items(krein_ctx *ctx, const char *table, const char *text, items *out) {
    krein_status st = KREIN_OK;
    TRY(split_list(ctx, table, text, out));
    for (int64_t i = 0; i < out->n; i++)
        if (!is_default(out->text[i])) TRY(krein_check_spec(ctx, table, out->text[i]));
done:
    return st;
}

/* Room for one more, zeroed. */
static krein_status grow(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    if (c->methods == KREIN_METHODS_MAX)
        return krein__fail(ctx, KREIN_EARG, "at most %d methods at once", KREIN_METHODS_MAX);
    krein_method *grown = krein__resize(ctx, c->method, c->methods + 1, sizeof *grown);
    if (!grown) return ctx->status;
    c->method = grown;
    c->method[c->methods++] = (krein_method){0};
    return KREIN_OK;
}

/* What of the three was asked for, with " / " between. */
static krein_status make_name(krein_ctx *ctx, const char *const part[3], char **out) {
    krein_status st = KREIN_OK;
    char *text = NULL, *longer = NULL;
    for (int k = 0; k < 3; k++) {
        if (!part[k]) continue;
        if (!(longer = krein__format(ctx, "%s%s%s", text ? text : "", text ? " / " : "", part[k])))
            st = ctx->status;
        krein__free(ctx, text);
        text = longer;
        if (st != KREIN_OK) return st;
    }
    if (!text) DUP(text, "default");
    *out = text;
done:
    return st;
}

static krein_status check_name(const krein_comparison *c) {
    const krein_method *last = &c->method[c->methods - 1];
    for (int64_t i = 0; i + 1 < c->methods; i++)
        if (strcmp(c->method[i].name, last->name) == 0)
            return krein__fail(c->ctx, KREIN_EARG, "there are two methods \"%s\"", last->name);
    return KREIN_OK;
}

static krein_status add_method(krein_comparison *c, const char *learner, const char *kernel,
                               const char *map) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    const char *const part[] = {learner, kernel, map};
    TRY(grow(c));
    krein_method *m = &c->method[c->methods - 1];
    TRY(make_name(ctx, part, &m->name));
    TRY(check_name(c));
    if (!is_default(learner)) DUP(m->learner, learner);
    if (!is_default(kernel)) DUP(m->kernel, kernel);
    if (!is_default(map)) DUP(m->map, map);
    if (m->kernel && is_sum(m->kernel)) TRY(inside(ctx, m->kernel, &m->kernels));
    krein_train_options o = krein__method_options(c, m, 0);
    if (krein_train_check(ctx, &o) != KREIN_OK) DUP(m->refused, ctx->message);
done:
    return st;
}

static krein_status add_product(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    items learners = {0}, kernels = {0}, maps = {0};
    if (c->o.learners) TRY(spec_items(ctx, "learners", c->o.learners, &learners));
    if (c->o.kernels) TRY(kernel_items(ctx, c->o.kernels, &kernels));
    if (c->o.maps) TRY(spec_items(ctx, "maps", c->o.maps, &maps));
    for (int64_t i = 0; i < krein__max(1, learners.n); i++)
        for (int64_t j = 0; j < krein__max(1, kernels.n); j++)
            for (int64_t k = 0; k < krein__max(1, maps.n); k++)
                TRY(add_method(c, learners.n ? learners.text[i] : NULL,
                               kernels.n ? kernels.text[j] : NULL, maps.n ? maps.text[k] : NULL));
done:
    items_clear(ctx, &learners);
    items_clear(ctx, &kernels);
    items_clear(ctx, &maps);
    return st;
}

/* "NAME: SHELL" */
static krein_status add_command(krein_comparison *c, const char *text) {
    static const char *const needed[] = {"{train}", "{test}", "{out}"};
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    const char *colon = strchr(text, ':');
    text += strspn(text, " ");
    size_t length = colon ? (size_t)(colon - text) : 0;
    while (length > 0 && text[length - 1] == ' ') length--;
    if (length == 0)
        return krein__fail(ctx, KREIN_EARG,
                           "`command` is \"NAME: SHELL COMMAND\"; \"%.200s\" has no name", text);
    const char *shell = colon + 1 + strspn(colon + 1, " ");
    for (int k = 0; k < 3; k++)
        if (!strstr(shell, needed[k]))
            return krein__fail(
                ctx, KREIN_EARG,
                "`command` %.*s has no %s; it must read {train} and {test} and write "
                "its predictions, one a line, to {out}",
                (int)length, text, needed[k]);
    TRY(grow(c));
    krein_method *m = &c->method[c->methods - 1];
    if (!(m->name = krein__strndup(ctx, text, length))) {
        st = ctx->status;
        goto done;
    }
    TRY(check_name(c));
    DUP(m->command, shell);
done:
    return st;
}

krein_status krein__methods_parse(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    bool any = false;
    TRY(add_product(c));
    for (int64_t i = 0; i < c->o.ncommands; i++) TRY(add_command(c, c->o.commands[i]));
    for (int64_t i = 0; i < c->methods; i++) any = any || !c->method[i].refused;
    if (!any) st = krein__fail(ctx, KREIN_EARG, "%s", c->method[0].refused);
done:
    return st;
}

void krein__methods_clear(krein_comparison *c) {
    for (int64_t i = 0; i < c->methods; i++) {
        krein_method *m = &c->method[i];
        char *all[] = {m->name, m->learner, m->kernel, m->kernels, m->map, m->command, m->refused};
        for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(c->ctx, all[k]);
    }
    krein__free(c->ctx, c->method);
}

krein_train_options krein__method_options(const krein_comparison *c, const krein_method *m,
                                          int64_t split) {
    krein_train_options o = c->train;
    o.learner = m->learner;
    o.kernel = m->kernels ? NULL : m->kernel;
    o.kernels = m->kernels;
    o.map = m->map;
    o.seed += (uint64_t)split;
    o.holdout = c->o.holdout;
    o.probabilities = c->o.measure == KREIN_MEASURE_LOGLOSS || c->o.measure == KREIN_MEASURE_AUC;
    return o;
}
