/* test_expression.c -- kernel expressions: every rule of kernel.h is tried from both sides. */
#include "common.h"

#include "kernel/kernel.h"

/* ---- a class with every type of option ---------------------------------- */

static krein_ctx *ctx;

/* ---- kernel expressions ------------------------------------------------- */

static krein_kernel *kernel(const char *text) {
    krein_kernel *k = NULL;
    CHECK_ELSE(krein__kernel_parse(ctx, text, &k) == KREIN_OK, "\"%s\": %s\n", text,
               krein_message(ctx));
    return k;
}
/* The expression as it prints is `want`. */
static void prints(int line, const char *text, const char *want) {
    krein_kernel *k = kernel(text);
    char *got = k ? krein__kernel_text(ctx, k) : NULL;
    CHECK_ELSE(got && strcmp(got, want) == 0, "%s:%d: \"%s\" prints as \"%s\", want \"%s\"\n",
               __FILE__, line, text, got ? got : "", want);
    krein__free(ctx, got);
    krein__kernel_destroy(ctx, k);
}
#define PRINTS(text, want) prints(__LINE__, text, want)
static void kernel_refused(int line, const char *text, const char *why) {
    krein_kernel *k = (krein_kernel *)&ctx;
    uint64_t held = atomic_load(&ctx->held);
    krein_status st = krein__kernel_parse(ctx, text, &k);
    CHECK_ELSE(st == KREIN_ESPEC && strstr(krein_message(ctx), why) && !k &&
                   atomic_load(&ctx->held) == held,
               "%s:%d: \"%.200s\": status %d, \"%s\", want \"%s\"\n", __FILE__, line, text, (int)st,
               st ? krein_message(ctx) : "", why);
    if (st == KREIN_OK) krein__kernel_destroy(ctx, k);
}
#define KERNEL_REFUSED(text, why) kernel_refused(__LINE__, text, why)

/* The value of an expression whose leaves have the values of sigma: precedence without printing. */
static double tree(const krein_kernel *k) {
    switch (k->node) {
    case KREIN_NODE_LEAF:
        return k->values.number[0];
    case KREIN_NODE_SUM:
        return tree(k->left) + tree(k->right);
    case KREIN_NODE_PRODUCT:
        return tree(k->left) * tree(k->right);
    case KREIN_NODE_SCALE:
        return k->number * tree(k->left);
    }
    return NAN;
}
static double worth(const char *text) {
    krein_kernel *k = kernel(text);
    double x = k ? tree(k) : NAN;
    krein__kernel_destroy(ctx, k);
    return x;
}
#define G2 "gaussian(sigma=2)"
#define G3 "gaussian(sigma=3)"
#define G5 "laplacian(sigma=5)"

static void precedence(void) {
    CHECK(worth(G2) == 2);
    CHECK(worth(G2 "+" G3 "*" G5) == 17);
    CHECK(worth(G2 "*" G3 "+" G5) == 11);
    CHECK(worth("(" G2 "+" G3 ")*" G5) == 25);
    CHECK(worth(G5 "*(" G2 "+" G3 ")") == 25);
    CHECK(worth(G2 "-" G3 "-" G5) == -6);
    CHECK(worth(G2 "-(" G3 "-" G5 ")") == 4);
    CHECK(worth(G2 " - " G3 " + " G5) == 4);
    CHECK(worth("-" G2 "*" G3) == -6);
    CHECK(worth("-" G2 "+" G3) == 1);
    CHECK(worth("-(" G2 "+" G3 ")") == -5);
    CHECK(worth(G2 "*-" G3) == -6);
    CHECK(worth(G2 " - -" G3) == 5);
    CHECK(worth("--" G2) == 2);
    CHECK(worth("+" G2) == 2);
    CHECK(worth("0.5*" G2) == 1);
    CHECK(worth(G2 "*0.5") == 1);
    CHECK(worth("2*" G2 "*3") == 12);
    CHECK(worth("2*3*" G2) == 12);
    CHECK(worth("2*(3*" G2 ")") == 12);
    CHECK(worth("2^-1*" G2) == 1);
    CHECK(worth("-2*" G2) == -4);
    CHECK(worth(G3 "-2*" G2) == -1);
    CHECK(worth("((((" G2 "))))") == 2);
    CHECK(worth(" \t\n( " G2 " )\n ") == 2);
    CHECK(worth("1e1*" G2) == 20);
}

