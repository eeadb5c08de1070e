/* tangent.h -- features of the tangent kernel of a ReLU network: what ntkrf and ntksketch share.
 * They differ in how a layer's two factors are multiplied and in how D becomes widths. */
#ifndef KREIN_TANGENT_H
#define KREIN_TANGENT_H

#include "map/units.h"

/* The widths of one network. */
typedef struct krein_tangent_plan {
    int64_t depth, in; /* hidden layers; inputs with the constant one */
    double bias, scale;
    int64_t constant; /* 1 where there is a bias: one feature a layer */
    int64_t m0, m1;   /* steps, ramps of a layer */
    int64_t mcs;      /* entries of the sketch of the product; 0: the product itself */
    int64_t least;    /* fewest features with these options, where D are too few */
} krein_tangent_plan;

/* An option for the number of steps or ramps. */
#define KREIN_OPTION_UNITS(option, what)                                                           \
    {                                                                                              \
        .name = option, .type = KREIN_OPTION_INTEGER, .value = NAN, .low = 1, .high = 1e6,         \
        .help = what " of a layer; from D when not given"                                          \
    }

/* Fills m0, m1, mcs for at most D features; depth, in, bias, scale, constant are set. False with
 * `least` where D are too few. */
typedef bool (*krein_tangent_plan_fn)(const krein_map *map, int64_t D, krein_tangent_plan *p);

/* Features after `layers` layers, exact or saturated at INT64_MAX / 4. */
int64_t krein__tangent_width(const krein_tangent_plan *p, int64_t layers);
/* An integer option of the map at `slot`, 0 where it is not given. */
int64_t krein__tangent_option(const krein_map *map, int64_t slot);

krein_status krein__tangent_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name);
int64_t krein__tangent_features(const krein_map *map, krein_tangent_plan_fn plan);
void krein__tangent_cost(const krein_map *map, krein_tangent_plan_fn plan, krein_cost *out);
krein_status krein__tangent_fit(krein_map *map, krein_tangent_plan_fn plan);
void krein__tangent_tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                         float *scratch);
void krein__tangent_clear(krein_map *map);

#endif
