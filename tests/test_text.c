/* test_text.c -- names to show and to compare. */
#include "common.h"

#include "base/text.h"

static void shows(const char *text, const char *want) {
    char out[64];
    CHECK(krein__escape(text, out, sizeof out) == strlen(want));
    if (strcmp(out, want) != 0) printf("\"%s\" for \"%s\"\n", out, want);
    CHECK(strcmp(out, want) == 0);
}

static void control_characters(void) {
    shows("", "");
    shows("plain name (1)", "plain name (1)");
    shows("a\033[2Jb\n\tc\177", "a\\x1b[2Jb\\x0a\\x09c\\x7f");
    shows("\303\244 \342\202\254 \360\237\230\200", "\303\244 \342\202\254 \360\237\230\200");
    shows("\302\233x\302\240", "\\xc2\\x9bx\302\240"); /* U+009B; U+00A0 is none */
    shows("\233x", "\\x9bx");                          /* the same without UTF-8 */
    shows("\344pfel", "\344pfel");                     /* Latin-1 stays as it is */
    shows("\342\202", "\342\\x82");                    /* half a character */
    shows("\303", "\303");
}

static void cut(void) {
    char out[8];
    CHECK(krein__escape("abcdef\033g", out, sizeof out) == 11 && strcmp(out, "abcdef") == 0);
    CHECK(krein__escape("abcdefg", out, sizeof out) == 7 && strcmp(out, "abcdefg") == 0);
    CHECK(krein__escape("abcdefgh", out, sizeof out) == 8 && strcmp(out, "abcdefg") == 0);
    CHECK(krein__escape("abcde\342\202\254", out, sizeof out) == 8 && strcmp(out, "abcde") == 0);
    CHECK(krein__escape("\033", NULL, 0) == 4);
}

static void messages(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    krein__fail(ctx, KREIN_EDATA, "column \"%s\"", "a\033b");
    krein__prefix(ctx, KREIN_EDATA, "%s: ", "file\007");
    CHECK(strcmp(krein_message(ctx), "file\\x07: column \"a\\x1bb\"") == 0);
    krein__log(ctx, KREIN_LOG_INFO, "class %s", "\r");
    CHECK(strcmp(log.text, "class \\x0d\n") == 0);
    krein_ctx_destroy(ctx);
}

static void distances(void) {
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[199] = 0;
    CHECK(krein__edit_distance("", "") == 0 && krein__edit_distance("", "abc") == 3);
    CHECK(krein__edit_distance("kitten", "sitting") == 3);
    CHECK(krein__edit_distance("Label", "lABEL") == 0);
    CHECK(krein__edit_distance(longer, "b") == KREIN_NAME_CUT);
}

int main(void) {
    RUN(control_characters);
    RUN(cut);
    RUN(messages);
    RUN(distances);
    return DONE();
}
