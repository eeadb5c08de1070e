/* summary.c -- from the values of all splits to means, ranks and tests (num/paired.h).
 *
 * On a data set methods are compared by the corrected resampled t test. Over several sets they are
 * compared by their means: ranks with the Friedman test, pairs with Wilcoxon's, for which the means
 * of a measure with a unit (rmse) go by their logarithms: sets of other units count the same. Only
 * methods that failed nowhere take part there. */
#include "compare/compare.h"

#include "num/paired.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts x. NaN where one is. */
static double median(int64_t n, double *x) {
    for (int64_t j = 0; j < n; j++)
        if (isnan(x[j])) return NAN;
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* What a data set has of its methods. */
typedef struct part {
    const krein_comparison *c;
    int64_t set;
    krein_compare_result **result; /* one a method */
    double *scratch;               /* repeats */
} part;

static double ratio(const part *p) {
    const krein_set *s = &p->c->set[p->set];
    return (double)s->test / (double)s->train;
}

static krein_status add_up(const part *p, int64_t method) {
    const krein_comparison *c = p->c;
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    krein_compare_result *r = p->result[method];
    r->size = sizeof *r;
    r->set = p->set;
    r->method = method;
    r->mean = r->sd = r->half = r->rank = r->p = r->seconds = r->cpu = NAN;
    r->nvalues = c->repeats;
    NEW(r->values, c->repeats);
    for (int64_t j = 0; j < c->repeats; j++) {
        const krein_run *run = krein__run_of(c, p->set, j, method);
        r->values[j] = run->failed ? NAN : run->value;
        p->scratch[j] = run->seconds;
        r->bytes = fmax(r->bytes, run->bytes);
        r->failures += run->failed != NULL;
        if (run->failed && !r->failed) DUP(r->failed, run->failed);
    }
    if (r->failures > 0) goto done;
    krein__moments(c->repeats, r->values, &r->mean, &r->sd);
    r->mean = krein__round_digits(r->mean, 14); /* sums in another order are equal */
    r->half = krein__resampled_half(c->repeats, r->sd, ratio(p), 1 - c->o.level);
    r->seconds = median(c->repeats, p->scratch);
    for (int64_t j = 0; j < c->repeats; j++)
        p->scratch[j] = krein__run_of(c, p->set, j, method)->cpu;
    r->cpu = median(c->repeats, p->scratch);
done:
    return st;
}

/* p of the difference of two methods on the set. */
static double test(const part *p, const krein_compare_result *a, const krein_compare_result *b) {
    for (int64_t j = 0; j < a->nvalues; j++) p->scratch[j] = a->values[j] - b->values[j];
    return krein__resampled_t(a->nvalues, p->scratch, ratio(p), NULL);
}

static bool better(const krein_comparison *c, double a, double b) {
    return krein__measure_larger(c->measure) ? a > b : a < b;
}

/* Ranks, the best, and wins over the others. */
static void compare(const part *p) {
    const krein_comparison *c = p->c;
    int64_t best = -1;
    for (int64_t i = 0; i < c->methods; i++)
        if (!p->result[i]->failures &&
            (best < 0 || better(c, p->result[i]->mean, p->result[best]->mean)))
            best = i;
    for (int64_t i = 0; i < c->methods; i++) {
        krein_compare_result *a = p->result[i];
        if (a->failures) continue;
        a->rank = 1;
        a->best = i == best;
        if (i != best) a->p = test(p, a, p->result[best]);
        a->similar = i == best || a->p >= c->o.level;
        for (int64_t j = 0; j < c->methods; j++) {
            const krein_compare_result *b = p->result[j];
            if (j == i || b->failures) continue;
            a->rank += better(c, b->mean, a->mean) ? 1 : b->mean == a->mean ? 0.5 : 0;
            if (test(p, a, b) >= c->o.level)
                a->ties++;
            else if (better(c, a->mean, b->mean))
                a->wins++;
            else
                a->losses++;
        }
    }
}

/* ---- over all sets ------------------------------------------------------ */

/* A mean as differences of it go into a signed rank test. */
static double comparable(const krein_comparison *c, double mean) {
    return c->measure == KREIN_MEASURE_RMSE ? log(fmax(mean, DBL_MIN)) : mean;
}

static const krein_compare_result *result_of(const krein_compare_report *r, int64_t set,
                                             int64_t method) {
    return r->results[set * r->nmethods + method];
}

/* Mean ranks of the methods that failed nowhere: method[0], ..., method[k - 1]. */
static krein_status rank_methods(const krein_comparison *c, krein_compare_report *r, int64_t k,
                                 const int64_t *method) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    double *mean = NULL, *rank = NULL;
    NEW(mean, k);
    NEW(rank, k);
    for (int64_t i = 0; i < k; i++) r->methods[method[i]]->rank = 0;
    for (int64_t s = 0; s < c->sets; s++) {
        for (int64_t i = 0; i < k; i++) mean[i] = result_of(r, s, method[i])->mean;
        krein__ranks(k, mean, krein__measure_larger(c->measure), rank);
        for (int64_t i = 0; i < k; i++) r->methods[method[i]]->rank += rank[i] / (double)c->sets;
    }
    if (k > 1) {
        for (int64_t i = 0; i < k; i++) rank[i] = r->methods[method[i]]->rank;
        const krein_friedman f = krein__friedman(c->sets, k, rank, c->o.level);
        r->chi2 = f.chi2;
        r->chi2_p = f.chi2_p;
        r->f = f.f;
        r->f_p = f.f_p;
        r->difference = f.difference;
    }
done:
    krein__free(ctx, mean);
    krein__free(ctx, rank);
    return st;
}

