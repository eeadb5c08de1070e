/* test_both.c -- a matrix times some vectors and its transpose times others: on every instruction
 * set that this CPU has, of which the library takes the best alone. */
#include "num.h"
#include "num/simd.h"

static krein_simd set;
static krein_simd best(void) { return krein__simd(); }

/* The file once more, under other names and with a set that the test chooses. */
#define krein__simd() set
#define krein__lanes_size own_lanes_size
#define krein__to_lanes own_to_lanes
#define krein__lanes_add own_lanes_add
#define krein__both own_both
#define krein__both16 own_both16
#include "../src/num/both.c"

/* w in lanes to n x c, and 1 more. */
static void from_lanes(int64_t n, int64_t c, const float *w, double *out) {
    int64_t size = krein__lanes_size(n, c);
    double *wide = calloc((size_t)size, sizeof *wide);
    for (int64_t e = 0; e < size; e++) wide[e] = (double)w[e];
    for (int64_t e = 0; e < n * c; e++) out[e] = 1;
    krein__lanes_add(n, c, wide, out);
    free(wide);
}

/* Both products of a matrix in one pass, against sums in double, of float32 and of whole numbers;
 * either product alone is the same. v is some rows of a longer matrix. */
static void both_of(int64_t m, int64_t n, int64_t c, bool whole) {
    enum { FROM = 2 * KREIN_LANES, START = 2 };
    int64_t ld = n + 2, size = krein__lanes_size(n, c), longer = FROM + n + 5;
    float *T = random_float(m * ld), *v = random_float(n * c), *x = random_float(m * c);
    float *u = random_float(m * c + 1), *w = random_float(size + 1);
    float *alone = random_float(krein__max(m * c, size));
    krein_lanes none = {0}, to = {w, n, 0};
    krein_lanes lanes = {random_float(krein__lanes_size(longer, c)), longer, FROM};
    int16_t *code = calloc((size_t)(m * ld), sizeof *code);
    double *back = calloc((size_t)(n * c), sizeof *back);
    double unit = whole ? 6e-5 : 6e-8; /* numbers of about 1,000 or about 1 */
    for (int64_t e = 0; whole && e < m * ld; e++) T[e] = (float)(code[e] = (int16_t)(1000 * T[e]));
    for (int64_t e = 0; e <= size; e++) w[e] = START;
    for (int64_t e = 0; e <= m * c; e++) u[e] = START;
    krein__to_lanes(n, c, v, lanes);
    if (whole)
        krein__both16(m, n, c, code, ld, lanes, x, u, to);
    else
        krein__both(m, n, c, T, ld, lanes, x, u, to);
    from_lanes(n, c, w, back);
    for (int64_t l = 0; l < c; l++) {
        for (int64_t i = 0; i < m; i++) {
            double sum = START;
            for (int64_t j = 0; j < n; j++) sum += (double)T[i * ld + j] * (double)v[j * c + l];
            CHECK_ABS((double)u[i * c + l], sum, unit * 4 * (1 + sqrt((double)n)));
        }
        for (int64_t j = 0; j < n; j++) {
            double sum = START + 1;
            for (int64_t i = 0; i < m; i++) sum += (double)T[i * ld + j] * (double)x[i * c + l];
            CHECK_ABS(back[j * c + l], sum, unit * 2 * (2 + (double)m));
        }
    }
    CHECK(u[m * c] == START && w[size] == START); /* not beyond the rows */
    for (int64_t e = 0; e < m * c; e++) alone[e] = START;
    krein__both(m, n, c, T, ld, lanes, NULL, alone, none);
    for (int64_t e = 0; e < m * c; e++)
        CHECK_ABS((double)alone[e], (double)u[e], unit * 4 * (1 + sqrt((double)n)));
    for (int64_t e = 0; e < size; e++) alone[e] = START;
    krein__both(m, n, c, T, ld, none, x, NULL, (krein_lanes){alone, n, 0});
    for (int64_t e = 0; e < size; e++)
        CHECK_ABS((double)alone[e], (double)w[e], unit * 2 * (2 + (double)m));
    void *all[] = {T, v, x, u, w, alone, lanes.x, code, back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* On every instruction set that this CPU has. */
static void both_products(void) {
    static const int64_t sizes[][2] = {{1, 1}, {3, 7}, {5, 16}, {12, 33}, {130, 257}};
    static const int64_t columns[] = {1, 2, 3, 4, 5, 6, 7, 13, 21};
    for (set = KREIN_SIMD_BASELINE; set <= best(); set++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t l = 0; l < sizeof columns / sizeof *columns; l++) {
                both_of(sizes[s][0], sizes[s][1], columns[l], false);
                both_of(sizes[s][0], sizes[s][1], columns[l], true);
            }
}

int main(void) {
    RUN(both_products);
    return DONE();
}
