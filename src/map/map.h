/* map.h -- feature maps: k(x, y) ~= sum_i s_i z_i(x) z_i(y) with signs s_i = +1 or -1.
 *
 * A map makes R raw features of a row, float32, tile by tile. Its features are z = A' r with a
 * matrix A (R x D) called mix, or r itself where mix is NULL. A linear model on z is one on r with
 * the weights A w, so learners accumulate raw products and prediction never multiplies by A.
 */
#ifndef KREIN_MAP_H
#define KREIN_MAP_H

#include "file/archive.h"
#include "stream/data.h"
#include "kernel/gram.h"
#include "num/quant.h"

#include <math.h>

typedef struct krein_map krein_map;
typedef struct krein_waves krein_waves;

enum {
    KREIN_MAP_DUAL = 1,     /* the raw features are kernel values at the training rows themselves */
    KREIN_MAP_DATA = 2,     /* fit looks at the rows */
    KREIN_MAP_NESTED = 4,   /* the frequencies of a larger D extend those of a smaller one */
    KREIN_MAP_UNBIASED = 8, /* E sum s z z = k over the seed */
    KREIN_MAP_LABELS = 16,  /* fit looks at the labels: the stream must have them */
    KREIN_MAP_SEEDLESS = 32, /* may be the same for every seed */
    KREIN_MAP_MIX = 64,      /* the features are not r itself but z = A'r */
    KREIN_MAP_VALUES = 128,  /* the raw features are kernel values at krein__map_landmarks */
    KREIN_MAP_TRAINED = 256, /* a learner may train its frequencies (learned.h) */
    KREIN_MAP_CODES = 512    /* the raw features are codes of a few bits */
};

/* The option of maps that make as many features as they are asked for. */
#define KREIN_OPTION_D KREIN_OPTION_D_AS("number of features")
#define KREIN_OPTION_D_AS(what)                                                                    \
    {                                                                                              \
        .name = "D", .type = KREIN_OPTION_INTEGER, .value = NAN, .low = 1, .high = 1e7,            \
        .help = what "; chosen from the data when not given"                                       \
    }

typedef struct krein_cost {
    double bytes; /* held by the fitted map, and a thread's scratch times threads */
    double flops; /* of one row */
    double fit_flops;
    double early;      /* of a learner's flops: iterations that end where the time does */
    int64_t folds;     /* of a learner, in: the cross-validation that was asked for, 0: its own */
    int64_t max_exact; /* of a learner, in: the rows that a kernel matrix may have */
    bool asked;        /* in: D was asked for, and is not made smaller where memory is short */
    bool probabilities, grouped; /* in: probabilities are wanted; the rows come in groups */
} krein_cost;

/* An array of the fitted map, with its name. */
typedef struct krein_named_array {
    char name[64];
    krein_array array;
} krein_named_array;

/* Codes of raw features: they stand for factor times what quant says. */
typedef struct krein_map_codes {
    krein_quant quant;
    double factor;
} krein_map_codes;

/* Frequencies that are a few draws each, of a kernel that says which (its law). */
typedef enum krein_redrawn {
    KREIN_REDRAWN_NOT,       /* they are stored */
    KREIN_REDRAWN_SINGLY,    /* the kernel's own: krein__fourier_draw */
    KREIN_REDRAWN_ORTHOGONAL /* orf's: normal rows made orthonormal in blocks of d, then lengths */
} krein_redrawn;

