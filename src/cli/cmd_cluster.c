/* cmd_cluster.c -- krein cluster: the cluster of each row, and what the clusters are worth.
 *
 *   [id,]cluster      numbers from 1; a dropped row: an empty line
 *
 * With --json and no -o the clusters are in the object. */
#include "cli/cli.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    FILE *f;          /* NULL: into the arrays, or nowhere */
    int32_t *cluster; /* of the rows, where they are drawn; -1: dropped */
    int64_t n, room;
    bool drawn;
    bool id, write_failed;
    int error;
    json_t *labels, *ids; /* or NULL */
} sink;

static bool keep(sink *s, const krein_prediction *p) {
    if (p->row >= s->room) {
        const int64_t room = 2 * p->row + 1024;
        int32_t *more = realloc(s->cluster, (size_t)room * sizeof *more);
        if (!more) return false;
        s->cluster = more;
        s->room = room;
    }
    s->cluster[p->row] = (int32_t)p->label;
    s->n = p->row + 1;
    return true;
}

static krein_status on_row(void *user, const krein_prediction *p) {
    sink *s = user;
    const bool gone = p->label < 0;
    if (s->drawn && !keep(s, p)) return KREIN_EMEMORY;
    if (s->labels)
        json_array_append_new(s->labels, gone ? json_null() : json_integer(p->label + 1));
    if (s->ids) json_array_append_new(s->ids, cli_json_text(p->id));
    if (!s->f) return KREIN_OK;
    if (!gone && s->id) {
        cli_put_cell(s->f, p->id ? p->id : "", true);
        fputc(',', s->f);
    }
    if (!gone) fprintf(s->f, "%lld", (long long)p->label + 1);
    fputc('\n', s->f);
    if (!ferror(s->f)) return KREIN_OK;
    s->error = errno;
    s->write_failed = true;
    return KREIN_EIO;
}

static void options_of(const cli_args *a, krein_cluster_options *o) {
    krein_cluster_options_init(o);
    o->kernel = a->kernel;
    o->map = a->map;
    o->features = a->features;
    o->clusters = a->clusters;
    if (a->method >= 0) o->method = (krein_cluster_method)a->method;
    if (a->graph >= 0) o->graph = (krein_cluster_graph)a->graph;
    if (a->neighbours > 0) o->neighbours = a->neighbours;
    if (a->restarts > 0) o->restarts = a->restarts;
    if (a->max_exact >= 0) o->max_exact = a->max_exact;
    o->seed = a->seed;
    o->graph_file = a->graph_file;
}

static const char *method_name(krein_cluster_method method) {
    return method == KREIN_CLUSTER_SPECTRAL ? "spectral" : "kmeans";
}

static void print_json(const cli_args *a, const krein_cluster_options *o,
                       const krein_cluster_report *r, const sink *s) {
    const bool knn = o->graph == KREIN_GRAPH_KNN;
    json_t *sizes = json_array();
    for (int64_t c = 0; c < r->clusters; c++)
        json_array_append_new(sizes, cli_json_count(r->sizes[c]));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "cluster",
        "n", cli_json_count(r->n), "d", cli_json_count(r->d), "D", cli_json_count(r->D), "method",
        method_name(r->method), "clusters", cli_json_count(r->clusters), "sizes", sizes, "inertia",
        cli_json_number(r->inertia), "silhouette", cli_json_number(r->silhouette),
        "silhouette_rows", cli_json_count(r->silhouette_rows), "ari", cli_json_number(r->ari),
        "nmi", cli_json_number(r->nmi), "classes", cli_json_count(r->classes));
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "kernel", cli_json_text(r->kernel),
        "map", cli_json_text(r->map), "graph", cli_json_text(knn ? "knn" : NULL), "neighbours",
        cli_json_count(knn ? o->neighbours : -1), "restarts", cli_json_count(o->restarts), "steps",
        cli_json_count(r->steps), "settled", r->settled, "output", cli_json_text(a->output),
        "model", cli_json_text(a->model), "seconds", cli_json_number(r->seconds));
    json_object_update(object, rest);
    json_decref(rest);
    if (s->labels) json_object_set(object, "labels", s->labels);
    if (s->ids) json_object_set(object, "ids", s->ids);
    cli_print_json(object);
}

/* "120, 80, 3 and 17 more" */
static void print_sizes(FILE *f, const krein_cluster_report *r) {
    enum { SHOWN = 12 };
    char text[SHOWN * 34 + 64], number[32];
    size_t used = 0;
    for (int64_t c = 0; c < r->clusters && c < SHOWN; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", c ? ", " : "",
                                 (long long)r->sizes[c]);
    if (r->clusters > SHOWN)
        snprintf(text + used, sizeof text - used, ", ... (smallest %lld)",
                 (long long)r->sizes[r->clusters - 1]);
    cli_line(f, "clusters", "%s", cli_count_text(r->clusters, number));
    cli_line(f, "sizes", "%s", text);
}

