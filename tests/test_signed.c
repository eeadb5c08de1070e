/* test_signed.c -- grff, gorf, srf, digmm: layouts and their variance, unbiasedness, errors on
 * rows of length one, facts, refusals. The contract of all maps is in test_maps.c. */
#include "parsed.h"

#include "kernel/mixture.h"
#include "map/signed.h"

/* epanechnikov(a=3, m=1), epanechnikov(a=2, m=3) on rows of length one, and Delta-Gaussian */
static const char EPAN[] = "0.2222222222222222*poly(degree=1, c=3.5)";
static const char CUBE[] = "0.125*poly(degree=3, c=1)";
static const char DELTA[] = "gaussian(sigma=1) - gaussian(sigma=10)";

/* ---- rows and maps -------------------------------------------------------- */

typedef struct source {
    krein_data *data;
    krein_encoding e;
    krein_stream *stream;
    krein_rows rows;
    float *x;
} source;

/* n rows around a centre, of length one where asked for; both far from the axes. */
static void make_rows(source *s, int64_t n, int64_t d, bool unit) {
    krein_data_options o;
    memset(s, 0, sizeof *s);
    s->x = test_new(n * d, sizeof *s->x);
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++) {
            float *v = s->x + i * d + j;
            *v = (float)(test_random() + (unit ? 0.3 : 0));
            square += (double)*v * (double)*v;
        }
        for (int64_t j = 0; j < d && unit; j++) s->x[i * d + j] *= (float)(1 / sqrt(square));
    }
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    CHECK(krein_data_from_dense(ctx, n, d, s->x, d, NULL, NULL, &o, &s->data) == KREIN_OK);
    CHECK(krein__data_scan(s->data, false, 0, 1, &s->e) == KREIN_OK);
    CHECK(krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream) == KREIN_OK);
    s->rows = krein__rows_dense(n, d, s->x, d);
}
static void close_rows(source *s) {
    krein__stream_close(s->stream);
    krein__encoding_clear(ctx, &s->e);
    krein_data_close(s->data);
    free(s->x);
}
static krein_map *fit(const char *spec, const char *text, int64_t D, uint64_t seed, source *s,
                      krein_status *status) {
    krein_kernel *k = kernel_of(text);
    krein_map *map = NULL;
    krein_status st = krein__map_create(ctx, spec, k, D, seed, &map);
    if (st == KREIN_OK) st = krein__map_fit(map, s->rows.d, false, s->stream, s->rows.n);
    if (status) *status = st;
    if (st != KREIN_OK) {
        if (!status) {
            printf("%s, %s: %s\n", spec, text, krein_message(ctx));
            test_bad++;
        }
        krein__map_destroy(map);
        map = NULL;
    }
    krein__kernel_destroy(ctx, k);
    return map;
}
static double fact(const krein_map *map, int64_t i) {
    krein_fact f = {.value = NAN};
    CHECK(map->cls->fact(map, i, &f) && f.name && *f.name);
    return f.value;
}
/* sum_i s_i z_i(x) z_i(y) for all pairs of rows, n x n. */
static void products(const krein_map *map, const krein_rows *x, double *out) {
    float *z = test_new(x->n * map->D, sizeof *z);
    CHECK(krein__map_apply(map, x, z) == KREIN_OK);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t f = 0; f < map->D; f++)
                sum += (map->sign ? map->sign[f] : 1) * (double)z[i * map->D + f] *
                       (double)z[j * map->D + f];
            out[i * x->n + j] = out[j * x->n + i] = sum;
        }
    free(z);
}

/* ---- layouts ------------------------------------------------------------- */

static const krein_atoms ATOMS8 = {
    .n = 5,
    .r = {1.52617046965, 1.615945203159, 3.77053880737, 5.925132411582, 8.259275482811},
    .a = {.032384730872, 1.079536429226, -.149826494117, .047811764738, -.008906430718}};
static const krein_atoms ATOMS16 = {
    .n = 5,
    .r = {2.362632156075, 2.470024526805, 4.940049053611, 7.732250692608, 11.705768409643},
    .a = {.517971606525, .691327790585, -.283761563617, .095078586141, -.020799121085}};

