/* test_spectra.c -- spectral laws and power series of the kernels: k(x - y) = mass E cos w'(x - y)
 * in every form a class has them, k = sum a_n <x, y>^n, and the reference values of both. */
#include "kernels.h"

#include "num/vec.h"

static int64_t draws(void) { return test_sanitized() ? 2000 : 20000; }

/* k(tau) / k(0) of a stationary base kernel at the point tau * factor. */
static double at(const krein_kernel *k, int64_t d, const double *tau, double factor) {
    double x[8], zero[8] = {0}, mass = 1;
    for (int64_t j = 0; j < d; j++) x[j] = tau[j] * factor;
    if (k->kernel->mass) mass = k->kernel->mass(k->values.number, d);
    return formula_of(k)(k->values.number, d, x, zero, 0) / mass;
}

/* w by each way that a class offers: its own draws, a radius and a direction, a mixture of normals,
 * independent quantiles. */
enum { BY_DRAW, BY_RADIUS, BY_MIXTURE, BY_QUANTILE, WAYS };

static bool frequency(const krein_kernel_class *c, const double *p, int way, uint64_t row,
                      int64_t d, double *w) {
    krein_rng g = {77, 1000}, directions = {78, 2000}, uniform = {79, 3000};
    double length = 0, scale = 1;
    if (way == BY_DRAW) {
        c->frequency(p, g, row, d, w);
        return true;
    }
    if (way == BY_QUANTILE) {
        for (int64_t j = 0; j < d && c->quantile; j++)
            w[j] = c->quantile(p, krein__rng_uniform(uniform, row, (uint64_t)j));
        return c->quantile != NULL;
    }
    if (way == BY_RADIUS ? !c->radius : !c->mixture) return false;
    for (int64_t j = 0; j < d; j++) {
        w[j] = krein__rng_normal(directions, row, (uint64_t)j);
        length += w[j] * w[j];
    }
    if (way == BY_RADIUS)
        scale = c->radius(p, g, row, d) / sqrt(length);
    else
        scale = c->mixture(p, krein__rng_uniform(uniform, row, 0));
    for (int64_t j = 0; j < d; j++) w[j] *= scale;
    return true;
}

/* The mean of cos w'tau over R draws is k(tau); its variance is (1 + k(2 tau))/2 - k(tau)^2. */
static void check_law(const krein_kernel *k, int64_t d) {
    enum { SIZES = 3 };
    static const double sizes[SIZES] = {0.3, 1, 3};
    int64_t R = draws();
    double n = (double)R, tau[8], w[8], *p = numbers_of(k, d);
    for (int64_t j = 0; j < d; j++) tau[j] = det(2, j, 0.3);
    for (int way = 0; way < WAYS; way++) {
        double sum[SIZES] = {0}, spread[SIZES] = {0};
        int64_t r = 0;
        for (; r < R && frequency(k->kernel, p, way, (uint64_t)r, d, w); r++) {
            double dot_product = dot(d, w, tau);
            for (int i = 0; i < SIZES; i++) {
                double v = cos(dot_product * sizes[i]);
                sum[i] += v;
                spread[i] += v * v;
            }
        }
        for (int i = 0; i < SIZES && r == R; i++) {
            double one = at(k, d, tau, sizes[i]), two = at(k, d, tau, 2 * sizes[i]);
            double four = at(k, d, tau, 4 * sizes[i]);
            int before = test_bad;
            CHECK_Z(sum[i] / n, one, (1 + two) / 2 - one * one + 1e-12, R);
            /* and the second moment E cos^2 = (1 + k(2 tau))/2 */
            CHECK_Z(spread[i] / n, (1 + two) / 2, (1 + four) / 8 - two * two / 4 + 1e-12, R);
            if (test_bad > before) printf("%s, way %d, d=%d\n", k->kernel->cls.name, way, (int)d);
        }
    }
    free(p);
}

