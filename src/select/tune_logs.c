/* tune_logs.c -- the logarithms of heavy-tailed columns in tune.c (encode/log.h): all or none. */
#include "select/tuner.h"

/* The kernels once more with the logarithms of heavy-tailed columns. Everything later is about the
 * rows that won, and so is the report. */
krein_status krein__tuner_logs(krein_tuner *t) {
    krein_status st = KREIN_OK;
    int64_t walked = t->out->tries.nsearched;
    int n = t->n, without = krein__tuner_best(t, krein__tuner_few(t), -1);
    if (t->s.logs.n == 0 || krein__tuner_late(t)) return KREIN_OK;
    krein__tune_swap_logs(&t->s);
    TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
    TRY(krein__tuner_plain(t, 1));
    int best = n;
    for (int i = n + 1; i < t->n; i++)
        if (t->all[i].loss < t->all[best].loss) best = i;
    bool won = false;
    TRY(krein__tuner_surely(t, t->all[best], t->all[without], &won));
    krein__log(t->ctx, KREIN_LOG_DEBUG,
               "logarithms of %lld columns: squared error %.4g, without %.4g",
               (long long)t->s.logs.n, t->all[best].loss, t->all[without].loss);
    if (won) {
        krein_tune_view with = t->view[1];
        t->view[1] = t->view[0];
        t->view[0] = with;
        TRY(krein__encoding_set_logs(t->ctx, t->encoding, &t->s.logs));
    } else {
        krein__tune_swap_logs(&t->s);
    }
    krein__tuner_forget(t, won ? 0 : n, n);
    if (won)
        krein__searched_drop(t->ctx, &t->out->tries, 0, walked);
    else
        krein__searched_drop(t->ctx, &t->out->tries, walked, t->out->tries.nsearched - walked);
    for (int i = 0; i < t->n; i++) t->all[i].view = 0;
    krein__tune_view_end(t->ctx, &t->view[--t->views]);
done:
    return st;
}