static void reference_atoms(void) {
    static const double sum8[] = {1.001, .972121964265, .888351169092, .750683092369,
                                  .556555555556};
    static const double sum16[] = {.999817298549, .973076671844, .88807050846, .750745173098,
                                   .556555555556};
    krein_omega_table t8 = {0}, t16 = {0};
    CHECK(krein__omega_table(ctx, 8, 40, &t8) == KREIN_OK);
    CHECK(krein__omega_table(ctx, 16, 40, &t16) == KREIN_OK);
    for (int i = 0; i < 5; i++) {
        CHECK_ABS(krein__atoms_value(&t8, &ATOMS8, 0.5 * i), sum8[i], 1e-6);
        CHECK_ABS(krein__atoms_value(&t16, &ATOMS16, 0.5 * i), sum16[i], 1e-6);
    }
    krein__omega_clear(ctx, &t16);
    krein_layout p;
    CHECK(krein__layout_atoms(8, 16, &ATOMS8, KREIN_COUPLING_NESTED, &p));
    static const double counts[] = {1, 12, 1, 1, 1};
    for (int j = 0; j < 5; j++) CHECK(p.group[j].n == counts[j]);
    CHECK_REL(krein__layout_variance(&p, &t8, .7), 1.1007076e-03, 1e-3);
    CHECK_REL(krein__layout_variance(&p, &t8, 1.4), 8.2491288e-03, 1e-4);
    CHECK(krein__layout_atoms(8, 40, &ATOMS8, KREIN_COUPLING_FULL, &p));
    for (int j = 0; j < 5; j++) CHECK(p.group[j].n == 8);
    CHECK_REL(krein__layout_variance(&p, &t8, .7), 1.667388e-07, 0.5); /* the table's 1e-7 shows */
    CHECK_REL(krein__layout_variance(&p, &t8, 1.4), 8.001341e-06, 2e-2);
    CHECK(!krein__layout_atoms(8, 4, &ATOMS8, KREIN_COUPLING_NESTED, &p));
    krein__omega_clear(ctx, &t8);
}

static void counts(void) {
    krein_layout p;
    for (int c = 0; c <= 3; c++)
        for (int64_t F = 5; F < 200; F += 13) {
            krein_coupling coupling = (krein_coupling)c;
            int64_t sum = 0;
            double mass = 0;
            CHECK(krein__layout_atoms(8, F, &ATOMS8, coupling, &p));
            for (int64_t l = 0; l < p.nlist; l++) sum += p.list[l].total;
            CHECK(sum == F);
            for (int64_t j = 0; j < p.ngroup; j++) {
                CHECK(p.group[j].n >= 1);
                mass += p.group[j].a;
            }
            CHECK_ABS(mass, 1.001, 1e-9);
        }
    /* an atom at zero is a constant: one frequency, no variance */
    krein_atoms atoms = {.n = 2, .r = {0, 2}, .a = {.9, .1}};
    krein_omega_table t = {0};
    CHECK(krein__omega_table(ctx, 8, 40, &t) == KREIN_OK);
    CHECK(krein__layout_atoms(8, 11, &atoms, KREIN_COUPLING_NESTED, &p));
    CHECK(p.group[0].n == 1 && p.group[1].n == 10);
    atoms.n = 1;
    CHECK(krein__layout_atoms(8, 3, &atoms, KREIN_COUPLING_FULL, &p) && p.nlist == 1);
    CHECK_ABS(krein__layout_variance(&p, &t, 1.3), 0, 1e-6);
    krein__omega_clear(ctx, &t);
}

