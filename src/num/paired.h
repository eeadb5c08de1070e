/* paired.h -- tests whether one method is better than another, from errors on the same splits or
 * on the same data sets.
 *
 * RESAMPLED T (nadeau2003). Splits of one data set share rows, so that differences d_j of J splits
 * are not independent, and their mean varies more than by s^2 / J. With n1 training and n2 test
 * rows
 *
 *     t = mean(d) / sqrt((1/J + n2/n1) s^2),   J - 1 degrees of freedom,
 *
 * s^2 the sample variance of the d_j. Where all differences are the same there is no doubt: p is 0,
 * or 1 where they are zero.
 *
 * WILCOXON (demsar2006). Sizes of the differences of N data sets are ranked, equal ones by their
 * mean rank; T is the smaller of the sums of ranks of positive and of negative differences. Zeros
 * are ranked too, and their ranks are split evenly between the two sums. Up to KREIN_WILCOXON_EXACT
 * data sets p is exact: over all signs of the differences that are not zero, which also holds with
 * equal ones. Above, by the normal distribution.
 *
 * FRIEDMAN (demsar2006). With R_j the mean rank of method j of k over N data sets
 *
 *     chi2 = 12 N / (k (k+1)) [sum R_j^2 - k (k+1)^2 / 4],   k - 1 degrees of freedom,
 *     F    = (N-1) chi2 / (N (k-1) - chi2),                  k - 1 and (k-1)(N-1),   (iman1980)
 *
 * without a correction for equal ranks, as there. Two methods differ (Nemenyi) where their mean
 * ranks do by
 *
 *     CD   = q_alpha(k) / sqrt(2) sqrt(k (k+1) / (6 N)),     q: studentised range */
#ifndef KREIN_PAIRED_H
#define KREIN_PAIRED_H

#include "base/base.h"

enum { KREIN_WILCOXON_EXACT = 50 };

/* Mean and sample standard deviation (NaN: less than two); x of n. */
void krein__moments(int64_t n, const double *x, double *mean, double *sd);

/* Two-sided p; *t (may be NULL). ratio: test rows / training rows. NaN where n < 2. */
double krein__resampled_t(int64_t n, const double *d, double ratio, double *t);
/* Half the length of the interval that holds the mean with probability `level`, by the same
 * variance. */
double krein__resampled_half(int64_t n, double sd, double ratio, double level);

typedef struct krein_wilcoxon {
    double positive, negative; /* sums of ranks */
    double z;                  /* of the smaller one, by the normal approximation */
    double p; /* two-sided; 1 where all differences are zero; NaN: there are none */
    bool exact;
} krein_wilcoxon;
krein_wilcoxon krein__wilcoxon(int64_t n, const double *d);

/* Ranks from 1, the least first (the largest where `larger`); equal ones get their mean. */
void krein__ranks(int64_t n, const double *x, bool larger, double *rank);

typedef struct krein_friedman {
    double chi2, chi2_p, f, f_p;
    double difference; /* the critical one, at level alpha */
} krein_friedman;
/* mean_rank: of k methods over n data sets, both at least 2. */
krein_friedman krein__friedman(int64_t n, int64_t k, const double *mean_rank, double alpha);

#endif
