/* order.c -- the value at a place of the sorted numbers, by Hoare's quickselect: 2 to 3 n
 * comparisons, and no sorting. The pivot is the middle one of three. */
#include "num/order.h"

#include <math.h>

int krein__ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double krein__order_statistic(int64_t n, double *x, int64_t rank) {
    int64_t low = 0, high = n - 1, k = rank - 1;
    while (low < high) {
        double a = x[low], b = x[low + (high - low) / 2], c = x[high];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}
