/* ntk -- the tangent kernel of a fully connected ReLU network of infinite width        (jacot2018)
 *   S = scale^2 <x, y> + bias^2,  T = S;  `depth` times, with c = S / sqrt(S_xx S_yy):
 *   T = T J_0(c) / pi + S',  S' = sqrt(S_xx S_yy) J_1(c) / pi + bias^2,  S = S'
 * S_xx and S_yy are the same recursion on the diagonal, where c = 1: bias^2 more a layer. k = T.
 * S is the covariance of the units of a layer (the NNGP kernel), J_n the functions of arc.h.
 */
#include "kernel/arc.h"
#include "kernel/kernel.h"
#include "kernel/series.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 0, BIAS = 1, SCALE = 2 };

#define VALUES(T, name, pair, SQRT)                                                                \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        T scale = (T)(p[SCALE] * p[SCALE]), bias = (T)(p[BIAS] * p[BIAS]);                         \
        T c[KREIN_ARC_CHUNK], s[KREIN_ARC_CHUNK], zero[KREIN_ARC_CHUNK], one[KREIN_ARC_CHUNK];     \
        for (int64_t from = 0; from < n; from += KREIN_ARC_CHUNK) {                                \
            int64_t m = n - from < KREIN_ARC_CHUNK ? n - from : KREIN_ARC_CHUNK;                   \
            T *t = v + from;                                                                       \
            for (int64_t i = 0; i < m; i++) s[i] = t[i] = scale * t[i] + bias;                     \
            for (int layer = 0; layer < (int)p[DEPTH]; layer++) {                                  \
                T more = (T)layer * bias, length = SQRT(scale * xx + bias + more);                 \
                for (int64_t i = 0; i < m; i++) {                                                  \
                    T norm = length * SQRT(scale * yy[from + i] + bias + more);                    \
                    c[i] = s[i] / (norm > 0 ? norm : 1);                                           \
                }                                                                                  \
                pair(m, c, zero, one);                                                             \
                for (int64_t i = 0; i < m; i++) {                                                  \
                    T norm = length * SQRT(scale * yy[from + i] + bias + more);                    \
                    s[i] = norm * one[i] + bias;                                                   \
                    t[i] = t[i] * zero[i] + s[i];                                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
VALUES(float, values32, krein__arc_pair32, sqrtf)
VALUES(double, values64, krein__arc_pair64, sqrt)

/* On rows of length one S_xx = S_yy = q, and the recursion is one of power series. */
static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    double s[KREIN_SERIES_MAX], zero[KREIN_SERIES_MAX], one[KREIN_SERIES_MAX];
    double *out[3] = {zero, one, NULL};
    double scale = p[SCALE] * p[SCALE], bias = p[BIAS] * p[BIAS], q = scale + bias;
    *reach = 1;
    if (!unit || count > KREIN_SERIES_MAX) return false;
    for (int64_t n = 0; n < count; n++) a[n] = n == 0 ? bias : n == 1 ? scale : 0;
    memcpy(s, a, (size_t)count * sizeof *s);
    for (int layer = 0; layer < (int)p[DEPTH]; layer++, q += bias) {
        for (int64_t n = 0; n < count; n++) s[n] /= q;
        if (!krein__series_arc(1, count, s, out)) return false;
        for (int64_t n = 0; n < count; n++) s[n] = q * one[n] + (n == 0 ? bias : 0);
        for (int64_t n = count - 1; n >= 0; n--) { /* from the top: a[n] needs a[0..n] only */
            double sum = s[n];
            for (int64_t k = 0; k <= n; k++) sum += a[k] * zero[n - k];
            a[n] = sum;
        }
    }
    return true;
}

static const krein_option options[] = {
    {.name = "depth",
     .type = KREIN_OPTION_INTEGER,
     .value = 2,
     .low = 1,
     .high = 100,
     .help = "hidden layers"},
    {.name = "bias",
     .value = 0,
     .low = 0,
     .high = 1e6,
     .help = "its square is added to each layer's covariance"},
    {.name = "scale", .value = 1, .low = 0, .low_open = true, .high = 1e6, .help = "factor of x"},
    {0}};

const krein_kernel_class krein__kernel_ntk = {
    .cls = {"ntk", "tangent kernel of a wide ReLU network", "jacot2018", options,
            "What gradient descent on a fully connected network learns in the limit of infinite "
            "width. It grows with the lengths of the rows: `scale=unit` makes it a function of the "
            "angle."},
    .family = KREIN_FAMILY_DOT,
    .map = "ntksketch",
    .values32 = values32,
    .values64 = values64,
    .series = series};
