/* arccos -- k(x, y) = (|x| |y|)^n J_n(theta) / pi, theta the angle between x and y    (cho2009)
 *   J_n in arc.h; order n = 0, 1, 2: a layer of infinitely many units step(w'x) (w'x)^n
 * 0 where a row is 0 (order 0 too: it has no angle).
 */
#include "kernel/arc.h"
#include "kernel/kernel.h"
#include "kernel/series.h"

#include <math.h>

#define VALUES(T, name, arc, SQRT)                                                                 \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        int order = (int)p[0];                                                                     \
        T c[KREIN_ARC_CHUNK], length = SQRT(xx);                                                   \
        for (int64_t from = 0; from < n; from += KREIN_ARC_CHUNK) {                                \
            int64_t m = n - from < KREIN_ARC_CHUNK ? n - from : KREIN_ARC_CHUNK;                   \
            T *to = v + from;                                                                      \
            const T *square = yy + from;                                                           \
            for (int64_t i = 0; i < m; i++) {                                                      \
                T s = length * SQRT(square[i]);                                                    \
                c[i] = to[i] / (s > 0 ? s : 1);                                                    \
            }                                                                                      \
            arc(order, m, c, to);                                                                  \
            for (int64_t i = 0; i < m; i++) {                                                      \
                T s = length * SQRT(square[i]);                                                    \
                to[i] *= order == 0 ? (s > 0 ? 1 : 0) : order == 1 ? s : s * s;                    \
            }                                                                                      \
        }                                                                                          \
    }
VALUES(float, values32, krein__arc32, sqrtf)
VALUES(double, values64, krein__arc64, sqrt)

static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    double r[KREIN_SERIES_MAX] = {0, 1};
    int order = (int)p[0];
    *reach = 1;
    if (!unit || count > KREIN_SERIES_MAX) return false;
    return krein__series_arc(order, count, r,
                             (double *[3]){order == 0 ? a : NULL, order == 1 ? a : NULL, a});
}

static const krein_option options[] = {{.name = "order",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 1,
                                        .low = 0,
                                        .high = 2,
                                        .help = "0: steps, 1: ramps (ReLU), 2: squared ramps"},
                                       {0}};

const krein_kernel_class krein__kernel_arccos = {
    .cls = {"arccos", "(|x| |y|)^order J_order(angle) / pi", "cho2009", options,
            "One hidden layer of infinitely many units. J_0 = pi - a, J_1 = sin a + (pi - a) cos "
            "a, J_2 = "
            "3 sin a cos a + (pi - a)(1 + 2 cos^2 a)."},
    .family = KREIN_FAMILY_DOT,
    .map = "arccos",
    .values32 = values32,
    .values64 = values64,
    .series = series};
