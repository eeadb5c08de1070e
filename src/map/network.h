/* network.h -- the map that is a network without its last layer: what its learner reads and gives
 * back. */
#ifndef KREIN_NETWORK_H
#define KREIN_NETWORK_H

#include "map/map.h"
#include "net/net.h"

bool krein__map_is_network(const krein_map *map);
/* Of a fitted map. */
const krein_net *krein__network(const krein_map *map);
const char *krein__network_arch(const krein_map *map);
/* Parameters of a net that has these layers first. */
void krein__network_give(krein_map *map, const float *p);
/* The rows as they are for a net, of a map that need not be fitted. */
krein_shape krein__network_shape(const krein_map *map);
/* The architecture that a map will have, which may be that of a model; owned by the caller. NULL:
 * the context has the error. */
char *krein__network_choice(krein_ctx *ctx, const krein_map *map);

#endif