/* Mean and variance of many draws of a layout at distance z are the formula's. */
static void check_draws(const krein_layout *p, const krein_omega_table *omega, double z,
                        double want, int64_t R, double slack) {
    krein_kernel *k = kernel_of("gaussian(sigma=1)");
    float *x = test_new(2 * p->d, sizeof *x);
    double none[8] = {0}, K[4], mean = 0, second = 0, fourth = 0;
    for (int64_t j = 0; j < p->d; j++) x[j] = (float)(z / sqrt((double)p->d)); /* and row 1 is 0 */
    krein_rows rows = krein__rows_dense(2, p->d, x, p->d);
    for (int64_t seed = 0; seed < R; seed++) {
        krein_map *map = NULL;
        CHECK(krein__map_create(ctx, "gorf", k, 8, (uint64_t)seed, &map) == KREIN_OK);
        map->d = p->d;
        CHECK(krein__signed_draw(map, p, none) == KREIN_OK);
        products(map, &rows, K);
        double off = K[1] - want, n = (double)R;
        mean += off / n;
        second += off * off / n;
        fourth += off * off * off * off / n;
        krein__map_destroy(map);
    }
    double variance = krein__layout_variance(p, omega, z);
    CHECK_Z(mean, 0, second, R);
    if (!(fabs(second - variance) <=
          5 * sqrt((fourth - second * second) / (double)R) + slack * variance)) {
        printf("coupling %d, z = %g: variance %g, want %g\n", (int)p->coupling, z, second,
               variance);
        test_bad++;
    }
    free(x);
    krein__kernel_destroy(ctx, k);
}

static void variance_of_draws(void) {
    krein_omega_table omega = {0};
    krein_component c[KREIN_TERMS_MAX];
    krein_law law = {0};
    krein_layout p;
    int64_t n, R = test_sanitized() ? 100 : 600;
    krein_kernel *k = kernel_of("gaussian(sigma=1) - gaussian(sigma=2)");
    CHECK(krein__omega_table(ctx, 8, 60, &omega) == KREIN_OK);
    CHECK(krein__kernel_components(ctx, k, 8, c, &n) == KREIN_OK);
    CHECK(krein__law_make(ctx, 8, c, n, &law) == KREIN_OK);
    for (int coupling = 0; coupling <= 3; coupling++)
        for (double z = 0.7; z < 2; z *= 2) {
            double value = krein__atoms_value(&omega, &ATOMS8, z);
            CHECK(krein__layout_atoms(8, 26, &ATOMS8, (krein_coupling)coupling, &p));
            check_draws(&p, &omega, z, value, R, 1e-3);
            /* twelve groups stand for a part of the law: nearly */
            CHECK(krein__layout_law(8, 26, &law, (krein_coupling)coupling, &p));
            check_draws(&p, &omega, z, krein__kernel_profile(k, false, z), R, 0.1);
        }
    krein__law_clear(ctx, &law);
    krein__omega_clear(ctx, &omega);
    krein__kernel_destroy(ctx, k);
}

/* ---- maps ---------------------------------------------------------------- */

/* The mean over the seed is k, for atoms within the error that the map itself reports. */
static void unbiased(void) {
    static const char *const kernels[] = {
        "gaussian(sigma=1.3)", "gaussian(sigma=1) - 0.5*gaussian(sigma=3)",
        "gaussian(sigma=2)*gaussian(sigma=2) - gaussian(sigma=4)"};
    static const char *const specs[] = {"grff(route=density)", "gorf(route=density)",
                                        "grff(route=atoms)", "gorf(route=atoms, coupling=full)"};
    static const int64_t dims[] = {3, 16, 100};
    enum { ROWS = 6 };
    int64_t R = test_sanitized() ? 24 : 48;
    for (int i = test_sanitized() ? 1 : 0; i < (test_sanitized() ? 2 : 3); i++) {
        source s;
        make_rows(&s, ROWS, dims[i], false);
        double step = 2 / sqrt((double)dims[i]); /* distances of about 2 */
        for (int64_t j = 0; j < ROWS * dims[i]; j++) s.x[j] *= (float)step;
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 4; m++) {
                double K[ROWS * ROWS], P[ROWS * ROWS], sum[ROWS * ROWS] = {0};
                double square[ROWS * ROWS] = {0}, bias = 0;
                krein_kernel *e = kernel_of(kernels[k]);
                CHECK(krein__gram_full(ctx, e, &s.rows, &s.rows, K) == KREIN_OK);
                krein__kernel_destroy(ctx, e);
                for (int64_t seed = 0; seed < R; seed++) {
                    krein_map *map = fit(specs[m], kernels[k], 40, (uint64_t)seed, &s, NULL);
                    if (!map) break;
                    bias = fact(map, KREIN_FACT_ERROR);
                    products(map, &s.rows, P);
                    for (int q = 0; q < ROWS * ROWS; q++) {
                        sum[q] += P[q] / (double)R;
                        square[q] += P[q] * P[q] / (double)R;
                    }
                    krein__map_destroy(map);
                }
                CHECK(m >= 2 || bias == 0);
                for (int q = 0; q < ROWS * ROWS; q++) {
                    double error = sqrt(fmax(square[q] - sum[q] * sum[q], 0) / (double)R);
                    if (!(fabs(sum[q] - K[q]) <= 5 * error + 1.01 * bias + 1e-6)) {
                        printf("%s, %s, d = %lld: %g, want %g (error %g, bias %g)\n", specs[m],
                               kernels[k], (long long)dims[i], sum[q], K[q], error, bias);
                        test_bad++;
                    }
                }
            }
        close_rows(&s);
    }
}

