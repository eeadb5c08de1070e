/* mkl -- multiple kernel learning: a learner on a weighted sum of kernels
 *
 *     k = sum_m mu_m c_m k_m,   mu >= 0, sum mu = 1
 *
 * c_m makes the mean of k_m(x, x) over the training rows one, so that weights compare kernels and
 * not their units. The weights come first (a weighing, weighings.def), then `base` is trained on
 * the sum: on its matrix, or on the kernels' features side by side, times sqrt(mu_m c_m).
 *
 * mkl is no learner of its own but a way to write two things in one spec:
 *     mkl(method=easymkl, base=svm, C=3, lambda=0.2)   =   svm(C=3)  and  easymkl(lambda=0.2)
 * Keys that are not those of mkl go to the weighing, which refuses what it does not know. */
#include "combine/mkl.h"

#include <stdio.h>
#include <string.h>

enum { METHOD, BASE, C_, MULTI };
enum { VALUE = 64, SPEC = 512 };

static const krein_option options[] = {
    {.name = "method",
     .type = KREIN_OPTION_TEXT,
     .text = "alignment",
     .help = "how the kernels are weighed: one of the weighings, whose options go here too"},
    {.name = "base", .type = KREIN_OPTION_WORD, .words = "krr|svm", .help = "learner on the sum"},
    {.name = "C",
     .value = NAN,
     .low = 0,
     .high = INFINITY,
     .low_open = true,
     .high_open = true,
     .derived = true,
     .help = "base=svm: weight of the losses; by cross-validation when not given"},
    {.name = "multi",
     .type = KREIN_OPTION_WORD,
     .words = "ovr|ovo|crammer|gmnp",
     .help = "base=svm: what it does with several classes"},
    {0}};

/* Appends " key=value" to a list of them. */
static krein_status append(krein_ctx *ctx, const krein_pair *p, char *list) {
    size_t used = strlen(list);
    int wrote = snprintf(list + used, SPEC - used, "%s%s=%.*s", used ? ", " : "", p->key,
                         (int)p->length, p->value);
    if ((size_t)wrote < SPEC - used) return KREIN_OK;
    return krein__fail(ctx, KREIN_ESPEC, "the spec of mkl is too long");
}

/* A spec of a name and a list of pairs. */
static char *spec_of(krein_ctx *ctx, const char *name, const char *list) {
    return krein__format(ctx, *list ? "%s(%s)" : "%s%s", name, list);
}

static krein_status take(krein_ctx *ctx, const krein_cursor *c, const krein_pair *p, char *out) {
    if (*out) return krein__spec_error(ctx, c, "%s is given twice", p->key);
    snprintf(out, VALUE, "%.*s", (int)p->length, p->value);
    return KREIN_OK;
}

static krein_status check_base(krein_ctx *ctx, const char *base) {
    char word[VALUE];
    for (int64_t k = 0; krein__word(options[BASE].words, k, word, sizeof word); k++)
        if (!*base || strcmp(base, word) == 0) return KREIN_OK;
    return krein__fail(ctx, KREIN_ESPEC, "mkl: base must be one of %s", options[BASE].words);
}

static krein_status expand(krein_ctx *ctx, const char *text, char **learner, char **weighing) {
    krein_status st = KREIN_OK;
    krein_cursor c = {text, text, "learner"};
    char name[VALUE], method[VALUE] = "", base[VALUE] = "", of_base[SPEC] = "",
                      of_method[SPEC] = "";
    krein_pair p;
    TRY(krein__spec_name(ctx, &c, name, sizeof name));
    for (;;) {
        krein_cursor start = c;
        TRY(krein__spec_pair(ctx, &c, &p));
        if (!*p.key) break;
        int64_t i = krein__option_index(&krein__learner_mkl.cls, p.key);
        TRY(i == METHOD ? take(ctx, &start, &p, method)
            : i == BASE ? take(ctx, &start, &p, base)
                        : append(ctx, &p, i == C_ || i == MULTI ? of_base : of_method));
    }
    TRY(check_base(ctx, base));
    if (!(*learner = spec_of(ctx, *base ? base : "krr", of_base)) ||
        !(*weighing = spec_of(ctx, *method ? method : options[METHOD].text, of_method)))
        st = ctx->status;
done:
    return st;
}

char *krein__mkl_text(krein_ctx *ctx, const krein_class *base, const krein_values *values,
                      const krein_weighing *w) {
    char C[64] = "", multi[80] = "", word[VALUE], number[40];
    int64_t slot = krein__option_index(base, "C"), of_multi = krein__option_index(base, "multi");
    char *weighing = krein__spec_text(ctx, &w->cls->cls, &w->values), *text = NULL;
    if (!weighing) return NULL;
    if (slot >= 0 && !isnan(values->number[slot]))
        snprintf(C, sizeof C, ", C=%s", krein__number_text(values->number[slot], number));
    if (of_multi >= 0 && values->number[of_multi] > 0 &&
        krein__word(base->options[of_multi].words, (int64_t)values->number[of_multi], word,
                    sizeof word))
        snprintf(multi, sizeof multi, ", multi=%s", word);
    /* every weighing has options with values: its text is "name(...)" */
    text = krein__format(ctx, "mkl(method=%s, base=%s%s%s, %s", w->cls->cls.name, base->name, C,
                         multi, strchr(weighing, '(') + 1);
    krein__free(ctx, weighing);
    return text;
}

const krein_learner_class krein__learner_mkl = {
    .cls = {"mkl", "several kernels, weighed and summed (`kernels`), under krr or svm", "gonen2011",
            options,
            "Weights are not negative, sum to one and belong to kernels of unit mean diagonal. "
            "method is one of the weighings, and takes its options too: mkl(method=easymkl, "
            "lambda=0.2). The sum itself is regularised by `lambda`, as under its base alone. "
            "`map` takes one map for all kernels, or as many as kernels, with ';' between them. "
            "Held-out errors of the sum, of the average and of single kernels are reported, unless "
            "`select=none`."},
    .expand = expand};
