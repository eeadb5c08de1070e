/* list.c -- the public walk over all tables, for help, completion and other languages; checks of
 * specs by them. */
#include "fewshot/fewshot.h"
#include "generate/generate.h"
#include "base/sized.h"
#include "pipe/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *one; /* as krein_list has it, and in messages */
    const krein_class *const *classes;
    const int64_t *count;
} tables[] = {{"kernels", "kernel", krein__kernels, &krein__kernel_count},
              {"maps", "map", krein__maps, &krein__map_count},
              {"learners", "learner", krein__learners, &krein__learner_count},
              {"criteria", "criterion", krein__criteria, &krein__criterion_count},
              {"weighings", "weighing", krein__weighings, &krein__weighing_count},
              {"solvers", "solver", krein__solvers, &krein__solver_count},
              {"generators", "generator", krein__generators, &krein__generator_count},
              {"fewshot", "method", krein__fewshot_methods, &krein__fewshot_method_count}};

static const krein_class *entry(int64_t i, const char **table) {
    for (int64_t t = 0; i >= 0 && t < KREIN__COUNT(tables); t++) {
        if (i < *tables[t].count) {
            *table = tables[t].name;
            return tables[t].classes[i];
        }
        i -= *tables[t].count;
    }
    return NULL;
}

/* Family, and definiteness with the default values. */
static const char *family(const krein_kernel_class *c) {
    static const char *const families[] = {"radial", "stationary", "dot product", "additive"};
    static _Thread_local char text[96];
    double p[KREIN_OPTIONS_MAX] = {0};
    if (c->family == KREIN_FAMILY_TABLE) return "from a file, of any definiteness";
    for (int64_t j = 0; c->cls.options && c->cls.options[j].name; j++)
        p[j] = c->cls.options[j].value;
    krein_definite d = c->definite ? c->definite(p) : KREIN_DEFINITE_POSITIVE;
    snprintf(text, sizeof text, "%s, %s", families[c->family],
             d == KREIN_DEFINITE_POSITIVE
                 ? (c->definite ? "positive definite by default" : "positive definite")
             : d == KREIN_DEFINITE_UNIT ? "positive definite on unit rows"
                                        : "indefinite");
    return text;
}

int krein_list(int64_t i, krein_entry *given) {
    krein_entry own = KREIN_SIZED(krein_entry), *out = &own;
    const krein_class *c = entry(i, &out->table);
    if (!c || !krein__sized(given)) return 0;
    out->name = c->name;
    out->summary = c->summary;
    out->cite = c->cite ? c->cite : "";
    out->details = c->details ? c->details : "";
    const krein_map_class *map = out->table == tables[1].name ? (const krein_map_class *)c : NULL;
    out->kernels = map && map->kernels ? map->kernels : "";
    out->time = map && map->time ? map->time : "";
    out->family = out->table == tables[0].name ? family((const krein_kernel_class *)c) : "";
    out->alias = out->table == tables[0].name ? krein__kernel_alias(c) : "";
    krein__report_finish(KREIN_OK, given, out);
    return 1;
}

int krein_list_option(int64_t i, int64_t k, krein_option_info *given) {
    krein_option_info own = KREIN_SIZED(krein_option_info), *out = &own;
    static _Thread_local char value[64], range[128];
    const char *table;
    char low[40], high[40];
    const krein_class *c = entry(i, &table);
    if (!c || !c->options || k < 0 || !krein__sized(given)) return 0;
    for (int64_t j = 0; j <= k; j++)
        if (!c->options[j].name) return 0;
    const krein_option *o = &c->options[k];
    value[0] = range[0] = 0;
    bool number = o->type == KREIN_OPTION_NUMBER || o->type == KREIN_OPTION_INTEGER;
    if (o->type == KREIN_OPTION_TEXT)
        snprintf(value, sizeof value, "%s", o->text ? o->text : "");
    else if (number && !isnan(o->value))
        krein__number_text(o->value, value);
    else if (!number && !isnan(o->value))
        krein__word(o->type == KREIN_OPTION_YESNO ? "no|yes" : o->words, (int64_t)o->value, value,
                    sizeof value);
    if (number)
        snprintf(range, sizeof range, "%c%s, %s%c", o->low_open ? '(' : '[',
                 krein__number_text(o->low, low), krein__number_text(o->high, high),
                 o->high_open ? ')' : ']');
    out->name = o->name;
    out->type = o->type == KREIN_OPTION_NUMBER    ? "number"
                : o->type == KREIN_OPTION_INTEGER ? "integer"
                : o->type == KREIN_OPTION_YESNO   ? "yes|no"
                : o->type == KREIN_OPTION_WORD    ? o->words
                                                  : "text";
    out->default_value = value;
    out->range = range;
    out->help = o->help;
    out->low = number ? o->low : NAN;
    out->high = number ? o->high : NAN;
    krein__report_finish(KREIN_OK, given, out);
    return 1;
}

/* ---- checks without data ------------------------------------------------ */

/* A learner may stand for another one and a weighing of kernels, with options of both. */
static krein_status check_learner(krein_ctx *ctx, const char *spec) {
    const krein_learner_class *learner;
    krein_values values = {0};
    krein_weighing weighing = {0};
    krein_status st = krein__learner_parse(ctx, spec, &learner, &values, &weighing);
    krein__values_clear(ctx, &values);
    krein__weighing_clear(ctx, &weighing);
    return st;
}

krein_status krein_check_spec(krein_ctx *ctx, const char *table, const char *spec) {
    for (int64_t t = 0; t < KREIN__COUNT(tables); t++) {
        krein_values values = {0};
        int64_t which = 0;
        if (strcmp(table, tables[t].name) != 0) continue;
        if (tables[t].classes == krein__learners) return check_learner(ctx, spec);
        krein_status st = krein__parse_spec(ctx, spec, tables[t].one, tables[t].classes,
                                            *tables[t].count, &which, &values);
        krein__values_clear(ctx, &values);
        return st;
    }
    return krein__fail(ctx, KREIN_EARG, "there is no table \"%.60s\"; krein_list walks over all",
                       table);
}

krein_status krein_check_kernel(krein_ctx *ctx, const char *kernel) {
    krein_kernel *made = NULL;
    krein_status st = krein__kernel_parse(ctx, kernel, &made);
    krein__kernel_destroy(ctx, made);
    return st;
}
