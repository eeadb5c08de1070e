/* test_spec.c -- the spec language name(key=value, ...).
 *
 * Every rule of spec.h is tried from both sides; then mutated texts, which may be right or wrong
 * but must neither crash nor leak; then each allocation fails in turn. */
#include "common.h"

#include "base/spec.h"
#include "kernel/kernel.h"

#include <locale.h>

/* ---- a class with every type of option ---------------------------------- */

static const krein_option options[] = {
    {.name = "alpha", .value = 1.5, .low = 0, .low_open = true, .high = 10, .help = "h"},
    {.name = "count", .type = KREIN_OPTION_INTEGER, .value = 3, .low = 1, .high = 1e6},
    {.name = "flag", .type = KREIN_OPTION_YESNO, .value = 0},
    {.name = "mode", .type = KREIN_OPTION_WORD, .value = 1, .words = "slow|fast|fastest"},
    {.name = "file", .type = KREIN_OPTION_TEXT},
    {.name = "free", .value = NAN, .low = -4, .high = 4, .high_open = true},
    {.name = "title", .type = KREIN_OPTION_TEXT, .text = "none"},
    {0}};
enum { ALPHA, COUNT, FLAG, MODE, FIL, FREE, TITLE };
static const krein_class first_class = {"first", "", "", options, NULL},
                         bare_class = {"bare", "", "", NULL, NULL},
                         third_class = {"third_one", "", "", options, NULL};
static const krein_class *const classes[] = {&first_class, &bare_class, &third_class};
static krein_ctx *ctx;

/* Parses; the values must be cleared when it returns true. */
static bool parse(const char *text, krein_values *v) {
    int64_t which = -1;
    return krein__parse_spec(ctx, text, "thing", classes, 3, &which, v) == KREIN_OK && which >= 0;
}
/* Refused with KREIN_ESPEC and a message that holds `why`. */
static void refused(int line, const char *text, const char *why) {
    krein_values v;
    int64_t which;
    uint64_t held = atomic_load(&ctx->held);
    krein_status st = krein__parse_spec(ctx, text, "thing", classes, 3, &which, &v);
    CHECK_ELSE(st == KREIN_ESPEC && strstr(krein_message(ctx), why) &&
                   atomic_load(&ctx->held) == held,
               "%s:%d: \"%s\": status %d, \"%s\"; want \"%s\"\n", __FILE__, line, text, (int)st,
               st ? krein_message(ctx) : "", why);
    if (st == KREIN_OK) krein__values_clear(ctx, &v);
}
#define REFUSED(text, why) refused(__LINE__, text, why)
/* The number of one key after parsing, or -99. */
static double number_of(const char *text, int64_t slot) {
    krein_values v;
    if (!parse(text, &v)) {
        printf("\"%s\": %s\n", text, krein_message(ctx));
        return -99;
    }
    double x = v.given[slot] ? v.number[slot] : -98;
    krein__values_clear(ctx, &v);
    return x;
}

static void names(void) {
    krein_values v;
    int64_t which = -1;
    CHECK(krein__parse_spec(ctx, "bare", "thing", classes, 3, &which, &v) == KREIN_OK);
    CHECK(which == 1);
    CHECK(krein__parse_spec(ctx, " \t\n third_one ( ) ", "thing", classes, 3, &which, &v) ==
          KREIN_OK);
    CHECK(which == 2);
    krein__values_clear(ctx, &v);
    CHECK(krein__parse_spec(ctx, "bare()", "thing", classes, 3, &which, &v) == KREIN_OK);
    REFUSED("", "expected the name");
    REFUSED("  ", "expected the name");
    REFUSED("3", "expected the name");
    REFUSED("(alpha=1)", "expected the name");
    REFUSED("frist", "did you mean \"first\"");
    REFUSED("firs", "did you mean \"first\"");
    REFUSED("frist", "\"first\"? There are: first, bare, third_one");
    REFUSED("third", "did you mean \"third_one\"");
    REFUSED("zzzzzzzz", "\"zzzzzzzz\"; there are: first, bare, third_one");
    krein__parse_spec(ctx, "zzzzzzzz", "thing", classes, 3, &which, &v);
    CHECK(!strstr(krein_message(ctx), "did you mean"));
    CHECK_HAS(krein_message(ctx), "thing");
    CHECK_HAS(krein_message(ctx), "column 1");
    REFUSED("first first", "column 7");
    REFUSED("first(alpha=1) x", "unexpected text");
    REFUSED("first(alpha=1))", "unexpected text");
    REFUSED("first=1", "unexpected text");
}

