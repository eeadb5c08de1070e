/* test_trim.c -- the scale of columns with outliers: a few of them do not set it, and columns
 * without any, and rare categories, keep theirs. */
#include "data.h"

#include "encode/trim.h"

enum { N = 4000, D = 5, OUTLIERS = 0, GAUSS = 1, RARE = 2, UNIFORM = 3, HEAVY = 4 };

static double gauss(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (test_random() + 1) / 2;
    return sum;
}

/* Five columns: a Gaussian with three values at 10,000, a Gaussian, one in a hundred, uniform
 * numbers, and a Gaussian of which one in a hundred is ten times as wide. */
static float *columns(void) {
    float *x = test_new(N * D, sizeof *x);
    for (int64_t i = 0; i < N; i++) {
        float *row = x + i * D;
        row[OUTLIERS] = i % 1333 == 7 ? 10000 : (float)(5 + 2 * gauss());
        row[GAUSS] = (float)(3 * gauss() - 1);
        row[RARE] = i % 100 == 0;
        row[UNIFORM] = (float)test_random();
        row[HEAVY] = (float)(gauss() * (i % 100 == 1 ? 10 : 1));
    }
    return x;
}

static krein_status scan(krein_ctx *ctx, const float *x, krein_scale scale, krein_data **data,
                         krein_encoding *e) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = scale;
    *e = (krein_encoding){0};
    krein_status st = krein_data_from_dense(ctx, N, D, x, D, NULL, NULL, &o, data);
    return st == KREIN_OK ? krein__data_scan(*data, false, 0, 1, e) : st;
}

/* Deviation of the values of column j that are within the clip. */
static double spread(const taken *t, int64_t j, double clip) {
    double sum = 0, square = 0, n = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double v = (double)t->x[i * D + j];
        if (fabs(v) >= clip) continue;
        n++;
        sum += v;
        square += v * v;
    }
    return sqrt(square / n - pow(sum / n, 2));
}

static void scale_of_the_rest(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    float *x = columns();
    krein_data *data = NULL;
    krein_encoding e;
    taken before, after;
    CHECK(scan(ctx, x, KREIN_SCALE_STANDARD, &data, &e) == KREIN_OK);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &before) == KREIN_OK);
    CHECK(spread(&before, OUTLIERS, 8) < 0.02); /* three values have all of the room */
    float factor[D], centre[D];
    memcpy(factor, e.factor, sizeof factor);
    memcpy(centre, e.centre, sizeof centre);
    krein_matrix sample = {.n = N, .d = D, .x = before.x};
    CHECK(krein__encoding_trim(ctx, &e, 8, NULL, &sample) == KREIN_OK);
    CHECK(e.clip == 8);
    for (int64_t j = 0; j < D; j++)
        if (j != OUTLIERS) CHECK(e.factor[j] == factor[j] && e.centre[j] == centre[j]);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &after) == KREIN_OK);
    CHECK_REL(spread(&after, OUTLIERS, 8), 1, 0.05);
    CHECK_REL(1 / (double)e.factor[OUTLIERS], 2, 0.1); /* the deviation of the rest */
    double most = 0, apart = 0;
    for (int64_t i = 0; i < N * D; i++) {
        most = fmax(most, fabs((double)after.x[i]));
        apart = fmax(apart, fabs((double)after.x[i] - (double)before.x[i]));
    }
    CHECK(most == 8);
    CHECK_ABS(apart, 0, 2e-3); /* the sample became what the encoding makes of the rows */
    give_back(&before);
    give_back(&after);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
    free(x);
}

/* One number of 1e30 and missing cells, which hold the mean of all: the others set the scale, and
 * missing cells get its centre. */