static double relative_error(const char *spec, const char *text, int64_t D, source *s,
                             double *expected) {
    int64_t n = s->rows.n, R = 4;
    double *K = test_new(n * n, sizeof *K), *P = test_new(n * n, sizeof *P), mean = 0;
    krein_kernel *e = kernel_of(text);
    CHECK(krein__gram_full(ctx, e, &s->rows, &s->rows, K) == KREIN_OK);
    krein__kernel_destroy(ctx, e);
    for (int64_t seed = 1; seed <= R; seed++) {
        double off = 0, norm = 0;
        krein_map *map = fit(spec, text, D, (uint64_t)seed, s, NULL);
        if (!map) break;
        products(map, &s->rows, P);
        for (int64_t i = 0; i < n * n; i++) {
            off += (P[i] - K[i]) * (P[i] - K[i]);
            norm += K[i] * K[i];
        }
        mean += sqrt(off / norm) / (double)R;
        *expected = fact(map, KREIN_FACT_EXPECTED);
        krein__map_destroy(map);
    }
    free(K);
    free(P);
    return mean;
}

/* Errors are those foreseen, gorf's below grff's, and both below the fitted mixtures'. */
static void errors_on_unit_rows(void) {
    static const char *const kernels[] = {EPAN, CUBE, DELTA};
    source s;
    make_rows(&s, 120, 16, true);
    for (int k = 0; k < 3; k++)
        for (int64_t D = 32; D <= 128; D *= test_sanitized() ? 4 : 2) {
            double foreseen[4];
            double grff = relative_error("grff", kernels[k], D, &s, &foreseen[0]);
            double gorf = relative_error("gorf", kernels[k], D, &s, &foreseen[1]);
            double digmm = relative_error("digmm", kernels[k], D, &s, &foreseen[2]);
            double srf = k < 2 ? relative_error("srf", kernels[k], D, &s, &foreseen[3]) : 1;
            if (!(gorf < grff && gorf < srf && gorf < digmm))
                printf("%s, D = %lld: grff %.4f gorf %.4f srf %.4f digmm %.4f\n", kernels[k],
                       (long long)D, grff, gorf, srf, digmm);
            CHECK(gorf < grff && gorf < srf && gorf < digmm);
            CHECK(grff < 1.5 * foreseen[0] && grff > foreseen[0] / 1.5);
            CHECK(gorf < 1.5 * foreseen[1] && gorf > foreseen[1] / 1.5);
            CHECK(digmm < 1.6 * foreseen[2] && digmm > foreseen[2] / 1.6);
        }
    close_rows(&s);
}

