/* test_measure.c -- Omega_d, non-negative least squares, signed radial measures, against the
 * reference values of the formulas and of a linear program. */
#include "parsed.h"

#include "kernel/measure.h"
#include "num/nnls.h"

/* ---- Omega --------------------------------------------------------------- */

static void omega_values(void) {
    static const double t[] = {.5, 3, 10, 40, 120};
    static const struct {
        int64_t d;
        double value[5];
    } ref[] = {{2,
                {9.384698072408e-01, -2.600519549019e-01, -2.459357644513e-01, 7.366890584237e-03,
                 7.182341582916e-02}},
               {3,
                {9.588510772084e-01, 4.704000268662e-02, -5.440211108894e-02, 1.862782901198e-02,
                 4.838426535103e-03}},
               {8,
                {9.844723179215e-01, 5.494448395649e-01, 2.802210206649e-03, -9.460861162937e-05,
                 2.612371978121e-07}},
               {16,
                {9.922145703023e-01, 7.513994498163e-01, 1.398045472170e-02, -4.253422624596e-07,
                 -4.888643569263e-12}},
               {22,
                {9.943329545340e-01, 8.135675136043e-01, 7.709957977612e-02, 4.230647918596e-08,
                 -4.242742582176e-13}},
               {256,
                {9.995118370162e-01, 9.825742919772e-01, 8.224557036792e-01, 4.225122781917e-02,
                 5.493238872898e-15}},
               {1024,
                {9.998779371233e-01, 9.956150918333e-01, 9.523425865892e-01, 4.575605315625e-01,
                 8.414888947550e-04}}};
    for (size_t i = 0; i < sizeof ref / sizeof *ref; i++)
        for (int j = 0; j < 5; j++)
            CHECK_ABS(krein__omega(ref[i].d, t[j]), ref[i].value[j],
                      5e-13 * fabs(ref[i].value[j]) + 2e-15);
    for (double x = 0; x < 200; x += 0.7) {
        CHECK_ABS(krein__omega(1, x), cos(x), 1e-13);
        CHECK_ABS(krein__omega(3, x), x > 0 ? sin(x) / x : 1, 1e-14);
    }
    CHECK(krein__omega(256, 1e-3) > 0.9999 && krein__omega(256, 1e4) == 0);
    CHECK(krein__omega(1, 0) == 1 && krein__omega(100000, 0) == 1);
}

/* The three ways agree where they meet: the recurrence in d holds across them. */
static void omega_recurrence(void) {
    for (int64_t e = 4; e < 300; e = e * 5 / 4 + 1)
        for (double t = 0.5; t < 300; t *= 1.07) {
            double left = krein__omega(e - 2, t), n = (double)e;
            double right = krein__omega(e, t) - t * t / (n * (n - 2)) * krein__omega(e + 2, t);
            CHECK_ABS(left, right, 1e-14 * (1 + t * t / (n * n)));
        }
}

static void omega_tables(void) {
    static const int64_t dims[] = {1, 2, 5, 16, 300};
    for (int i = 0; i < 5; i++) {
        krein_omega_table table = {0};
        double worst = 0;
        CHECK(krein__omega_table(ctx, dims[i], 50, &table) == KREIN_OK);
        for (double t = 0; t < 60; t += 0.0137)
            worst = fmax(worst, fabs(krein__omega_at(&table, t) - krein__omega(dims[i], t)));
        if (!(worst < 1e-7)) printf("d = %lld: %g\n", (long long)dims[i], worst);
        CHECK(worst < 1e-7);
        krein__omega_clear(ctx, &table);
    }
}

/* ---- non-negative least squares ------------------------------------------ */

