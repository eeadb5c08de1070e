/* cmd_advise.c -- krein advise: what learning theory asks for, in numbers and in words. */
#include "cli/cli.h"

#include "base/base.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- JSON --------------------------------------------------------------- */

static json_t *spectrum(const krein_advise_report *r) {
    json_t *array = json_array();
    for (int64_t i = 0; i < r->count; i++)
        json_array_append_new(
            array, json_pack("{s:o, s:o}", "lambda", cli_json_number(r->spectrum[i].lambda),
                             "effective_dimension", cli_json_number(r->spectrum[i].dimension)));
    return array;
}

static json_t *practical(const krein_advise_report *r) {
    return json_pack("{s:o, s:o, s:o, s:o}", "lambda", cli_json_number(r->practical_lambda),
                     "effective_dimension", cli_json_number(r->practical_dimension), "features",
                     cli_json_count(r->practical_features), "parts",
                     cli_json_count(r->practical_parts));
}

static void print_json(const krein_advise_report *r) {
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command",
        "advise", "n", cli_json_count(r->n), "d", cli_json_count(r->d), "rows",
        cli_json_count(r->rows), "kernel", cli_json_text(r->kernel), "gamma",
        cli_json_number(r->gamma), "decay", cli_json_number(r->decay), "r", cli_json_number(r->r),
        "lambda", cli_json_number(r->lambda), "effective_dimension", cli_json_number(r->dimension),
        "features", cli_json_count(r->features), "landmarks", cli_json_count(r->landmarks), "parts",
        cli_json_count(r->parts), "rate", cli_json_number(r->rate), "rademacher",
        cli_json_number(r->rademacher));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "task",
        cli_json_text(cli_task_name(r->task)), "rank", cli_json_count(r->rank), "kappa",
        cli_json_number(r->kappa), "gamma_fitted", json_boolean(r->gamma_fitted), "gamma_fast",
        json_boolean(r->gamma_fast), "r_measured", cli_json_number(r->r_measured), "r_low",
        cli_json_number(r->r_low), "r_high", cli_json_number(r->r_high), "sample_lambda",
        cli_json_number(r->sample_lambda), "practical", practical(r), "spectrum", spectrum(r),
        "seconds", cli_json_number(r->seconds));
    json_object_update(out, rest);
    json_decref(rest);
    cli_print_json(out);
}

/* ---- text --------------------------------------------------------------- */

/* The number, and what it means below it. */
static void say(const char *label, const char *number, const char *words) {
    cli_line(stdout, label, "%s", number);
    cli_print_folded(stdout, words, 16, 80);
}

static void say_number(const char *label, double x, const char *words) {
    char text[40];
    snprintf(text, sizeof text, "%.3g", x);
    say(label, text, words);
}

static void say_count(const char *label, int64_t n, const char *words) {
    char text[40];
    say(label, cli_count_text(n, text), words);
}

static void print_sample(const krein_advise_report *r) {
    char n[32], m[32];
    cli_line(stdout, "kernel", "%s", r->kernel);
    cli_line(stdout, "rows", "%s, of which %s were sampled", cli_count_text(r->n, n),
             cli_count_text(r->rows, m));
    cli_line(stdout, "inputs", "%s", cli_count_text(r->d, n));
}

static void print_spectrum(const krein_advise_report *r) {
    printf("\n%12s%24s\n", "lambda", "effective dimension");
    for (int64_t i = 0; i < r->count; i++)
        printf("%12.3g%24.1f\n", r->spectrum[i].lambda, r->spectrum[i].dimension);
    cli_print_folded(
        stdout,
        "The effective dimension is the number of directions in which ridge regression "
        "is free to follow the labels at this lambda. Below the last line the sample "
        "does not tell.",
        0, 80);
}

static void print_gamma(const krein_advise_report *r) {
    char words[512], m[32];
    if (!r->gamma_fitted) {
        say("gamma", "1", "So few rows show no law: 1 always holds.");
        return;
    }
    snprintf(words, sizeof words,
             "Capacity: the effective dimension grows as lambda^-gamma; small is simple, 1 is as "
             "rich as a kernel can be.%s",
             r->gamma_fast ? " The eigenvalues fall below rounding errors inside the sample: they "
                             "may fall faster than any power, and then gamma is 0 in the end."
                           : "");
    say_number("gamma", r->gamma, words);
    if (!isfinite(r->decay)) return;
    snprintf(words, sizeof words,
             "The eigenvalues of the kernel fall as j^-decay; %s of them are above rounding "
             "errors.",
             cli_count_text(r->rank, m));
    say_number("decay", r->decay, words);
}