static void keys(void) {
    krein_values v;
    CHECK(parse("first", &v));
    CHECK(v.number[ALPHA] == 1.5 && v.number[COUNT] == 3 && v.number[FLAG] == 0);
    CHECK(v.number[MODE] == 1 && isnan(v.number[FREE]) && !v.text[FIL]);
    CHECK(v.text[TITLE] && strcmp(v.text[TITLE], "none") == 0);
    for (int i = 0; i <= TITLE; i++) CHECK(!v.given[i] && v.count[i] == 1);
    krein__values_clear(ctx, &v);
    CHECK(parse("first(count=5 ,alpha= 2.25,\n\tmode =slow)", &v));
    CHECK(v.number[ALPHA] == 2.25 && v.number[COUNT] == 5 && v.number[MODE] == 0);
    CHECK(v.given[ALPHA] && v.given[COUNT] && v.given[MODE] && !v.given[FLAG] && !v.given[FREE]);
    krein__values_clear(ctx, &v);

    REFUSED("first(alpha=1, alpha=2)", "given twice");
    REFUSED("first(alpha=1, alpha=1)", "given twice");
    REFUSED("first(alhpa=1)", "did you mean \"alpha\"");
    REFUSED("first(alhpa=1)", "There are: alpha, count, flag, mode, file, free, title");
    REFUSED("first(zzzz=1)", "has no key \"zzzz\"");
    REFUSED("bare(alpha=1)", "it takes none");
    REFUSED("first(alpha)", "expected \"=\"");
    REFUSED("first(alpha 1)", "expected \"=\"");
    REFUSED("first(alpha=)", "needs a number");
    REFUSED("first(=1)", "expected key=value");
    REFUSED("first(1)", "expected key=value");
    REFUSED("first(alpha=1 count=2)", "expected \",\"");
    REFUSED("first(alpha=1;count=2)", "expected \",\"");
    REFUSED("first(,alpha=1)", "expected key=value");
    REFUSED("first(alpha=1,,count=2)", "expected key=value");
    /* A comma stands between pairs, never before the ")". */
    REFUSED("first(alpha=1, )", "expected key=value");
    REFUSED("first(alpha=1,)", "expected key=value");
}

