/* cosines.c -- codes of cosines and sines of whole turns / 65536, by a small table. */
#include "export/source.h"

enum { HALF = 32768 };

/* pairs: the code of cos(d / 65536 turns) at 2 d. It falls by one at most within a step. */
static bool step_fits(const uint8_t *pairs, int step) {
    for (int d = 0; d < HALF; d += step)
        if (pairs[2 * d] - pairs[2 * (d + step - 1)] > 1) return false;
    return true;
}

/* step[i] = n c - 1 + how long it is c, of the n places d from n i on, where c is the code at n i:
 * then (step[i] - rest) / n is the code at n i + rest, without branches, which would be guessed
 * wrong. */
static krein_status step_table(krein_source *s, int bits, const krein_wave_codes *table,
                               int *shift) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    float *turns = NULL;
    uint8_t *pairs = NULL;
    int64_t *step = NULL;
    int n;
    NEW(turns, HALF + 1);
    NEW(pairs, 2 * (HALF + 1));
    NEW(step, HALF + 1);
    for (int d = 0; d <= HALF; d++) turns[d] = (float)d / 65536;
    krein__wave_codes_of(table, HALF + 1, turns, pairs);
    *shift = 16 - bits < 12 ? 16 - bits : 12;
    while (!step_fits(pairs, 1 << *shift)) --*shift;
    n = 1 << *shift;
    for (int i = 0; i <= HALF / n; i++) {
        int d = n * i, same = 0;
        while (same < n && (d == HALF || pairs[2 * (d + same)] == pairs[2 * d])) same++;
        step[i] = n * pairs[2 * d] - 1 + same;
    }
    krein__source_words(s, "uint16_t", 2, "step", HALF / n + 1, step);
    krein__source_add(s, "/* How far u / 65536 turns are from a whole one. */\n"
                         "static uint16_t distance(uint16_t u) {\n"
                         "    return (uint16_t)((u ^ (0 - (u >> 15))) + (u >> 15));\n"
                         "}\n");
done:
    krein__free(ctx, turns);
    krein__free(ctx, pairs);
    krein__free(ctx, step);
    return st;
}

/* A block of turns to codes; only the table itself is read one by one. */
static void wave_function(krein_source *s, int shift) {
    int mask = (1 << shift) - 1;
    krein__source_add(s,
                      "/* Codes of the cosines of u / 65536 turns, and of their sines. */\n"
                      "static void wave_codes(const uint16_t *u, int16_t *to) {\n"
                      "    uint16_t at[2 * BLOCK], rest[2 * BLOCK];\n"
                      "    int k;\n"
                      "    for (k = 0; k < BLOCK; k++) {\n"
                      "        uint16_t c = distance(u[k]), t = distance((uint16_t)(u[k] + "
                      "49152));\n"
                      "        at[k] = c >> %d;\n"
                      "        rest[k] = c & %d;\n"
                      "        at[BLOCK + k] = t >> %d;\n"
                      "        rest[BLOCK + k] = t & %d;\n"
                      "    }\n"
                      "    for (k = 0; k < 2 * BLOCK; k++) at[k] = step[at[k]];\n"
                      "    for (k = 0; k < 2 * BLOCK; k++)\n"
                      "        to[k] = (int16_t)((uint16_t)(at[k] - rest[k]) >> %d);\n"
                      "}\n",
                      shift, mask, shift, mask, shift);
}

/* The same for one of them. */
static void wave_code_function(krein_source *s, int shift) {
    krein__source_add(s,
                      "/* The code of the cosine of u / 65536 turns. */\n"
                      "static uint32_t cosine_code(uint32_t u) {\n"
                      "    uint32_t d = distance((uint16_t)u);\n"
                      "    return (step[d >> %d] - (d & %d)) >> %d;\n"
                      "}\n",
                      shift, (1 << shift) - 1, shift);
}

krein_status krein__source_wave_codes(krein_source *s, int bits, const krein_wave_codes *table,
                                      bool single) {
    krein_status st = KREIN_OK;
    int shift = 0;
    TRY(step_table(s, bits, table, &shift));
    single ? wave_code_function(s, shift) : wave_function(s, shift);
done:
    return st;
}
