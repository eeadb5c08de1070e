/* turns.c -- frequencies times the row, in turns: what cosines and sines are made of.
 *
 *     static void turns(int i, const float *z, real *t)
 *
 * gives those of frequencies i .. i + WIDTH - 1 of a term of the kernel (with several terms the
 * number of the term goes first). Four ways:
 *
 *   stored      the frequencies are constants
 *   singly      every coordinate is drawn again by its address, as rff draws it
 *   orthogonal  orf: w_f = r_f q_f with the Q of a Gaussian matrix A = QR. Q is not made: it is a
 *               product of reflections H_0 H_1 .., one for each row that is drawn, and q_f'z is
 *               entry f of .. H_1 H_0 z. A drawn row goes through the reflections before it, so
 *               they are kept: d (d + 1) / 2 doubles of the stack
 *   structured  sorf, fastfood, pmodel: signs, normals, swaps and Walsh-Hadamard transforms in
 *               place; the random factors are drawn again, or constants (signs in bits)
 *
 * The smallest one is taken, and of the last two nothing is drawn where constants are asked for. */
#include "export/source.h"

#include "base/rng.h"
#include "map/structured.h"
#include "map/waves.h"

#include <math.h>
#include <stdio.h>

/* Bytes of the functions that draw, as gcc -O2 makes them on x86; without math.h (ALONE) there are
 * logarithms, roots and cosines in double among them. */
enum {
    PHILOX = 220,
    NORMAL = 200,
    GAMMA = 570,
    SWAP = 230,
    QR = 1100,
    HADAMARD = 600,
    NORMAL_ALONE = 840,
    GAMMA_ALONE = 250
};
/* Of the stack, for reflections: a part of what small devices have. It is 29 columns. */
enum { STACK = 4096 };

/* ---- shared ------------------------------------------------------------- */

typedef struct writer {
    krein_source *s;
    const krein_map *map;
    krein_term *terms;
    krein_turns *out;
} writer;

static void address(const writer *w, uint64_t stream) {
    krein__source_add(w->s, "UINT64_C(%llu), UINT64_C(%llu)", (unsigned long long)w->map->seed,
                      (unsigned long long)stream);
}

static krein_rng stream_of(const writer *w, int64_t t, int64_t l) {
    return (krein_rng){w->map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t + l)};
}

static krein_kernel_law law_of(const krein_kernel *leaf) {
    return leaf->kernel->law(leaf->values.number);
}

/* Enough for the laws of all leaves to be asked. */
static bool has_law(const krein_kernel_class *c) { return c->law != NULL; }

static void begin(const writer *w, int64_t width) {
    krein_turns *out = w->out;
    out->width = width;
    krein__source_add(w->s,
                      "enum { WIDTH = %lld, PER_TERM = %lld };\n"
                      "static void turns(%sint i, const float *z, real *t) {\n",
                      (long long)width, (long long)out->per_term,
                      out->terms > 1 ? "int term, " : "");
}

/* A gamma number at `row`; below 1 it is one of shape + 1 times a power of a uniform number. */
static void gamma_of(const writer *w, krein_rng g, const char *row, double shape) {
    krein__source_add(w->s, "gamma_of(");
    address(w, g.stream);
    krein__source_add(w->s, ", %s, %.17g)", row, shape < 1 ? shape + 1 : shape);
    if (shape >= 1) return;
    krein__source_add(w->s, " * boost(");
    address(w, g.stream);
    krein__source_add(w->s, ", %s, %.17g)", row, 1 / shape);
}

/* " / width", and the gamma factor of the law. */
static void divide(const writer *w, const krein_kernel *leaf, krein_rng g, const char *row) {
    krein_kernel_law law = law_of(leaf);
    krein__source_add(w->s, " / %.17g", law.width);
    if (law.shape == 0) return;
    krein__source_add(w->s, "%sSQRT64(", law.divided ? " / " : " * ");
    gamma_of(w, krein__role(g, KREIN_ROLE_SCALE), row, law.shape);
    krein__source_add(w->s, " / %.17g)", law.shape);
}