static krein_status test_methods(const krein_comparison *c, krein_compare_report *r, int64_t k,
                                 const int64_t *method) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    double *d = NULL;
    int64_t best = method[0];
    for (int64_t i = 1; i < k; i++)
        if (r->methods[method[i]]->rank < r->methods[best]->rank) best = method[i];
    NEW(d, c->sets);
    for (int64_t i = 0; i < k; i++) {
        krein_compare_method *m = r->methods[method[i]];
        m->best = method[i] == best;
        m->similar = m->best || m->rank - r->methods[best]->rank <= r->difference;
        if (m->best) continue;
        for (int64_t s = 0; s < c->sets; s++)
            d[s] = comparable(c, result_of(r, s, method[i])->mean) -
                   comparable(c, result_of(r, s, best)->mean);
        m->p = krein__wilcoxon(c->sets, d).p;
    }
done:
    krein__free(ctx, d);
    return st;
}

static krein_status over_sets(const krein_comparison *c, krein_compare_report *r) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    int64_t *whole = NULL;
    NEW(whole, c->methods);
    for (int64_t i = 0; i < c->methods; i++) {
        krein_compare_method *m = r->methods[i];
        bool failed = false;
        for (int64_t s = 0; s < c->sets; s++) {
            const krein_compare_result *one = result_of(r, s, i);
            failed = failed || one->failures > 0;
            m->wins += one->wins;
            m->ties += one->ties;
            m->losses += one->losses;
            m->seconds += one->seconds;
            m->bytes = fmax(m->bytes, one->bytes);
        }
        if (!failed) whole[r->ranked++] = i;
    }
    if (c->sets > 1 && r->ranked > 0) {
        TRY(rank_methods(c, r, r->ranked, whole));
        TRY(test_methods(c, r, r->ranked, whole));
    }
done:
    krein__free(ctx, whole);
    return st;
}

/* ---- the report --------------------------------------------------------- */

#define COPY(to, text)                                                                             \
    do {                                                                                           \
        if (text) DUP(to, text);                                                                   \
    } while (0)

static krein_status describe(const krein_comparison *c, krein_compare_report *r) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    ZNEW(r->sets, c->sets);
    while (r->nsets < c->sets) {
        const krein_set *from = &c->set[r->nsets];
        krein_compare_set *to;
        ZNEW(to, 1);
        r->sets[r->nsets++] = to;
        *to =
            (krein_compare_set){.size = sizeof *to, .n = from->n, .d = from->d, .test = from->test};
        DUP(to->name, from->name);
    }
    ZNEW(r->methods, c->methods);
    while (r->nmethods < c->methods) {
        const krein_method *from = &c->method[r->nmethods];
        krein_compare_method *to;
        ZNEW(to, 1);
        r->methods[r->nmethods++] = to;
        *to = (krein_compare_method){.size = sizeof *to, .rank = NAN, .p = NAN};
        DUP(to->name, from->name);
        COPY(to->learner, from->learner);
        COPY(to->kernel, from->kernel);
        COPY(to->map, from->map);
        COPY(to->command, from->command);
    }
done:
    return st;
}

krein_status krein__compare_summary(const krein_comparison *c, krein_compare_report *r) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    part p = {.c = c};
    r->task = c->set[0].task;
    r->measure = c->measure;
    r->larger = krein__measure_larger(c->measure);
    r->repeats = c->repeats;
    r->holdout = c->o.holdout;
    r->level = c->o.level;
    r->chi2 = r->chi2_p = r->f = r->f_p = r->difference = NAN;
    r->reused = c->reused;
    r->parallel = c->workers;
    NEW(p.scratch, c->repeats);
    TRY(describe(c, r));
    ZNEW(r->results, c->sets * c->methods);
    for (; p.set < c->sets; p.set++) {
        p.result = r->results + p.set * c->methods;
        for (int64_t i = 0; i < c->methods; i++) {
            ZNEW(p.result[i], 1);
            r->count++;
            TRY(add_up(&p, i));
        }
        compare(&p);
    }
    TRY(over_sets(c, r));
done:
    krein__free(ctx, p.scratch);
    return st;
}