static void numbers(void) {
    CHECK(number_of("first(alpha=2)", ALPHA) == 2);
    CHECK(number_of("first(alpha=2.)", ALPHA) == 2);
    CHECK(number_of("first(alpha=.25)", ALPHA) == 0.25);
    CHECK(number_of("first(alpha=+.25)", ALPHA) == 0.25);
    CHECK(number_of("first(alpha=1e-3)", ALPHA) == 1e-3);
    CHECK(number_of("first(alpha=1.5E+0)", ALPHA) == 1.5);
    CHECK(number_of("first(alpha=25e-1)", ALPHA) == 2.5);
    CHECK(number_of("first(alpha=2^-15)", ALPHA) == 0x1p-15);
    CHECK(number_of("first(alpha=2^+3)", ALPHA) == 8);
    CHECK(number_of("first(alpha=2^1.5)", ALPHA) == pow(2, 1.5));
    CHECK(number_of("first(alpha=10^-1)", ALPHA) == pow(10, -1));
    CHECK(number_of("first(alpha=1e1^-1)", ALPHA) == pow(10, -1));
    CHECK(number_of("first(free=-2^1)", FREE) == -2);
    CHECK(number_of("first(free=-1.25)", FREE) == -1.25);
    CHECK(number_of("first(free= -1.25 )", FREE) == -1.25);
    CHECK(number_of("first(count=1e3)", COUNT) == 1000);
    CHECK(number_of("first(count=2^10)", COUNT) == 1024);
    CHECK(number_of("first(alpha=0.12345678901234568)", ALPHA) == 0.12345678901234568);
    CHECK(number_of("first(alpha=4.9406564584124654e-324)", ALPHA) == 0x1p-1074);
    REFUSED("first(alpha=one)", "needs a number");
    REFUSED("first(alpha=inf)", "needs a number");
    REFUSED("first(alpha=nan)", "needs a number");
    REFUSED("first(alpha=.)", "needs a number");
    REFUSED("first(alpha=-)", "needs a number");
    REFUSED("first(alpha=- 1)", "needs a number");
    REFUSED("first(alpha=\"1\")", "needs a number");
    REFUSED("first(alpha=1x10)", "expected \",\"");
    REFUSED("first(alpha=1.2.3)", "expected \",\"");
    REFUSED("first(alpha=1e)", "expected \",\"");
    REFUSED("first(alpha=2^)", "expected \",\"");
    REFUSED("first(alpha=2^x)", "expected \",\"");
    REFUSED("first(alpha=1e400)", "out of range");
    REFUSED("first(alpha=10^400)", "out of range");

    krein_cursor c = {"  2^3+1", "", "x"};
    double x = 0;
    c.at = c.text;
    CHECK(krein__read_number(&c, &x) && x == 8 && strcmp(c.at, "+1") == 0);
    CHECK(krein__read_number(&c, &x) && x == 1 && *c.at == 0);
    const char *end = c.at;
    CHECK(!krein__read_number(&c, &x) && c.at == end);
}

static void bounds(void) {
    CHECK(number_of("first(alpha=10)", ALPHA) == 10);
    CHECK(number_of("first(free=-4)", FREE) == -4);
    CHECK(number_of("first(count=1)", COUNT) == 1);
    REFUSED("first(alpha=0)", "it takes a value in (0, ");
    REFUSED("first(alpha=-1)", "alpha = -1 is out of range");
    REFUSED("first(alpha=10.000001)", "alpha = 10.000001 is out of range");
    REFUSED("first(free=4)", "[-4, 4)");
    REFUSED("first(free=-4.5)", "[-4, 4)");
    REFUSED("first(count=0)", "count = 0 is out of range; it takes a value in [1, ");
    REFUSED("first(count=2.5)", "whole number");
    REFUSED("first(count=2^-1)", "whole number");
    REFUSED("first(alpha=11)", "column 13"); /* the message points at the number */
}

static void words_and_text(void) {
    krein_values v;
    CHECK(number_of("first(flag=yes)", FLAG) == 1);
    CHECK(number_of("first(flag= no )", FLAG) == 0);
    CHECK(number_of("first(mode=fastest)", MODE) == 2);
    CHECK(number_of("first(mode=fast)", MODE) == 1);
    REFUSED("first(flag=true)", "no|yes");
    REFUSED("first(flag=1)", "no|yes");
    REFUSED("first(flag=)", "no|yes");
    REFUSED("first(mode=fas)", "slow|fast|fastest");
    REFUSED("first(mode=\"fast\")", "slow|fast|fastest");
    REFUSED("first(mode=slow|fast)", "expected \",\"");

    CHECK(parse("first(file=\"a, b) = c\", alpha=2)", &v));
    CHECK(v.text[FIL] && strcmp(v.text[FIL], "a, b) = c") == 0 && v.number[ALPHA] == 2);
    krein__values_clear(ctx, &v);
    CHECK(parse("first(file= plain/name.npy , title=\"\")", &v));
    CHECK(v.text[FIL] && strcmp(v.text[FIL], "plain/name.npy") == 0);
    CHECK(v.text[TITLE] && strcmp(v.text[TITLE], "") == 0);
    krein__values_clear(ctx, &v);
    REFUSED("first(file=\"open)", "not closed");
    REFUSED("first(file=a\"b)", "column 13: file cannot have a quote inside");
    REFUSED("first(file=\"a\", file=\"b\")", "given twice");

    char word[8];
    CHECK(krein__word("a|bcd|e", 1, word, sizeof word) && strcmp(word, "bcd") == 0);
    CHECK(krein__word("a|bcd|e", 2, word, sizeof word) && strcmp(word, "e") == 0);
    CHECK(!krein__word("a|bcd|e", 3, word, sizeof word));
    CHECK(krein__word("only", 0, word, sizeof word) && strcmp(word, "only") == 0);
    CHECK(krein__word("longerthanthat", 0, word, sizeof word) && strlen(word) == 7);
}

