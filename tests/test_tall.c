/* test_tall.c -- tall matrices in blocks of columns, against sums written out. */
#include "common.h"

#include "num/tall.h"

enum { N = 1100, K = 35, GROUPS = 2, C = K * GROUPS };

typedef struct tall_case {
    krein_ctx *ctx;
    krein_tall t;
    double *a, *b, *out, *small, *small2;
} tall_case;

static tall_case make(int threads) {
    tall_case s = {.ctx = test_ctx(threads)};
    int64_t wide = krein__tall_wide(K);
    s.t = (krein_tall){s.ctx, N, C, K, wide, NULL};
    s.t.room = test_new(krein__tall_room(N, C, wide), sizeof(double));
    s.a = test_new(N * C, sizeof *s.a);
    s.b = test_new(N * C, sizeof *s.b);
    s.out = test_new(N * C, sizeof *s.out);
    s.small = test_new(2 * C * wide, sizeof *s.small);
    s.small2 = test_new(2 * C * wide, sizeof *s.small2);
    test_random_state = 88172645463325252u;
    for (int64_t e = 0; e < N * C; e++) {
        s.a[e] = test_random() - .5;
        s.b[e] = test_random() - .5;
    }
    return s;
}

static void drop(tall_case *s) {
    void *all[] = {s->t.room, s->a, s->b, s->out, s->small, s->small2};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) free(all[i]);
    krein_ctx_destroy(s->ctx);
}

/* The first column of the block that column j is in, and the number of its columns. */
static int64_t block_of(const krein_tall *t, int64_t j, int64_t *wide) {
    int64_t in = j % t->k / t->wide * t->wide;
    *wide = t->k - in < t->wide ? t->k - in : t->wide;
    return j / t->k * t->k + in;
}

static double dot(const double *a, int64_t i, const double *b, int64_t j) {
    double sum = 0;
    for (int64_t r = 0; r < N; r++) sum += a[r * C + i] * b[r * C + j];
    return sum;
}

static void widths(void) {
    CHECK(krein__tall_wide(1) == 1);
    CHECK(krein__tall_wide(KREIN_TALL_WIDE) == KREIN_TALL_WIDE);
    CHECK(krein__tall_wide(K) == 18); /* 35 columns: 18 and 17 */
}

static void sums(void) {
    tall_case s = make(2);
    krein__tall_dots(&s.t, false, s.a, s.b, s.out);
    for (int64_t j = 0; j < C; j++) CHECK_ABS(s.out[j], dot(s.a, j, s.b, j), 1e-10);
    krein__tall_dots(&s.t, true, s.a, s.b, s.out); /* the first N numbers of a */
    double sum = 0;
    for (int64_t r = 0; r < N; r++) sum += s.a[r] * s.b[r * C + 3];
    CHECK_ABS(s.out[3], sum, 1e-10);
    krein__tall_cross(&s.t, s.a, s.b, s.small);
    for (int64_t i = 0, wide; i < C; i++) {
        int64_t first = block_of(&s.t, i, &wide);
        for (int64_t v = 0; v < wide; v++)
            CHECK_ABS(s.small[i * s.t.wide + v], dot(s.a, i, s.b, first + v), 1e-10);
    }
    drop(&s);
}

static void combinations(void) {
    tall_case s = make(2);
    for (int64_t e = 0; e < C * s.t.wide; e++) s.small[e] = test_random() - .5;
    memcpy(s.out, s.b, N * C * sizeof *s.out);
    krein__tall_combine(&s.t, -2, s.a, s.small, 3, s.out);
    for (int64_t r = 0; r < N; r += 97)
        for (int64_t j = 0, wide; j < C; j++) {
            int64_t first = block_of(&s.t, j, &wide);
            double want = 3 * s.b[r * C + j];
            for (int64_t v = 0; v < wide; v++)
                want -= 2 * s.a[r * C + first + v] * s.small[(first + v) * s.t.wide + j - first];
            CHECK_ABS(s.out[r * C + j], want, 1e-12);
        }
    drop(&s);
}

/* A column that is a combination of others, one of zeros and a tiny one: what is left is
 * orthonormal, and has all of the others in its span. */