/* Optimal where the slope A'(b - Ax) is zero for x > 0 and not positive for x = 0. */
static void kkt(int64_t m, int64_t n, const double *a, const double *b, const double *x) {
    double *rest = test_new(m, sizeof *rest), scale = 0;
    for (int64_t i = 0; i < m; i++) {
        rest[i] = b[i];
        for (int64_t j = 0; j < n; j++) rest[i] -= a[j * m + i] * x[j];
    }
    for (int64_t j = 0; j < n; j++) {
        double slope = 0;
        for (int64_t i = 0; i < m; i++) {
            slope += a[j * m + i] * rest[i];
            scale = fmax(scale, fabs(a[j * m + i]));
        }
        CHECK(x[j] >= 0);
        if (x[j] > 0) CHECK_ABS(slope, 0, 1e-9 * scale * (double)m);
        CHECK(slope <= 1e-9 * scale * (double)m);
    }
    free(rest);
}

static void nnls_optimal(void) {
    static const int64_t sizes[][2] = {{1, 1}, {3, 7}, {20, 5}, {30, 30}, {40, 100}, {150, 300}};
    for (int s = 0; s < 6; s++)
        for (int kind = 0; kind < 3; kind++) {
            int64_t m = sizes[s][0], n = sizes[s][1];
            double *a = test_new(m * n, sizeof *a), *b = test_new(m, sizeof *b);
            double *x = test_new(n, sizeof *x);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < m; i++) {
                    double z = (double)(i + 1) / (double)m, r = 6 * (double)j / (double)n;
                    a[j * m + i] = kind == 0   ? test_random()
                                   : kind == 1 ? exp(-r * z) /* nearly dependent */
                                               : test_random() * (double)(j % 3); /* zero columns */
                }
            for (int64_t i = 0; i < m; i++) b[i] = test_random();
            CHECK(krein__nnls(ctx, m, n, a, b, x) == KREIN_OK);
            kkt(m, n, a, b, x);
            free(a);
            free(b);
            free(x);
        }
    /* a non-negative solution is found; a negative one gives zero */
    double a[] = {1, 0, 1, 1, 2, -1}, b[] = {3, 1}, x[3];
    CHECK(krein__nnls(ctx, 2, 2, a, b, x) == KREIN_OK);
    CHECK_ABS(x[0], 2, 1e-14);
    CHECK_ABS(x[1], 1, 1e-14);
    b[0] = b[1] = -1;
    CHECK(krein__nnls(ctx, 2, 2, a, b, x) == KREIN_OK);
    CHECK(x[0] == 0 && x[1] == 0);
}

/* ---- laws ---------------------------------------------------------------- */

static double signed_density(const krein_component *c, int64_t n, int64_t d, double r) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += c[i].a * c[i].density(c[i].p, d, r);
    return sum;
}

static void difference_of_gaussians(void) {
    static const int64_t dims[] = {2, 8, 16};
    static const double mass[] = {.945002972095, .999946431168, .999999991790};
    static const double r[] = {.05, .2, 1, 3};
    static const double f[2][4] = {{-4.362546973877, -2.510665930071, .606530659713, .033326989615},
                                   {-.001436355619, -3.608940624923, .012636055411, .506153654774}};
    static const double quantile[2][3] = {{2.251891156532, 2.710051073960, 3.196725584182},
                                          {.225178065658, .270995698841, .319660141523}};
    krein_kernel *k = kernel_of("gaussian(sigma=1) - gaussian(sigma=10)");
    for (int i = 0; i < 3; i++) {
        krein_component c[KREIN_TERMS_MAX];
        int64_t n;
        krein_law law = {0};
        CHECK(krein__kernel_components(ctx, k, dims[i], c, &n) == KREIN_OK && n == 2);
        for (int j = 0; j < 4 && i < 2; j++)
            CHECK_REL(signed_density(c, n, dims[i], r[j]), f[i][j], 1e-9);
        CHECK(krein__law_make(ctx, dims[i], c, n, &law) == KREIN_OK);
        for (int s = 0; s < 2; s++) CHECK_REL(law.mass[s], mass[i], 1e-6);
        for (int s = 0; s < 2 && i == 1; s++)
            for (int q = 0; q < 3; q++)
                CHECK_REL(krein__law_quantile(&law, s, 0.25 * (q + 1)), quantile[s][q], 1e-6);
        krein__law_clear(ctx, &law);
    }
    krein__kernel_destroy(ctx, k);
}