static void laws(void) {
    static const char *const more[] = {"periodic(sigma=0.05)", "periodic(sigma=0.009)",
                                       "periodic(sigma=40)", "spline(q=1.3)",
                                       "rq(alpha=0.3, sigma=0.7)"};
    static const int64_t dims[] = {1, 3, 8};
    for (int b = 0; b < BASES + 5; b++) {
        krein_kernel *k = kernel_of(b < BASES ? bases[b] : more[b - BASES]);
        for (int q = 0; q < 3 && k->kernel->frequency; q++) check_law(k, dims[q]);
        krein__kernel_destroy(ctx, k);
    }
}

/* The density of |w| integrates to one, and E cos(|w| s u_1) over a uniform direction, d = 1 and 3:
 * cos, and sin(t)/t, is k(s). By the trapezoid rule in log r. */
static void densities(void) {
    for (int b = 0; b < BASES; b++) {
        krein_kernel *k = kernel_of(bases[b]);
        const krein_kernel_class *c = k->kernel;
        static const int64_t dims[] = {1, 3, 40};
        for (int q = 0; q < 3 && c->density; q++) {
            int64_t d = dims[q];
            double mass = 0, value = 0, h = 0.01, s = 0.7, tau[3] = {s};
            for (double y = -25; y < 25; y += h) {
                double r = exp(y), t = r * s, f = c->density(k->values.number, d, r) * r * h;
                mass += f;
                /* far out the cosine turns faster than the nodes: its mean is 0 */
                if (t * h < 0.3) value += f * (d == 1 ? cos(t) : sin(t) / t);
            }
            CHECK_ABS(mass, 1, 1e-6);
            if (d <= 3) CHECK_ABS(value, at(k, d, tau, 1), 3e-3);
        }
        if (c->family == KREIN_FAMILY_RADIAL && c->frequency) CHECK(c->density && c->mixture);
        krein__kernel_destroy(ctx, k);
    }
}

/* exp(-z) I_k(z) by its integral, and the quantile function steps there. */
static void periodic_law(void) {
    static const double sigmas[] = {0.011, 0.07, 0.5, 1, 3, 1e4};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        char text[64];
        snprintf(text, sizeof text, "periodic(p=2, sigma=%g)", sigmas[s]);
        krein_kernel *k = kernel_of(text);
        double z = 1 / (sigmas[s] * sigmas[s]), below = 0.5;
        for (int j = 0; j < 6; j++) {
            double p = 0;
            enum { NODES = 4096 };
            for (int i = 0; i < NODES; i++) {
                double t = 2 * M_PI * i / NODES;
                p += exp(-2 * z * pow(sin(t / 2), 2)) * cos(j * t) / NODES;
            }
            below += j == 0 ? p / 2 : p; /* P[K <= j] */
            if (p < 1e-9 || 1 - below < 1e-9) break;
            double low = k->kernel->quantile(k->values.number, below - 1e-10);
            double high = k->kernel->quantile(k->values.number, below + 1e-10);
            CHECK_ABS(low, M_PI * j, 1e-12);
            CHECK_ABS(high, M_PI * (j + 1), 1e-12);
            CHECK_ABS(k->kernel->quantile(k->values.number, 1 - below - 1e-10), -M_PI * (j + 1),
                      1e-12);
        }
        krein__kernel_destroy(ctx, k);
    }
    /* The normal expansion takes over at z = 1e4 without a step. */
    krein_kernel *a = kernel_of("periodic(sigma=0.010001)"),
                 *b = kernel_of("periodic(sigma=0.009999)");
    int different = 0;
    for (double u = 1e-6; u < 1; u += 0.00093) {
        double left = a->kernel->quantile(a->values.number, u);
        double right = b->kernel->quantile(b->values.number, u);
        CHECK(fabs(left - right) <= 2 * M_PI * 1.001);
        different += fabs(left - right) > 1;
    }
    CHECK(different < 40); /* 0.02 % of 100 at most, where a step lies between */
    krein__kernel_destroy(ctx, a);
    krein__kernel_destroy(ctx, b);
}

/* ---- power series ------------------------------------------------------- */