static krein_status options_of(const char *text, bool ranges, krein_values *v) {
    krein_cursor c = {text, text, "thing"};
    return krein__parse_options(ctx, &c, &first_class, ranges, v);
}

static void ranges(void) {
    krein_values v;
    CHECK(options_of("(alpha=2^-3..2^3:7, count=2)", true, &v) == KREIN_OK);
    CHECK(v.number[ALPHA] == 0.125 && v.last[ALPHA] == 8 && v.count[ALPHA] == 7);
    CHECK(v.count[COUNT] == 1 && v.number[COUNT] == 2);
    krein__values_clear(ctx, &v);
    CHECK(options_of("(alpha=.5..1.5:3)", true, &v) == KREIN_OK);
    CHECK(v.number[ALPHA] == 0.5 && v.last[ALPHA] == 1.5 && v.count[ALPHA] == 3);
    krein__values_clear(ctx, &v);
    CHECK(options_of("(count=1..100:3)", true, &v) == KREIN_OK);
    CHECK(v.number[COUNT] == 1 && v.last[COUNT] == 100 && v.count[COUNT] == 3);
    krein__values_clear(ctx, &v);

    CHECK(options_of("(alpha=1..2:3)", false, &v) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "not a range; ranges make families of kernels, in `kernels`");
    REFUSED("first(alpha=1..2:3)", "not a range");
    static const char *const bad[] = {
        "(alpha=1..2)",     "(alpha=1..)",      "(alpha=1..x:3)",      "(alpha=1..2:0)",
        "(alpha=1..2:2.5)", "(alpha=1..2:)",    "(alpha=1..2:-3)",     "(alpha=1..20:3)",
        "(free=-1..1:3)",   "(alpha=0..1:3)",   "(alpha=1..2:1e9)",    "(alpha=1..2:3:4)",
        "(free=1..4:3)",    "(count=1..2.5:2)", "(mode=slow..fast:2)", "(alpha=1..2..3:3)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        krein_status st = options_of(bad[i], true, &v);
        if (st == KREIN_OK) krein__values_clear(ctx, &v);
        if (st != KREIN_ESPEC) printf("accepted: %s\n", bad[i]);
        CHECK(st == KREIN_ESPEC);
    }
}

static void parentheses(void) {
    REFUSED("first(", "expected key=value or \")\"");
    REFUSED("first(alpha=1", "closing \")\"");
    REFUSED("first(alpha=1,", "expected key=value");
    REFUSED("first(file=a", "closing \")\"");
    REFUSED("first)", "unexpected text");
    REFUSED("first((alpha=1))", "expected key=value");
    REFUSED("first()()", "unexpected text");
}