/* Of all leaves: is a gamma number drawn? */
static bool has_shape(const writer *w) {
    for (int64_t t = 0; t < w->out->terms; t++)
        for (int64_t l = 0; l < w->terms[t].n; l++)
            if (law_of(w->terms[t].leaf[l]).shape > 0) return true;
    return false;
}

static double drawing(const writer *w, bool normal, bool gamma) {
    double bytes = PHILOX;
    if (normal || gamma) bytes += NORMAL + (w->s->libm ? 0 : NORMAL_ALONE);
    if (gamma) bytes += GAMMA + (w->s->libm ? 0 : GAMMA_ALONE);
    return bytes;
}

static void drawn(const writer *w, double flops) {
    w->s->drawn = true;
    w->s->flops += flops;
}

/* ---- stored ------------------------------------------------------------- */

static void stored(const writer *w, const krein_waves *waves) {
    krein_source *s = w->s;
    w->out->terms = 1;
    w->out->per_term = waves->F;
    krein__source_floats(s, "frequency", waves->F * waves->d, waves->turns);
    begin(w, 1);
    krein__source_add(s, "    const float *w = frequency + i * COLUMNS;\n"
                         "    real sum = 0;\n"
                         "    int j;\n"
                         "    for (j = 0; j < COLUMNS; j++) sum += (real)w[j] * (real)z[j];\n"
                         "    t[0] = sum;\n"
                         "}\n\n");
    s->flops += 2 * (double)waves->F * (double)waves->d;
}

/* ---- drawn singly, as map/fourier.c does -------------------------------- */

static void begin_term(const writer *w, int64_t t) {
    if (w->out->terms > 1) krein__source_add(w->s, "    if (term == %lld) {\n", (long long)t);
}

static void end_term(const writer *w) {
    if (w->out->terms > 1) krein__source_add(w->s, "    }\n");
}

static void singly(const writer *w) {
    krein_source *s = w->s;
    bool scaled = has_shape(w);
    w->out->phases = true;
    begin(w, 1);
    krein__source_add(s,
                      scaled ? "    real sum = 0;\n"
                               "    double scale[%d];\n"
                               "    int j;\n"
                             : "    real sum = 0;\n"
                               "    int j;\n",
                      KREIN_TERM_LEAVES);
    for (int64_t t = 0; t < w->out->terms; t++) {
        const krein_term *term = &w->terms[t];
        begin_term(w, t);
        for (int64_t l = 0; scaled && l < term->n; l++) {
            krein__source_add(s, "    scale[%lld] = 1.0", (long long)l);
            divide(w, term->leaf[l], stream_of(w, t, l), "i");
            krein__source_add(s, ";\n");
        }
        krein__source_add(s, "    for (j = 0; j < COLUMNS; j++)\n"
                             "        sum += (real)(float)((");
        for (int64_t l = 0; l < term->n; l++) {
            krein_kernel_law law = law_of(term->leaf[l]);
            krein__source_add(s, "%s%s(", l ? " + " : "", law.name);
            address(w, stream_of(w, t, l).stream);
            if (scaled)
                krein__source_add(s, ", i, j) * scale[%lld]", (long long)l);
            else
                krein__source_add(s, ", i, j) / %.17g", law.width);
        }
        krein__source_add(s, ") * 0.15915494309189535) * (real)z[j];\n");
        end_term(w);
    }
    krein__source_add(s, "    t[0] = sum;\n"
                         "}\n\n");
    drawn(w, 150 * (double)(w->out->terms * w->out->per_term) * (double)w->map->d);
}

/* ---- orthogonal --------------------------------------------------------- */

/* Reflections, a row, a drawn row. */
static double reflections(int64_t d) { return 4 * (double)d * (double)(d + 1) + 16 * (double)d; }