typedef struct krein_map_class {
    krein_class cls;
    int traits;
    /* Further traits, where the kernel decides; NULL: none. Ask for all by krein__map_traits. */
    int (*own_traits)(const krein_map *map);
    int64_t terms;       /* most terms of a sum that it makes features of at once; 0: one */
    const char *kernels; /* the families it is for, in a few words, for `krein list` */
    const char *time;    /* its cost in n, d, D: "n d D" */
    const char *kernel;  /* that it is for where none is asked for; NULL: any, chosen as usual */
    /* The options stand for another map, whose spec this writes, owned by the caller; NULL: they do
     * not. The context keeps no error. */
    char *(*instead)(krein_ctx *ctx, const krein_values *values);
    /* KREIN_ESPEC with the reason and an alternative where the map does not apply. */
    krein_status (*accepts)(krein_ctx *ctx, const krein_kernel *kernel);
    /* Number of features made when D are asked for on n rows. */
    int64_t (*features)(const krein_map *map, int64_t n);
    void (*cost)(const krein_map *map, int64_t n, krein_cost *out);
    /* kernel, d, D and seed are set. rows: the training rows (n of them); may be NULL (n = 0) for a
     * map without DATA, which may look at rows that it is given only to refuse them. */
    krein_status (*fit)(krein_map *map, krein_stream *rows, int64_t n);
    /* The same from rows in memory, some of which become the landmarks: for trials on a sample.
     * NULL: maps without KREIN_MAP_VALUES. */
    krein_status (*fit_sample)(krein_map *map, const krein_rows *rows);
    /* Raw features of at most KREIN_TILE rows; out has room for KREIN_TILE rows of stride ld. */
    void (*tile)(const krein_map *map, const krein_rows *x, float *out, int64_t ld, float *scratch);
    /* Maps whose rows have few features that are not zero: the most there are in a row, and those
     * of at most KREIN_TILE rows, as many for each, ascending (col -1: none). NULL: dense. */
    int64_t (*nonzeros)(const krein_map *map);
    void (*tile_sparse)(const krein_map *map, const krein_rows *x, int32_t *col, float *val,
                        float *scratch);
    /* DUAL maps: tile in double. */
    void (*tile64)(const krein_map *map, const krein_rows *x, double *out, int64_t ld,
                   double *scratch);
    /* Fitted state that does not follow from the spec and the seed; NULL: none, fit again. */
    krein_status (*io)(krein_map *map, krein_archive *a);
    void (*clear)(krein_map *map);
    /* What a user may want to know of a fitted map (masses, errors), for `krein info`: name and
     * value of the i-th fact; false past the last. NULL: nothing. */
    bool (*fact)(const krein_map *map, int64_t i, krein_fact *out);
    /* Maps of structured.c: how they make and multiply blocks of frequencies. */
    const struct krein_structure *(*structure)(const krein_map *map);
    /* The same for arrays: frequencies, landmarks. */
    bool (*array)(const krein_map *map, int64_t i, krein_named_array *out);
    /* Maps whose raw features are cosines and sines: these (waves.h). NULL: they are not. */
    krein_status (*waves)(krein_ctx *ctx, const krein_map *map, krein_waves *out);
    /* And how a program can draw their frequencies again; maps of structured.c: by their factors.
     */
    krein_redrawn redrawn;
    /* Maps with CODES: what codes stand for, and those of at most KREIN_TILE rows, x->n x R, within
     * scratch (map->scratch floats). */
    krein_map_codes (*codes)(const krein_map *map);
    const uint8_t *(*code_tile)(const krein_map *map, const krein_rows *x, float *scratch);
    /* Maps with MIX: sets mix (NULL) again from the fitted state, as fit did. */
    krein_status (*remix)(krein_map *map);
} krein_map_class;

struct krein_map {
    krein_ctx *ctx;
    const krein_map_class *cls;
    krein_values values;
    krein_kernel *kernel;
    uint64_t seed;
    int64_t d;   /* inputs */
    int64_t D;   /* features, once fitted; before that what was asked for (0: nothing) */
    int64_t R;   /* raw features */
    double *mix; /* R x D, or NULL (R = D) */
    /* Products may be accumulated on the float32 blocks r and multiplied by mix afterwards
     * ("fused"), with those columns of mix that blow their rounding up to less than lambda:
     * spectrum[j] >= fused_unit / lambda (spectrum falls). Below fused_lambda that would leave out
     * columns that matter, and the blocks z = A'r are made first: always where it is INFINITY. */
    double *spectrum; /* D, with mix where fused_lambda is finite */
    double fused_unit, fused_lambda;
    int8_t *sign;     /* D, or NULL: all +1 (so where an old model file was loaded) */
    int64_t negative; /* features with sign -1 */
    int64_t scratch;  /* elements of scratch per thread */
    bool sparse;      /* rows are CSR */
    bool in_bytes;    /* rows are bytes as far as those who train are concerned */
    int64_t image[3]; /* rows are images: height, width, channels; zeros: they are not */
    bool unmixed;     /* set before the fit: raw features are enough, and a map of KREIN_MAP_VALUES
                         need not make the mix of a positive definite kernel (then D = R) */
    void *state;
};

#define MAP(name) extern const krein_map_class name;
#include "map/maps.def"
#undef MAP
extern const krein_class *const krein__maps[];
extern const int64_t krein__map_count;

/* Parses the spec; D = 0 leaves the map's own default or choice. The kernel is copied. */
krein_status krein__map_create(krein_ctx *ctx, const char *spec, const krein_kernel *kernel,
                               int64_t D, uint64_t seed, krein_map **out);
/* Sets the kernel, where none is asked for, to that which the map of that spec is for; NULL: any.
 */