static void expression_texts(void) {
    PRINTS("gaussian", "gaussian");
    PRINTS("gaussian()", "gaussian");
    PRINTS(" gaussian ( sigma = 2^-1 ) ", "gaussian(sigma=0.5)");
    PRINTS("matern", "matern(nu=1.5)");
    PRINTS("0.7*laplacian(sigma=3) + 0.3*poly(degree=2, c=1)",
           "0.7*laplacian(sigma=3) + 0.3*poly(degree=2, c=1, gamma=1)");
    PRINTS("gaussian(sigma=1) - gaussian(sigma=2.5)", "gaussian(sigma=1) - gaussian(sigma=2.5)");
    PRINTS("(gaussian(sigma=1)+linear)*linear", "(gaussian(sigma=1) + linear)*linear");
    PRINTS("linear*(gaussian(sigma=1)+linear)", "linear*(gaussian(sigma=1) + linear)");
    PRINTS("linear - (linear + linear)", "linear - (linear + linear)");
    PRINTS("linear - 2*linear", "linear - 2*linear");
    /* Without spaces a minus sign is a minus sign: names have no "-" in them (spec.h). */
    PRINTS("linear-linear", "linear - linear");
    PRINTS("linear+linear", "linear + linear");
}

/* parse(text(k)) is the same kernel, so it prints the same. */
static void expression_round_trip(void) {
    static const char *const texts[] = {
        "gaussian",
        "matern(nu=2.2, sigma=0.1)",
        "0.7*laplacian(sigma=3) + 0.3*poly(degree=2, c=1)",
        "gaussian(sigma=1) - gaussian(sigma=10)",
        "-gaussian(sigma=1)",
        "2*linear*3",
        "linear*(linear + cauchy(sigma=2)) - 0.1*(linear - 3*linear)",
        "linear - -linear",
        "linear - (linear - (linear - linear))",
        "linear + (linear + linear)",
        "linear*(linear*linear)",
        "-(linear + linear)*linear",
        "linear*-linear",
        "0*linear",
        "2*(3*linear)",
        "0.1*(0.2*(0.3*linear))",
        "(2*linear)*(3*linear)",
        "--linear",
        "-(-linear)",
        "-2*-3*linear",
        "-(2*linear)",
        "3.3333333333333335*linear*1e-300"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        krein_kernel *k = kernel(texts[i]), *again = NULL, *copy = NULL;
        if (!k) continue;
        char *one = krein__kernel_text(ctx, k), *two = NULL, *three = NULL;
        CHECK(one != NULL);
        if (one && (again = kernel(one))) two = krein__kernel_text(ctx, again);
        if (!two || strcmp(one, two) != 0) {
            printf("\"%s\" prints as \"%s\", which prints as \"%s\"\n", texts[i], one,
                   two ? two : "(nothing)");
            test_bad++;
        }
        CHECK(krein__kernel_copy(ctx, k, &copy) == KREIN_OK);
        if (copy) three = krein__kernel_text(ctx, copy);
        CHECK(three && strcmp(one, three) == 0);
        krein__free(ctx, one);
        krein__free(ctx, two);
        krein__free(ctx, three);
        krein__kernel_destroy(ctx, k);
        krein__kernel_destroy(ctx, again);
        krein__kernel_destroy(ctx, copy);
    }
}

/* An expression that is accepted prints whole (or not at all), and its text is accepted. */
static void long_expression_prints_whole(void) {
    char text[4096] = "";
    for (int i = 0; i < 64; i++) {
        strcat(text, i ? "+" : "");
        for (int l = 0; l < 8; l++) strcat(text, l ? "*poly" : "poly");
    }
    krein_kernel *k = NULL, *again = NULL;
    if (krein__kernel_parse(ctx, text, &k) != KREIN_OK) { /* refusing it is fine */
        CHECK(ctx->status == KREIN_ESPEC);
        return;
    }
    char *printed = krein__kernel_text(ctx, k);
    if (printed) {
        krein_status st = krein__kernel_parse(ctx, printed, &again);
        if (st != KREIN_OK) printf("%.300s\n", krein_message(ctx));
        CHECK(st == KREIN_OK);
        char *two = again ? krein__kernel_text(ctx, again) : NULL;
        CHECK(two && strcmp(printed, two) == 0);
        krein__free(ctx, two);
    }
    krein__free(ctx, printed);
    krein__kernel_destroy(ctx, k);
    krein__kernel_destroy(ctx, again);
}