/* The mean of Omega(r z) over the law is the kernel, for sums, products and widths far apart. */
static void laws_give_the_kernel(void) {
    static const char *const some[] = {
        "gaussian(sigma=1.3)", "2*gaussian(sigma=2)*gaussian(sigma=1) - 0.5*gaussian(sigma=4)",
        "gaussian(sigma=0.01) - 0.3*gaussian(sigma=100)"};
    for (int i = 0; i < 3; i++)
        for (int64_t d = 1; d < 300; d = 4 * d + 1) {
            krein_kernel *k = kernel_of(some[i]);
            krein_component c[KREIN_TERMS_MAX];
            int64_t n, steps = 4000;
            krein_law law = {0};
            CHECK(krein__kernel_components(ctx, k, d, c, &n) == KREIN_OK && n > 0);
            CHECK(krein__law_make(ctx, d, c, n, &law) == KREIN_OK);
            CHECK_ABS(law.mass[0] - law.mass[1], krein__kernel_profile(k, false, 0), 1e-6);
            for (double z = 0.02; z < 4; z *= 3) {
                double sum = 0;
                for (int s = 0; s < 2; s++)
                    for (int64_t q = 0; q < steps && law.mass[s] > 0; q++)
                        sum += (s ? -1 : 1) * law.mass[s] / (double)steps *
                               krein__omega(d, z * krein__law_quantile(
                                                       &law, s, ((double)q + 0.5) / (double)steps));
                CHECK_ABS(sum, krein__kernel_profile(k, false, z), 1e-3);
            }
            krein__law_clear(ctx, &law);
            krein__kernel_destroy(ctx, k);
        }
    krein_component c[KREIN_TERMS_MAX];
    static const char *const without[] = {"linear", "laplacian(sigma=1)",
                                          "gaussian(sigma=1) + poly(degree=2)"};
    for (int i = 0; i < 3; i++) {
        krein_kernel *k = kernel_of(without[i]);
        int64_t n = 7;
        CHECK(krein__kernel_components(ctx, k, 3, c, &n) == KREIN_OK && n == 0);
        krein__kernel_destroy(ctx, k);
    }
}

/* ---- atoms --------------------------------------------------------------- */