/* Least errors and masses that fits of Gaussians reach on rows of length one in R^16. */
static void mixtures(void) {
    static const struct {
        const char *kernel;
        bool clip;
        double error, mass;
    } ref[] = {{EPAN, true, .026, 1},
               {CUBE, true, .029, 1},
               {EPAN, false, 4e-4, 3},
               {CUBE, false, 1.6e-3, 5.4},
               {DELTA, false, 1e-4, 2}};
    for (int i = 0; i < 5; i++) {
        krein_mixture m;
        krein_kernel *k = kernel_of(ref[i].kernel);
        CHECK(krein__mixture_fit(ctx, k, true, 16, 2, ref[i].clip, &m) == KREIN_OK);
        double mass = m.law.mass[0] + m.law.mass[1];
        if (!(m.error <= 1.5 * ref[i].error && mass <= 1.2 * ref[i].mass))
            printf("%s: error %g, mass %g\n", ref[i].kernel, m.error, mass);
        CHECK(m.error <= 1.5 * ref[i].error && mass <= 1.2 * ref[i].mass);
        if (ref[i].clip) CHECK(m.law.mass[1] == 0 && m.error > .014);
        krein__law_clear(ctx, &m.law);
        krein__kernel_destroy(ctx, k);
    }
}

/* A chosen error is kept to, with less mass the larger it is. */
static void tolerances(void) {
    source s;
    make_rows(&s, 60, 8, true);
    double mass = 0;
    for (double tol = 1e-1; tol > 5e-5; tol /= 10) {
        char spec[64];
        snprintf(spec, sizeof spec, "gorf(tol=%g)", tol);
        krein_map *map = fit(spec, CUBE, 64, 1, &s, NULL);
        if (!map) continue;
        CHECK(fact(map, KREIN_FACT_ROUTE) == KREIN_ROUTE_ATOMS);
        CHECK(fact(map, KREIN_FACT_ERROR) <= tol);
        double now = fact(map, KREIN_FACT_POSITIVE) + fact(map, KREIN_FACT_NEGATIVE);
        CHECK(now > mass);
        mass = now;
        krein__map_destroy(map);
    }
    krein_status st;
    CHECK(!fit("gorf(tol=1e-13)", CUBE, 64, 1, &s, &st) && st == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "larger tol");
    close_rows(&s);
}

static void facts_are_saved(void) {
    source s;
    make_rows(&s, 60, 6, true);
    static const char *const specs[] = {"grff", "gorf", "srf", "digmm"};
    for (int i = 0; i < 4; i++) {
        krein_map *map = fit(specs[i], CUBE, 64, 1, &s, NULL), *loaded = NULL;
        krein_archive *a = NULL, *b = NULL;
        const char *path = test_path("facts.krein");
        krein_fact none;
        if (!map) continue;
        CHECK(krein__archive_create(ctx, &a) == KREIN_OK);
        CHECK(krein__map_io(ctx, a, 6, false, &map) == KREIN_OK);
        CHECK(krein__archive_save(a, path) == KREIN_OK);
        CHECK(krein__archive_load(ctx, path, &b) == KREIN_OK);
        CHECK(krein__map_io(ctx, b, 6, false, &loaded) == KREIN_OK);
        CHECK(fact(map, KREIN_FACT_REACH) <= 2 && fact(map, KREIN_FACT_REACH) > 0.5);
        CHECK(fact(map, KREIN_FACT_POSITIVE) > 0.5);
        for (int64_t f = 0; f < 9 && loaded; f++) CHECK(fact(map, f) == fact(loaded, f));
        CHECK(map->cls->fact(map, 8, &none) && strcmp(none.name, "decomposition") == 0);
        CHECK(strcmp(none.text, "finite masses up to R") ==
              0); /* of <x, y> on rows of length one */
        CHECK(!map->cls->fact(map, 9, &none) && !map->cls->fact(map, -1, &none));
        krein__archive_destroy(a);
        krein__archive_destroy(b);
        krein__map_destroy(map);
        krein__map_destroy(loaded);
    }
    close_rows(&s);
}