static void series(void) {
    enum { COUNT = 200 };
    static const struct {
        const char *text;
        bool any, unit; /* has a series on all rows, on rows of length one */
    } cases[] = {{"linear", true, true},
                 {"poly(degree=6, c=0.7, gamma=-0.2)", true, true},
                 {"gaussian(sigma=1.3)", false, true},
                 {"tanh(gamma=0.7, c=0.4)", true, true},
                 {"tanh(gamma=-1.2, c=-1)", true, true},
                 {"epanechnikov", false, true},
                 {"epanechnikov(a=2, m=3)", false, true},
                 {"epanechnikov(a=1.9, m=3)", false, false},
                 {"epanechnikov(a=3, m=2.5)", false, false},
                 {"arccos(order=0)", false, true},
                 {"arccos(order=1)", false, true},
                 {"arccos(order=2)", false, true},
                 {"ntk(depth=1)", false, true},
                 {"ntk(depth=3)", false, true},
                 {"ntk(depth=3, bias=0.4, scale=1.3)", false, true},
                 {"laplacian(sigma=1)", false, false},
                 {"chi2", false, false},
                 {"2*arccos*poly(degree=2) - tanh(gamma=0.5)", false, true}};
    double a[COUNT], reach;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = kernel_of(cases[i].text);
        for (int unit = 0; unit < 2; unit++) {
            bool has = krein__kernel_series(ctx, k, unit, COUNT, a, &reach) == KREIN_OK;
            CHECK(has == (unit ? cases[i].unit : cases[i].any));
            if (!has) continue;
            CHECK(reach >= 1 - 1e-12 || !unit);
            for (double t = -0.9; t <= 0.9; t += 0.0999) {
                double sum = 0, want = krein__kernel_profile(k, true, sqrt(2 - 2 * t));
                if (fabs(t) > 0.85 * reach) continue;
                for (int n = COUNT - 1; n >= 0; n--) sum = sum * t + a[n];
                CHECK_ABS(sum, want, 1e-8);
            }
            double least = 0;
            for (int n = 0; n < COUNT; n++) least = fmin(least, a[n]);
            if (krein__kernel_definite(k) < KREIN_DEFINITE_NO) CHECK(least >= -1e-12);
        }
        krein__kernel_destroy(ctx, k);
    }
    /* More coefficients than there is room for: said, not cut. */
    double *many = test_new(5000, sizeof *many);
    krein_kernel *k = kernel_of("ntk");
    CHECK(krein__kernel_series(ctx, k, true, 5000, many, &reach) == KREIN_ESPEC);
    krein__kernel_destroy(ctx, k);
    free(many);
}

/* ---- reference values --------------------------------------------------- */

static double value(const char *text, int64_t d, const double *x, const double *y) {
    krein_kernel *k = kernel_of(text);
    double v = 0, yy = 0, xx = 0;
    for (int64_t j = 0; j < d; j++) v += x[j] * y[j], xx += x[j] * x[j], yy += y[j] * y[j];
    if (k->kernel->rows64)
        k->kernel->rows64(k->values.number, d, x, 1, y, d, &v);
    else
        k->kernel->values64(k->values.number, 1, &v, xx, &yy);
    krein__kernel_destroy(ctx, k);
    return v;
}

/* FORMULAS group 7, X = det(3, 4) */
static void networks(void) {
    static const struct {
        const char *text;
        double want[4]; /* pairs (0,1), (0,2), (1,2), (0,0) */
    } cases[] = {{"arccos(order=0)", {.357399765662, .448048702391, .274049472784, 1}},
                 {"arccos(order=1)", {.264590658162, .455772897295, .137749242829, NAN}},
                 {"arccos(order=2)", {.476277447782, 1.136882800302, .167407032842, NAN}},
                 {"ntk(depth=1)", {-.045513770206, .318250849547, -.25385843888, 3.45148209211}},
                 {"ntk(depth=2)", {.750805509897, 1.030571426058, .636176848166, 5.177223138165}},
                 {"ntk(depth=3)", {1.544169216488, 1.753919675572, 1.515888550826, 6.90296418422}},
                 {"ntk(depth=5)", {3.07010402951, 3.159905685413, 3.202685865937, 10.35444627633}}};
    static const int pairs[4][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 0}};
    double x[3][4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) x[i][j] = det(i, j, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int q = 0; q < 4; q++)
            if (!isnan(cases[i].want[q]))
                CHECK_ABS(value(cases[i].text, 4, x[pairs[q][0]], x[pairs[q][1]]), cases[i].want[q],
                          q == 3 ? 1e-6 : 2e-11);
    /* A row of zeros has no angle. */
    double zero[4] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(value(cases[i].text, 4, x[0], zero) == 0);
    CHECK(value("ntk(depth=3, bias=0.5)", 4, x[0], zero) > 0);
}