static void orthogonal(const writer *w) {
    krein_source *s = w->s;
    int64_t d = w->map->d;
    begin(w, d);
    krein__source_add(s, "    double y[COLUMNS];\n"
                         "    int j, n = PER_TERM - i < WIDTH ? PER_TERM - i : WIDTH;\n"
                         "    for (j = 0; j < WIDTH; j++) t[j] = 0;\n");
    for (int64_t t = 0; t < w->out->terms; t++)
        for (int64_t l = 0; l < w->terms[t].n; l++) {
            krein_rng g = stream_of(w, t, l);
            begin_term(w, t);
            krein__source_add(s, "    orthogonal(");
            address(w, krein__role(g, KREIN_ROLE_DIRECTIONS).stream);
            krein__source_add(s, ", i, n, z, y);\n"
                                 "    for (j = 0; j < n; j++)\n"
                                 "        t[j] += (real)(y[j] * 0.15915494309189535 * SQRT64(2 * ");
            gamma_of(w, g, "i + j", 0.5 * (double)d);
            krein__source_add(s, ")");
            divide(w, w->terms[t].leaf[l], g, "i + j");
            krein__source_add(s, ");\n");
            end_term(w);
        }
    krein__source_add(s, "}\n\n");
    drawn(w, (double)(w->out->terms * w->out->per_term * d) * (150 + 2 * (double)d));
    s->stack += reflections(d);
}

/* ---- structured --------------------------------------------------------- */

typedef struct blocks {
    const krein_structured *state;
    const krein_structure *how;
    int64_t P, count; /* of all terms */
    bool constant;    /* one scale for all frequencies of a term */
    bool lengths;     /* but for the lengths that the map draws */
    double stored, code;
} blocks;

static krein_rng factor_stream(const writer *w, const krein_factor *f, int64_t t) {
    return krein__role(stream_of(w, t, 0), f->role);
}

static double factor_bytes(const krein_factor *f, int64_t P) {
    return f->kind == KREIN_FACTOR_SIGNS     ? (double)P / 8
           : f->kind == KREIN_FACTOR_NORMALS ? 4 * (double)P
                                             : (P > 256 ? 2 : 1) * (double)P;
}

/* What the two ways take: constants, and functions that draw. */
static blocks structure_of(const writer *w) {
    const krein_structured *state = w->map->state;
    blocks b = {.state = state, .how = state->how, .P = state->P, .constant = true};
    bool normals = false;
    b.count = w->out->terms * state->per_term;
    for (int64_t t = 0; t < w->out->terms; t++)
        for (int64_t f = state->fourier.first[t]; f < state->fourier.first[t + 1]; f++)
            b.constant = b.constant && state->scale[f] == state->scale[state->fourier.first[t]];
    b.lengths = !b.constant && b.how->lengths && krein__kernel_all(w->map->kernel, has_law) &&
                !has_shape(w);
    if (!b.constant) b.stored += 4 * (double)state->fourier.F;
    for (const krein_factor *f = b.how->factor; f->kind; f++) {
        normals = normals || f->kind == KREIN_FACTOR_NORMALS;
        b.stored += factor_bytes(f, b.P) * (double)b.count;
        if (f->kind == KREIN_FACTOR_PERMUTATION) b.code += SWAP;
    }
    b.code += drawing(w, normals, b.lengths);
    if (!b.constant && !b.lengths) b.code += 4 * (double)state->fourier.F;
    return b;
}

/* The constants of one factor: bits of signs, bytes or words of swaps, normals. */
static krein_status factor_constants(const writer *w, const blocks *b, int64_t number) {
    krein_ctx *ctx = w->s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_factor *f = &b->how->factor[number];
    int64_t P = b->P, n = P * b->count;
    float *value = NULL;
    int64_t *swap = NULL;
    uint8_t *bits = NULL;
    char name[24];
    ZNEW(value, n);
    ZNEW(swap, n);
    ZNEW(bits, (n + 7) / 8);
    for (int64_t block = 0; block < b->count; block++) {
        int64_t t = block / b->state->per_term, row = block % b->state->per_term;
        krein_rng g = factor_stream(w, f, t);
        if (f->kind == KREIN_FACTOR_SIGNS) krein__signs(g, row, P, value + block * P);
        for (int64_t i = 0; f->kind == KREIN_FACTOR_NORMALS && i < P; i++)
            value[block * P + i] = (float)krein__rng_normal(g, (uint64_t)row, (uint64_t)i);
        for (int64_t i = 1; f->kind == KREIN_FACTOR_PERMUTATION && i < P; i++)
            swap[block * P + i] = krein__structured_swap(g, row, i);
    }
    snprintf(name, sizeof name, "factor%lld", (long long)number);
    if (f->kind == KREIN_FACTOR_SIGNS) {
        for (int64_t i = 0; i < n; i++) bits[i / 8] |= (uint8_t)((value[i] > 0) << i % 8);
        krein__source_bytes(w->s, name, (n + 7) / 8, bits);
    } else if (f->kind == KREIN_FACTOR_NORMALS) {
        krein__source_floats(w->s, name, n, value);
    } else if (P > 256) {
        krein__source_words(w->s, P > 65536 ? "int" : "unsigned short", P > 65536 ? 4 : 2, name, n,
                            swap);
    } else {
        krein__source_words(w->s, "unsigned char", 1, name, n, swap);
    }
done:
    krein__free(ctx, value);
    krein__free(ctx, swap);
    krein__free(ctx, bits);
    return st;
}