static const char *smoothness(const krein_advise_report *r) {
    if (r->r_high < 0.5)
        return " Below 1/2: the labels are rougher than any function of the kernel's space, and "
               "theory for r = 1/2 is an optimistic reading. A rougher kernel (laplacian, matern) "
               "or a smaller sigma tends to have a larger r.";
    if (r->r_low <= 0.5 && r->r_high >= 1)
        return " The labels do not tell more: take the numbers below as one possibility.";
    return "";
}

static void print_source(const krein_advise_report *r) {
    char words[640];
    if (!isfinite(r->r_measured)) {
        say_number("r", r->r,
                   "Source condition: without labels that the kernel could learn, the least that "
                   "theory assumes.");
        return;
    }
    snprintf(words, sizeof words,
             "Source condition: how smooth the labels are for this kernel, from 1/2 (just in its "
             "space) to 1. They say %.3g, and do not contradict %.3g to %.3g.%s",
             r->r_measured, r->r_low, r->r_high, smoothness(r));
    say_number("r", r->r, words);
}

static void print_theory(const krein_advise_report *r) {
    char words[256];
    printf("\nTheory: powers of the number of rows, every constant 1\n");
    snprintf(words, sizeof words,
             "Regularisation at which bias and variance balance: n^(-1/(2r+gamma)) times the mean "
             "of k(x, x). The effective dimension there is %.3g.",
             r->dimension);
    say_number("lambda", r->lambda, words);
    say_count("features", r->features,
              "Random features that lose nothing of the rate: n^(((2r-1)gamma+1)/(2r+gamma)).");
    say_count("landmarks", r->landmarks,
              "Rows for Nystrom features that lose nothing of the rate: n^(1/(2r+gamma)).");
    say_count("parts", r->parts,
              "Most parts into which the rows can be divided, each fitted by itself and the "
              "models averaged: n^((2r-1)/(2r+gamma)).");
    say_number("rate", r->rate,
               "The error above that of the best function falls as n^(-2r/(2r+gamma)).");
    say_number("rademacher", r->rademacher,
               "Fixed point of the local Rademacher complexity of the kernel's unit ball: the size "
               "of the capacity term in a bound of the error; for comparing kernels.");
}

static void print_practice(const krein_advise_report *r) {
    char words[320];
    printf("\nPractice: with the constants of the sample\n");
    if (isfinite(r->sample_lambda))
        snprintf(words, sizeof words,
                 "Leave-one-out on the sample takes %.3g; more rows need less, by theory's power. "
                 "The effective dimension there is %.3g.",
                 r->sample_lambda, r->practical_dimension);
    else
        snprintf(words, sizeof words,
                 "Theory's, since no labels say more. The effective dimension there is %.3g.",
                 r->practical_dimension);
    say_number("lambda", r->practical_lambda, words);
    if (r->practical_lambda < r->resolved)
        cli_print_folded(stdout,
                         "That is beyond what the sample resolves, and extrapolated with gamma: "
                         "--rows takes more.",
                         16, 80);
    bool all = r->practical_features >= r->n && r->n > r->rows;
    say_count("features", r->practical_features,
              all ? "Features or landmarks (-D): N log N of that dimension is as many as there are "
                    "rows. Take as many as time and memory allow."
                  : "Features or landmarks to try first (-D): N log N of that dimension. More help "
                    "while the error still falls.");
    say_count("parts", r->practical_parts,
              "Parts, if the rows must be divided: theory's, and each with more rows than that.");
}

static void print_text(const krein_advise_report *r) {
    char seconds[32];
    print_sample(r);
    cli_line(stdout, "time", "%s", cli_seconds_text(r->seconds, seconds));
    print_spectrum(r);
    putchar('\n');
    print_gamma(r);
    print_source(r);
    print_theory(r);
    print_practice(r);
}

int cli_cmd_advise(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_advise_options o;
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    krein_data *data = NULL;
    krein_advise_options_init(&o);
    o.kernel = a->kernel;
    o.seed = a->seed;
    if (a->rows > 0) o.rows = a->rows;
    if (a->max_exact >= 0) o.max_exact = a->max_exact;
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    TRY(krein_advise(app->ctx, data, &o, &r));
    cli_progress_erase(app);
    if (a->json)
        print_json(&r);
    else
        print_text(&r);
done:;
    int status = st == KREIN_OK ? CLI_OK : cli_failure(app, st);
    krein_advise_report_clear(app->ctx, &r);
    krein_data_close(data);
    return status;
}