krein_status krein__map_kernel(krein_ctx *ctx, const char *spec, const char **kernel);
/* Asks a map that has a D, and is not fitted, for another. */
void krein__map_ask(krein_map *map, int64_t D);
krein_status krein__map_fit(krein_map *map, int64_t d, bool sparse, krein_stream *rows, int64_t n);
/* The same for one of many: what the map would say of itself is not logged. */
krein_status krein__map_fit_silently(krein_map *map, int64_t d, bool sparse, krein_stream *rows,
                                     int64_t n);
/* On a sample in memory: maps without KREIN_MAP_DATA, and those with a fit_sample. */
krein_status krein__map_fit_sample(krein_map *map, const krein_rows *rows);
void krein__map_destroy(krein_map *map);
int krein__map_traits(const krein_map *map);
/* The complete spec with the D it has now. Owned by the caller. */
char *krein__map_text(const krein_map *map);
/* Everything needed to predict, for the model file. Reading makes *map, for rows of width d. */
krein_status krein__map_io(krein_ctx *ctx, krein_archive *a, int64_t d, bool sparse,
                           krein_map **map);

/* The same map to be used on another context: its memory, threads and messages. Nothing of it may
 * be freed or changed. Maps of parts keep them on the context of the whole: only what goes through
 * map (tiles, raw features, the model file) is on ctx. */
krein_map krein__map_on(krein_ctx *ctx, const krein_map *map);

/* Sets mix where the map has one that was not stored: files of trained models hold none, since
 * prediction needs none. The caller frees it. */
krein_status krein__map_remix(krein_map *map);

/* The raw features are codes of a few bits; what these stand for. */
bool krein__map_has_codes(const krein_map *map);
krein_map_codes krein__map_codes(const krein_map *map);

/* Raw features of x, threaded over tiles: out is x.n x R with stride R. scratch holds
 * krein__map_scratch(map) floats. offset (R, or NULL) is subtracted while a tile is in cache:
 * float32 products of nearly centred features keep digits that a large mean would cost. */
int64_t krein__map_scratch(const krein_map *map);
void krein__map_raw(const krein_map *map, const krein_rows *x, const float *offset, float *out,
                    float *scratch);
/* The same of at most KREIN_TILE rows by the calling thread, for maps with VALUES; scratch is its
 * part of it, krein__map_scratch(map) / threads. */
void krein__map_values(const krein_map *map, const krein_rows *x, const float *offset, float *out,
                       float *scratch);
/* z = A'r for n rows of raw features; mix32 is mix in float32. */
void krein__map_mix(const krein_map *map, int64_t n, const float *raw, const float *mix32,
                    float *out);
float *krein__map_mix32(const krein_map *map); /* NULL when memory fails */
/* Columns of mix that fused products resolve at lambda. */
int64_t krein__map_fused(const krein_map *map, double lambda);
/* Features z = A'r, x.n x D. */
krein_status krein__map_apply(const krein_map *map, const krein_rows *x, float *out);
/* Fills *out. */
void krein__array_set(krein_named_array *out, const char *name, krein_type type, int64_t rows,
                      int64_t columns, const void *at);
/* Maps of KREIN_MAP_DUAL and KREIN_MAP_VALUES: the rows that their raw features are values at. */
krein_rows krein__map_landmarks(const krein_map *map);
/* The default map of a kernel when it must be approximated, on d columns by about D features
 * (0: not known yet); of its t-th term, by D features for that. */
const krein_map_class *krein__map_default_class(const krein_kernel *kernel, int64_t d, int64_t D);
const krein_map_class *krein__map_default_term(const krein_kernel *kernel, int64_t t, int64_t d,
                                               int64_t D);
const char *krein__map_default(const krein_kernel *kernel, int64_t d, int64_t D); /* its name */
/* A warning where the default map makes more features than the user asked for (0: nothing asked).
 */
void krein__map_say_more(const krein_map *map, int64_t n, int64_t asked);
/* Of a map that was asked for by name, before any row is read: it has no --features, or is fitted
 * to labels, which `who` (NULL: anybody) does not know. */
krein_status krein__map_check(const krein_map *map, int64_t features, const char *who);
/* Refuses the kernel matrix of more rows than --max-exact; other: the map to use instead. */
krein_status krein__map_check_rows(const krein_map *map, int64_t n, int64_t most,
                                   const char *other);
/* KREIN_ESPEC "NAME needs WHAT, got KERNEL; try DEFAULT", for accepts. */
krein_status krein__map_refuse(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                               const char *what);

#endif