static void long_input(void) {
    enum { N = 100000 };
    char *text = test_new(N + 100, 1);
    memset(text, 'a', N);
    REFUSED(text, "unknown thing");
    strcpy(text, "first(");
    memset(text + 6, 'b', N);
    REFUSED(text, "has no key");
    strcpy(text, "first(alpha=");
    memset(text + 12, '1', N);
    REFUSED(text, "alpha");
    strcpy(text, "first(alpha=1e");
    memset(text + 14, '1', N);
    REFUSED(text, "alpha");
    strcpy(text, "first(mode=");
    memset(text + 11, 'f', N);
    REFUSED(text, "slow|fast|fastest");
    strcpy(text, "first(file=\"");
    memset(text + 12, 'f', N);
    REFUSED(text, "not closed");
    memcpy(text + N, "\")", 3);
    krein_values v;
    CHECK(parse(text, &v)); /* a long text is a text */
    CHECK(v.text[FIL] && strlen(v.text[FIL]) == N - 12);
    krein_status st = KREIN_OK;
    char *printed = krein__spec_text(ctx, &first_class, &v);
    if (printed) { /* all of it, or none with the reason */
        CHECK(strlen(printed) > N - 100);
    } else {
        st = ctx->status;
        CHECK(st == KREIN_ESPEC);
    }
    krein__free(ctx, printed);
    krein__values_clear(ctx, &v);
    memset(text, ' ', N);
    strcpy(text + N, "bare");
    CHECK(parse(text, &v));
    CHECK(strlen(krein_message(ctx)) < KREIN__MESSAGE);
    free(text);
}

static bool same_values(const krein_values *a, const krein_values *b) {
    for (int i = 0; i < KREIN_OPTIONS_MAX; i++) {
        bool equal = a->number[i] == b->number[i] || (isnan(a->number[i]) && isnan(b->number[i]));
        bool text = (!a->text[i] && !b->text[i]) ||
                    (a->text[i] && b->text[i] && strcmp(a->text[i], b->text[i]) == 0);
        if (!equal || !text || a->count[i] != b->count[i]) return false;
    }
    return true;
}

static void text_round_trip(void) {
    static const char *const specs[] = {"first",
                                        "first(alpha=0.1)",
                                        "first(alpha=2^-15, flag=yes, mode=fastest, count=1000000)",
                                        "first(free=-0.3333333333333333, file=\"a b, (c) = d\")",
                                        "first(title=\"something else\")",
                                        "first(title=\"\")",
                                        "first(alpha=3.0000000000000004, free=-4)"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        krein_values v, w, copy;
        bool parsed = parse(specs[i], &v);
        CHECK(parsed);
        if (!parsed) continue;
        char *text = krein__spec_text(ctx, &first_class, &v);
        CHECK(text != NULL);
        CHECK(parse(text, &w));
        if (!same_values(&v, &w)) printf("%s -> %s\n", specs[i], text);
        CHECK(same_values(&v, &w));
        char *again = krein__spec_text(ctx, &first_class, &w);
        CHECK(again && strcmp(text, again) == 0);
        CHECK(krein__values_copy(ctx, &v, &copy) == KREIN_OK);
        CHECK(same_values(&v, &copy));
        krein__free(ctx, text);
        krein__free(ctx, again);
        krein__values_clear(ctx, &v);
        krein__values_clear(ctx, &w);
        krein__values_clear(ctx, &copy);
    }
    krein_values v;
    CHECK(parse("bare", &v));
    char *text = krein__spec_text(ctx, &bare_class, &v);
    CHECK(text && strcmp(text, "bare") == 0);
    krein__free(ctx, text);
    CHECK(parse("first(alpha=2)", &v));
    text = krein__spec_text(ctx, &first_class, &v);
    CHECK_HAS(text ? text : "", "first(alpha=2, count=3, flag=no, mode=fast");
    krein__free(ctx, text);
    krein__values_clear(ctx, &v);
}