static void refusals(void) {
    static const struct {
        const char *spec, *kernel;
        int64_t D;
        bool unit;
        krein_status status;
        const char *text;
    } cases[] = {{"gorf", CUBE, 64, false, KREIN_EDATA, "`scale=unit`"},
                 {"grff", "linear", 64, false, KREIN_EDATA, "`scale=unit`"},
                 {"srf", CUBE, 64, false, KREIN_EDATA, "`scale=unit`"},
                 {"digmm", "gaussian(sigma=1)*linear", 64, false, KREIN_EDATA, "`scale=unit`"},
                 {"gorf", "laplacian(sigma=1)", 64, true, KREIN_ESPEC, "radial"},
                 {"grff", "gaussian(sigma=1)*cauchy(sigma=1)", 64, true, KREIN_ESPEC, "radial"},
                 {"grff", "poly(degree=2, c=0)", 32, true, KREIN_ESPEC, "tensorsketch"},
                 {"grff", "poly(degree=2, c=0)", 32, true, KREIN_ESPEC, "mass"},
                 {"gorf", "epanechnikov(a=0.2, m=0)", 256, true, KREIN_ESPEC, "infinite mass"},
                 {"grff", "epanechnikov(a=0.2, m=0)", 256, true, KREIN_ESPEC, "infinite mass"},
                 {"gorf", "epanechnikov(a=0.2, m=0)", 256, true, KREIN_ESPEC, "try nystrom"},
                 {"gorf", "epanechnikov(a=0.05, m=20)", 64, true, KREIN_ESPEC, "too narrow"},
                 {"srf", DELTA, 64, true, KREIN_ESPEC, "try gorf"},
                 {"gorf(route=density)", CUBE, 64, true, KREIN_ESPEC, "route=atoms"},
                 {"gorf", DELTA, 2, true, KREIN_ESPEC, "larger D"},
                 {"digmm", DELTA, 2, true, KREIN_ESPEC, "larger D"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        source s;
        make_rows(&s, 80, 16, cases[i].unit);
        krein_status st = KREIN_OK;
        krein_map *map = fit(cases[i].spec, cases[i].kernel, cases[i].D, 1, &s, &st);
        if (st != cases[i].status) printf("%s, %s\n", cases[i].spec, cases[i].kernel);
        CHECK(!map && st == cases[i].status);
        CHECK_HAS(krein_message(ctx), cases[i].text);
        krein__map_destroy(map);
        close_rows(&s);
    }
}

/* A measure of infinite mass that still helps: a warning. Finite ones: none. */
static void infinite_mass(void) {
    static const struct {
        const char *kernel;
        int warnings;
        const char *text;
    } cases[] = {{"epanechnikov(a=1.3, m=1)", 1, "infinite mass"},
                 {"epanechnikov(a=1, m=9)", 0, "finite masses"},
                 {"epanechnikov(a=3, m=1)", 0, "finite masses up to R"},
                 {"gaussian(sigma=1) - 0.5*gaussian(sigma=3)", 0, "finite masses"}};
    krein_ctx *before = ctx;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_log log;
        source s;
        krein_fact f;
        ctx = test_ctx_full(2, NULL, &log);
        make_rows(&s, 80, 16, true);
        memset(&log, 0, sizeof log);
        krein_map *map = fit("gorf", cases[i].kernel, 256, 1, &s, NULL);
        CHECK(log.warnings == cases[i].warnings);
        CHECK_HAS(log.text, cases[i].text); /* the warning, and the facts */
        if (map) CHECK(map->cls->fact(map, 8, &f) && strcmp(f.text, cases[i].text) == 0);
        krein__map_destroy(map);
        close_rows(&s);
        krein_ctx_destroy(ctx);
    }
    ctx = before;
}

/* Rows that are all the same, a kernel that is constant on the rows, two rows. */
static void degenerate_rows(void) {
    for (int64_t n = 2; n < 8; n += 3) {
        source s;
        make_rows(&s, n, 4, true);
        for (int64_t i = 4; i < 4 * n; i++) s.x[i] = s.x[i - 4];
        for (int m = 0; m < 2; m++) {
            krein_map *map = fit(m ? "gorf" : "grff", CUBE, 32, 1, &s, NULL);
            double P[64];
            if (!map) continue;
            products(map, &s.rows, P);
            CHECK_ABS(P[0], 1, 0.05);
            krein__map_destroy(map);
        }
        close_rows(&s);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(reference_atoms);
    RUN(counts);
    RUN(variance_of_draws);
    RUN(unbiased);
    RUN(errors_on_unit_rows);
    RUN(mixtures);
    RUN(tolerances);
    RUN(facts_are_saved);
    RUN(refusals);
    RUN(infinite_mass);
    RUN(degenerate_rows);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
