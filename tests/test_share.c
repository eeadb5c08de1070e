/* test_share.c -- data that several processes read together, over the sockets of wire.h.
 *
 * What is expected is what one process finds that reads all of the rows: the same words, classes
 * and parts in the same order, the same statistics, every row once with the number that it has
 * among all, and the same rows where all ask for them. Files are about as long as the blocks at
 * which rows are cut (1,920). */
#include "common.h"
#include "wire.h"

#include "readers.h"

#include "ranks.h" /* behind it: its names are for whole files */

#include "stream/data.h"
#include "dist/dist.h"

enum { BLOCK = 1920 };

/* ---- a file and what is asked of it --------------------------------------------------------- */

typedef struct task {
    const char *name, *labels; /* files */
    krein_data_options o;
    double holdout;
    bool unlabelled;
    krein_keep keep;
} task;

static task task_of(const char *name) {
    task t = {.name = name};
    krein_data_options_init(&t.o);
    return t;
}

/* What was learned, and its data. */
typedef struct learned {
    krein_data *data;
    krein_encoding e;
    krein_status status;
} learned;

static learned learn(krein_ctx *c, const task *t) {
    learned l = {0};
    char path[1024], labels[1024];
    krein_data_options o = t->o;
    snprintf(path, sizeof path, "%s", file_name(t->name));
    if (t->labels) {
        snprintf(labels, sizeof labels, "%s", file_name(t->labels));
        o.labels_file = labels;
    }
    l.status = krein_data_open(c, path, &o, &l.data);
    if (l.status != KREIN_OK) return l;
    l.data->unlabelled = t->unlabelled;
    l.data->share_rows = true;
    c->keep_rows = t->keep;
    l.status = krein__data_scan(l.data, KREIN_LABELS_WANTED, t->holdout, 5, &l.e);
    return l;
}

static void forget(krein_ctx *c, learned *l) {
    krein__encoding_clear(c, &l->e);
    krein_data_close(l->data);
    *l = (learned){0};
}

/* ---- encodings ------------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_words(const krein_dict *a, const krein_dict *b) {
    bool same = a->n == b->n;
    for (int64_t k = 0; same && k < a->n; k++) same = same_text(a->word[k], b->word[k]);
    return same;
}

static bool close_to(double a, double b, double tolerance) {
    return a == b || fabs(a - b) <= tolerance * (1 + fabs(b));
}

static void same_encoding(const krein_encoding *a, const krein_encoding *b) {
    int wrong = 0;
    CHECK(a->d == b->d && a->ninput == b->ninput && a->sparse == b->sparse);
    CHECK(a->task == b->task && a->nclass == b->nclass && a->label_text == b->label_text);
    if (a->d != b->d || a->ninput != b->ninput || a->nclass != b->nclass) return;
    for (int64_t j = 0; j < a->ninput; j++) {
        const krein_input *x = &a->input[j], *y = &b->input[j];
        CHECK(same_text(x->name, y->name) && x->role == y->role && x->text == y->text);
        CHECK(x->at == y->at && x->shift == y->shift);
        CHECK(same_words(&x->dict, &y->dict));
    }
    for (int64_t c = 0; c < a->nclass; c++) CHECK(same_text(a->class_name[c], b->class_name[c]));
    for (int64_t j = 0; j < a->d; j++)
        wrong += !close_to((double)a->centre[j], (double)b->centre[j], 2e-7) ||
                 !close_to((double)a->factor[j], (double)b->factor[j], 2e-7) ||
                 !close_to((double)a->fill[j], (double)b->fill[j], 2e-7);
    CHECK(wrong == 0);
    CHECK(close_to(a->low, b->low, 1e-6) && close_to(a->high, b->high, 1e-6));
}

/* Counts of all, of this rank, of those before; the first rank that has some. */
static void same_counts(const krein_data *a, const krein_data *b) {
    CHECK(a->nrows == b->nrows && krein__data_rows_here(a) == a->share.rows);
    int64_t rows = 0;
    for (int k = 0; k < KREIN_PARTS; k++) {
        int64_t sum = a->here[k], root = a->here[k] > 0 ? me : ranks, before = 0;
        char *all = NULL;
        int64_t *offset = NULL;
        rows += a->here[k];
        CHECK(krein__comm_gather(ctx, &a->here[k], sizeof a->here[k], &all, &offset) == KREIN_OK);
        for (int r = 0; all && r < me; r++) before += ((const int64_t *)(void *)all)[r];
        krein__free(ctx, all);
        krein__free(ctx, offset);
        CHECK(krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &sum) == KREIN_OK);
        CHECK(krein__comm_fold(ctx, KREIN_FOLD_MIN, 1, &root) == KREIN_OK);
        CHECK(a->count[k] == b->count[k] && sum == b->count[k]);
        CHECK(a->before[k] == before);
        if (b->count[k] > 0) CHECK(a->root[k] == root);
    }
    CHECK(rows == a->share.rows);
    for (int64_t k = 0; k < a->nlabel; k++)
        CHECK(close_to(a->label_mean[k], b->label_mean[k], 1e-12));
    CHECK(a->label_most == b->label_most);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows as they come out of a stream, dense; seen counts how often each came. */
