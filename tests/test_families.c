/* Lists of kernels and families made by ranges. */
#include "common.h"

#include "kernel/kernel.h"

#include <locale.h>

static krein_ctx *ctx;

static bool parse(const char *text, krein_kernel_list *list) {
    memset(list, 0xab, sizeof *list); /* it need not be initialised */
    bool good = krein__kernels_parse(ctx, text, list) == KREIN_OK;
    if (!good) printf("\"%s\": %s\n", text, krein_message(ctx));
    CHECK(good);
    return good;
}

/* The first base kernel of an expression, from the left. */
static krein_kernel *first_leaf(krein_kernel *k) {
    while (k->left) k = k->left;
    return k;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool same_leaf(const krein_kernel *a, const krein_kernel *b) {
    const krein_option *o = a->kernel->cls.options;
    for (int64_t j = 0; o && o[j].name; j++) {
        if (!same_bits(a->values.number[j], b->values.number[j])) return false;
        if (a->values.count[j] != 1 || b->values.count[j] != 1) return false;
        if (!a->values.text[j] != !b->values.text[j]) return false;
        if (a->values.text[j] && strcmp(a->values.text[j], b->values.text[j]) != 0) return false;
    }
    return true;
}

static bool same_kernel(const krein_kernel *a, const krein_kernel *b) {
    if (!a || !b) return a == b;
    if (a->node != b->node || a->kernel != b->kernel || !same_bits(a->number, b->number))
        return false;
    if (a->node == KREIN_NODE_LEAF) return same_leaf(a, b);
    return same_kernel(a->left, b->left) && same_kernel(a->right, b->right);
}

/* Every kernel is the one that its text says, and has no range. */
static bool texts_parse_back(krein_kernel_list *list) {
    bool good = true;
    for (int64_t i = 0; i < list->n; i++) {
        krein_kernel *again = NULL;
        char *text = krein__kernel_text(ctx, list->kernel[i]);
        good = good && text && krein__kernel_parse(ctx, text, &again) == KREIN_OK &&
               same_kernel(list->kernel[i], again) &&
               krein__kernel_range(list->kernel[i], -1, NULL, NULL) == 0;
        krein__free(ctx, text);
        krein__kernel_destroy(ctx, again);
    }
    return good;
}

/* The list is these kernels, in this order. */
static void check_texts(const char *text, int64_t n, const char *const *want) {
    krein_kernel_list list;
    if (!parse(text, &list)) return;
    if (list.n != n) printf("%s: %lld kernels\n", text, (long long)list.n);
    CHECK(list.n == n);
    for (int64_t i = 0; i < n && i < list.n; i++) {
        char *got = krein__kernel_text(ctx, list.kernel[i]);
        CHECK(got != NULL);
        if (got && strcmp(got, want[i]) != 0) printf("%s: %s, want %s\n", text, got, want[i]);
        CHECK(got && strcmp(got, want[i]) == 0);
        krein__free(ctx, got);
    }
    CHECK(texts_parse_back(&list));
    krein__kernels_clear(ctx, &list);
    CHECK(list.n == 0 && !list.kernel);
}
#define TEXTS(text, ...)                                                                           \
    check_texts(text, KREIN__COUNT(((const char *const[]){__VA_ARGS__})),                          \
                (const char *const[]){__VA_ARGS__})

/* ---- lists -------------------------------------------------------------- */

static void lists(void) {
    TEXTS("linear", "linear");
    TEXTS("linear;", "linear");
    TEXTS(" linear ; \n", "linear");
    TEXTS("linear; gaussian(sigma=2);linear", "linear", "gaussian(sigma=2)", "linear");
    TEXTS("gaussian; 2*linear - cauchy(sigma=1)", "gaussian", "2*linear - cauchy(sigma=1)");
    TEXTS("(linear + rq(alpha=2, sigma=1))*2; sigmoid(gamma=1, c=-1)",
          "2*(linear + rq(alpha=2, sigma=1))", "tanh(gamma=1, c=-1)");
}

static void text_may_have_semicolons(void) {
    TEXTS("precomputed(file=\"a;b.npy\"); linear", "precomputed(file=\"a;b.npy\")", "linear");
    TEXTS("precomputed(file=\";)(;\") + precomputed(file=\"1..2:3\");",
          "precomputed(file=\";)(;\") + precomputed(file=\"1..2:3\")");
    TEXTS("2*precomputed(file=a;b.npy); linear", "2*precomputed(file=\"a;b.npy\")", "linear");
    TEXTS("gaussian(sigma=1..4:2)*precomputed(file=\"a;b\")",
          "gaussian(sigma=1)*precomputed(file=\"a;b\")",
          "gaussian(sigma=4)*precomputed(file=\"a;b\")");
}

/* A list may be much longer than one expression may be. */
static void long_lists(void) {
    enum { N = KREIN_KERNELS_MAX, WIDTH = 22 };
    char *text = test_new(N * WIDTH + 100, 1), entry[40];
    krein_kernel_list list;
    for (int i = 0; i < N; i++) {
        snprintf(entry, sizeof entry, "gaussian(sigma=%05d);", i + 1);
        strcpy(text + i * WIDTH, entry);
    }
    if (parse(text, &list)) {
        CHECK(list.n == N);
        for (int64_t i = 0; i < list.n; i++)
            CHECK(list.kernel[i]->values.number[0] == (double)(i + 1));
        krein__kernels_clear(ctx, &list);
    }
    strcpy(text + N * WIDTH, "linear");
    CHECK(krein__kernels_parse(ctx, text, &list) == KREIN_ESPEC && list.n == 0 && !list.kernel);
    CHECK_HAS(krein_message(ctx), "column 220001: with this there are more than 10,000 kernels");
    CHECK_HAS(krein_message(ctx), "gaussian(sigma=09999);gaussian(sigma=10000)");
    free(text);
}

/* ---- values of a range -------------------------------------------------- */

/* A family of one kernel with one range: its values; for free(). */
static double *values_of(const char *text, const char *key, int64_t *n) {
    krein_kernel_list list;
    *n = 0;
    if (!parse(text, &list)) return test_new(1, sizeof(double));
    double *v = test_new(list.n, sizeof *v);
    *n = list.n;
    for (int64_t i = 0; i < list.n; i++) {
        krein_kernel *leaf = first_leaf(list.kernel[i]);
        v[i] = leaf->values.number[krein__option_index(&leaf->kernel->cls, key)];
    }
    CHECK(texts_parse_back(&list));
    krein__kernels_clear(ctx, &list);
    return v;
}

static void check_values(const char *text, const char *key, int64_t n, const double *want) {
    int64_t got = 0;
    double *v = values_of(text, key, &got);
    if (got != n) printf("%s: %lld values\n", text, (long long)got);
    CHECK(got == n);
    for (int64_t i = 0; i < n && i < got; i++) {
        if (v[i] != want[i]) printf("%s: %.17g, want %.17g\n", text, v[i], want[i]);
        CHECK(v[i] == want[i]);
    }
    free(v);
}
#define VALUES(text, key, ...)                                                                     \
    check_values(text, key, KREIN__COUNT(((const double[]){__VA_ARGS__})),                         \
                 (const double[]){__VA_ARGS__})

static void powers_of_two(void) {
    int64_t n;
    double *v = values_of("gaussian(sigma=2^-15..2^15:31)", "sigma", &n);
    CHECK(n == 31);
    for (int64_t i = 0; i < n; i++) CHECK(v[i] == ldexp(1, (int)i - 15));
    free(v);
    v = values_of("gaussian(sigma=2^15..2^-15:31)", "sigma", &n);
    CHECK(n == 31);
    for (int64_t i = 0; i < n; i++) CHECK(v[i] == ldexp(1, 15 - (int)i));
    free(v);
    v = values_of("poly(gamma=2^-99..2^99:199)", "gamma", &n);
    CHECK(n == 199);
    for (int64_t i = 0; i < n; i++) CHECK(v[i] == ldexp(1, (int)i - 99));
    free(v);
    VALUES("gaussian(sigma=1..4:5)", "sigma", 1, exp2(0.5), 2, exp2(1.5), 4);
}

static void obvious_formula(void) {
    static const struct {
        const char *text;
        double low, high;
        int64_t count;
    } cases[] = {{"gaussian(sigma=0.1..10:20)", 0.1, 10, 20},
                 {"gaussian(sigma=10..0.1:20)", 10, 0.1, 20},
                 {"gaussian(sigma=.3..1.7e2:7)", 0.3, 170, 7},
                 {"gaussian( sigma = 0.1 .. 10 : 20 )", 0.1, 10, 20},
                 {"gaussian(sigma=3..1000:10000)", 3, 1000, 10000}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t n;
        double *v = values_of(cases[c].text, "sigma", &n), last = (double)(cases[c].count - 1);
        CHECK(n == cases[c].count);
        if (n == cases[c].count) CHECK(v[0] == cases[c].low && v[n - 1] == cases[c].high);
        for (int64_t i = 0; i < n; i++)
            CHECK_REL(v[i], cases[c].low * pow(cases[c].high / cases[c].low, (double)i / last),
                      1e-14);
        for (int64_t i = 1; i < n; i++)
            CHECK((v[i] > v[i - 1]) == (cases[c].high > cases[c].low) && v[i] != v[i - 1]);
        free(v);
    }
}

static void decimals_are_neat(void) {
    VALUES("gaussian(sigma=0.001..1000:7)", "sigma", 0.001, 0.01, 0.1, 1, 10, 100, 1000);
    VALUES("gaussian(sigma=0.3..30:3)", "sigma", 0.3, 3, 30);
    VALUES("gaussian(sigma=1e-6..1e6:7)", "sigma", 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6);
    VALUES("gaussian(sigma=0.1..10:2)", "sigma", 0.1, 10);
}

static void equal_values_count_once(void) {
    VALUES("gaussian(sigma=3..3:1)", "sigma", 3);
    VALUES("gaussian(sigma=0.7..0.7:5)", "sigma", 0.7);
    VALUES("gaussian(sigma=1..1.0000000000000002:9)", "sigma", 1, 1.0000000000000002);
}

static void whole_numbers(void) {
    VALUES("poly(degree=1..8:4)", "degree", 1, 2, 4, 8);
    VALUES("poly(degree=1..4:10)", "degree", 1, 2, 3, 4);
    VALUES("poly(degree=4..1:10000)", "degree", 4, 3, 2, 1);
    VALUES("poly(degree=2..64:3)", "degree", 2, 11, 64); /* 11.3 */
    VALUES("poly(degree=64..64:7)", "degree", 64);
}

/* ---- combinations ------------------------------------------------------- */

static void cross_product(void) {
    TEXTS("matern(nu=1..4:3, sigma=2..8:2)", "matern(nu=1, sigma=2)", "matern(nu=1, sigma=8)",
          "matern(nu=2, sigma=2)", "matern(nu=2, sigma=8)", "matern(nu=4, sigma=2)",
          "matern(nu=4, sigma=8)");
    /* The order is that of the text, not of the option table. */
    TEXTS("matern(sigma=2..8:2, nu=1..4:3)", "matern(nu=1, sigma=2)", "matern(nu=2, sigma=2)",
          "matern(nu=4, sigma=2)", "matern(nu=1, sigma=8)", "matern(nu=2, sigma=8)",
          "matern(nu=4, sigma=8)");
    TEXTS("gaussian(sigma=1..2:2) + laplacian(sigma=3..6:2)*gaussian(sigma=4..8:2)",
          "gaussian(sigma=1) + laplacian(sigma=3)*gaussian(sigma=4)",
          "gaussian(sigma=1) + laplacian(sigma=3)*gaussian(sigma=8)",
          "gaussian(sigma=1) + laplacian(sigma=6)*gaussian(sigma=4)",
          "gaussian(sigma=1) + laplacian(sigma=6)*gaussian(sigma=8)",
          "gaussian(sigma=2) + laplacian(sigma=3)*gaussian(sigma=4)",
          "gaussian(sigma=2) + laplacian(sigma=3)*gaussian(sigma=8)",
          "gaussian(sigma=2) + laplacian(sigma=6)*gaussian(sigma=4)",
          "gaussian(sigma=2) + laplacian(sigma=6)*gaussian(sigma=8)");
}

static void ranges_among_fixed_kernels(void) {
    TEXTS("linear; 2*gaussian(sigma=1..4:3) - linear; poly(degree=2)", "linear",
          "2*gaussian(sigma=1) - linear", "2*gaussian(sigma=2) - linear",
          "2*gaussian(sigma=4) - linear", "poly(degree=2, c=1, gamma=1)");
    TEXTS("-(linear + (0.5*cauchy(sigma=4..1:2)))*gaussian",
          "-1*(linear + 0.5*cauchy(sigma=4))*gaussian",
          "-1*(linear + 0.5*cauchy(sigma=1))*gaussian");
    /* A parameter that is left open stays open. */
    TEXTS("matern(nu=1..2:2)", "matern(nu=1)", "matern(nu=2)");
    /* Many ranges, of one distinct value each: limits are on kernels, not on ranges. */
    char text[4000] = "", part[64];
    for (int i = 0; i < 64; i++) {
        snprintf(part, sizeof part, "%sgaussian(sigma=%d..%d:10000)", i ? "+" : "", i + 1, i + 1);
        strcat(text, part);
    }
    krein_kernel_list list;
    if (!parse(text, &list)) return;
    CHECK(list.n == 1 && first_leaf(list.kernel[0])->values.number[0] == 1);
    krein__kernels_clear(ctx, &list);
}

/* ---- errors ------------------------------------------------------------- */

static void refused(const char *text, int column, const char *part) {
    krein_kernel_list list;
    char place[40];
    memset(&list, 0xab, sizeof list);
    krein_status st = krein__kernels_parse(ctx, text, &list);
    if (st != KREIN_ESPEC) printf("\"%s\"\n", text);
    CHECK(st == KREIN_ESPEC && list.n == 0 && !list.kernel);
    if (st != KREIN_ESPEC) return;
    snprintf(place, sizeof place, "column %d: ", column);
    if (column > 0) CHECK_HAS(krein_message(ctx), place);
    CHECK_HAS(krein_message(ctx), part);
}

static void list_errors(void) {
    refused("", 1, "the list of kernels is empty; write for example");
    refused(" \t\n", 4, "\"gaussian(sigma=0.1..10:20); linear\"");
    refused(";", 1, "there is no kernel before this \";\"; leave it out");
    refused("; linear", 1, "no kernel before this");
    refused("linear;;", 8, "no kernel before this");
    refused("linear; ;linear", 9, "no kernel before this");
    refused("linear linear; linear", 8, "unexpected \"l\" after the expression");
    refused("linear); linear", 7, "unexpected \")\"");
    refused("(linear; linear)", 8, "expected \")\"");
    refused("gaussian(sigma=1; linear)", 17, "expected \",\" or the closing \")\"");
    refused("linear; gausian", 9, "did you mean \"gaussian\"");
    refused("linear; gaussian(sgima=1)", 18, "did you mean \"sigma\"");
    refused("linear; 2", 10, "a number alone is not a kernel");
    refused("linear; precomputed(file=\"a;b", 26, "not closed");
    refused("linear; linear +;", 17, "expected a kernel");
    refused("linear; precomputed(file=a\"b)", 27, "file cannot have a quote inside");
}

static void range_errors(void) {
    refused("linear; spline(q=0.5..2:3)", 0, "infinite for q <= 1");
    refused("linear; gaussian(sigma=1..2)", 24, "a range is written low..high:count, as in 0.1");
    refused("gaussian(sigma=1..)", 16, "a range is written");
    refused("gaussian(sigma=1...5:3)", 16, "a range is written"); /* not 1 to 0.5 */
    refused("gaussian(sigma=1..2..3:3)", 16, "a range is written");
    refused("gaussian(sigma=1..2;3)", 16, "a range is written");
    refused("gaussian(sigma=1..2:)", 16, "the count of a range is a whole number from 1 to 10,000");
    refused("gaussian(sigma=1..2:0)", 16, "the count of a range");
    refused("gaussian(sigma=1..2:2.5)", 16, "the count of a range");
    refused("gaussian(sigma=1..2:10001)", 16, "the count of a range");
    refused("gaussian(sigma=1..2:1e99)", 16, "the count of a range");
    refused("gaussian(sigma=1..2:1)", 16, "has a count of at least 2");
    refused("linear; poly(c=0..1:3)", 16, "spaced geometrically: both ends must be positive; list");
    refused("poly(c=1..-1:3)", 8, "list other values with \";\" between the kernels");
    refused("poly(c=-2..-1:3)", 8, "both ends must be positive");
    refused("gaussian(sigma=0..1:3)", 16, "sigma = 0 is out of range");
    refused("gaussian(sigma=1..0:3)", 16, "sigma = 0 is out of range");
    refused("gaussian(sigma=1..1e999:3)", 16, "out of range");
    refused("gaussian(sigma=1..1e300:3)", 16, "out of range");
    refused("poly(degree=1..100:3)", 13, "degree = 100 is out of range");
    refused("poly(degree=1..2.5:3)", 13, "whole number");
    refused("gaussian(sigma=1..2:3, sigma=1)", 24, "given twice");
    refused("1..2:3*linear", 2, "a number alone is not a kernel");
}

static void too_many(void) {
    static const char *const many = "with this there are more than 10,000 kernels in all; give "
                                    "ranges a smaller count, or split the list";
    refused("matern(nu=1..2:101, sigma=1..2:100)", 1, many);
    refused("linear; gaussian(sigma=1..2:10000)", 9, many);
    refused("gaussian(sigma=1..2:10000); linear", 29, many);
    refused("gaussian(sigma=1..2:5000)*gaussian(sigma=1..2:5000)*gaussian(sigma=1..2:5000)*"
            "gaussian(sigma=1..2:5000)*gaussian(sigma=1..2:5000)*gaussian(sigma=1..2:5000)",
            1, many);
    krein_kernel_list list;
    if (!parse("matern(nu=1..2:100, sigma=1..2:100)", &list)) return;
    CHECK(list.n == 10000);
    krein__kernels_clear(ctx, &list);
}

static void sizes(void) {
    enum { N = 200000 };
    char *text = test_new(N + 100, 1);
    strcpy(text, "linear; ");
    for (int i = 0; i < 8; i++) strcat(text, i ? "*(rq+rq+rq)" : "(rq+rq+rq)");
    refused(text, 0, "4096 terms");
    /* Each entry may have as much as an expression; a long one does not exhaust the stack. */
    strcpy(text, "linear; (");
    for (size_t at = strlen(text); at < N; at += 7) strcpy(text + at, "linear+");
    strcat(text, "linear)");
    refused(text, 0, "4096 terms");
    memset(text, ' ', N);
    strcpy(text + N, ";");
    refused(text, N + 1, "no kernel");
    memcpy(text, "linear", 6);
    refused(text, 0, "too long");
    free(text);
}

static void one_kernel_takes_no_range(void) {
    krein_kernel *k = NULL;
    CHECK(krein__kernel_parse(ctx, "linear + gaussian(sigma=1..2:3)", &k) == KREIN_ESPEC && !k);
    CHECK_HAS(krein_message(ctx), "column 25: sigma takes one number here, not a range; ranges "
                                  "make families of kernels, in `kernels`");
    CHECK(krein__kernel_parse(ctx, "linear; linear", &k) == KREIN_ESPEC && !k);
    CHECK_HAS(krein_message(ctx), "column 7: one kernel is wanted here; lists are for `kernels`");
    CHECK(krein__kernel_parse(ctx, "linear;", &k) == KREIN_ESPEC && !k);
}

static void long_texts_show_the_place(void) {
    char text[2000] = "";
    for (int i = 0; i < 30; i++) strcat(text, "gaussian(sigma=1); ");
    strcat(text, "gausian; linear");
    refused(text, 571, "kernel \"...=1); gaussian(sigma=1); ");
    CHECK_HAS(krein_message(ctx), "gausian; linear\", column 571");
}

/* ---- truncations, mutations, memory, locale ----------------------------- */

static const char *const valid =
    " 2*(matern(nu=0.5..2:2, sigma=.5) + -cauchy)*linear - 3*gaussian(sigma=2^-1..2^1:3); linear;"
    " precomputed(file=\"a;b\") ; poly(degree=1..4:5, c=2) * rq(alpha=1 .. 2 : 2);";

static void truncations(void) {
    uint64_t held = atomic_load(&ctx->held);
    int accepted = 0;
    for (size_t n = 0; n <= strlen(valid); n++) {
        krein_kernel_list list;
        char *text = test_new((int64_t)n + 1, 1); /* of its own size: sanitizers see the end */
        memcpy(text, valid, n);
        if (krein__kernels_parse(ctx, text, &list) == KREIN_OK) {
            accepted++;
            CHECK(list.n > 0 && texts_parse_back(&list));
        } else {
            CHECK(list.n == 0 && !list.kernel && strlen(krein_message(ctx)) > 10);
        }
        krein__kernels_clear(ctx, &list);
        free(text);
    }
    CHECK(accepted > 5);
    CHECK(atomic_load(&ctx->held) == held);
}

static void mutations(void) {
    static const char alphabet[] = "();;+-*=,..::\" 0129e^abgsx\n\xff";
    uint64_t held = atomic_load(&ctx->held);
    int accepted = 0;
    for (int round = 0; round < 10000; round++) {
        char text[400];
        krein_kernel_list list;
        strcpy(text, valid);
        for (int64_t edits = 1 + test_random_below(3); edits > 0; edits--) {
            size_t at = (size_t)test_random_below((int64_t)strlen(text));
            char letter = alphabet[test_random_below(sizeof alphabet - 1)];
            if (test_random_below(2))
                text[at] = letter;
            else
                memmove(text + at, text + at + 1, strlen(text) - at);
        }
        if (krein__kernels_parse(ctx, text, &list) == KREIN_OK) {
            accepted++;
            if (list.n <= 200 && !texts_parse_back(&list)) {
                printf("%s\n", text);
                CHECK(false);
            }
        }
        krein__kernels_clear(ctx, &list);
    }
    CHECK(accepted > 100);
    CHECK(atomic_load(&ctx->held) == held);
}

static void every_allocation_fails(void) {
    test_memory m;
    krein_ctx *mine = test_ctx_with(1, &m);
    int64_t runs = 0;
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_kernel_list list;
        krein_status st = krein__kernels_parse(mine, valid, &list);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        CHECK(st == KREIN_OK ? list.n == 6 + 1 + 1 + 8 : list.n == 0 && !list.kernel);
        if (st != KREIN_OK) CHECK_HAS(krein_message(mine), "memory");
        krein__kernels_clear(mine, &list);
        runs++;
    }
    CHECK(runs > 100);
    /* A fault of the text with little memory: whichever comes first, nothing leaks. */
    static const char *const wrong[] = {"gaussian(sigma=1..2:3); linear; 2*",
                                        "gaussian(sigma=1..2:101)*rq(sigma=1..2:100, alpha=2)"};
    for (int i = 0; i < 2; i++) TEST_EVERY_ALLOCATION(&m, k) {
            krein_kernel_list list;
            krein_status st = krein__kernels_parse(mine, wrong[i], &list);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_ESPEC) && !list.kernel);
        }
    krein_ctx_destroy(mine);
}

static void locale_does_not_matter(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < 4 && !set; i++) set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!set) SKIP("no locale with a decimal comma");
    TEXTS("gaussian(sigma=0.1..10:3)", "gaussian(sigma=0.1)", "gaussian(sigma=1)",
          "gaussian(sigma=10)");
    VALUES("gaussian(sigma=0.05..5:3)", "sigma", 0.05, 0.5, 5);
    setlocale(LC_NUMERIC, "C");
}

int main(void) {
    ctx = test_ctx(1);
    RUN(lists);
    RUN(text_may_have_semicolons);
    RUN(long_lists);
    RUN(powers_of_two);
    RUN(obvious_formula);
    RUN(decimals_are_neat);
    RUN(equal_values_count_once);
    RUN(whole_numbers);
    RUN(cross_product);
    RUN(ranges_among_fixed_kernels);
    RUN(list_errors);
    RUN(range_errors);
    RUN(too_many);
    RUN(sizes);
    RUN(one_kernel_takes_no_range);
    RUN(long_texts_show_the_place);
    RUN(truncations);
    RUN(mutations);
    RUN(every_allocation_fails);
    RUN(locale_does_not_matter);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
