/* smo.h -- support vector machines on a kernel matrix, every row with a bound of its own. */
#ifndef KREIN_SMO_H
#define KREIN_SMO_H

#include "base/base.h"

/* One machine on m of the n rows of a kernel matrix. */
typedef struct krein_smo_machine {
    int64_t m;
    const int64_t *row; /* m */
    const double *y;    /* m: -1 and +1; numbers for regression */
    const double *cost; /* m: C_i > 0, INFINITY: no bound */
    const double *add;  /* m: added to K_ii; NULL: nothing */
    bool regression;
    double epsilon;     /* of regression */
    double tol;         /* largest violation of the optimality conditions */
    double deadline;    /* krein__clock() at which it ends with what it has; 0: never */
    double *alpha;      /* out, m: f(x) = sum alpha k(x, row) + intercept */
    double intercept;   /* out */
    double objective;   /* out: of the dual, to be minimised, as LIBSVM prints it */
    double violation;   /* out: of the optimality conditions, at most tol where it is finished */
    int64_t support;    /* out: alphas that are not zero */
    int64_t iterations; /* out */
    bool unfinished;    /* out: it ran out of iterations or time before tol */
} krein_smo_machine;

/* Memory for one machine at a time, of at most `most` rows; KREIN_SMO_ROOM: bytes of kernel rows
 * that it keeps, at most. */
typedef struct krein_smo krein_smo;
enum { KREIN_SMO_ROOM = 1 << 28 };
krein_status krein__smo_begin(krein_ctx *ctx, int64_t most, krein_smo **out);
/* With room for so many kernel rows, two or more, of all columns. */
krein_status krein__smo_begin_with(krein_ctx *ctx, int64_t most, int64_t rows, krein_smo **out);
void krein__smo_end(krein_smo *s); /* NULL is fine */
double krein__smo_bytes(int64_t most);

/* K is n x n, symmetric. Fails only where krein__poll of the context does. */
krein_status krein__smo(krein_ctx *ctx, krein_smo *s, int64_t n, const double *K,
                        krein_smo_machine *machine);

#endif