typedef struct table {
    int64_t n, d, k, *seen;
    float *x;
    double *label, *weight;
    int32_t *group;
} table;

static table table_new(int64_t n, int64_t d, int64_t k) {
    return (table){n,
                   d,
                   k,
                   test_new(n, sizeof(int64_t)),
                   test_new(n * d, sizeof(float)),
                   test_new(n * k, sizeof(double)),
                   test_new(n, sizeof(double)),
                   test_new(n, sizeof(int32_t))};
}

static void table_clear(table *t) {
    free(t->seen);
    free(t->x);
    free(t->label);
    free(t->weight);
    free(t->group);
}

static void put_row(table *t, const krein_rows *x, int64_t i, int64_t row) {
    for (int64_t k = x->ptr ? x->ptr[i] : 0; x->ptr && k < x->ptr[i + 1]; k++)
        t->x[row * t->d + x->col[k]] = x->val[k];
    if (!x->ptr) memcpy(t->x + row * t->d, x->x + i * x->ld, (size_t)t->d * sizeof *t->x);
    t->seen[row]++;
}

static table read_table(learned *l, int part, int64_t n) {
    table t = table_new(n, l->e.d, l->data->nlabel);
    krein_stream *s = NULL;
    krein_block b = {0};
    int64_t blocks = 0, last = 0;
    CHECK(krein__stream_open(l->data, &l->e, part, &s) == KREIN_OK);
    while (s && krein__stream_next(s, &b) == KREIN_OK && b.x.n > 0) {
        CHECK(blocks++ == 0 || last == krein__block_rows(l->e.d)); /* all but the last are full */
        last = b.x.n;
        CHECK(b.first >= 0 && b.first + b.x.n <= n);
        for (int64_t i = 0; i < b.x.n && b.first + b.x.n <= n; i++) {
            const int64_t row = b.first + i;
            put_row(&t, &b.x, i, row);
            for (int64_t c = 0; b.label && c < t.k; c++)
                t.label[row * t.k + c] = b.label[i * t.k + c];
            t.weight[row] = b.weight ? b.weight[i] : 1;
            t.group[row] = b.group ? b.group[i] : 0;
        }
    }
    CHECK(s && b.x.n == 0);
    krein__stream_close(s);
    return t;
}

static bool same_row(const table *a, int64_t i, const table *b, int64_t r) {
    bool same = a->weight[i] == b->weight[r];
    for (int64_t c = 0; c < a->k; c++) {
        const double u = a->label[i * a->k + c], v = b->label[r * b->k + c];
        same = same && (u == v || (isnan(u) && isnan(v)));
    }
    const float *x = a->x + i * a->d, *y = b->x + r * b->d;
    for (int64_t j = 0; j < a->d; j++) /* most are the same to the bit */
        if (x[j] != y[j]) same = same && close_to((double)x[j], (double)y[j], 1e-6);
    return same;
}