static void nearest(void) {
    static const char *const list[] = {"gaussian", "laplacian", "cauchy", "matern", "linear"};
    struct {
        const char *name, *want;
    } cases[] = {{"gausian", "gaussian"},
                 {"gauss", "gaussian"},
                 {"lapalcian", "laplacian"},
                 {"cauhcy", "cauchy"},
                 {"matern32", "matern"},
                 {"maternn", "matern"},
                 {"liner", "linear"},
                 {"gaussian", "gaussian"},
                 {"xyz", NULL},
                 {"", NULL},
                 {"q", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = krein__nearest(cases[i].name, list, 5);
        bool good = cases[i].want ? got && strcmp(got, cases[i].want) == 0 : !got;
        if (!good) printf("nearest of \"%s\": %s\n", cases[i].name, got ? got : "(none)");
        CHECK(good);
    }
    CHECK(krein__nearest("gaussian", list, 0) == NULL);
    char *far = test_new(10001, 1);
    memset(far, 'g', 10000);
    krein__nearest(far, list, 5); /* may find none, may not crash */
    free(far);
    CHECK(krein__option_index(&first_class, "mode") == MODE);
    CHECK(krein__option_index(&first_class, "mod") == -1);
    CHECK(krein__option_index(&bare_class, "mode") == -1);
}

/* krein__number_text is the shortest text that reads back (base.h): 10 is "10", not "1e+01". */
static void number_texts(void) {
    static const struct {
        double x;
        const char *want;
    } cases[] = {{10, "10"},  {20, "20"},      {300, "300"},    {0.1, "0.1"},  {-2.5, "-2.5"},
                 {1e6, NULL}, {0x1p-15, NULL}, {1.0 / 3, NULL}, {1e300, NULL}, {-0.0, "-0"}};
    char text[40];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein__number_text(cases[i].x, text);
        CHECK(strtod(text, NULL) == cases[i].x);
        if (cases[i].want && strcmp(text, cases[i].want) != 0) {
            printf("number_text: \"%s\", want \"%s\"\n", text, cases[i].want);
            test_bad++;
        }
    }
    CHECK(krein__round_digits(3.14159, 3) == 3.14);
}

/* Numbers have a point whatever locale the caller has set. */
static void locale_does_not_matter(void) {
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof comma / sizeof *comma && !set; i++)
        set = setlocale(LC_NUMERIC, comma[i]);
    if (!set) SKIP("no locale with a decimal comma is installed");
    CHECK(number_of("first(alpha=0.5)", ALPHA) == 0.5);
    krein_values v;
    char *text = NULL;
    if (parse("first(alpha=2.5)", &v)) text = krein__spec_text(ctx, &first_class, &v);
    CHECK_HAS(text ? text : "", "alpha=2.5,");
    krein__free(ctx, text);
    krein__values_clear(ctx, &v);
    setlocale(LC_NUMERIC, "C");
}

/* ---- mutations and failing allocations ---------------------------------- */

/* What is accepted prints, and its text is accepted and prints the same. */
static void fuzz(void) {
    static const char *const seeds[] = {
        "0.7*laplacian(sigma=3) + 0.3*poly(degree=2, c=1)",
        "gaussian(sigma=1) - gaussian(sigma=10)",
        "2*(matern(nu=2.2, sigma=.5) + cauchy)*linear - -linear",
        "first(alpha=2^-15, flag=yes, mode=fastest, count=1000000, file=\"a\", title=b)"};
    static const char alphabet[] = "()+-*=,.\" 0129e^:abgsx\n\t_\x01\xff";
    uint64_t held = atomic_load(&ctx->held);
    int accepted = 0, unstable = 0;
    for (int round = 0; round < (test_sanitized() ? 4000 : 20000); round++) {
        char text[400];
        strcpy(text, seeds[round % 4]);
        for (int64_t edits = 1 + test_random_below(4); edits > 0; edits--) {
            size_t n = strlen(text), at = (size_t)test_random_below((int64_t)n + 1);
            char letter = alphabet[test_random_below(sizeof alphabet - 1)];
            switch (test_random_below(4)) {
            case 0:
                text[at < n ? at : 0] = letter;
                break;
            case 1:
                if (at < n) memmove(text + at, text + at + 1, n - at);
                break;
            case 2:
                memmove(text + at + 1, text + at, n - at + 1);
                text[at] = letter;
                break;
            default: /* a piece of itself, doubled */
                if (n < 180 && at < n) {
                    size_t m = (size_t)test_random_below((int64_t)(n - at)) + 1;
                    memmove(text + at + m, text + at, n - at + 1);
                }
            }
            if (!text[0]) strcpy(text, "x");
        }
        krein_kernel *k = NULL, *again = NULL;
        if (krein__kernel_parse(ctx, text, &k) == KREIN_OK) {
            accepted++;
            char *one = krein__kernel_text(ctx, k), *two = NULL;
            if (one && krein__kernel_parse(ctx, one, &again) == KREIN_OK)
                two = krein__kernel_text(ctx, again);
            if (!one || !two || strcmp(one, two) != 0) {
                if (unstable++ < 3)
                    printf("\"%s\" prints as \"%s\", then as \"%s\"\n", text, one ? one : "",
                           two ? two : "");
            }
            krein__free(ctx, one);
            krein__free(ctx, two);
        } else {
            CHECK(!k);
        }
        krein__kernel_destroy(ctx, k);
        krein__kernel_destroy(ctx, again);
        krein_values v;
        if (parse(text, &v)) {
            accepted++;
            krein__values_clear(ctx, &v);
        }
        if (options_of(text, true, &v) == KREIN_OK) krein__values_clear(ctx, &v);
    }
    CHECK(accepted > 100);
    CHECK(unstable == 0);
    CHECK(atomic_load(&ctx->held) == held);
}

