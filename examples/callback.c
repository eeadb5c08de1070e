/* callback -- trains on rows that a function of this program reads, more than the memory allows.
 *
 * It writes callback.bin (40 MB) into the current directory, and removes it in the end: 200,000
 * records of 24 inputs and a target, all doubles, in no format that Krein knows. Krein may hold 16
 * MB. It asks for the records a block at a time, and rewinds where it needs another pass. */
#include <krein.h>
#include <math.h>
#include <stdio.h>

enum { ROWS = 200000, INPUTS = 24, WIDTH = INPUTS + 1, BLOCK = 1000 };

typedef struct records {
    FILE *file;
    double block[BLOCK][WIDTH], target[BLOCK];
    long blocks, passes;
} records;

static krein_status write_records(const char *path) {
    FILE *f = fopen(path, "wb");
    if (!f) return KREIN_EIO;
    size_t written = 0;
    for (int i = 0; i < ROWS; i++) {
        double record[WIDTH];
        for (int j = 0; j < INPUTS; j++) record[j] = sin(0.7 * i + 1.3 * j + 0.01 * i * j);
        record[INPUTS] = record[0] * record[1] + record[2];
        written += fwrite(record, sizeof record, 1, f);
    }
    return fclose(f) == 0 && written == ROWS ? KREIN_OK : KREIN_EIO;
}

/* The next block; n stays 0 at the end. What *out points to is good until the next call. */
static krein_status next_block(void *user, krein_rows_view *out) {
    records *r = user;
    size_t n = fread(r->block, sizeof r->block[0], BLOCK, r->file);
    if (ferror(r->file)) return KREIN_EIO;
    for (size_t i = 0; i < n; i++) r->target[i] = r->block[i][INPUTS];
    out->n = (int64_t)n;
    out->d = INPUTS;
    out->x = r->block;
    out->type = KREIN_FLOAT64;
    out->row_stride = WIDTH;
    out->targets = r->target;
    r->blocks++;
    return KREIN_OK;
}

static krein_status first_block(void *user) {
    records *r = user;
    r->passes++;
    return fseek(r->file, 0, SEEK_SET) == 0 ? KREIN_OK : KREIN_EIO;
}

static krein_status train(krein_ctx *ctx, records *r) {
    krein_rows_source source;
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_train_options o;
    krein_rows_source_init(&source);
    source.next = next_block;
    source.rewind = first_block;
    source.user = r;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=6)";
    o.map = "orf(D=256)";
    o.lambda = 1e-6;
    o.holdout = 0.1;
    krein_status st = krein_data_from_source(ctx, &source, NULL, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, &report, &model);
    if (st == KREIN_OK) {
        printf("%lld rows for training, held-out r2 %.3f\n", (long long)report.n, report.test->r2);
        printf("%ld passes over the file, in blocks of %d rows\n", r->passes + 1, BLOCK);
        printf("at most %.0f MB held\n", (double)krein_ctx_peak_bytes(ctx) / 1048576);
        krein_report_clear(ctx, &report);
    }
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}

int main(void) {
    static records r;
    const char *path = "callback.bin";
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.max_memory = 16 << 20;
    krein_status st = krein_ctx_create(&o, &ctx);
    if (st == KREIN_OK) st = write_records(path);
    if (st == KREIN_OK && !(r.file = fopen(path, "rb"))) st = KREIN_EIO;
    if (st == KREIN_OK) st = train(ctx, &r);
    if (st != KREIN_OK) fprintf(stderr, "%s: %s\n", krein_status_text(st), krein_message(ctx));
    if (r.file) fclose(r.file);
    remove(path);
    krein_ctx_destroy(ctx);
    return st != KREIN_OK;
}