/* FORMULAS group 12, and q near an odd number from both sides */
static void splines(void) {
    static const double q[] = {2, 4, 6, 8}, want[4][2] = {{2.5133393415, -.3113414381},
                                                          {2.6386373758, -.3638751198},
                                                          {2.6262879945, -.3693525086},
                                                          {2.6203232067, -.3693771312}};
    static const double u[] = {.1, .37}, zero[3] = {0};
    char text[64];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            snprintf(text, sizeof text, "spline(q=%g)", q[i]);
            CHECK_ABS(value(text, 1, &u[j], zero), want[i][j], 1e-10);
            double beyond = u[j] - 4;
            CHECK_ABS(value(text, 1, &beyond, zero), want[i][j], 1e-10);
        }
    CHECK_ABS(value("spline(q=2)", 2, u, zero), want[0][0] * want[0][1], 1e-9);
    static const double near[] = {0, 1e-15, 1e-9, 0.99e-4, 1.01e-4, 1e-3, 0.2499, 0.2501, 0.7};
    for (int odd = 1; odd <= 7; odd += 2)
        for (size_t i = 0; i < sizeof near / sizeof *near; i++)
            for (int side = -1; side <= 1; side += 2)
                for (double t = 0.003; t <= 0.5; t += 0.0997) {
                    double exponent = odd + side * near[i], want_value;
                    if (exponent <= 1.05) continue;
                    snprintf(text, sizeof text, "spline(q=%.17g)", exponent);
                    want_value = 1 + 2 * cosine_sum(exponent, 2 * M_PI * t);
                    CHECK_ABS(value(text, 1, &t, zero), want_value, 1e-10 * (1 + fabs(want_value)));
                }
}

/* acos and tanh of arrays */
static void functions(void) {
    enum { N = 4001 };
    float x[N], y[N];
    double worst = 0;
    for (int i = 0; i < N; i++) x[i] = (float)(2.0 * i / (N - 1) - 1);
    krein__vacosf(N, x, y);
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs((double)y[i] - acos((double)x[i])));
    CHECK(worst < 4e-7);
    for (int i = 0; i < N; i++) x[i] = (float)(24.0 * i / (N - 1) - 12 + 1e-4);
    krein__vtanhf(N, x, y);
    worst = 0;
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs((double)y[i] / tanh((double)x[i]) - 1));
    CHECK(worst < 2e-7);
    float ends[] = {1, -1, 0, 1.5f, NAN}, out[5];
    krein__vacosf(5, ends, out);
    CHECK(out[0] == 0 && out[1] == (float)M_PI && isnan(out[3]) && isnan(out[4]));
    float far[] = {INFINITY, -INFINITY, 0, -0.0f, NAN};
    krein__vtanhf(5, far, out);
    CHECK(out[0] == 1 && out[1] == -1 && out[2] == 0 && out[3] == 0 && isnan(out[4]));
}

static void zeta(void) {
    CHECK_REL(krein__zeta(2), M_PI * M_PI / 6, 1e-15);
    CHECK_REL(krein__zeta(4), pow(M_PI, 4) / 90, 1e-15);
    CHECK_REL(krein__zeta(3), 1.2020569031595942, 1e-15);
    CHECK_REL(krein__zeta(0.5), -1.4603545088095868, 1e-14);
    CHECK_REL(krein__zeta(0), -0.5, 1e-15);
    CHECK_REL(krein__zeta(-1), -1. / 12, 1e-14);
    CHECK_REL(krein__zeta(-7), 1. / 240, 1e-13);
    CHECK(krein__zeta(-4) == 0 && krein__zeta(1) == INFINITY);
    CHECK_REL(krein__zeta(60), 1, 1e-15);
    static const double powers[] = {0.1, 0.5, 1, 1.0000001, 1.5, 3, 20};
    for (int i = 0; i < 7; i++) {
        double sum = 0;
        for (int n = 1; n <= 400; n++) {
            sum += pow(n, -powers[i]);
            CHECK_REL(krein__harmonic(powers[i], n), sum, 1e-14);
        }
        CHECK_REL(krein__power_integral(powers[i], 2, 5),
                  i == 2 ? log(2.5)
                         : (pow(5, 1 - powers[i]) - pow(2, 1 - powers[i])) / (1 - powers[i]),
                  i == 3 ? 1e-8 : 1e-14);
    }
    CHECK_REL(krein__log_bessel_k(3, 2), log(krein__bessel_k(3, 2)), 1e-13);
    /* K_v(x) ~ Gamma(v)/2 (2/x)^v for small x, far beyond the largest number */
    CHECK_REL(krein__log_bessel_k(400, 0.01), lgamma(400) - log(2) + 400 * log(200), 1e-9);
}