static void every_allocation_fails(void) {
    static const char *const text =
        "2*(matern(nu=2.2, sigma=.5) + -cauchy)*linear - 0.5*gaussian(sigma=3)*poly";
    test_memory m;
    krein_ctx *mine = test_ctx_with(1, &m);
    int64_t runs = 0;
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_kernel *one = NULL, *two = NULL;
        char *printed = NULL;
        krein_status st = krein__kernel_parse(mine, text, &one);
        CHECK((one != NULL) == (st == KREIN_OK));
        if (st == KREIN_OK) st = krein__kernel_copy(mine, one, &two);
        CHECK((two != NULL) == (st == KREIN_OK));
        if (st == KREIN_OK && !(printed = krein__kernel_text(mine, two))) st = mine->status;
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        if (st != KREIN_OK) CHECK_HAS(krein_message(mine), "memory");
        krein__free(mine, printed);
        krein__kernel_destroy(mine, one);
        krein__kernel_destroy(mine, two);
        runs++;
    }
    CHECK(runs > 20);
    /* Errors of the text with little memory: whichever comes first, nothing leaks. */
    static const char *const wrong[] = {"2*(linear + gaussian(sigma=1)*poly", "linear - linear*2 x",
                                        "-(linear*linear + 2)"};
    for (int i = 0; i < 3; i++) TEST_EVERY_ALLOCATION(&m, k) {
            krein_kernel *one = NULL;
            krein_status st = krein__kernel_parse(mine, wrong[i], &one);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_ESPEC) && !one);
            krein__kernel_destroy(mine, one);
        }
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_values v, w;
        int64_t which;
        char *printed = NULL;
        memset(&v, 0, sizeof v);
        memset(&w, 0, sizeof w);
        krein_status st = krein__parse_spec(mine, "first(file=\"a\", title=b, alpha=2)", "thing",
                                            classes, 3, &which, &v);
        if (st == KREIN_OK) st = krein__values_copy(mine, &v, &w);
        if (st == KREIN_OK && !(printed = krein__spec_text(mine, &first_class, &w)))
            st = mine->status;
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        krein__free(mine, printed);
        krein__values_clear(mine, &v);
        krein__values_clear(mine, &w);
    }
    krein_ctx_destroy(mine);
}

int main(void) {
    ctx = test_ctx(1);
    RUN(names);
    RUN(keys);
    RUN(numbers);
    RUN(bounds);
    RUN(words_and_text);
    RUN(ranges);
    RUN(parentheses);
    RUN(long_input);
    RUN(text_round_trip);
    RUN(nearest);
    RUN(number_texts);
    RUN(locale_does_not_matter);
    RUN(fuzz);
    RUN(every_allocation_fails);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
