/* fewshot.c -- the public entry point of few-shot learning:
 *
 *     images -> classes divided -> network -> each method: learn, choose, measure
 */
#include "fewshot/images.h"
#include "fewshot/state.h"
#include "base/limits.h"
#include "base/sized.h"
#include "num/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein_fewshot_options_init_sized(krein_fewshot_options *given, size_t size) {
    krein_fewshot_options own = KREIN_SIZED(krein_fewshot_options), *o = &own;
    o->ways = 5;
    o->shots = 1;
    o->queries = 15;
    o->tasks = 100;
    o->dimensions = 40;
    o->steps = 5;
    o->rate = 1;
    o->test_steps = 20;
    o->meta_steps = 1000;
    o->meta_tasks = 4;
    o->meta_rate = 0.0003;
    o->epochs = 20;
    o->path_epochs = 20;
    o->validation_tasks = 20;
    o->validate_every = 50;
    o->seed = 1;
    krein__options_give(given, size, o);
}

static void result_clear(krein_ctx *ctx, krein_fewshot_result *r) {
    if (!r) return;
    krein__free(ctx, r->method);
    krein__free(ctx, r->detail);
    krein__free(ctx, r->values);
    krein__free(ctx, r->step);
    krein__free(ctx, r->curve);
    krein__free(ctx, r->look_step);
    krein__free(ctx, r->look_loss);
    krein__free(ctx, r->look_accuracy);
    krein__free(ctx, r);
}

void krein_fewshot_report_clear(krein_ctx *ctx, krein_fewshot_report *report) {
    krein_fewshot_report r = KREIN_SIZED(krein_fewshot_report);
    if (!report) return;
    krein__report_take(&r, report);
    for (int64_t i = 0; i < r.count; i++) result_clear(ctx, r.results[i]);
    krein__free(ctx, r.results);
    krein__free(ctx, r.arch);
}

/* ---- options ------------------------------------------------------------ */

typedef struct setup {
    krein_fewshot_run f;
    int64_t *which; /* method of each result */
    int64_t *variant;
    int64_t results;
    int64_t *classes; /* of the three pools */
} setup;

static krein_status check_counts(krein_ctx *ctx, const krein_fewshot_options *o) {
    krein_status st = KREIN_OK;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"ways", o->ways},
                  {"shots", o->shots},
                  {"queries", o->queries},
                  {"tasks", o->tasks},
                  {"dimensions", o->dimensions},
                  {"steps", o->steps},
                  {"test_steps", o->test_steps},
                  {"meta_steps", o->meta_steps},
                  {"meta_tasks", o->meta_tasks},
                  {"epochs", o->epochs},
                  {"path_epochs", o->path_epochs},
                  {"validation_tasks", o->validation_tasks},
                  {"validate_every", o->validate_every}};
    for (int64_t i = 0; i < KREIN__COUNT(counts); i++)
        TRY(krein__limit_check(ctx, counts[i].name, (double)counts[i].value));
    TRY(krein__limit_check(ctx, "rate", o->rate));
    TRY(krein__limit_check(ctx, "meta_rate", o->meta_rate));
    if (o->meta_queries < 0 || o->meta_queries > o->queries)
        st = krein__fail(ctx, KREIN_EARG, "`meta_queries` is between 1 and `queries`, or 0");
done:
    return st;
}

/* Methods with their variants: one result each. */
static krein_status find_methods(krein_ctx *ctx, setup *s) {
    krein_status st = KREIN_OK;
    const krein_fewshot_options *o = &s->f.o;
    int64_t most = 0;
    if (o->nmethods < 1)
        return krein__fail(ctx, KREIN_EARG,
                           "few-shot learning needs a `method`, such as meta or ridge");
    for (int64_t k = 0; k < krein__fewshot_method_count; k++)
        most += ((const krein_fewshot_method *)krein__fewshot_methods[k])->variants;
    most *= o->nmethods;
    NEW(s->which, most);
    NEW(s->variant, most);
    for (int64_t i = 0; i < o->nmethods; i++) {
        krein_cursor at = {o->methods[i], o->methods[i], "method"};
        int64_t k = 0;
        TRY(krein__find_class(ctx, &at, o->methods[i], krein__fewshot_methods,
                              krein__fewshot_method_count, &k));
        const krein_fewshot_method *m = (const krein_fewshot_method *)krein__fewshot_methods[k];
        for (int64_t v = 0; v < m->variants; v++) {
            s->which[s->results] = k;
            s->variant[s->results++] = v;
        }
    }
done:
    return st;
}

