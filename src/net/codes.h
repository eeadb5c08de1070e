/* codes.h -- layers of a net in a few bits: the quantiser wraps a layer.
 *
 * A layer in codes has weights that are rounded to codes and back (num/quant.h) wherever it uses
 * them, forwards and backwards, and its output is rounded on the range that it has. The optimiser
 * keeps and moves the weights themselves: gradients pass the rounding as if it were not there
 * (straight through). */
#ifndef KREIN_NET_CODES_H
#define KREIN_NET_CODES_H

#include "net/net.h"

/* The layer that was added last is in codes of so many bits. Layers that keep some parameters from
 * training, and those without bounded output or weights, cannot be. */
krein_status krein__net_in_codes(krein_net *net, int bits);
/* Rows that come in are multiplied by unit (in numbers, one a column; a copy is made), cut to [-1,
 * 1] and rounded there to so many bits. Behind krein__net_ready, for nets with layers in codes. */
krein_status krein__net_input_codes(krein_net *net, int bits, const float *unit);
/* After every change of the parameters, before they are used: ranges and rounded weights. */
void krein__net_round(krein_net *net);

/* What layer l uses: net->p, or the rounded parameters. */
const float *krein__layer_parameters(const krein_net *net, int64_t l);
/* The same where the net works with parameters p. */
const float *krein__layer_uses(const krein_net *net, int64_t l, const float *p);

/* Inside net.c. */
krein_status krein__net_codes_ready(krein_net *net);
void krein__net_codes_clear(krein_net *net);
double krein__net_codes_bytes(const krein_net *net);
void krein__net_round_input(const krein_net *net, int64_t n, float *x);
void krein__layer_round_output(const krein_layer *l, int64_t n, float *out);
void krein__layer_cut_gradient(const krein_layer *l, const float *p, int64_t part,
                               const krein_range *range, float *g);

#endif