/* Every row comes once, on one rank, as it comes in one process: b. */
static void same_rows(learned *mine, const table *b, int part) {
    table a = read_table(mine, part, b->n);
    int64_t wrong = 0;
    for (int64_t i = 0; i < b->n; i++)
        wrong += a.seen[i] > 0 && !(same_row(&a, i, b, i) && a.group[i] == b->group[i]);
    CHECK(wrong == 0);
    CHECK(krein__comm_fold(ctx, KREIN_FOLD_SUM, b->n, a.seen) == KREIN_OK);
    for (int64_t i = 0; i < b->n; i++) wrong += a.seen[i] != 1 || b->seen[i] != 1;
    CHECK(wrong == 0);
    table_clear(&a);
}

static table gather(learned *l, int part, const int64_t *index, int64_t n) {
    table t = table_new(n, l->e.d, l->data->nlabel);
    krein_stream *s = NULL;
    krein_matrix x = {0};
    CHECK(krein__stream_open(l->data, &l->e, part, &s) == KREIN_OK);
    krein_status st =
        s ? krein__stream_gather(s, index, n, &x, t.label, t.weight, t.group) : KREIN_EIO;
    CHECK(st == KREIN_OK && x.n == n && x.d == l->e.d && !x.ptr == !l->e.sparse);
    CHECK(st != KREIN_OK || !x.ptr || x.ptr[n] == x.nnz);
    const krein_rows rows = krein__matrix_rows(&x);
    for (int64_t i = 0; st == KREIN_OK && i < n; i++) put_row(&t, &rows, i, i);
    krein__matrix_clear(l->data->ctx, &x);
    krein__stream_close(s);
    return t;
}

/* Some rows of those in b, all, those of one rank, one, none. */
static void same_gathered(learned *mine, const table *b, int part) {
    const int64_t n = b->n;
    int64_t *index = test_new(n + 1, sizeof *index);
    for (int k = 0; k < 5; k++) {
        int64_t m = 0, wrong = 0;
        for (int64_t i = 0; i < n; i++)
            if (k == 0 ? i % 7 == 3 || i % BLOCK < 2 : k == 1 || (k == 2 ? i > n - 20 : i == n / 2))
                index[m++] = i;
        if (k == 4) m = 0;
        table a = gather(mine, part, index, m);
        for (int64_t i = 0; i < m; i++) { /* without groups each row is one */
            const int64_t group = mine->data->options.group ? b->group[index[i]] : i;
            wrong += !same_row(&a, i, b, index[i]) || a.group[i] != group;
        }
        CHECK(wrong == 0);
        table_clear(&a);
    }
    krein_stream *s = NULL; /* and one that there is not */
    krein_matrix x = {0};
    *index = n;
    CHECK(krein__stream_open(mine->data, &mine->e, part, &s) == KREIN_OK);
    CHECK(s && krein__stream_gather(s, index, 1, &x, NULL, NULL, NULL) == KREIN_EIO);
    krein__stream_close(s);
    free(index);
}

/* ---- the property -----------------------------------------------------------------------------
 */

/* What one process reads, once for all that is compared with it. */
typedef struct known {
    learned l;
    table all, part[KREIN_PARTS];
} known;

static bool is_read(const known *k, int part) {
    return k->l.data->count[part] > 0 && part != KREIN_PART_DROPPED;
}

static known known_of(task t) {
    known k = {0};
    t.keep = KREIN_KEEP_MEMORY;
    k.l = learn(alone, &t);
    CHECK(k.l.status == KREIN_OK);
    if (k.l.status != KREIN_OK) return k;
    k.all = read_table(&k.l, -1, k.l.data->nrows);
    for (int part = 0; part < KREIN_PARTS; part++)
        if (is_read(&k, part)) k.part[part] = read_table(&k.l, part, k.l.data->count[part]);
    return k;
}

static void known_clear(known *k) {
    table_clear(&k->all);
    for (int part = 0; part < KREIN_PARTS; part++) table_clear(&k->part[part]);
    forget(alone, &k->l);
}

