/* panels.h -- products with a matrix that is kept in panels of 32 columns, for many small products
 * with the same large matrix: it is read once, in the order in which it stands, and never packed.
 */
#ifndef KREIN_PANELS_H
#define KREIN_PANELS_H

#include "base/base.h"

enum { KREIN_PANEL = 32 }; /* columns; the last panel is filled up with zeros */

static inline int64_t krein__panels(int64_t columns) {
    return (columns + KREIN_PANEL - 1) / KREIN_PANEL;
}
/* Where row i, column j of a matrix with n rows stands. */
static inline int64_t krein__panel_index(int64_t n, int64_t i, int64_t j) {
    return (j / KREIN_PANEL * n + i) * KREIN_PANEL + j % KREIN_PANEL;
}
/* A (rows x columns, row-major) to panels, and back. */
void krein__panels_from(int64_t rows, int64_t columns, const float *a, float *panels);
void krein__panels_to(int64_t rows, int64_t columns, const float *panels, float *a);

/* Memory that is read next and brought near meanwhile: so many floats from each place on. */
enum { KREIN_AHEAD = 3 };
typedef struct krein_ahead {
    const float *at[KREIN_AHEAD];
    int64_t floats;
} krein_ahead;

/* C (m x 32, stride ldc) = A'B, or C + A'B: A is k x m with stride lda, B k x 32 and compact. Each
 * number is summed in the order of the k rows, whatever m is. ahead: NULL for none. */
void krein__panel_product(bool add, int64_t m, int64_t k, const float *a, int64_t lda,
                          const float *b, float *c, int64_t ldc, const krein_ahead *ahead);

#endif
