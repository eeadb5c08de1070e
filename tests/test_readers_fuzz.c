/* test_readers_fuzz.c -- readers of mutated files and without memory; numbers against strtod,
 * locales, dictionaries. */
#include "readers.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

/* ---- every allocation may fail -----------------------------------------------------------------
 */

static void allocations(void) {
    char out[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    put_text("m.csv",
             "y,x,g,i,w\nno,1,a,id1,1\nyes,2,b,id2,1\n\"n\"\"o\",3,a,id3,2\nq,4,c,id4,1\n");
    put_text("m.svm", "cat 1:1 3:2\ndog 2:1\nowl 1:1\n");
    put_text("m2.csv", "a,b\nc,d\nc,e\nf,d\n");
    put("m.npy", out,
        npy(out, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", v, sizeof v));
    put_gz("m.gz", out,
           npy(out, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }", v, sizeof v),
           "wb");
    put_gz("n.gz", "1,a\n2,b\n3,c\n", 12, "wb");
    static const struct {
        const char *name, *roles;
    } files[] = {{"m.csv", "lfgiw"}, {"m.csv", "fffff"}, {"m.svm", NULL}, {"m2.csv", NULL},
                 {"m.npy", "fg"},    {"m.gz", "fi"},     {"n.gz", NULL}};
    for (int k = 0; k < (int)(sizeof files / sizeof *files); k++) {
        for (size_t buffer = 0; buffer <= 64; buffer += 32) {
            for (int threads = 1; threads <= 2; threads++) {
                how h = {AUTO, .roles = files[k].roles, .threads = threads, .passes = 2};
                char path[1024];
                long calls = 0;
                h.options.buffer = buffer;
                snprintf(path, sizeof path, "%s", file_name(files[k].name));
                char *whole = dump_path(path, h, &calls);
                CHECK(!strstr(whole, "ERR"));
                CHECK(calls > 5);
                for (h.fail = 1; h.fail <= calls; h.fail++) {
                    char *s = dump_path(path, h, NULL);
                    CHECK_HAS(s, "ERR");
                    free(s);
                }
                free(whole);
            }
        }
    }
}

/* ---- fuzz and numbers
 * ----------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static uint64_t rnd(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 3;
}

static void fuzz(void) {
    static const char *const seeds[] = {
        "a,b,c\n1,2,x\n3,\"4\",\"y\"\"\n\"\n5,?,z\n", "1;2\r\n3;4\r\n", " 1  2\t3\n4 5 6\n",
        "+1 1:0.5 3:-2 # c\n-1 qid:3 2:1e1\n", "cat 1:1\ndog 2:1\n"};
    static const char bits[] = "\"\"\"\n\n\r,,; \t:#?+-.eE0123456789naifxNULL";
    char out[4096], seed[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    int rounds = SLOW ? 3000 : 12000;
    for (int k = 0; k < rounds; k++) {
        size_t n;
        int which = (int)(rnd() % 7);
        if (which < 5) {
            n = strlen(seeds[which]);
            memcpy(seed, seeds[which], n);
        } else {
            n = npy(out, 1 + (int)(rnd() % 3),
                    which == 5 ? "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
                               : "{'descr': '>i4', 'fortran_order': True, 'shape': (4, 3), }",
                    v, sizeof v);
            memcpy(seed, out, n);
        }
        for (uint64_t m = rnd() % 6; m > 0; m--) {
            size_t at = (size_t)(rnd() % n), span = (size_t)(rnd() % 8);
            char c = rnd() % 8 ? bits[rnd() % (sizeof bits - 1)] : (char)rnd();
            switch (rnd() % 4) {
            case 0:
                seed[at] = c;
                break;
            case 1:
                memmove(seed + at + 1, seed + at, n - at);
                seed[at] = c;
                n++;
                break;
            case 2:
                if (at + span < n && n > span + 1) {
                    memmove(seed + at, seed + at + span, n - at - span);
                    n -= span;
                }
                break;
            default:
                if (n + span < 2000 && at + span < n) {
                    memmove(seed + at + span, seed + at, n - at);
                    n += span;
                }
            }
        }
        if (k % 10 == 0)
            put_gz("z", seed, n, "wb1");
        else
            put("z", seed, n);
        how h = {AUTO, .threads = 1, .missing_ok = k & 1, .label_optional = k & 2};
        if (k & 4) h.roles = "lgiwfff";
        if (which < 5 && k % 16 == 3) h.options.format = rnd() % 2 ? "csv" : "libsvm";
        char *a = dump("z", h);
        h.threads = 3;
        h.options.buffer = 16 + rnd() % 64;
        char *b = dump("z", h);
        if (strcmp(a, b)) {
            printf("fuzz %d: %.200s\nnot %.200s\nof %.*s\n", k, b, a, (int)n, seed);
            test_bad++;
        }
        free(a);
        free(b);
    }
}

static void number_is(const char *s, size_t n) {
    char padded[1200] = {0};
    double v = 0, w = strtod(s, NULL);
    memcpy(padded, s, n);
    padded[n] = ",\n\"7"[rnd() % 3];
    /* what follows must not matter */
    for (size_t k = n + 1; k < n + 20; k++) padded[k] = "0123456789.-,e \n"[rnd() % 16];
    const char *end = krein__number(padded, &v);
    if (end != padded + n || memcmp(&v, &w, sizeof v)) {
        printf("%s: %.17g, want %.17g\n", s, v, w);
        test_bad++;
    }
}

static void numbers(void) {
    static const char *const some[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5e1",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "9007199254740993.0000000000000000000000000000000001",
                                       "1e-22",
                                       "123456789012345678e-19",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "9999999999999999999",
                                       "1e308",
                                       "1.8e308",
                                       "1e400",
                                       "1e-400",
                                       "4.9e-324",
                                       "2.4703282292062327e-324",
                                       "2.2250738585072011e-308",
                                       "0e99999999999999999999",
                                       "1e-99999999999999999999",
                                       "0.000000000000000000000000000001",
                                       "100000000000000000000000000000000e-32",
                                       "12345678",
                                       "1234567890123456",
                                       "0.1",
                                       "0.30000000000000004"};
    static const char *const none[] = {"",    "+",   "-",   ".",   "e5",  "1e", "1e+",
                                       "+-1", "abc", "nan", "inf", "--1", " 1"};
    char s[1024];
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) number_is(some[k], strlen(some[k]));
    for (int k = 0; k < (int)(sizeof none / sizeof *none); k++) {
        char padded[128] = {0};
        double v;
        memcpy(padded, none[k], strlen(none[k]));
        CHECK(!krein__number(padded, &v));
    }
    int rounds = SLOW ? 100000 : 1000000;
    for (int k = 0; k < rounds && test_bad < 20; k++) {
        int n = 0;
        uint64_t bits = rnd() << 3 ^ rnd();
        double d;
        memcpy(&d, &bits, sizeof d);
        switch (k % 5) {
        case 4: /* as most cells are: few digits on both sides of the dot */
            if (rnd() % 2) s[n++] = '-';
            for (uint64_t m = rnd() % 9; m > 0; m--) s[n++] = (char)('0' + rnd() % 10);
            if (n < 2 || rnd() % 4) s[n++] = '.';
            for (uint64_t m = 1 + rnd() % 12; m > 0; m--) s[n++] = (char)('0' + rnd() % 10);
            s[n] = 0;
            break;
        case 0: /* any double, some digits */
            if (!isfinite(d)) continue;
            n = snprintf(s, sizeof s, "%.*g", 1 + (int)(rnd() % 20), d);
            break;
        case 1:
            n = snprintf(s, sizeof s, "%.*f", (int)(rnd() % 19), (double)(int64_t)bits * 1e-18);
            break;
        case 2: /* half way between two doubles, and next to it */
            n = snprintf(
                s, sizeof s, "%llu%s",
                (unsigned long long)(((bits >> 11 | UINT64_C(1) << 52) << 1 | 1) << (rnd() % 9)),
                rnd() % 2   ? ""
                : rnd() % 2 ? ".0000001"
                            : "e-7");
            break;
        default:
            if (rnd() % 2) s[n++] = "+-"[rnd() % 2];
            for (uint64_t m = 1 + rnd() % (rnd() % 64 ? 12 : 400); m > 0; m--)
                s[n++] = (char)('0' + rnd() % 10);
            if (rnd() % 2) s[n++] = '.';
            for (uint64_t m = rnd() % 24; s[n - 1] != '+' && m > 0 && memchr(s, '.', (size_t)n);
                 m--)
                s[n++] = (char)('0' + rnd() % 10);
            if (rnd() % 2)
                n += snprintf(s + n, 16, "%c%d", "eE"[rnd() % 2], (int)(rnd() % 80) - 40);
            s[n] = 0;
        }
        number_is(s, (size_t)n);
    }
}

/* A decimal comma in the caller's locale changes nothing. */
static void locales(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *got = NULL;
    for (int k = 0; k < 4 && !got; k++) got = setlocale(LC_ALL, names[k]);
    if (!got) SKIP("no locale with a decimal comma");
    double v;
    char s[128] = "1.2345678901234567890123e-30;";
    CHECK(krein__number(s, &v) && v == 1.2345678901234567890123e-30);
    setlocale(LC_ALL, "C");
}

static void dictionaries(void) {
    krein_ctx *ctx = new_ctx();
    krein_dict d = {0}, e = {0};
    char w[16];
    CHECK(krein__dict_find(&d, "x", 1) == -1);
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(w, sizeof w, "w%d", i);
        CHECK(krein__dict_add(ctx, &d, w, (size_t)n) == i);
        CHECK(krein__dict_add(ctx, &d, w, (size_t)n) == i);
    }
    CHECK(krein__dict_add(ctx, &d, "", 0) == 5000);
    CHECK(krein__dict_find(&d, "w12345", 3) == 12);
    CHECK(krein__dict_find(&d, "w5000", 5) == -1);
    CHECK(!krein__dict_copy(ctx, &d, &e));
    CHECK(e.n == 5001 && krein__dict_find(&e, "w4999", 5) == 4999);
    krein__dict_clear(ctx, &d);
    krein__dict_clear(ctx, &e);
    krein_ctx_destroy(ctx);
}

int main(void) {
    if (!readers_start()) return 1;
    RUN(allocations);
    RUN(fuzz);
    RUN(numbers);
    RUN(locales);
    RUN(dictionaries);
    return readers_done();
}