static void as_one(task t) {
    static const krein_keep keep[] = {KREIN_KEEP_MEMORY, KREIN_KEEP_STREAM};
    static int turn; /* on many ranks, and under sanitizers, one of both: 0 1 1 0 0 1 1 0 ... */
    const bool both = ranks < 5 && !test_sanitized();
    const int before = test_bad, one = (turn + turn / 2) % 2;
    CHECK(krein__comm_barrier(ctx) == KREIN_OK); /* the file is there */
    known whole = known_of(t);
    turn++;
    for (int k = 0; k < 2; k++) {
        if (!both && k != one) continue;
        t.keep = keep[k];
        learned mine = learn(ctx, &t);
        if (mine.status != KREIN_OK) printf("%s\n", krein_message(ctx));
        CHECK(mine.status == KREIN_OK);
        CHECK(krein__comm_agree(ctx, mine.status) == KREIN_OK);
        if (mine.status == KREIN_OK && whole.l.status == KREIN_OK) {
            CHECK(mine.data->share.on == (ranks > 1));
            if (ranks == 1) mine.data->share.rows = mine.data->nrows; /* as if */
            same_encoding(&mine.e, &whole.l.e);
            same_counts(mine.data, whole.l.data);
            if (ranks == 1) mine.data->share.rows = 0;
            same_rows(&mine, &whole.all, -1);
            for (int part = 0; part < KREIN_PARTS; part++) {
                if (!is_read(&whole, part)) continue;
                same_rows(&mine, &whole.part[part], part);
                same_gathered(&mine, &whole.part[part], part);
            }
        }
        krein__comm_clear(ctx);
        forget(ctx, &mine);
    }
    known_clear(&whole);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    if (test_bad > before) printf("in %s, rank %d of %d\n", t.name, me, ranks);
}

static void write_file(const char *name, const text *t) {
    if (me == 0) put(name, t->s, t->n);
}

/* ---- CSV --------------------------------------------------------------------------------------
 */

/* n rows: words that appear late, missing cells in every m-th row, weights, groups, labels. */
static void say_mixed(text *t, int64_t n, int64_t m) {
    static const char *const word[] = {"red", "\"a, b\"", "blue", "\"two\nlines\"", "x", "y"};
    static const char *const label[] = {"no", "yes", "\"not, yet\""};
    say(t, "id,colour,size,w,g,y,v\n");
    for (int64_t i = 0; i < n; i++) {
        const bool hole = m > 0 && i % m == 1;
        say(t, "%lld,%s,", (long long)i,
            hole && i % 2 ? "" : word[(i * 7 + i / 5) % (1 + 6 * i / n)]);
        if (!hole || i % 2) say(t, "%.4f", det(i, 1, 0.2) * 3 + 100);
        say(t, ",%g,g%lld,%s,%lld\n", 0.5 * (double)(i % 4), (long long)(i * 31 % 37),
            label[(i % 3 == 0) + (i + 5 > n)], (long long)(i % 17));
    }
}

static const int64_t sizes[] = {2, 50, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK + 7};

static void mixed(void) {
    for (int k = 0; k < KREIN__COUNT(sizes); k++) {
        if (test_sanitized() && k % 2) continue;
        text t = {0};
        say_mixed(&t, sizes[k], 0);
        write_file("mixed.csv", &t);
        free(t.s);
        task all = task_of("mixed.csv");
        all.o.label = "v";
        all.o.ignore = "id,y";
        all.o.weights = "w";
        all.o.group = "g";
        as_one(all);
        if (sizes[k] < 50) continue;
        all.o.label = "y";
        all.o.ignore = "id,g";
        all.o.group = NULL;
        all.holdout = 0.3;
        as_one(all);
    }
}

static void holes(void) {
    text t = {0};
    say_mixed(&t, 3 * BLOCK + 11, 5);
    write_file("holes.csv", &t);
    free(t.s);
    task all = task_of("holes.csv");
    all.o.label = "y";
    all.o.ignore = "id";
    all.o.weights = "w";
    all.o.group = "g";
    all.o.missing = KREIN_MISSING_AUTO;
    as_one(all);
    all.o.missing = KREIN_MISSING_MEAN;
    as_one(all);
    all.o.missing = KREIN_MISSING_DROP;
    as_one(all);
    all.holdout = 0.2; /* whole groups */
    as_one(all);
    all.o.scale = KREIN_SCALE_MINMAX;
    all.o.group = NULL;
    all.o.ignore = "id,g";
    as_one(all);
}

