/* coding.h -- label vectors as the criteria want them, as coefficients of the columns of V. */
#ifndef KREIN_CODING_H
#define KREIN_CODING_H

#include "select/select.h"

/* Which labels stand for classes: +-1 for each class against the rest (one vector for two classes),
 * or the vectors of the ideal kernel yy', 1 within a class and -1/(C-1) between two of C. */
typedef struct krein_coding {
    int64_t q;  /* label vectors */
    bool ideal; /* they belong together: yy' = sum_q y_q y_q' */
    double *a;  /* q x m */
} krein_coding;

/* balanced: the labels of a class times n/(2 n_c), of the ideal kernel n/(C n_c). Numbers: the
 * centred targets. Classes without rows have no vector; there must be two with. */
krein_status krein__coding(const krein_view *v, bool balanced, bool ideal, krein_coding *out);
void krein__coding_end(const krein_view *v, krein_coding *c);
/* Mean over the vectors of a'P_r a; for the ideal kernel the sum. */
double krein__coding_power(const krein_view *v, const krein_coding *c, int64_t r);
/* <K, yy'> / (|K|_F |yy'|_F) from |K|_F^2, mean over the vectors or of the ideal kernel.
 * KREIN_EDATA where K or the labels are constant. */
krein_status krein__coding_alignment(const krein_view *v, const krein_coding *c, double square,
                                     double *out);

#define KREIN_OPTION_CLASSES                                                                       \
    {                                                                                              \
        .name = "classes", .type = KREIN_OPTION_WORD, .value = 0, .words = "ovr|ideal",            \
        .help = "several classes: mean over one against the rest, or the ideal kernel"             \
    }

#endif