static void expression_errors(void) {
    KERNEL_REFUSED("", "expected a kernel");
    KERNEL_REFUSED("linear + 2*spline(q=1)", "infinite for q <= 1; cut it, for example with terms");
    KERNEL_REFUSED("2", "a number alone is not a kernel");
    KERNEL_REFUSED("2 + linear", "a number alone is not a kernel");
    KERNEL_REFUSED("linear + 2", "a number alone is not a kernel");
    KERNEL_REFUSED("2*(3)", "a number alone is not a kernel");
    KERNEL_REFUSED("-2", "a number alone is not a kernel");
    KERNEL_REFUSED("gausian(sigma=1)", "did you mean \"gaussian\"");
    KERNEL_REFUSED("gausian(sigma=1)", "There are: gaussian, laplacian");
    KERNEL_REFUSED("gaussian(sgima=1)", "did you mean \"sigma\"");
    KERNEL_REFUSED("gaussian(sigma=0)", "out of range");
    KERNEL_REFUSED("gaussian(sigma=-1)", "out of range");
    KERNEL_REFUSED("gaussian(sigma=1..2:3)", "not a range");
    KERNEL_REFUSED("poly(degree=2.5)", "whole number");
    KERNEL_REFUSED("linear(sigma=1)", "it takes none");
    KERNEL_REFUSED("linear +", "expected a kernel");
    KERNEL_REFUSED("linear * ", "expected a kernel");
    KERNEL_REFUSED("* linear", "expected a kernel");
    KERNEL_REFUSED("linear linear", "unexpected");
    KERNEL_REFUSED("linear / linear", "unexpected \"/\"");
    KERNEL_REFUSED("(linear", "expected \")\"");
    KERNEL_REFUSED("linear)", "unexpected \")\"");
    KERNEL_REFUSED("()", "expected a kernel");
    KERNEL_REFUSED("2 linear", "a number alone is not a kernel");
    KERNEL_REFUSED("1e400*linear", "too large");
    KERNEL_REFUSED("linear, linear", "unexpected \",\"");
    CHECK_HAS(krein_message(ctx), "column 7");
    enum { LONG = 200000 };
    char *text = test_new(LONG, 1);
    memset(text, '(', 200);
    strcpy(text + 200, "linear");
    KERNEL_REFUSED(text, "too deep");
    memset(text, '-', 200);
    KERNEL_REFUSED(text, "too deep");
    memset(text, ' ', 140000);
    strcpy(text + 140000, "linear");
    KERNEL_REFUSED(text, "too long");
    for (int i = 0; i < 4097; i++) strcpy(text + 7 * i, "linear+");
    text[7 * 4097 - 1] = 0;
    KERNEL_REFUSED(text, "4096 terms");
    KERNEL_REFUSED("linear*linear*linear*linear*linear*linear*linear*linear*linear", "8 kernels");
    text[0] = 0;
    for (int i = 0; i < 8; i++)
        strcat(text, i ? "*(linear+linear+linear)" : "(linear+linear+linear)");
    KERNEL_REFUSED(text, "4096 terms");
    free(text);
    KERNEL_REFUSED("1e200*linear*1e200", "too large"); /* a factor must be finite */
}