/* ---- classes ------------------------------------------------------------ */

/* How many classes go to each of the three pools. */
static krein_status divide(const krein_fewshot_run *f, bool two, int64_t *count) {
    int64_t n = f->images[0].classes, tests = two ? f->images[1].classes : 0;
    const int64_t *split = f->o.split;
    memcpy(count, split, 3 * sizeof *count);
    if (split[0] == 0 && split[1] == 0 && split[2] == 0) {
        count[1] = two ? n / 5 : n * 16 / 100;
        count[2] = two ? tests : n * 20 / 100;
        count[0] = two ? n - count[1] : n - count[1] - count[2];
    } else if (two && split[2] == 0) {
        count[2] = tests;
    }
    if (count[0] + count[1] + (two ? 0 : count[2]) > n || (two && count[2] > tests))
        return krein__fail(
            f->ctx, KREIN_EDATA,
            "the classes cannot be divided into %lld, %lld and %lld: there are %lld%s",
            (long long)count[0], (long long)count[1], (long long)count[2],
            (long long)(two && count[2] > tests ? tests : n),
            two ? (count[2] > tests ? " for tests" : " for training and validation") : "");
    return KREIN_OK;
}

static krein_status make_pools(setup *s, bool two) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t count[3], n = f->images[0].classes;
    krein_rng g = {f->o.seed, KREIN_STREAM_SPLIT_CLASSES};
    TRY(divide(f, two, count));
    NEW(s->classes, n + (two ? f->images[1].classes : 0));
    krein__rng_permute(g, n, s->classes);
    int64_t *tests = s->classes + (two ? n : count[0] + count[1]);
    if (two)
        krein__rng_permute(
            krein__substream(f->o.seed, KREIN_STREAM_SPLIT_CLASSES, KREIN_EPISODE_TEST),
            f->images[1].classes, tests);
    f->train = (krein_pool){&f->images[0], count[0], s->classes};
    f->validate = (krein_pool){&f->images[0], count[1], s->classes + count[0]};
    f->test = (krein_pool){&f->images[two], count[2], tests};
    TRY(krein__pool_check(ctx, &f->train, f->size, "training"));
    TRY(krein__pool_check(ctx, &f->validate, f->size, "validation"));
    TRY(krein__pool_check(ctx, &f->test, f->size, "test"));
done:
    return st;
}

/* A class of tests must be no class of the training. */
static krein_status check_apart(const krein_fewshot_run *f) {
    const krein_images *a = &f->images[0], *b = &f->images[1];
    for (int64_t i = 0; i < a->classes; i++)
        for (int64_t j = 0; j < b->classes; j++)
            if (strcmp(a->name[i], b->name[j]) == 0) {
                krein__log(
                    f->ctx, KREIN_LOG_WARNING,
                    "class %s is in both files: names are taken for different classes; tests "
                    "are honest only where they are",
                    a->name[i]);
                return KREIN_OK;
            }
    return KREIN_OK;
}

static krein_status read_images(setup *s, krein_data *train, krein_data *test) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_shape *a = &f->images[0].shape, *b = &f->images[1].shape;
    TRY(krein__images_read(ctx, train, &f->images[0]));
    if (test) {
        TRY(krein__images_read(ctx, test, &f->images[1]));
        if (a->h != b->h || a->w != b->w || a->c != b->c) {
            st = krein__fail(ctx, KREIN_EDATA,
                             "%s has images of %lldx%lldx%lld and %s of %lldx%lldx%lld: they must "
                             "have the same size",
                             train->name, (long long)a->h, (long long)a->w, (long long)a->c,
                             test->name, (long long)b->h, (long long)b->w, (long long)b->c);
            goto done;
        }
        TRY(check_apart(f));
    }
    TRY(make_pools(s, test != NULL));
    NEW(f->centre, krein__shape_size(*a));
    NEW(f->factor, krein__shape_size(*a));
    krein__images_scaling(&f->train, f->centre, f->factor);
    krein__images_scale(&f->images[0], f->centre, f->factor);
    if (test) krein__images_scale(&f->images[1], f->centre, f->factor);
done:
    return st;
}

/* ---- the network -------------------------------------------------------- */

/* Every step up to 10 and those of the training; then further and further apart. */
static krein_status make_points(krein_fewshot_run *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t last = krein__max(f->o.test_steps, f->o.steps);
    NEW(f->point, last + 1);
    for (int64_t t = 0, next = 0; t <= last; t++) {
        if (t < next && t != f->o.steps && t != last) continue;
        f->point[f->points++] = t;
        if (t >= next) next = t < 10 ? t + 1 : t + t / 5;
    }
done:
    return st;
}

