/* test_classes.c -- the classes of the rows of a data set. */
#include "common.h"

static krein_missing missing = KREIN_MISSING_AUTO;

static krein_status ask(krein_ctx *ctx, const char *text, const char *label, krein_classes *out) {
    krein_data_options o;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    o.label = label;
    o.missing = missing;
    *out = KREIN_SIZED(krein_classes);
    krein_status st = krein_data_open(ctx, test_write("rows.csv", text), &o, &data);
    if (st == KREIN_OK) st = krein_data_classes(ctx, data, out);
    krein_data_close(data);
    return st;
}

static void texts_and_numbers(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_classes c;
    CHECK(ask(ctx, "y,x\nb,1\na,2\nb,3\n", NULL, &c) == KREIN_OK);
    CHECK(c.n == 3 && c.classes == 2);
    if (c.classes == 2) {
        CHECK(strcmp(c.names[0], "a") == 0 && strcmp(c.names[1], "b") == 0);
        CHECK(c.class_of[0] == 1 && c.class_of[1] == 0 && c.class_of[2] == 1);
    }
    krein_classes_clear(ctx, &c);
    CHECK(ask(ctx, "y,x\n7,1\n3,2\n7,3\n-1,5\n", NULL, &c) == KREIN_OK);
    CHECK(c.n == 4 && c.classes == 3);
    if (c.classes == 3) CHECK(c.class_of[0] == 2 && c.class_of[1] == 1 && c.class_of[3] == 0);
    krein_classes_clear(ctx, &c);
    /* One class is one; a missing label is an error, or the row is dropped. */
    CHECK(ask(ctx, "y,x\na,1\na,2\na,3\n", NULL, &c) == KREIN_OK);
    CHECK(c.n == 3 && c.classes == 1 && c.class_of && c.class_of[2] == 0);
    krein_classes_clear(ctx, &c);
    missing = KREIN_MISSING_ERROR;
    CHECK(ask(ctx, "y,x\na,1\n,2\nb,3\n", NULL, &c) == KREIN_EDATA);
    CHECK(c.classes == 0 && !c.class_of);
    missing = KREIN_MISSING_DROP;
    CHECK(ask(ctx, "y,x\na,1\n,2\nb,3\n", NULL, &c) == KREIN_OK);
    CHECK(c.n == 3 && c.classes == 2);
    if (c.classes == 2) CHECK(c.class_of[0] == 0 && c.class_of[1] == -1 && c.class_of[2] == 1);
    krein_classes_clear(ctx, &c);
    missing = KREIN_MISSING_AUTO;
    krein_ctx_destroy(ctx);
}

static void none(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_classes c;
    CHECK(ask(ctx, "y,x\n0.5,1\n1.25,2\n7.5,3\n", NULL, &c) == KREIN_OK);
    CHECK(c.classes == 0 && !c.class_of && !c.names);
    CHECK(ask(ctx, "y,x\n1,1\n0,2\n1,3\n", "none", &c) == KREIN_OK);
    CHECK(c.classes == 0 && !c.class_of);
    krein_classes unsized = {0};
    krein_data *data = NULL;
    CHECK(krein_data_open(ctx, test_write("rows.csv", "y,x\na,1\nb,2\n"), NULL, &data) == KREIN_OK);
    CHECK(krein_data_classes(ctx, data, &unsized) == KREIN_EARG);
    /* The data can be used after that. */
    c = KREIN_SIZED(krein_classes);
    CHECK(krein_data_classes(ctx, data, &c) == KREIN_OK && c.classes == 2);
    krein_classes_clear(ctx, &c);
    krein_data_close(data);
    CHECK(ask(ctx, "y,x\na,1\n", NULL, &c) == KREIN_EDATA); /* a row is no data */
    krein_ctx_destroy(ctx);
}

static void no_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_classes c;
        const krein_status st = ask(ctx, "y,x,z\na,1,u\nb,2,v\na,3,u\n", NULL, &c);
        CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
        krein_classes_clear(ctx, &c);
    }
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(texts_and_numbers);
    RUN(none);
    RUN(no_memory);
    return DONE();
}
