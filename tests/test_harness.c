/* test_harness.c -- tests/test.h itself: every check counts, and a test without one has failed. */
#include "test.h"

static int failures;

static void makes_none(void) {}
static void none_is_a_failure(void) { CHECK(failures == 1); }

static void each_counts(void) {
    CHECK(1);
    CHECK_ELSE(1, "-");
    CHECK_REL(1, 1, 0);
    CHECK_ABS(1, 1, 0);
    CHECK_Z(0, 0, 1, 1);
    CHECK_HAS("abc", "b");
    CHECK(test_checks == 7);
}

int main(void) {
    RUN(makes_none);
    printf("(as it should)\n");
    failures = test_failed;
    test_failed = 0;
    RUN(none_is_a_failure);
    RUN(each_counts);
    return DONE();
}