/* The last layer starts small, so that the scores of the start are nearly the same for all classes:
 * large random ones have to be unlearned first. */
static void quiet_scores(krein_net *net) {
    const krein_layer *last = &net->layer[net->layers - 1];
    for (int64_t i = 0; i < last->parameters; i++) net->p[last->first + i] *= 0.1F;
}

static krein_status make_network(setup *s) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_shape shape = f->images[0].shape;
    f->arch = f->o.arch ? krein__strdup(ctx, f->o.arch)
                        : krein__format(ctx, "convnet(%lld-32-32-32)", (long long)shape.c);
    if (!f->arch) {
        st = ctx->status;
        goto done;
    }
    TRY(krein__net_arch(ctx, f->arch, shape, f->size.ways, &f->net));
    krein__net_start(&f->net, f->o.seed);
    quiet_scores(&f->net);
    TRY(krein__trained_find(ctx, &f->net, &f->trained));
    if (f->o.dimensions > f->trained.m) f->o.dimensions = f->trained.m;
    NEW(f->start, f->trained.m);
    krein__trained_gather64(&f->trained, f->net.p, f->start);
    TRY(make_points(f));
    ZNEW(f->bench, ctx->threads);
    for (f->benches = 0; f->benches < ctx->threads; f->benches++)
        TRY(krein__bench_begin(f, &f->bench[f->benches]));
done:
    return st;
}

static void setup_clear(setup *s) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein__state_close(f->state);
    krein__features_clear(f);
    for (int64_t b = 0; b < f->benches; b++) krein__bench_end(&f->bench[b]);
    krein__free(ctx, f->bench);
    krein__free(ctx, f->point);
    krein__free(ctx, f->start);
    krein__trained_clear(&f->trained);
    krein__net_clear(&f->net);
    krein__free(ctx, f->arch);
    krein__subspace_clear(&f->learned);
    for (int k = 0; k < 2; k++) krein__images_clear(&f->images[k]);
    krein__free(ctx, f->centre);
    krein__free(ctx, f->factor);
    krein__free(ctx, s->classes);
    krein__free(ctx, s->which);
    krein__free(ctx, s->variant);
}

/* ---- results ------------------------------------------------------------ */

/* Mean, deviation and interval of the tasks that were measured. */
static void summarise(krein_fewshot_result *r, int64_t tasks, int64_t points, int64_t chosen,
                      const double *accuracy) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < tasks; i++)
        if (!isnan(accuracy[i * points + chosen]))
            r->values[r->tasks++] = accuracy[i * points + chosen];
    for (int64_t i = 0; i < r->tasks; i++) sum += r->values[i];
    r->accuracy = sum / (double)r->tasks;
    for (int64_t i = 0; i < r->tasks; i++) squares += pow(r->values[i] - r->accuracy, 2);
    r->sd = r->interval = NAN;
    if (r->tasks < 2) return;
    double df = (double)(r->tasks - 1);
    r->sd = sqrt(squares / df);
    r->interval = krein__t_quantile(df, 0.975) * r->sd / sqrt((double)r->tasks);
}

static krein_status measure_method(setup *s, const krein_fewshot_method *m, krein_learned *l,
                                   krein_fewshot_result *r) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t tasks = f->o.tasks;
    double *accuracy = NULL;
    NEW(accuracy, tasks * l->points);
    NEW(r->values, tasks);
    TRY(krein__measure(f, m, l, KREIN_EPISODE_TEST, tasks, "test tasks", accuracy));
    summarise(r, tasks, l->points, l->chosen, accuracy);
    if (r->tasks < tasks)
        krein__log(ctx, KREIN_LOG_WARNING, "%s: time limit: %lld of %lld test tasks", m->cls.name,
                   (long long)r->tasks, (long long)tasks);
    if (l->points > 1) {
        r->points = l->points;
        NEW(r->step, l->points);
        NEW(r->curve, l->points);
        memcpy(r->step, f->point, (size_t)l->points * sizeof *r->step);
        krein__means(tasks, l->points, accuracy, r->curve);
    }
done:
    krein__free(ctx, accuracy);
    return st;
}