/* ---- what is said without data ------------------------------------------ */

static void settle(void) {
    krein_kernel *k = kernel_of("tl1 + 2*tl1(rho=3)*gaussian(sigma=1)");
    CHECK(krein__kernel_free(k, -1, NULL, NULL) == 0); /* not free: it follows from the columns */
    char *text = krein__kernel_text(ctx, k);
    CHECK(strcmp(text, "tl1 + 2*tl1(rho=3)*gaussian(sigma=1)") == 0);
    krein__free(ctx, text);
    CHECK(krein__kernel_settle(ctx, k, 10, NULL) == KREIN_OK);
    text = krein__kernel_text(ctx, k);
    CHECK(strcmp(text, "tl1(rho=7) + 2*tl1(rho=3)*gaussian(sigma=1)") == 0);
    krein__free(ctx, text);
    krein__kernel_destroy(ctx, k);
    k = kernel_of("sigmoid(c=2)");
    text = krein__kernel_text(ctx, k);
    CHECK(strcmp(text, "tanh(gamma=1, c=2)") == 0);
    krein__free(ctx, text);
    krein__kernel_destroy(ctx, k);
}

static void definite(void) {
    static const struct {
        const char *text;
        krein_definite want;
    } cases[] = {{"arccos + ntk*rq", KREIN_DEFINITE_POSITIVE},
                 {"chi2 + intersection", KREIN_DEFINITE_POSITIVE},
                 {"tanh", KREIN_DEFINITE_NO},
                 {"tl1", KREIN_DEFINITE_NO},
                 {"epanechnikov", KREIN_DEFINITE_UNIT},
                 {"epanechnikov(a=2, m=0)", KREIN_DEFINITE_NO},
                 {"epanechnikov(a=1.9)", KREIN_DEFINITE_NO},
                 {"epanechnikov(m=0.5)", KREIN_DEFINITE_NO},
                 {"gaussian - rq", KREIN_DEFINITE_NO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = kernel_of(cases[i].text);
        CHECK(krein__kernel_definite(k) == cases[i].want);
        krein__kernel_destroy(ctx, k);
    }
}

static void domains(void) {
    krein_kernel *k = kernel_of("gaussian(sigma=1)*chi2");
    CHECK(krein__kernel_check_inputs(ctx, k, 0, 1e9, true) == KREIN_OK);
    CHECK(krein__kernel_check_inputs(ctx, k, -0.5, 1, false) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "chi2 wants inputs that are not negative");
    CHECK_HAS(krein_message(ctx), "`scale=minmax`");
    krein__kernel_destroy(ctx, k);
    k = kernel_of("spline + tl1");
    CHECK(krein__kernel_check_inputs(ctx, k, 0, 1, false) == KREIN_OK);
    CHECK(krein__kernel_check_inputs(ctx, k, 0, 1.5, false) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "between 0 and 1");
    CHECK(krein__kernel_check_inputs(ctx, k, 0, 1, true) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "sparse");
    krein__kernel_destroy(ctx, k);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(laws);
    RUN(densities);
    RUN(periodic_law);
    RUN(series);
    RUN(networks);
    RUN(splines);
    RUN(functions);
    RUN(zeta);
    RUN(settle);
    RUN(definite);
    RUN(domains);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