/* Texts of many values: means of the target, or hashes. */
static void many_texts(void) {
    text t = {0};
    say(&t, "y,a,c,k,day\n");
    for (int64_t i = 0; i < 3 * BLOCK + 77; i++)
        say(&t, "%.5f,%.5f,w%d,id%d,20%02d-03-%02d\n", det(i, 0, 0.7), det(i, 1, 0.7),
            (int)(i * i % 1307 % 1200), (int)i, (int)(i % 30), (int)(1 + i % 31));
    write_file("texts.csv", &t);
    free(t.s);
    task all = task_of("texts.csv");
    as_one(all);
    all.o.categories = KREIN_CATEGORIES_HASH;
    as_one(all);
    all.holdout = 0.2;
    as_one(all);
    all.o.categories = KREIN_CATEGORIES_TARGET;
    as_one(all);
}

/* The first `none` rows lack a, the rest has it, or the other way round. */
static void say_gap(text *t, int64_t n, int64_t none, bool first) {
    say(t, "y,a,b,c\n");
    for (int64_t i = 0; i < n; i++) {
        say(t, "%.5f,", det(i, 0, 0.7));
        if ((i < none) != first) say(t, "%.5f", det(i, 1, 0.7));
        say(t, ",%.5f,%s\n", det(i, 2, 0.7), (i < none) == first ? "early" : "late");
    }
}

/* Ranks whose rows are all dropped, or lack a column. */
static void gaps(void) {
    for (int first = 0; first < 2; first++) {
        text t = {0};
        say_gap(&t, 3 * BLOCK + 100, first ? 2 * BLOCK + 3 : BLOCK, first);
        write_file("gap.csv", &t);
        free(t.s);
        task all = task_of("gap.csv");
        all.o.missing = KREIN_MISSING_DROP;
        as_one(all);
        all.holdout = 0.1;
        as_one(all);
        all.o.missing = KREIN_MISSING_MEAN;
        as_one(all);
        all.o.missing = KREIN_MISSING_AUTO;
        as_one(all);
    }
}

/* Labels: numbers with and without rows that have none; classes of one rank alone; many values. */
static void labels(void) {
    for (int k = 0; k < 5; k++) {
        const int64_t n = k == 4 ? 6 * BLOCK : 3 * BLOCK + 5;
        text t = {0};
        say(&t, "y,a,b\n");
        for (int64_t i = 0; i < n; i++) {
            if (k == 0 && i % 3 > 0)
                say(&t, ",");
            else if (k == 0 || k == 3)
                say(&t, "%.5f,", det(i, 3, 0.1));
            else if (k == 1)
                say(&t, "%d,", i < n - 3 ? (int)(i % 2) : 7);
            else if (k == 2)
                say(&t, "%s,", i < 2 * BLOCK ? "1.5" : "-2.5");
            else
                say(&t, "%lld,", (long long)(i * 7)); /* whole, more than there are classes */
            say(&t, "%.5f,%.5f\n", det(i, 0, 0.3), det(i, 1, 0.3));
        }
        write_file("labels.csv", &t);
        free(t.s);
        task all = task_of("labels.csv");
        all.unlabelled = k == 0;
        as_one(all);
        if (k != 1 && k != 2) continue;
        all.holdout = 0.25;
        as_one(all);
    }
}

static void targets(void) {
    text t = {0};
    for (int64_t i = 0; i < 2 * BLOCK + 9; i++)
        say(&t, "%.5f,%.5f,%.5f\n", det(i, 0, 0.4), det(i, 1, 0.4) * 1e3, det(i, 2, 0.4));
    write_file("targets.csv", &t);
    free(t.s);
    task all = task_of("targets.csv");
    all.o.targets = 2;
    as_one(all);
}

/* ---- other formats ------------------------------------------------------------------------------
 */

static void sparse(void) {
    for (int k = 0; k < 3; k++) {
        const int64_t n = k == 0 ? 40 : k == 1 ? BLOCK + 1 : 4 * BLOCK - 1;
        text t = {0};
        say(&t, "# rows\n");
        for (int64_t i = 0; i < n; i++) {
            say(&t, "%d %lld:%.4f", (int)(i % 2), (long long)(1 + i % 9), det(i, 0, 0.6));
            if (i % 3) say(&t, " %lld:%.4f", (long long)(10 + i % 4), det(i, 1, 0.6));
            if (i == n - 1) say(&t, " 700:2"); /* the largest, on the last rank */
            say(&t, i % 11 ? "\n" : " # more\n\n#\n");
        }
        write_file("sparse", &t);
        if (me == 0) put_gz("sparse.gz", t.s, t.n, "wb");
        free(t.s);
        task all = task_of("sparse");
        as_one(all);
        all.holdout = 0.2;
        as_one(all);
        all.o.scale = KREIN_SCALE_MINMAX;
        all.name = "sparse.gz";
        if (k > 0) as_one(all);
    }
}

