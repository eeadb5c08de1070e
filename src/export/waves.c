/* waves.c -- encoded row to scores, for maps of frequencies: turns (turns.c), cosines and sines,
 * weights. */
#include "export/source.h"

#include "base/rng.h"
#include "map/waves.h"

#include <stdio.h>

/* Weights of the cosines and sines: n x k. feature: the raw feature that each belongs to. */
static bool wave_weights(const krein_model *m, const krein_waves *w, const int64_t *feature,
                         double *out) {
    bool any = false;
    for (int64_t f = 0; f < w->F; f++)
        for (int64_t c = 0; c < m->k; c++) {
            out[f * m->k + c] =
                feature[f] < 0 ? 0 : (double)w->factor[f] * m->w[feature[f] * m->k + c];
            any = any || feature[f] >= 0;
        }
    return any;
}

/* Frequencies come in blocks of WIDTH, PER_TERM of each term of the kernel. */
static void score_function(krein_source *s, const krein_turns *turns, const krein_waves *w,
                           const char *phase, bool cosine, bool sine) {
    bool terms = turns->terms > 1;
    krein__source_add(s,
                      "static void score(const float *z, real *f) {\n"
                      "    int i, j, c%s;\n"
                      "    real t[WIDTH], cosine, sine%s;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = 0;\n",
                      terms ? ", term" : "", w->unit > 0 ? ", square = 0" : "");
    if (terms)
        krein__source_add(s, "    for (term = 0; term < %lld; term++)\n", (long long)turns->terms);
    krein__source_add(s,
                      "    for (i = 0; i < PER_TERM; i += WIDTH) {\n"
                      "        turns(%si, z, t);\n"
                      "        for (j = 0; j < WIDTH && i + j < PER_TERM; j++) {\n"
                      "            const int at = %si + j;\n"
                      "            wave(t[j]%s, &cosine, &sine);\n"
                      "            for (c = 0; c < SCORES; c++)\n"
                      "                f[c] += %s%s%s;\n",
                      terms ? "term, " : "", terms ? "term * PER_TERM + " : "", phase,
                      cosine ? "weight_cosine[at * SCORES + c] * cosine" : "",
                      cosine && sine ? " + " : "",
                      sine ? "weight_sine[at * SCORES + c] * sine" : "");
    if (w->unit > 0)
        krein__source_add(s,
                          "            square += (real)wave_factor[at] * (real)wave_factor[at] * "
                          "%s;\n",
                          sine ? "(cosine * cosine + sine * sine)" : "cosine * cosine");
    krein__source_add(s, "        }\n"
                         "    }\n");
    if (w->unit > 0)
        krein__source_add(s,
                          "    square = square > 0 ? SQRT(R(%.17g) / square) : 0;\n"
                          "    for (c = 0; c < SCORES; c++) f[c] *= square;\n",
                          w->unit);
    krein__source_add(s, "    for (c = 0; c < SCORES; c++) f[c] += intercept[c];\n"
                         "}\n\n");
}

krein_status krein__source_waves(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    krein_waves w = {0};
    krein_turns turns = {0};
    double *weight = NULL;
    bool phase = false, sine, cosine;
    int64_t k = m->k;
    char drawn[80];
    TRY(krein__map_waves(ctx, m->map, &w));
    NEW(weight, w.F * k);
    for (int64_t f = 0; f < w.F; f++) phase = phase || w.phase[f] != 0;
    krein__source_intercept(s, m);
    TRY(krein__source_turns(s, m->map, &w, &turns));
    if (phase && !turns.phases) krein__source_floats(s, "phase", w.F, w.phase);
    snprintf(drawn, sizeof drawn, " + (real)(float)uniform(UINT64_C(%llu), %llu, at, 0)",
             (unsigned long long)m->map->seed, (unsigned long long)KREIN_STREAM_PHASE);
    cosine = wave_weights(m, &w, w.cosine, weight);
    if (cosine) krein__source_reals(s, "weight_cosine", w.F * k, weight);
    sine = wave_weights(m, &w, w.sine, weight);
    if (sine) krein__source_reals(s, "weight_sine", w.F * k, weight);
    if (w.unit > 0) krein__source_floats(s, "wave_factor", w.F, w.factor);
    score_function(s, &turns, &w,
                   !phase         ? ""
                   : turns.phases ? drawn
                                  : " + phase[at]",
                   cosine, sine);
    s->flops += (double)w.F * (30 + 4 * (double)k);
    s->stack += (s->wide ? 8 : 4) * (double)turns.width;
done:
    krein__waves_clear(ctx, &w);
    krein__free(ctx, weight);
    return st;
}