static void far_away(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    float *x = columns();
    krein_data *data = NULL;
    krein_encoding e;
    krein_unscaled *was = NULL;
    taken before, raw, after;
    for (int64_t i = 0; i < N; i++) {
        if (i % 10 == 3) x[i * D + OUTLIERS] = NAN;
        if (i == 77) x[i * D + GAUSS] = 1e30f;
    }
    CHECK(scan(ctx, x, KREIN_SCALE_STANDARD, &data, &e) == KREIN_OK);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &before) == KREIN_OK);
    int64_t d = before.d; /* one more says where a cell is missing */
    CHECK(d == D + 1);
    krein_matrix sample = {.n = N, .d = d, .x = before.x};
    CHECK(krein__encoding_unscale(ctx, &e, 8, &sample, &was) == KREIN_OK);
    CHECK(was && was[GAUSS + 1].factor > 0 && was[OUTLIERS].factor == 0);
    CHECK(e.factor[GAUSS + 1] == 1 && e.centre[GAUSS + 1] == 0);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &raw) == KREIN_OK);
    sample.x = raw.x;
    CHECK(krein__encoding_trim(ctx, &e, 8, was, &sample) == KREIN_OK);
    CHECK_REL(1 / (double)e.factor[GAUSS + 1], 3, 0.1);
    CHECK_REL(1 / (double)e.factor[OUTLIERS], 2, 0.1);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &after) == KREIN_OK);
    CHECK(after.x[77 * d + GAUSS + 1] == 8);
    for (int64_t i = 3; i < N; i += 10) CHECK(after.x[i * d + OUTLIERS] == 0);
    double apart = 0;
    for (int64_t i = 0; i < N * d; i++)
        apart = fmax(apart, fabs((double)after.x[i] - (double)raw.x[i]));
    CHECK_ABS(apart, 0, 2e-3);
    give_back(&before);
    give_back(&raw);
    give_back(&after);
    krein__free(ctx, was);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
    free(x);
}

/* Other scales keep their factors; rows of unit length, few rows. */
static void others(void) {
    static const krein_scale scale[] = {KREIN_SCALE_MINMAX, KREIN_SCALE_NONE, KREIN_SCALE_UNIT};
    float *x = columns();
    for (int64_t i = 0; i < KREIN__COUNT(scale); i++) {
        krein_ctx *ctx = test_ctx(1);
        krein_data *data = NULL;
        krein_encoding e;
        taken rows;
        float factor[D];
        CHECK(scan(ctx, x, scale[i], &data, &e) == KREIN_OK);
        CHECK(take(data, &e, KREIN_PART_TRAIN, &rows) == KREIN_OK);
        memcpy(factor, e.factor, sizeof factor);
        krein_matrix sample = {.n = N, .d = D, .x = rows.x};
        CHECK(krein__encoding_trim(ctx, &e, 8, NULL, &sample) == KREIN_OK);
        CHECK(memcmp(factor, e.factor, sizeof factor) == 0);
        CHECK(krein__encoding_clips(&e) == (scale[i] != KREIN_SCALE_UNIT));
        give_back(&rows);
        krein__encoding_clear(ctx, &e);
        krein_data_close(data);
        krein_ctx_destroy(ctx);
    }
    krein_ctx *ctx = test_ctx(1);
    krein_data *data = NULL;
    krein_encoding e;
    CHECK(scan(ctx, x, KREIN_SCALE_STANDARD, &data, &e) == KREIN_OK);
    float three[3 * D] = {100}, factor = e.factor[0];
    krein_matrix sample = {.n = 3, .d = D, .x = three};
    CHECK(krein__encoding_trim(ctx, &e, 8, NULL, &sample) == KREIN_OK);
    CHECK(three[0] == 8 && e.factor[0] == factor);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    free(x);
}

static void without_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    float *x = columns();
    krein_data *data = NULL;
    krein_encoding e;
    taken rows;
    CHECK(scan(ctx, x, KREIN_SCALE_STANDARD, &data, &e) == KREIN_OK);
    CHECK(take(data, &e, KREIN_PART_TRAIN, &rows) == KREIN_OK);
    krein_matrix sample = {.n = N, .d = D, .x = rows.x};
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_status st = krein__encoding_trim(ctx, &e, 8, NULL, &sample);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    give_back(&rows);
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    free(x);
}

int main(void) {
    RUN(scale_of_the_rest);
    RUN(far_away);
    RUN(others);
    RUN(without_memory);
    return DONE();
}
