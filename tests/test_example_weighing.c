/* test_example_weighing.c -- the second worked example of CONTRIBUTING.md, a weighing, does what it
 * says. */
#include "banks.h"

#include "example_weighing.c"

static const char *const FOUR[] = {"gaussian(sigma=0.5)", "linear", "poly(degree=2, c=0)",
                                   "gaussian(sigma=0.7) - 0.8*gaussian(sigma=1.9)", NULL};

/* What krein__weighing_parse does, with a table that holds only the example. */
static krein_status parse(const char *spec, krein_weighing *out) {
    static const krein_class *const table[] = {&krein__weigh_norms.cls};
    int64_t which;
    *out = (krein_weighing){.cls = &krein__weigh_norms};
    return krein__parse_spec(ctx, spec, "weighing", table, 1, &which, &out->values);
}

/* On rows that are repeated as often as their weight says. */
static void plain_norms(const plain *p, double power, double *mu) {
    for (int64_t m = 0; m < p->M; m++) mu[m] = pow(dot(p->n * p->n, p->K[m], p->K[m]), -power / 2);
    sum_to_one(p->M, mu);
}

static void is_what_the_formula_says(void) {
    static const double powers[] = {1, .5, 0};
    static const int kinds[] = {2, 3, 0};
    for (int c = 0; c < 6; c++)
        for (int q = 0; q < 3; q++) {
            double want[KERNELS_MAX], exact[KERNELS_MAX], features[KERNELS_MAX];
            char spec[40];
            krein_weighing w;
            bench b;
            snprintf(spec, sizeof spec, "norms(power=%g)", powers[q]);
            CHECK(parse(spec, &w) == KREIN_OK);
            open_bench(&b, 37, kinds[c / 2], c % 2, FOUR, NULL);
            from_table(&b);
            plain p = expand(&b);
            plain_norms(&p, powers[q], want);
            CHECK(b.map.negative > 0);
            CHECK(w.cls->find(&b.matrices, &w.values, exact) == KREIN_OK);
            CHECK(w.cls->find(&b.features, &w.values, features) == KREIN_OK);
            sum_to_one(b.M, exact);
            sum_to_one(b.M, features);
            for (int64_t m = 0; m < b.M; m++) {
                CHECK_REL(exact[m], want[m], 1e-12);
                CHECK_REL(features[m], want[m], 1e-5); /* products of features are float32 */
                if (powers[q] == 0) CHECK_REL(exact[m], 1 / (double)b.M, 1e-15);
            }
            drop_plain(&p);
            close_bench(&b);
            krein__weighing_clear(ctx, &w);
        }
}

static void make_zero(bench *b) {
    for (int64_t m = 0; m < b->M; m++)
        memset(b->matrices.K[m], 0, (size_t)(b->n * b->n) * sizeof(double));
}

/* A kernel that is zero gets no weight and does no harm. */
static void zero_kernels(void) {
    double mu[KERNELS_MAX];
    bench b;
    krein_weighing w;
    CHECK(parse("norms", &w) == KREIN_OK);
    open_bench(&b, 20, 2, false, FOUR, make_zero);
    CHECK(w.cls->find(&b.matrices, &w.values, mu) == KREIN_OK);
    for (int64_t m = 0; m < b.M; m++) CHECK(mu[m] == 0);
    CHECK(w.cls->find(&b.features, &w.values, mu) == KREIN_OK);
    for (int64_t m = 0; m < b.M; m++) CHECK(mu[m] == 0);
    close_bench(&b);
    krein__weighing_clear(ctx, &w);
}

/* The caller of all weighings: weights of sum one from the job's own rows, and the way out of the
 * class where every weight is zero. */
static void through_combine(void) {
    double mu[KERNELS_MAX], want[KERNELS_MAX];
    bench b;
    krein_weighing w;
    CHECK(parse("norms", &w) == KREIN_OK);
    open_bench(&b, 30, 0, true, FOUR, NULL);
    const krein_kernel_list list = {.n = b.M, .kernel = b.kernel};
    plain p = expand(&b);
    plain_norms(&p, 1, want);
    CHECK(krein__combine_check(ctx, &w, &list) ==
          KREIN_OK);                                    /* an indefinite kernel may take part */
    CHECK(krein__combine_meet(&b.job, &w) == KREIN_OK); /* and so may row weights */
    krein_weighing_class other = *w.cls;
    krein_weighing blind = {.cls = &other};
    other.row_weights = false;
    CHECK(krein__combine_meet(&b.job, &blind) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "takes no row weights");
    CHECK(krein__combine(&b.job, &w, &list, b.scale, NULL, mu) == KREIN_OK);
    for (int64_t m = 0; m < b.M; m++) CHECK_REL(mu[m], want[m], 1e-12);
    double zero[KERNELS_MAX] = {0};
    CHECK(krein__combine(&b.job, &w, &list, zero, NULL, mu) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "every kernel is zero on these rows");
    drop_plain(&p);
    close_bench(&b);
    krein__weighing_clear(ctx, &w);
}

/* Options of other weighings are refused, and so are values out of range. */
static void says_why_not(void) {
    krein_weighing w;
    CHECK(parse("norms(delta=0.5)", &w) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "delta");
    CHECK(parse("norms(power=-1)", &w) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "power");
}

static const krein_weighing_class *const ALL[] = {&krein__weigh_norms};
static void threads_do_not_matter(void) { same_for_threads(ALL, 1, FOUR, 40, .01); }
static void allocations_may_fail(void) { memory_may_fail(ALL, 1, FOUR); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(is_what_the_formula_says);
    RUN(zero_kernels);
    RUN(through_combine);
    RUN(says_why_not);
    RUN(threads_do_not_matter);
    RUN(allocations_may_fail);
    krein_ctx_destroy(ctx);
    return DONE();
}
