/* divide_order.c -- which rows are a part: stretches of the data, or rows drawn from all over it
 *
 * Models are averaged, so each part must be a fair sample. In data that are sorted by their label,
 * or that change along the file, stretches are not, and the average is far worse than one model.
 * The labels show it: the share of their variance that lies between the parts, eta^2 = sum_j W_j
 * |ybar_j - ybar|^2 / sum_i w_i |y_i - ybar|^2 (classes: y_i is the indicator of the class; several
 * targets: the largest) is (m - 1) / (n - 1) in the mean for m parts of a random order, with
 * standard deviation sqrt(2 (m - 1)) / (n - 1). Of many parts neighbours are taken together.
 */
#include "learn/divide.h"

#include "stream/together.h"

#include <math.h>

enum { STRETCHES = 64 };

/* More than chance by so many standard deviations, and so much that it matters. */
static const double SURE = 6, MATTERS = 0.02;

/* Weighted sums of the labels. */
typedef struct spread {
    int64_t stretches, columns; /* columns: classes or targets */
    double *at;                 /* all of the sums, one behind the other */
    double *weight, *sum;       /* stretches; stretches x columns */
    double *square;             /* columns */
    double *weights_squared;    /* one */
} spread;

static int64_t numbers(const spread *s) { return s->stretches * (1 + s->columns) + s->columns + 1; }

static krein_status spread_begin(krein_ctx *ctx, int64_t stretches, int64_t columns, spread *s) {
    krein_status st = KREIN_OK;
    *s = (spread){.stretches = stretches, .columns = columns};
    ZNEW(s->at, numbers(s));
    s->weight = s->at;
    s->sum = s->weight + stretches;
    s->square = s->sum + stretches * columns;
    s->weights_squared = s->square + columns;
done:
    return st;
}

static void add_row(const krein_job *job, spread *s, int64_t stretch, double w, bool classes,
                    const double *label) {
    double *sum = s->sum + stretch * s->columns;
    s->weight[stretch] += w;
    *s->weights_squared += w * w;
    if (classes) {
        sum[(int64_t)label[0]] += w;
        s->square[(int64_t)label[0]] += w;
        return;
    }
    for (int64_t c = 0; c < s->columns; c++) {
        double y = krein__job_labels(job) ? krein__set_has(job->data->sets, (int64_t)label[0], c)
                                          : label[c] - krein__job_mean(job, c);
        sum[c] += w * y;
        s->square[c] += w * y * y;
    }
}

static krein_status add_rows(krein_job *job, const krein_cut *cut, bool classes, spread *s) {
    krein_status st = KREIN_OK;
    krein_block b;
    int64_t part = 0, labels = job->data->nlabel;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n; i++) {
            while (b.first + i >= cut->bound[part + 1]) part++;
            add_row(job, s, part * s->stretches / cut->parts, b.weight ? b.weight[i] : 1, classes,
                    b.label + i * labels);
        }
    }
    TRY(krein__stream_sum(job->rows, numbers(s), s->at));
done:
    return st;
}

/* eta^2. */
static double between_stretches(const spread *s, bool classes, double weight) {
    double most = 0, all = 0, of = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        double sum = 0, between = 0;
        for (int64_t g = 0; g < s->stretches; g++) {
            double part = s->sum[g * s->columns + c];
            sum += part;
            if (s->weight[g] > 0) between += part * part / s->weight[g];
        }
        between -= sum * sum / weight;
        double total = s->square[c] - sum * sum / weight;
        all += between;
        of += total;
        if (total > 0) most = fmax(most, between / total);
    }
    return !classes ? most : of > 0 ? all / of : 0;
}

krein_status krein__parts_differ(krein_job *job, const krein_cut *cut, bool *differ,
                                 double *between) {
    krein_status st = KREIN_OK;
    bool classes = krein__job_classes(job);
    double weight = 0;
    spread s = {0};
    *differ = false;
    *between = 0;
    TRY(spread_begin(job->ctx, krein__min(cut->parts, STRETCHES),
                     krein__max(job->model->encoding.nclass, job->data->nlabel), &s));
    TRY(add_rows(job, cut, classes, &s));
    for (int64_t g = 0; g < s.stretches; g++) weight += s.weight[g];
    if (!(weight > 0)) goto done;
    /* Unequal weights are as good as so many equal ones. */
    double rows = weight * weight / *s.weights_squared, free = (double)s.stretches - 1;
    *between = between_stretches(&s, classes, weight);
    double excess = *between - free / fmax(rows - 1, 1);
    *differ = excess > MATTERS && excess > SURE * sqrt(2 * free) / fmax(rows - 1, 1);
done:
    krein__free(job->ctx, s.at);
    return st;
}

krein_status krein__divide_rows(krein_job *job, int64_t parts, double *order, krein_cut *cut) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    bool dual = job->model->map->cls->traits & KREIN_MAP_DUAL, chosen = isnan(*order), differ;
    bool shared = !dual && krein__stream_shared(job->rows);
    int64_t block = dual ? 1 : krein__block_rows(job->model->encoding.d);
    double between;
    if (parts > job->n)
        return krein__fail(ctx, KREIN_EARG,
                           "parts=%lld of %lld rows: a part needs a row at least; use fewer parts",
                           (long long)parts, (long long)job->n);
    if (chosen) *order = KREIN_ORDER_BLOCKS;
    TRY(krein__cut_begin(ctx, job->n, parts, block, *order == KREIN_ORDER_SHUFFLE, job->seed, cut));
    if (shared)
        TRY(krein__cut_share(job->rows, job->data->before[KREIN_PART_TRAIN],
                             job->data->here[KREIN_PART_TRAIN], NULL, cut));
    if (parts == 1 || *order == KREIN_ORDER_SHUFFLE) goto done;
    TRY(krein__parts_differ(job, cut, &differ, &between));
    if (!differ) goto done;
    if (chosen && !shared) {
        krein__log(ctx, KREIN_LOG_INFO,
                   "%.3g %% of the labels' variance lies between parts in the order of the data: "
                   "order=shuffle",
                   100 * between);
        *order = KREIN_ORDER_SHUFFLE;
        krein__cut_end(ctx, cut);
        TRY(krein__cut_begin(ctx, job->n, parts, block, true, job->seed, cut));
    } else {
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%.3g %% of the labels' variance lies between the parts: each has rows of its "
                   "own kind, and the average suffers; %s",
                   100 * between,
                   shared ? "bring the rows of the file in random order, or use krr"
                          : "use order=shuffle");
    }
done:
    if (st != KREIN_OK) krein__cut_end(ctx, cut);
    return st;
}
