/* test.h -- the test harness: plain functions, counted checks, one summary line.
 *
 *   static void adds(void) { CHECK(1 + 1 == 2); CHECK_REL(f(x), 0.5, 1e-12); }
 *   int main(void) { RUN(adds); return DONE(); }
 *
 * A test function passes when it made checks and none of them failed; one that made none, and did
 * not skip, has failed. The last line is "N passed, N failed, N skipped"; scripts/check.sh adds the
 * lines up.
 */
#ifndef KREIN_TEST_H
#define KREIN_TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int test_passed, test_failed, test_skipped, test_bad, test_was_skipped;
static long test_checks; /* made by the test function that runs */

/* As the program does: an OpenBLAS that is older than the CPU runs on code for a Prescott, slower
 * and with another rounding, and only the environment of a new start can tell it otherwise. */
const char *krein__blas_better_core(void);
__attribute__((constructor)) static void test_right_core(int argc, char **argv) {
    const char *better = getenv("OPENBLAS_CORETYPE") ? NULL : krein__blas_better_core();
    if (argc > 0 && better && setenv("OPENBLAS_CORETYPE", better, 1) == 0)
        execv("/proc/self/exe", argv);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        test_checks++;                                                                             \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
/* The same with words of one's own for what is wrong. */
#define CHECK_ELSE(condition, ...)                                                                 \
    do {                                                                                           \
        test_checks++;                                                                             \
        if (!(condition)) {                                                                        \
            printf(__VA_ARGS__);                                                                   \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
/* |a - b| <= tolerance * max(|b|, tiny) */
#define CHECK_REL(a, b, tolerance)                                                                 \
    do {                                                                                           \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                               \
        test_checks++;                                                                             \
        if (!(fabs(a_ - b_) <= t_ * fmax(fabs(b_), 1e-300))) {                                     \
            printf("%s:%d: %s = %.15g, want %.15g within %g\n", __FILE__, __LINE__, #a, a_, b_,    \
                   t_);                                                                            \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
#define CHECK_ABS(a, b, tolerance)                                                                 \
    do {                                                                                           \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                               \
        test_checks++;                                                                             \
        if (!(fabs(a_ - b_) <= t_)) {                                                              \
            printf("%s:%d: %s = %.15g, want %.15g within %g\n", __FILE__, __LINE__, #a, a_, b_,    \
                   t_);                                                                            \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
/* The mean of R draws with variance `variance` each must be within five standard errors. */
#define CHECK_Z(mean, expected, variance, R)                                                       \
    do {                                                                                           \
        double m_ = (mean), e_ = (expected), s_ = sqrt((variance) / (double)(R));                  \
        test_checks++;                                                                             \
        if (!(fabs(m_ - e_) <= 5 * s_ + 1e-300)) {                                                 \
            printf("%s:%d: %s = %.8g, want %.8g: %.1f standard errors\n", __FILE__, __LINE__,      \
                   #mean, m_, e_, (m_ - e_) / s_);                                                 \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
/* Passes when text contains part; shows both when not. */
#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *t_ = (text), *p_ = (part);                                                     \
        test_checks++;                                                                             \
        if (!strstr(t_, p_)) {                                                                     \
            printf("%s:%d: \"%s\" is not in \"%s\"\n", __FILE__, __LINE__, p_, t_);                \
            test_bad++;                                                                            \
        }                                                                                          \
    } while (0)
#define SKIP(why)                                                                                  \
    do {                                                                                           \
        printf("skipped: %s: %s\n", __func__, why);                                                \
        test_was_skipped = 1;                                                                      \
        return;                                                                                    \
    } while (0)
#define RUN(function)                                                                              \
    do {                                                                                           \
        test_bad = test_was_skipped = 0;                                                           \
        test_checks = 0;                                                                           \
        clock_t start_ = clock();                                                                  \
        function();                                                                                \
        if (getenv("TEST_TIMES"))                                                                  \
            printf("%8.2f s  %s\n", (double)(clock() - start_) / CLOCKS_PER_SEC, #function);       \
        if (!test_checks && !test_bad && !test_was_skipped) {                                      \
            printf("%s:%d: %s made no check\n", __FILE__, __LINE__, #function);                    \
            test_bad++;                                                                            \
        }                                                                                          \
        if (test_bad) {                                                                            \
            printf("FAILED: %s\n", #function);                                                     \
            test_failed++;                                                                         \
        } else if (test_was_skipped) {                                                             \
            test_skipped++;                                                                        \
        } else {                                                                                   \
            test_passed++;                                                                         \
        }                                                                                          \
    } while (0)
#define DONE()                                                                                     \
    (printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped),         \
     test_failed != 0)

#endif
