/* list.c -- the public walk over all tables, for help, completion and other languages. */
#include "generate/generate.h"
#include "base/sized.h"
#include "combine/combine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const krein_class *const *classes;
    const int64_t *count;
} tables[] = {{"kernels", krein__kernels, &krein__kernel_count},
              {"maps", krein__maps, &krein__map_count},
              {"learners", krein__learners, &krein__learner_count},
              {"criteria", krein__criteria, &krein__criterion_count},
              {"weighings", krein__weighings, &krein__weighing_count},
              {"solvers", krein__solvers, &krein__solver_count},
              {"generators", krein__generators, &krein__generator_count}};

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
    if (!c) return 0;
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
    if (!c || !c->options || k < 0) return 0;
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
    krein__report_finish(KREIN_OK, given, out);
    return 1;
}
