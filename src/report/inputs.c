/* inputs.c -- the input columns of a report: names, encoded columns, numbers of the file. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>

/* A column that gives no encoded one is not an input. */
static krein_status add_input(krein_reporting *r, int64_t column) {
    krein_ctx *ctx = r->ctx;
    const krein_encoding *e = &r->model->encoding;
    const krein_input *in = &e->input[column];
    if (in->role != KREIN_ROLE_FEATURE || in->at < 0) return KREIN_OK;
    krein_input_numbers *to = &r->out->input[r->out->ninputs];
    *to = (krein_input_numbers){.column = column,
                                .at = in->at,
                                .width = krein__input_values(in) + in->indicator,
                                .category = in->text,
                                .number = !in->text && krein__input_values(in) == 1,
                                .flag = in->indicator ? in->at + krein__input_values(in) : -1};
    to->name = in->name && *in->name ? krein__strdup(ctx, in->name)
                                     : krein__format(ctx, "column %lld", (long long)column + 1);
    r->out->ninputs += to->name != NULL;
    return to->name ? KREIN_OK : ctx->status;
}

krein_status krein__report_inputs(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &r->model->encoding;
    krein_report_numbers *out = r->out;
    int64_t most = e->ninput > 0 ? e->ninput : e->d;
    ZNEW(out->input, most);
    for (int64_t j = 0; j < e->ninput; j++) TRY(add_input(r, j));
    for (int64_t j = 0; e->ninput == 0 && j < e->d; j++) {
        krein_input_numbers *to = &out->input[j];
        *to = (krein_input_numbers){.column = j, .at = j, .width = 1, .number = true, .flag = -1};
        if (!(to->name = krein__format(ctx, "column %lld", (long long)j + 1))) return ctx->status;
        out->ninputs++;
    }
    for (int64_t j = 0; j < out->ninputs; j++) {
        krein_input_numbers *in = &out->input[j];
        in->importance = in->spread = in->slope = in->gradient = NAN;
        in->trained_low = in->trained_high = in->low = in->high = NAN;
        in->outside = -1;
    }
done:
    return st;
}

bool krein__report_missing(const krein_reporting *r, const krein_input_numbers *in,
                           const float *x) {
    const krein_encoding *e = &r->model->encoding;
    if (in->flag < 0) return false;
    const float one = (1 - e->centre[in->flag]) * e->factor[in->flag];
    const float zero = -e->centre[in->flag] * e->factor[in->flag];
    return fabsf(x[in->flag] - one) < fabsf(x[in->flag] - zero);
}

void krein__report_set(const krein_reporting *r, const krein_input_numbers *in, float value,
                       float *x) {
    const krein_encoding *e = &r->model->encoding;
    x[in->at] = value;
    if (in->flag >= 0) x[in->flag] = -e->centre[in->flag] * e->factor[in->flag];
}

/* The encoded column that has the number of an input: of a date the last one, the days. */
static int64_t number_of(const krein_encoding *e, const krein_input_numbers *in) {
    if (e->ninput == 0 || in->category) return in->at;
    return in->at + krein__input_values(&e->input[in->column]) - 1;
}

/* What is taken off before it becomes float32: of a date of the days alone. */
static double shift_of(const krein_encoding *e, const krein_input_numbers *in) {
    return e->ninput > 0 ? e->input[in->column].shift : 0;
}

double krein__report_raw(const krein_reporting *r, const krein_input_numbers *in, double x) {
    const krein_encoding *e = &r->model->encoding;
    const int64_t at = number_of(e, in);
    const double factor = (double)e->factor[at];
    const double value = factor != 0 ? x / factor : 0;
    if (e->sparse) return value;
    if (e->log && e->log[at] > 0) return exp(value + (double)e->centre[at]) - (double)e->log[at];
    return value + (double)e->centre[at] + shift_of(e, in);
}

double krein__report_encoded(const krein_reporting *r, const krein_input_numbers *in, double raw) {
    const krein_encoding *e = &r->model->encoding;
    const int64_t at = number_of(e, in);
    const double factor = (double)e->factor[at], centre = (double)e->centre[at];
    if (e->sparse) return raw * factor;
    if (e->log && e->log[at] > 0) return (log(fmax(raw, 0) + (double)e->log[at]) - centre) * factor;
    return (raw - shift_of(e, in) - centre) * factor;
}

int64_t krein__report_number_column(const krein_reporting *r, const krein_input_numbers *in) {
    return number_of(&r->model->encoding, in);
}

bool krein__report_trained_range(const krein_reporting *r, const krein_input_numbers *in,
                                 double *low, double *high) {
    return krein__encoding_range(&r->model->encoding, in->column, low, high);
}

/* The value was made from an encoded one in float32: within that it is not outside. */
bool krein__report_outside(const krein_reporting *r, const krein_input_numbers *in, double value) {
    const double slack = 2e-6 * (fabs(value) + (in->trained_high - in->trained_low));
    const double middle = (in->trained_low + in->trained_high) / 2;
    const double nearer =
        value > middle ? fmax(middle, value - slack) : fmin(middle, value + slack);
    return krein__encoding_outside(&r->model->encoding, in->column, nearer);
}