static void arrays(void) {
    enum { N = 3 * BLOCK - 4, D = 3 };
    float *x = test_dense(N, D, 0.9);
    char *bytes = test_new(N * D * 4 + 256, 1), head[100];
    for (int k = 0; k < 3; k++) { /* rows, columns, labels */
        snprintf(head, sizeof head, "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, %d), }",
                 k == 1 ? "True" : "False", N, k == 2 ? 1 : D);
        const size_t n = npy(bytes, 1, head, x, (size_t)N * (k == 2 ? 1 : D) * sizeof *x);
        if (me == 0) put(k == 0 ? "rows.npy" : k == 1 ? "columns.npy" : "y.npy", bytes, n);
    }
    text numbers = {0}, words = {0};
    for (int64_t i = 0; i < N; i++) {
        say(&numbers, "%.6g\n", det(i, 5, 0.2));
        say(&words, "%s\n", i > N - 4 ? "last" : i % 3 ? "a" : "b");
    }
    write_file("y.txt", &numbers);
    write_file("c.txt", &words);
    free(numbers.s);
    free(words.s);
    free(bytes);
    free(x);
    static const char *const label[] = {"y.npy", "y.txt", "c.txt", NULL};
    for (int k = 0; k < 4; k++) {
        task all = task_of(k % 2 ? "rows.npy" : "columns.npy");
        all.labels = label[k];
        as_one(all);
        all.holdout = 0.3;
        if (k > 1) as_one(all);
    }
}

/* ---- failures -----------------------------------------------------------------------------------
 */

static void expect(task t, krein_status want, const char *part) {
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    const int64_t live = test_live(&memory);
    learned l = learn(ctx, &t);
    l.status = krein__comm_agree(ctx, l.status);
    CHECK(l.status == want);
    CHECK_HAS(krein_message(ctx), part);
    forget(ctx, &l);
    CHECK(test_live(&memory) == live);
    krein__comm_clear(ctx);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
}

static void failures(void) {
    text t = {0};
    say(&t, "y,a\n");
    for (int64_t i = 0; i < 4 * BLOCK; i++)
        say(&t, "%.4f,%s\n", det(i, 0, 0), i == 4 * BLOCK - 2 ? "inf" : "1");
    write_file("bad.csv", &t);
    expect(task_of("bad.csv"), KREIN_EDATA, "bad.csv:7680: column 2");
    free(t.s);
    t = (text){0};
    for (int64_t i = 0; i < 4 * BLOCK; i++) say(&t, "%lld,%.4f\n", (long long)i % 2, det(i, 0, 0));
    write_file("good.csv", &t);
    t.n = 0;
    for (int64_t i = 0; i < 4 * BLOCK - 1; i++) say(&t, "%.4f\n", det(i, 0, 0));
    write_file("short.txt", &t);
    free(t.s);
    task all = task_of("good.csv");
    all.o.label = "none";
    all.labels = "short.txt";
    expect(all, KREIN_EFORMAT, "fewer rows than");
    all = task_of("good.csv");
    all.o.label = "nobody";
    expect(all, KREIN_EARG, "nobody");
}

