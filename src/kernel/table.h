/* table.h -- what leaves of a kernel have beside their options: values that stand in a file, one
 * read-only mapping for each such leaf, or more numbers. */
#ifndef KREIN_KERNEL_TABLE_H
#define KREIN_KERNEL_TABLE_H

#include "file/npy.h"
#include "kernel/kernel.h"

typedef struct krein_table {
    const krein_kernel *leaf;
    krein_npy npy;
    const unsigned char *bytes; /* the whole file; NULL: the leaf has none */
    size_t size;
    double *numbers; /* those that its functions take; NULL: the options are all */
} krein_table;

/* Some leaf has its values in a file. */
bool krein__has_tables(const krein_kernel *k);
/* One table for each leaf of the kernel that needs one, for rows of width d; *n = 0 and no memory
 * where there is none. */
krein_status krein__tables_open(krein_ctx *ctx, const krein_kernel *k, int64_t d, krein_table **out,
                                int64_t *n);
/* Memory that they hold. */
double krein__tables_bytes(const krein_kernel *k, int64_t d);
/* What the functions of a leaf take as p: its numbers, or the values of its options. */
const double *krein__table_numbers(const krein_table *t, int64_t n, const krein_kernel *leaf);
void krein__tables_close(krein_ctx *ctx, krein_table *t, int64_t n);
const krein_table *krein__table_of(const krein_table *t, int64_t n, const krein_kernel *leaf);
/* Row number of an input, -1 where it is none. */
int64_t krein__table_row(const krein_table *t, double x);
/* K[i][j]; NaN where one of them is not a row. */
double krein__table_value(const krein_table *t, int64_t i, int64_t j);
/* The first i < j where K[i][j] and K[j][i] differ by more than rounding in float32, or one is not
 * finite (i = j too); false: there is none. */
bool krein__table_asymmetry(const krein_table *t, int64_t *i, int64_t *j);

#endif