static void free_parameters(void) {
    krein_kernel *k = kernel("gaussian + matern(nu=2)*laplacian(sigma=2) - 3*cauchy + poly");
    krein_kernel *leaf = NULL;
    int64_t slot = -1;
    if (!k) return;
    CHECK(krein__kernel_free(k, 0, NULL, NULL) == 3);
    static const char *const want[] = {"gaussian", "matern", "cauchy"};
    static const int64_t slots[] = {0, 1, 0};
    for (int64_t i = 0; i < 3; i++) {
        leaf = NULL;
        CHECK(krein__kernel_free(k, i, &leaf, &slot) == 3);
        CHECK(leaf && strcmp(leaf->kernel->cls.name, want[i]) == 0 && slot == slots[i]);
    }
    for (int64_t left = 3; left > 0; left--) {
        CHECK(krein__kernel_free(k, 0, &leaf, &slot) == left);
        leaf->values.number[slot] = 1.25;
    }
    CHECK(krein__kernel_free(k, 0, &leaf, &slot) == 0);
    char *text = krein__kernel_text(ctx, k);
    CHECK_HAS(text ? text : "", "gaussian(sigma=1.25) + matern(nu=2, sigma=1.25)*laplacian(sigma=2)"
                                " - 3*cauchy(sigma=1.25) + poly(degree=3, c=1, gamma=1)");
    krein__free(ctx, text);
    krein__kernel_destroy(ctx, k);
}

static void terms(void) {
    krein_kernel *k = kernel("2*(" G2 " - 3*" G3 ")*(" G5 " + 0.5*linear) - " G2);
    krein_term t[KREIN_TERMS_MAX];
    int64_t n = 0;
    if (!k) return;
    CHECK(krein__kernel_terms(ctx, k, t, &n) == KREIN_OK);
    CHECK(n == 5);
    /* (g2 - 3 g3)(g5 + lin/2) 2 - g2, in the order of the expansion */
    static const double c[] = {2, 1, -6, -3, -1};
    static const int64_t leaves[] = {2, 2, 2, 2, 1};
    static const double sigma[] = {2, 2, 3, 3, 2};
    for (int64_t i = 0; i < n; i++) {
        CHECK_REL(t[i].coefficient, c[i], 1e-15);
        CHECK(t[i].n == leaves[i]);
        CHECK(t[i].leaf[0]->values.number[0] == sigma[i]);
    }
    CHECK(strcmp(t[1].leaf[1]->kernel->cls.name, "linear") == 0);
    krein__kernel_destroy(ctx, k);
    /* Up to 64 terms and 8 factors are allowed. */
    char text[2000] = "";
    for (int i = 0; i < 6; i++) strcat(text, i ? "*(linear+linear)" : "(linear+linear)");
    if ((k = kernel(text))) {
        CHECK(krein__kernel_terms(ctx, k, t, &n) == KREIN_OK && n == 64 && t[63].n == 6);
        krein__kernel_destroy(ctx, k);
    }
    if ((k = kernel("linear*linear*linear*linear*linear*linear*linear*linear"))) {
        CHECK(krein__kernel_terms(ctx, k, t, &n) == KREIN_OK && n == 1 && t[0].n == 8);
        krein__kernel_destroy(ctx, k);
    }
}

static void properties(void) {
    struct {
        const char *text;
        bool positive, radial, stationary, linear;
    } cases[] = {{"gaussian", true, true, true, false},
                 {"laplacian", true, false, true, false},
                 {"linear", true, false, false, true},
                 {"2*linear", true, false, false, true},
                 {"2*(3*linear)", true, false, false, true},
                 {"-linear", false, false, false, false},
                 {"linear + linear", true, false, false, false},
                 {"poly(c=-1)", false, false, false, false},
                 {"poly(gamma=-1)", false, false, false, false},
                 {"gaussian - matern", false, true, true, false},
                 {"gaussian*laplacian + 2*cauchy", true, false, true, false},
                 {"gaussian*linear", true, false, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = kernel(cases[i].text);
        if (!k) continue;
        bool good = krein__kernel_positive(k) == cases[i].positive &&
                    krein__kernel_all(k, krein__is_radial) == cases[i].radial &&
                    krein__kernel_all(k, krein__is_stationary) == cases[i].stationary &&
                    krein__is_linear(k) == cases[i].linear;
        if (!good) printf("%s\n", cases[i].text);
        CHECK(good);
        krein__kernel_destroy(ctx, k);
    }
}

int main(void) {
    ctx = test_ctx(1);
    RUN(precedence);
    RUN(expression_texts);
    RUN(expression_round_trip);
    RUN(long_expression_prints_whole);
    RUN(expression_errors);
    RUN(free_parameters);
    RUN(terms);
    RUN(properties);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