static void orthonormal(void) {
    tall_case s = make(2);
    int64_t wide, first = block_of(&s.t, K, &wide);
    for (int64_t r = 0; r < N; r++) {
        s.a[r * C + 2] = s.a[r * C] - 2 * s.a[r * C + 1];
        s.a[r * C + 4] = 0;
        s.a[r * C + first + 1] *= 1e-9;
    }
    CHECK(krein__tall_orthonormal(&s.t, s.a, s.small, s.out) == KREIN_OK);
    krein__tall_cross(&s.t, s.out, s.out, s.small);
    int64_t zero[2] = {0, 0};
    for (int64_t i = 0; i < C; i++) {
        int64_t from = block_of(&s.t, i, &wide);
        double own = s.small[i * s.t.wide + i - from];
        if (own < .5) zero[i >= K]++;
        CHECK_ABS(own, own < .5 ? 0 : 1, 1e-5);
        for (int64_t v = 0; v < wide; v++)
            if (from + v != i) CHECK_ABS(s.small[i * s.t.wide + v], 0, 1e-5);
    }
    CHECK(zero[0] == 2 && zero[1] == 0);
    /* the projection of A on them is A */
    krein__tall_cross(&s.t, s.out, s.a, s.small);
    memcpy(s.b, s.a, N * C * sizeof *s.b);
    krein__tall_combine(&s.t, -1, s.out, s.small, 1, s.b);
    krein__tall_dots(&s.t, false, s.b, s.b, s.small);
    krein__tall_dots(&s.t, false, s.a, s.a, s.small2);
    for (int64_t j = 0; j < C; j++) CHECK(s.small[j] <= 1e-8 * s.small2[j]);
    drop(&s);
}

/* A^-1 of A = X'X, one direction of which is missing: B is found again but for that. */
static void solved(void) {
    tall_case s = make(2);
    int64_t wide, first = block_of(&s.t, 0, &wide);
    for (int64_t r = 0; r < N; r++) s.a[r * C + 4] = 0;
    for (int64_t e = 0; e < C * s.t.wide; e++) s.small2[e] = test_random() - .5;
    krein__tall_cross(&s.t, s.a, s.a, s.small);
    double *S = test_new(C * s.t.wide, sizeof *S), *B = test_new(C * s.t.wide, sizeof *B);
    double *X = test_new(C * s.t.wide, sizeof *X);
    memcpy(S, s.small, (size_t)(C * s.t.wide) * sizeof *S);
    for (int64_t i = 0; i < C; i++) { /* B = S X */
        first = block_of(&s.t, i, &wide);
        for (int64_t j = 0; j < wide; j++)
            for (int64_t v = 0; v < wide; v++)
                B[i * s.t.wide + j] += S[i * s.t.wide + v] * s.small2[(first + v) * s.t.wide + j];
    }
    CHECK(krein__tall_solve(&s.t, S, B, s.out, X) == KREIN_OK);
    for (int64_t i = 0; i < C; i++) {
        block_of(&s.t, i, &wide);
        for (int64_t j = 0; j < wide; j++)
            CHECK_ABS(X[i * s.t.wide + j], i == 4 ? 0 : s.small2[i * s.t.wide + j], 1e-8);
    }
    /* what is no number moves nothing */
    S[0] = NAN;
    CHECK(krein__tall_solve(&s.t, S, B, s.out, X) == KREIN_OK);
    CHECK(X[0] == 0 && X[(C - 1) * s.t.wide] != 0);
    free(S);
    free(B);
    free(X);
    drop(&s);
}

/* Groups of one column, and a result that holds no numbers before. */
static void single_columns(void) {
    tall_case s = make(2);
    s.t.k = s.t.wide = 1;
    for (int64_t e = 0; e < N * C; e++) s.out[e] = NAN;
    CHECK(krein__tall_orthonormal(&s.t, s.a, s.small, s.out) == KREIN_OK);
    krein__tall_cross(&s.t, s.out, s.out, s.small);
    for (int64_t j = 0; j < C; j++) CHECK_ABS(s.small[j], 1, 1e-12);
    krein__tall_cross(&s.t, s.out, s.a, s.small);
    for (int64_t j = 0; j < C; j++) CHECK_REL(s.small[j], sqrt(dot(s.a, j, s.a, j)), 1e-12);
    drop(&s);
}

static void same_bits_on_any_threads(void) {
    tall_case one = make(1), two = make(2);
    CHECK(krein__tall_orthonormal(&one.t, one.a, one.small, one.out) == KREIN_OK);
    CHECK(krein__tall_orthonormal(&two.t, two.a, two.small, two.out) == KREIN_OK);
    CHECK(memcmp(one.out, two.out, N * C * sizeof *one.out) == 0);
    drop(&one);
    drop(&two);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(widths);
    RUN(sums);
    RUN(combinations);
    RUN(orthonormal);
    RUN(solved);
    RUN(single_columns);
    RUN(same_bits_on_any_threads);
    return DONE();
}