/* One factor meets t. */
static void multiply(const writer *w, const blocks *b, int64_t number, bool redraw) {
    krein_source *s = w->s;
    const krein_factor *f = &b->how->factor[number];
    const char *terms = w->out->terms > 1 ? " + 16 * (uint64_t)term" : "";
    if (f->kind == KREIN_FACTOR_SIGNS && redraw) {
        krein__source_add(s, "    draw_signs(");
        address(w, factor_stream(w, f, 0).stream);
        krein__source_add(s, "%s, i / WIDTH, WIDTH, t);\n", terms);
    } else if (f->kind == KREIN_FACTOR_SIGNS) {
        krein__source_add(s, "    give_signs(factor%lld, at, WIDTH, t);\n", (long long)number);
    } else if (f->kind == KREIN_FACTOR_PERMUTATION) {
        krein__source_add(s, "    for (j = WIDTH - 1; j > 0; j--) {\n"
                             "        const int other = ");
        if (redraw) {
            krein__source_add(s, "below(");
            address(w, factor_stream(w, f, 0).stream);
            krein__source_add(s, "%s, i / WIDTH, j, j + 1);\n", terms);
        } else {
            krein__source_add(s, "factor%lld[at + j];\n", (long long)number);
        }
        krein__source_add(s, "        const real kept = t[j];\n"
                             "        t[j] = t[other];\n"
                             "        t[other] = kept;\n"
                             "    }\n");
    } else if (redraw) {
        krein__source_add(s, "    for (j = 0; j < WIDTH; j++) {\n"
                             "        const float g = (float)normal(");
        address(w, factor_stream(w, f, 0).stream);
        krein__source_add(s, "%s, i / WIDTH, j);\n", terms);
        if (b->lengths) krein__source_add(s, "        square += (double)g * (double)g;\n");
        krein__source_add(s, "        t[j] *= g;\n"
                             "    }\n");
    } else {
        krein__source_add(s, "    for (j = 0; j < WIDTH; j++) t[j] *= factor%lld[at + j];\n",
                          (long long)number);
    }
    if (f->kind != KREIN_FACTOR_PERMUTATION) krein__source_add(s, "    hadamard(WIDTH, t);\n");
}

/* The kernel's part of a scale, where lengths are drawn: as map/structured.c makes it. */
static float kernel_scale(const writer *w, int64_t t) {
    double square = 0;
    for (int64_t l = 0; l < w->terms[t].n; l++)
        square += pow(law_of(w->terms[t].leaf[l]).width, -2);
    return (float)(sqrt(square) * (0.5 / M_PI));
}

/* Scales that are constants: one a term, or one a frequency. */
static krein_status scale_constants(const writer *w, const blocks *b, bool lengths) {
    krein_ctx *ctx = w->s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_structured *state = b->state;
    float *each = NULL;
    if (!b->constant && !lengths) {
        krein__source_floats(w->s, "scale", state->fourier.F, state->scale);
        return KREIN_OK;
    }
    NEW(each, w->out->terms);
    for (int64_t t = 0; t < w->out->terms; t++)
        each[t] = lengths ? kernel_scale(w, t) : state->scale[state->fourier.first[t]];
    krein__source_floats(w->s, "scale", w->out->terms, each);
done:
    krein__free(ctx, each);
    return st;
}