/* The file loses rows between the passes: whoever misses them, all end. */
static void torn(void) {
    text t = {0};
    for (int64_t i = 0; i < 4 * BLOCK; i++) say(&t, "%.4f,%.4f\n", det(i, 0, 0), det(i, 1, 0));
    write_file("torn.csv", &t);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    task all = task_of("torn.csv");
    all.keep = KREIN_KEEP_STREAM;
    learned l = learn(ctx, &all);
    CHECK(l.status == KREIN_OK);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    if (me == 0) CHECK(truncate(file_name("torn.csv"), (off_t)(t.n / 3 * 2)) == 0);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    int64_t index[] = {1, 4 * BLOCK - 1};
    krein_matrix x = {0};
    krein_stream *s = NULL;
    krein_status st = krein__stream_open(l.data, &l.e, KREIN_PART_TRAIN, &s);
    if (st == KREIN_OK) st = krein__stream_gather(s, index, 2, &x, NULL, NULL, NULL);
    CHECK(krein__comm_agree(ctx, st) != KREIN_OK);
    CHECK_HAS(krein_message(ctx), "torn.csv");
    krein__stream_close(s);
    krein__matrix_clear(ctx, &x);
    forget(ctx, &l);
    krein__comm_clear(ctx);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    free(t.s);
}

static krein_status learn_and_gather(const task *t) {
    krein_stream *s = NULL;
    krein_matrix x = {0};
    double label[3], weight[3];
    int32_t group[3];
    const int64_t index[] = {0, 30, BLOCK - 100};
    learned l = learn(ctx, t);
    krein_status st = l.status;
    if (st == KREIN_OK) st = krein__stream_open(l.data, &l.e, KREIN_PART_TRAIN, &s);
    if (st == KREIN_OK) st = krein__stream_gather(s, index, 3, &x, label, weight, group);
    st = krein__comm_agree(ctx, st);
    krein__matrix_clear(ctx, &x);
    krein__stream_close(s);
    forget(ctx, &l);
    return st;
}

/* Allocations fail, one at a time, on every rank: all say so, and nothing is lost. On two ranks
 * about every one, on others some. */
static void allocations_of(const task *t) {
    const int64_t step = test_sanitized() ? 31 : ranks == 2 ? 2 : 13;
    for (int rank = 0; rank < ranks; rank++)
        for (int64_t k = 0, more = 1; more; k += step) {
            const int64_t live = test_live(&memory);
            test_fail_at(&memory, me == rank ? k : -1);
            const krein_status st = learn_and_gather(t);
            more = test_has_failed(&memory);
            test_fail_at(&memory, -1);
            krein__comm_clear(ctx);
            CHECK(krein__comm_fold(ctx, KREIN_FOLD_MAX, 1, &more) == KREIN_OK);
            if (st != (more ? KREIN_EMEMORY : KREIN_OK))
                printf("allocation %lld of rank %d: %s\n", (long long)k, rank, krein_message(ctx));
            CHECK(st == (more ? KREIN_EMEMORY : KREIN_OK));
            CHECK(test_live(&memory) == live);
        }
}

static void allocations(void) {
    text t = {0};
    say_mixed(&t, BLOCK + 40, 4);
    write_file("few.csv", &t);
    t.n = 0;
    for (int64_t i = 0; i < BLOCK + 40; i++) say(&t, "%d 1:%.3f 4:1\n", (int)(i % 2), det(i, 0, 0));
    write_file("few", &t);
    free(t.s);
    CHECK(krein__comm_barrier(ctx) == KREIN_OK);
    task all = task_of("few.csv");
    all.o.label = "y";
    all.o.ignore = "id";
    all.o.weights = "w";
    all.o.group = "g";
    all.o.missing = KREIN_MISSING_MEAN;
    all.holdout = 0.01;
    all.keep = KREIN_KEEP_MEMORY;
    allocations_of(&all);
    all = task_of("few");
    all.keep = KREIN_KEEP_STREAM;
    allocations_of(&all);
}

/* ---- all of it, on some ranks --------------------------------------------------------------- */

static void all_cases(void) {
    RUN(mixed);
    RUN(holes);
    RUN(many_texts);
    RUN(gaps);
    RUN(labels);
    RUN(targets);
    RUN(sparse);
    RUN(arrays);
    RUN(failures);
    if (ranks > 1) RUN(torn);
    if (ranks < 4) RUN(allocations);
}

static void two_ranks(void) { on_ranks(2, all_cases); }
static void three_ranks(void) { on_ranks(3, all_cases); }
static void five_ranks(void) { on_ranks(5, all_cases); }

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    if (!readers_start()) return 1;
    if (!test_sanitized()) RUN(two_ranks);
    RUN(three_ranks);
    if (!test_sanitized()) RUN(five_ranks);
    return readers_done();
}