static void print_report(FILE *f, const cli_args *a, const krein_cluster_options *o,
                         const krein_cluster_report *r) {
    char number[32], sampled[32], seconds[32];
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    cli_line(f, "method", "%s", method_name(r->method));
    cli_line(f, "kernel", "%s", r->kernel);
    if (r->map)
        cli_line(f, "map", "%s", r->map);
    else
        cli_line(f, "graph", "%lld nearest neighbours", (long long)o->neighbours);
    print_sizes(f, r);
    if (isfinite(r->inertia)) cli_line(f, "inertia", "%.6g", r->inertia);
    if (isfinite(r->silhouette))
        cli_line(f, "silhouette", r->silhouette_rows < r->n ? "%.4f (%s rows, sampled)" : "%.4f",
                 r->silhouette, cli_count_text(r->silhouette_rows, sampled));
    if (isfinite(r->ari)) {
        cli_line(f, "adjusted Rand", "%.4f (against %s classes)", r->ari,
                 cli_count_text(r->classes, number));
        cli_line(f, "mutual inf.", "%.4f (normalised)", r->nmi);
    }
    cli_line(f, "time", "%s", cli_seconds_text(r->seconds, seconds));
    if (a->output && strcmp(a->output, "-") != 0) cli_line(f, "output", "%s", a->output);
    if (a->model) cli_line(f, "model", "%s", a->model);
}

/* The clusters in the plane of the first two principal components of the same kernel. */
static int draw(cli_app *app, krein_data *data, const krein_cluster_report *r, const sink *s) {
    const cli_args *a = &app->args;
    krein_pca_options o;
    krein_pca_report pca = KREIN_SIZED(krein_pca_report);
    krein_model *model = NULL;
    cli_plane plane = {.group = s->cluster, .groups = r->clusters, .what = "cluster"};
    krein_pca_options_init(&o);
    o.kernel = r->kernel;
    o.seed = a->seed;
    if (a->max_exact >= 0) o.max_exact = a->max_exact;
    krein_status st = krein_pca(app->ctx, data, &o, NULL, &pca, &model);
    if (st == KREIN_OK) st = krein_predict(app->ctx, model, data, cli_plane_take, &plane);
    cli_progress_erase(app);
    if (plane.n != s->n) plane.group = NULL;
    const int status = st == KREIN_OK ? cli_plane_chart(app, &pca, &plane) : cli_failure(app, st);
    cli_plane_end(&plane);
    krein_model_destroy(model);
    krein_pca_report_clear(app->ctx, &pca);
    return status;
}

/* Looked at before the work, which may take long. */
static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    int status;
    const bool out = a->output && strcmp(a->output, "-") == 0;
    if (a->clusters < 1) return cli_error(CLI_USAGE, "cluster: --clusters C is required");
    if (out && a->json)
        return cli_error(CLI_USAGE, "cluster: --json and -o - both want standard output");
    if (a->model && strcmp(a->model, "-") == 0)
        return cli_error(CLI_USAGE, "cluster: a model is not written to standard output");
    if (a->output && (status = cli_check_output(a, a->output)) != CLI_OK) return status;
    if (a->model && (status = cli_check_output(a, a->model)) != CLI_OK) return status;
    if (a->graph_file && (status = cli_check_output(a, a->graph_file)) != CLI_OK) return status;
    if (a->plot) {
        if ((status = cli_check_plot(app)) != CLI_OK) return status;
        if ((status = cli_check_apart(a->plot, a->output)) != CLI_OK) return status;
        if ((status = cli_check_apart(a->plot, a->model)) != CLI_OK) return status;
        if ((status = cli_check_apart(a->plot, a->graph_file)) != CLI_OK) return status;
    }
    if ((status = cli_check_apart(a->graph_file, a->output)) != CLI_OK) return status;
    if ((status = cli_check_apart(a->graph_file, a->model)) != CLI_OK) return status;
    return cli_check_apart(a->output, a->model);
}

int cli_cmd_cluster(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_cluster_options o;
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    krein_model *model = NULL;
    krein_data *data = NULL;
    cli_file file = {0};
    sink s = {.id = a->id != NULL, .drawn = a->plot != NULL};
    int status = check_call(app);
    if (status != CLI_OK) return status;
    options_of(a, &o);
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    if (a->json && !a->output) {
        s.labels = json_array();
        s.ids = s.id ? json_array() : NULL;
    }
    if (a->output) {
        if (!cli_file_open(app, &file, a->output)) {
            status = CLI_FAILED;
            goto done;
        }
        s.f = file.stream;
        app->streamed = s.f == stdout;
    }
    TRY(krein_cluster(app->ctx, data, &o, on_row, &s, &r, a->model ? &model : NULL));
    if (a->model) TRY(krein_model_save(app->ctx, model, a->model));
    cli_progress_erase(app);
    if (s.f && !cli_file_commit(&file)) status = CLI_FAILED;
    if (status == CLI_OK && a->json)
        print_json(a, &o, &r, &s);
    else if (status == CLI_OK && s.f != stdout)
        print_report(stdout, a, &o, &r);
    else if (status == CLI_OK && !a->quiet) /* stdout has the clusters */
        print_report(stderr, a, &o, &r);
    if (status == CLI_OK && a->plot) status = draw(app, data, &r, &s);
done:
    if (st != KREIN_OK && s.write_failed && !cli_cancelled()) {
        cli_progress_erase(app);
        if (s.f != stdout) cli_error(0, "%s: %s", a->output, strerror(s.error));
        status = CLI_FAILED;
    } else if (st != KREIN_OK) {
        status = cli_failure(app, st);
    }
    cli_file_abort(&file);
    free(s.cluster);
    json_decref(s.labels);
    json_decref(s.ids);
    krein_cluster_report_clear(app->ctx, &r);
    krein_model_destroy(model);
    krein_data_close(data);
    return status;
}
