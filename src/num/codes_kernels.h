/* codes_kernels.h -- between codes.c, which goes over rows, inputs and outputs, and the code for
 * one instruction set: codes_portable.c, codes_x86.c; and wave_codes.c.
 *
 * The outputs of a layer are divided into panels, the inputs into steps of `group` codes. A panel
 * holds the weights of its outputs, step behind step, with zeros where inputs or outputs end. A
 * tile is a few rows with one panel: its sums stay in registers. */
#ifndef KREIN_CODES_KERNELS_H
#define KREIN_CODES_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* Inputs that a tile takes at a time: a multiple of all groups. */
enum { KREIN_CODES_CHUNK = 2048 };

/* Of the code that is compiled for several instruction sets. */
typedef enum krein_codes_level {
    KREIN_CODES_BASELINE = 0,
    KREIN_CODES_AVX2 = 1,
    KREIN_CODES_AVX512 = 2
} krein_codes_level;

typedef struct krein_codes_kernel krein_codes_kernel;
struct krein_codes_kernel {
    const char *path;
    krein_codes_level level;
    int bits;       /* codes of rows and weights are below 2^bits */
    int tile;       /* most rows of a tile */
    int tiles;      /* that share a panel while it is near */
    int outputs;    /* of a panel */
    int group;      /* inputs of a step */
    int step_bytes; /* of a panel */
    int row_bytes;  /* of a row and step */
    int shift;      /* rows are in the sums as code - shift */
    bool (*here)(void);
    /* The K codes of output o of the panel; its bytes are zero before. */
    void (*weights)(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                    uint8_t *panel);
    /* K codes of a row, whole steps: what is behind the last code meets zeros of the panel. */
    void (*row)(int64_t K, const uint8_t *codes, uint8_t *out);
    /* sums[r][o] += the products of rows 0 .. n - 1 with the panel, 1 <= n <= tile. */
    void (*product)(int n, int64_t steps, const uint8_t *panel, const uint8_t *rows,
                    int64_t row_stride, uint32_t *sums, int64_t sums_stride);
};

/* The best first. The portable ones come behind, one for each number of bits. */
extern const krein_codes_kernel *const krein__codes_x86[];
extern const krein_codes_kernel krein__codes_portable[];
extern const int64_t krein__codes_x86_count, krein__codes_portable_count;

/* Pairs of codes of the phases factor sum + column + row, modulo 1: factor in 2^-64 turns, the
 * others in 2^-32. wave_codes.c. */
struct krein_wave_codes;
void krein__wave_codes_of_sums(const struct krein_wave_codes *w, krein_codes_level level, int64_t n,
                               const uint32_t *sums, uint64_t factor, const uint32_t *column,
                               uint32_t row, uint8_t *pairs);

#endif