static krein_status structured(const writer *w, const blocks *b, bool redraw) {
    krein_status st = KREIN_OK;
    krein_source *s = w->s;
    bool terms = w->out->terms > 1, lengths = b->lengths && redraw;
    int64_t d = w->map->d;
    for (int64_t f = 0; !redraw && b->how->factor[f].kind; f++) TRY(factor_constants(w, b, f));
    TRY(scale_constants(w, b, lengths));
    begin(w, b->P);
    if (lengths) krein__source_add(s, "    double square = 0;\n");
    if (!redraw && terms)
        krein__source_add(s, "    const int at = term * %lld + i;\n",
                          (long long)(b->state->per_term * b->P));
    if (!redraw && !terms) krein__source_add(s, "    const int at = i;\n");
    krein__source_add(s, "    int j;\n"
                         "    for (j = 0; j < COLUMNS; j++) t[j] = z[j];\n");
    if (d < b->P) krein__source_add(s, "    for (; j < WIDTH; j++) t[j] = 0;\n");
    for (int64_t f = 0; b->how->factor[f].kind; f++) multiply(w, b, f, redraw);
    if (b->constant || lengths)
        krein__source_add(s, "    for (j = 0; j < WIDTH; j++) t[j] *= scale[%s]",
                          terms ? "term" : "0");
    else
        krein__source_add(s,
                          "    for (j = 0; j < WIDTH && i + j < PER_TERM; j++) t[j] *= scale[%si + "
                          "j]",
                          terms ? "term * PER_TERM + " : "");
    if (lengths) {
        krein__source_add(s, " * (float)SQRT64(2 * ");
        krein_factor chi = {KREIN_FACTOR_NORMALS, b->how->lengths};
        krein__source_add(s, "gamma_of(");
        address(w, factor_stream(w, &chi, 0).stream);
        krein__source_add(s, "%s, i + j, %.17g) / (square * %lld))",
                          terms ? " + 16 * (uint64_t)term" : "", 0.5 * (double)b->P,
                          (long long)b->P);
    }
    krein__source_add(s, ";\n"
                         "}\n\n");
    double numbers = (double)(b->P * b->count), steps = log2((double)b->P) + 3;
    for (const krein_factor *f = b->how->factor; f->kind; f++)
        s->flops += numbers * (steps + (redraw && f->kind != KREIN_FACTOR_SIGNS ? 120 : 2)) +
                    (redraw && f->kind == KREIN_FACTOR_SIGNS
                         ? 100 * (double)b->count * ceil((double)b->P / 64)
                         : 0);
    if (lengths) s->flops += 200 * numbers;
    if (redraw) drawn(w, 0);
done:
    return st;
}

/* ---- the choice --------------------------------------------------------- */

/* The terms of the kernel, where the frequencies are draws. */
static krein_status look(writer *w, const krein_waves *waves) {
    krein_ctx *ctx = w->s->out.ctx;
    krein_status st = KREIN_OK;
    NEW(w->terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, w->map->kernel, w->terms, &w->out->terms));
    w->out->per_term = waves->F / w->out->terms;
done:
    return st;
}

krein_status krein__source_turns(krein_source *s, const krein_map *map, const krein_waves *waves,
                                 krein_turns *out) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    writer w = {.s = s, .map = map, .out = out};
    double written = 4 * (double)waves->F * (double)map->d;
    bool factors = map->cls->structure && map->cls->structure(map)->factor[0].kind;
    krein_redrawn how = s->stored || !krein__kernel_all(map->kernel, has_law) ? KREIN_REDRAWN_NOT
                                                                              : map->cls->redrawn;
    if (factors || how) TRY(look(&w, waves));
    if (factors) {
        blocks b = structure_of(&w);
        bool redraw = !s->stored && b.code < b.stored;
        if (written > HADAMARD + (redraw ? b.code : b.stored)) {
            st = structured(&w, &b, redraw);
            goto done;
        }
    }
    if (how == KREIN_REDRAWN_SINGLY && written > drawing(&w, true, has_shape(&w)))
        singly(&w);
    else if (how == KREIN_REDRAWN_ORTHOGONAL && written > drawing(&w, true, true) + QR &&
             reflections(map->d) <= STACK)
        orthogonal(&w);
    else
        stored(&w, waves);
done:
    krein__free(ctx, w.terms);
    return st;
}