/* Masses of the linear program at a greatest error of 1e-2, 1e-3, 1e-4, on rows of length one. */
static void atoms_beside_the_linear_program(void) {
    static const int64_t dims[] = {2, 8, 16, 22, 256};
    static const double eps[] = {1e-2, 1e-3, 1e-4};
    static const struct {
        const char *kernel;
        double mass[5][3];                                  /* both signs together */
    } ref[] = {{"0.2222222222222222*poly(degree=1, c=3.5)", /* epanechnikov a = 3, m = 1 */
                {{.999, 1.037, 1.046},
                 {1.034, 1.319, 1.683},
                 {1.056, 1.609, 2.432},
                 {1.064, 1.729, 2.662},
                 {1.087, 2.025, 3.234}}},
               {"0.125*poly(degree=3, c=1)", /* epanechnikov a = 2, m = 3 */
                {{.990, 1.015, 1.030},
                 {1.018, 1.330, 2.10},
                 {1.19, 2.30, 8.56},
                 {1.30, 2.64, 13.9},
                 {1.67, 3.56, 35.6}}},
               {"0.00390625*poly(degree=8, c=1)", /* a = 2, m = 8 */
                {{.990, .999, 1},
                 {.990, .999, 1.008},
                 {.990, 1.001, 1.100},
                 {.990, 1.038, 1.224},
                 {1.026, 1.593, 3.32}}},
               {"poly(degree=2, c=0)",
                {{3.43, 4.04, 4.78},
                 {30.2, 45.4, 56.4},
                 {47.6, 84.6, 122},
                 {53.6, 99.6, 150.4},
                 {69, 142.2, 237}}},
               {"gaussian(sigma=1) - gaussian(sigma=10)",
                {{1.206, 1.253, 1.268},
                 {1.692, 1.762, 1.808},
                 {1.787, 1.847, 1.874},
                 {1.811, 1.869, 1.890},
                 {1.869, 1.927, 1.944}}}};
    for (size_t k = 0; k < sizeof ref / sizeof *ref; k++)
        for (int i = 0; i < 5; i += test_sanitized() ? 4 : 1) {
            krein_kernel *e = kernel_of(ref[k].kernel);
            krein_atom_grid grid;
            krein_atoms atoms;
            CHECK(krein__atom_grid(ctx, e, true, dims[i], 2, &grid) == KREIN_OK);
            for (int q = 0; q < 3; q++) { /* the largest weight that meets the error */
                double low = log(1e-7), high = log(0.1);
                for (int step = 0; step < 10; step++) {
                    double mid = (low + high) / 2;
                    CHECK(krein__atoms_fit(ctx, &grid, exp(mid), &atoms) == KREIN_OK);
                    if (atoms.error <= eps[q])
                        low = mid;
                    else
                        high = mid;
                }
                CHECK(krein__atoms_fit(ctx, &grid, exp(low), &atoms) == KREIN_OK);
                double mass = atoms.mass[0] + atoms.mass[1];
                if (!(atoms.error <= eps[q] && mass <= 1.2 * ref[k].mass[i][q]))
                    printf("%s d=%lld: error %.2g with mass %.4g (%lld atoms), wanted %.4g\n",
                           ref[k].kernel, (long long)dims[i], atoms.error, mass, (long long)atoms.n,
                           ref[k].mass[i][q]);
                CHECK(atoms.error <= eps[q] && mass <= 1.2 * ref[k].mass[i][q]);
            }
            krein__atom_grid_clear(ctx, &grid);
            krein__kernel_destroy(ctx, e);
        }
}

/* epanechnikov goes to zero like (a - z)^m: finite mass for m > (d - 1)/2. */
static void finite_mass(void) {
    static const struct {
        const char *kernel;
        int64_t d;
        double R;
        krein_mass mass;
    } cases[] = {{"gaussian(sigma=1) - gaussian(sigma=2)", 8, 5, KREIN_MASS_FINITE},
                 {"epanechnikov(a=2, m=4)", 8, 3, KREIN_MASS_FINITE},
                 {"epanechnikov(a=2, m=3)", 8, 3, KREIN_MASS_INFINITE},
                 {"epanechnikov(a=2, m=3)", 8, 2, KREIN_MASS_WITHIN},
                 {"epanechnikov(a=3, m=1)", 2, 4, KREIN_MASS_FINITE},
                 {"epanechnikov(a=3, m=1)", 3, 4, KREIN_MASS_INFINITE},
                 {"epanechnikov(a=3, m=0)", 1, 4, KREIN_MASS_INFINITE},
                 {"gaussian(sigma=1) + 2*epanechnikov(a=1, m=1)", 5, 2, KREIN_MASS_INFINITE},
                 {"tanh", 5, 2, KREIN_MASS_WITHIN},
                 {"tanh + gaussian(sigma=1)*epanechnikov(a=1)", 5, 2, KREIN_MASS_INFINITE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = NULL;
        CHECK(krein__kernel_parse(ctx, cases[i].kernel, &k) == KREIN_OK);
        krein_mass mass = krein__decomposition(k, cases[i].d, cases[i].R).mass;
        if (mass != cases[i].mass) printf("%s: %d\n", cases[i].kernel, (int)mass);
        CHECK(mass == cases[i].mass);
        krein__kernel_destroy(ctx, k);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(omega_values);
    RUN(omega_recurrence);
    RUN(omega_tables);
    RUN(nnls_optimal);
    RUN(difference_of_gaussians);
    RUN(laws_give_the_kernel);
    RUN(atoms_beside_the_linear_program);
    RUN(finite_mass);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