/* The looks of the learning go to the result. */
static void take_looks(krein_learned *l, krein_fewshot_result *r) {
    r->looks = l->looks;
    r->look_step = l->look_step;
    r->look_loss = l->look_loss;
    r->look_accuracy = l->look_accuracy;
    r->kept = l->looks > 0 ? l->kept : -1;
    r->detail = l->detail;
    l->look_step = NULL;
    l->look_loss = l->look_accuracy = NULL;
    l->detail = NULL;
}

/* Of the time that is left a method gets its share, and two thirds of that for learning. */
static void share_time(setup *s, int64_t at, double start) {
    krein_fewshot_run *f = &s->f;
    double now = krein__clock(), left = start + f->o.time_limit - now;
    f->deadline = f->end = 0;
    if (f->o.time_limit <= 0) return;
    double share = fmax(left, 0) / (double)(s->results - at);
    f->deadline = now + 2 * share / 3;
    f->end = now + share;
}

static krein_status run_method(setup *s, int64_t at, krein_fewshot_result *r) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    const krein_fewshot_method *m =
        (const krein_fewshot_method *)krein__fewshot_methods[s->which[at]];
    krein_learned l = {.points = 1, .kept = -1};
    double start = krein__clock();
    DUP(r->method, m->cls.name);
    krein__subspace_clear(&f->learned);
    TRY(m->learn(f, s->variant[at], &l));
    TRY(measure_method(s, m, &l, r));
    take_looks(&l, r);
    r->seconds = krein__clock() - start;
    if (f->o.output && f->learned.m > 0 && krein__tasks_first(f))
        TRY(krein__subspace_save(&f->learned, f->o.output));
done:
    if (m->clear) m->clear(f, &l);
    krein__learned_clear(ctx, &l);
    return st;
}

static krein_status run_all(setup *s, krein_fewshot_report *r, double start) {
    krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    NEW(r->results, krein__max(1, s->results));
    TRY(krein__state_open(f, r, &f->state));
    for (int64_t i = r->count; i < s->results; i++) {
        krein_fewshot_result *one;
        ZNEW(one, 1);
        share_time(s, i, start);
        st = run_method(s, i, one);
        if (st != KREIN_OK) {
            result_clear(ctx, one);
            goto done;
        }
        r->results[r->count++] = one;
        TRY(krein__state_finished(f->state));
    }
done:
    return st;
}

static krein_status fill(const setup *s, krein_fewshot_report *r) {
    const krein_fewshot_run *f = &s->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_shape shape = f->images[0].shape;
    r->ways = f->size.ways;
    r->shots = f->size.shots;
    r->queries = f->size.queries;
    r->height = shape.h;
    r->width = shape.w;
    r->channels = shape.c;
    r->classes[0] = f->train.n;
    r->classes[1] = f->validate.n;
    r->classes[2] = f->test.n;
    r->parameters = f->trained.m;
    DUP(r->arch, f->arch);
done:
    return st;
}

krein_status krein_fewshot(krein_ctx *ctx, krein_data *train, krein_data *test,
                           const krein_fewshot_options *options, krein_fewshot_report *report) {
    krein_status st = KREIN_OK;
    krein_fewshot_report own = KREIN_SIZED(krein_fewshot_report), *r = &own;
    setup *s = NULL;
    double start = krein__clock();
    TRY(krein__report_check(ctx, report, "krein_fewshot_report"));
    ZNEW(s, 1);
    s->f.ctx = ctx;
    krein_fewshot_options_init(&s->f.o);
    TRY(krein__options_copy(ctx, options, &s->f.o, "krein_fewshot_options"));
    TRY(check_counts(ctx, &s->f.o));
    if (s->f.o.meta_queries == 0) s->f.o.meta_queries = s->f.o.queries;
    s->f.size = (krein_episode_size){s->f.o.ways, s->f.o.shots, s->f.o.queries};
    TRY(find_methods(ctx, s));
    if (s->f.o.time_limit > 0 && krein__tasks_together(&s->f)) {
        st = krein__fail(ctx, KREIN_EARG,
                         "few-shot learning on several processes has no `time_limit`: their clocks "
                         "differ; give fewer `meta_steps`");
        goto done;
    }
    TRY(read_images(s, train, test));
    TRY(make_network(s));
    TRY(fill(s, r));
    TRY(run_all(s, r, start));
    r->seconds = krein__clock() - start;
done:
    if (s) st = krein__tasks_agree(&s->f, st);
    if (s) setup_clear(s);
    krein__free(ctx, s);
    krein__report_finish(st, report, r);
    krein_fewshot_report_clear(ctx, r);
    return st;
}
