/* compare.c -- the public entry point that compares methods on the same splits. */
#include "compare/compare.h"

#include "base/limits.h"
#include "base/sized.h"
#include "stream/together.h"

#include <math.h>
#include <string.h>

void krein_compare_options_init_sized(krein_compare_options *given, size_t size) {
    krein_compare_options own = KREIN_SIZED(krein_compare_options), *o = &own;
    o->repeats = 30;
    o->holdout = 0.3;
    o->level = 0.05;
    krein__options_give(given, size, o);
}

void krein_compare_report_clear(krein_ctx *ctx, krein_compare_report *report) {
    krein_compare_report r = KREIN_SIZED(krein_compare_report);
    if (!report) return;
    krein__report_take(&r, report);
    for (int64_t i = 0; r.sets && i < r.nsets; i++) {
        krein__free(ctx, r.sets[i]->name);
        krein__free(ctx, r.sets[i]);
    }
    for (int64_t i = 0; r.methods && i < r.nmethods; i++) {
        krein_compare_method *m = r.methods[i];
        char *all[] = {m->name, m->learner, m->kernel, m->map, m->command};
        for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
        krein__free(ctx, m);
    }
    for (int64_t i = 0; r.results && i < r.count; i++) {
        krein__free(ctx, r.results[i]->failed);
        krein__free(ctx, r.results[i]->values);
        krein__free(ctx, r.results[i]);
    }
    krein__free(ctx, r.sets);
    krein__free(ctx, r.methods);
    krein__free(ctx, r.results);
}

/* Options of a training that are the comparison's own. */
static krein_status copy_train(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    krein_train_options *t = &c->train;
    krein_train_options_init(t);
    TRY(krein__options_copy(ctx, c->o.train, t, "krein_train_options"));
    if (t->learner || t->kernel || t->kernels || t->map)
        return krein__fail(ctx, KREIN_EARG,
                           "the methods of a comparison are `learners`, `kernels` and `maps`");
    if (t->test || t->unlabeled || t->checkpoint || t->graph_file || t->metric_from ||
        t->subspace || t->record)
        return krein__fail(
            ctx, KREIN_EARG,
            "a comparison takes no `test`, `unlabeled`, `graph_file`, `metric_from`, "
            "`subspace` or `checkpoint`: `results` is what it goes on from");
done:
    return st;
}

static krein_status copy_options(krein_comparison *c, const krein_compare_options *given) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    krein_compare_options *o = &c->o;
    krein_compare_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_compare_options"));
    if (o->sets < 1 || !o->names || !o->open)
        return krein__fail(ctx, KREIN_EARG, "a comparison needs a data set: sets, names and open");
    TRY(krein__limit_check(ctx, "repeats", (double)o->repeats));
    if (o->repeats < 2)
        return krein__fail(ctx, KREIN_EARG,
                           "`repeats` is %lld: with one split there is neither a deviation nor a "
                           "test; take 2 or more, 30 is usual",
                           (long long)o->repeats);
    TRY(krein__limit_check(ctx, "holdout", o->holdout));
    if (o->holdout == 0)
        return krein__fail(ctx, KREIN_EARG, "`holdout` is 0: no row would be left to test on");
    if (!(o->level > 0 && o->level < 1))
        return krein__fail(ctx, KREIN_EARG, "`level` takes a number between 0 and 1");
    if (o->measure < KREIN_MEASURE_AUTO || o->measure > KREIN_MEASURE_AUC)
        return krein__fail(ctx, KREIN_EARG, "there is no measure number %d", (int)o->measure);
    if (o->parallel < 0 || o->parallel > 4096)
        return krein__fail(ctx, KREIN_EARG, "`parallel` takes a number from 1 to 4096");
    c->sets = o->sets;
    c->repeats = o->repeats;
    c->workers = o->parallel > 0 ? (int)o->parallel : ctx->threads;
    TRY(copy_train(c));
done:
    return st;
}

static krein_status prepare(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__methods_parse(c));
    TRY(krein__sets_scan(c));
    ZNEW(c->run, c->sets * c->repeats * c->methods);
    for (int64_t s = 0; s < c->sets; s++)
        for (int64_t j = 0; j < c->repeats; j++)
            for (int64_t m = 0; m < c->methods; m++)
                krein__run_of(c, s, j, m)->key = krein__run_key(c, &c->set[s], &c->method[m], j);
done:
    return st;
}

/* Nothing at all was measured: the comparison has failed. */
static krein_status check_any(krein_comparison *c) {
    const int64_t runs = c->sets * c->repeats * c->methods;
    for (int64_t i = 0; i < runs; i++)
        if (!c->run[i].failed) return KREIN_OK;
    return krein__fail(c->ctx, KREIN_EDATA, "no method gave a result; %s: %s", c->method[0].name,
                       c->run[0].failed);
}

static void clear(krein_comparison *c) {
    for (int64_t i = 0; c->run && i < c->sets * c->repeats * c->methods; i++)
        krein__free(c->ctx, c->run[i].failed);
    krein__free(c->ctx, c->run);
    krein__free(c->ctx, c->set);
    krein__results_close(c);
    krein__methods_clear(c);
}

krein_status krein_compare(krein_ctx *ctx, const krein_compare_options *options,
                           krein_compare_report *report) {
    krein_comparison c = {.ctx = ctx};
    krein_compare_report own = KREIN_SIZED(krein_compare_report), *r = &own;
    const double start = krein__clock();
    krein__call_begin(ctx);
    krein_status st = krein__report_check(ctx, report, "krein_compare_report");
    if (st == KREIN_OK) st = copy_options(&c, options);
    if (st == KREIN_OK) st = prepare(&c);
    if (st == KREIN_OK) st = krein__compare_run(&c);
    if (st == KREIN_OK) st = check_any(&c);
    if (st == KREIN_OK) st = krein__compare_summary(&c, r);
    r->seconds = krein__clock() - start;
    st = krein__call_end(ctx, st);
    clear(&c);
    krein__report_finish(st, report, r);
    krein_compare_report_clear(ctx, r);
    return st;
}
