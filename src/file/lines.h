/* lines.h -- what the formats share: chunks of whole rows cut into pieces that threads parse on
 * their own, room in the batch, dictionaries that grow in parallel, errors in file order.
 *
 * A chunk is a stretch of the file that holds whole rows only, each ended by '\n'. It is cut at
 * row boundaries into one piece per thread. Nothing that comes out depends on where chunks and
 * pieces end: a piece knows its first row and line, keeps its first error to itself, and gives
 * new words numbers behind the column's dictionary, which krein__rows_merge turns into the codes
 * a single thread would have given.
 */
#ifndef KREIN_LINES_H
#define KREIN_LINES_H

#include "file/bytes.h"
#include "file/number.h"
#include "file/reader.h"

typedef struct krein_piece {
    char *begin, *end;
    int64_t line, lines;         /* 1-based number of the first line; newlines */
    int64_t rows, first_row;     /* first_row counts from the start of the batch */
    int64_t pairs, first_pair;   /* LIBSVM */
    int64_t got_rows, got_pairs; /* LIBSVM: what remains without comments and the like */
    int64_t top;                 /* LIBSVM: largest index */
    bool missing;
    krein_dict *dict; /* new words of each growing dictionary */
    krein_status status;
    int64_t bad_line;
    char text[512]; /* the error, without the place; empty: the context has the message */
} krein_piece;

typedef struct krein_chunk {
    char *buf;
    size_t room, target; /* target: bytes wanted in the buffer, grows with long rows */
    size_t begin, end;   /* the whole rows given out; [end, length) is for the next chunk */
    size_t length;
    int64_t byte;   /* of the file, at the start of buf */
    int64_t line;   /* of begin */
    bool quotes;    /* newlines inside quoted fields do not end a row */
    bool trim;      /* blank lines at the end of the file are no rows */
    char mark;      /* counted as pairs: ':' for LIBSVM, else 0 */
    char delimiter; /* what may stand before a quote; 0: any of , ; tab and space */
    bool eof, started, closed;
    bool added; /* the last newline is not in the file */
    krein_piece *piece;
    int64_t npiece, most; /* in use, allocated */
} krein_chunk;

struct krein_reader_state {
    krein_bytes *in;
    krein_chunk block;
    size_t buffer; /* bytes per read: options.buffer or the default */
    int64_t nnum, ncat, nlabel;
    bool weight, group, id;           /* roles that occur */
    int64_t row;                      /* rows given out since begin */
    int64_t ndict;                    /* growing dictionaries, and the columns they belong to */
    int64_t *dict_column, *dict_slot; /* slot: its place among cat, label */
    void *own;                        /* the format's */
};

krein_status krein__chunk_init(krein_reader *r, bool quotes, bool trim);
/* To the first row again. */
krein_status krein__chunk_rewind(krein_reader *r);
/* To the start of a row further on. */
krein_status krein__chunk_seek(krein_reader *r, const krein_mark *to);
/* The next chunk, cut into pieces; *empty at the end of the file. */
krein_status krein__chunk_next(krein_reader *r, bool *empty);
/* The end of the row that begins at p (behind its '\n'), NULL if it is not whole; adds its
 * newlines to *lines when that is not NULL. */
char *krein__chunk_row_end(const krein_chunk *b, char *p, char *end, int64_t *lines);
/* Takes the first row of the current block out of it. */
void krein__chunk_drop_row(krein_reader *r);
void krein__chunk_clear(krein_reader *r);

/* Counts roles and lists growing dictionaries; called by begin. */
krein_status krein__rows_roles(krein_reader *r);
/* Arrays for n rows, nnz entries and id_bytes of text. */
krein_status krein__rows_room(krein_reader *r, krein_raw *raw, int64_t n, int64_t nnz,
                              int64_t id_bytes);
/* The code of a word in column j, whose growing dictionary is the k-th (k < 0: frozen). Codes
 * from the column's dict.n on are provisional. -3: no memory, the piece has its error. */
int64_t krein__rows_code(krein_reader *r, krein_piece *piece, int64_t j, int64_t k,
                         const char *word, size_t length);
/* Code of a word, added if new and if there is room: the features of a column have KREIN_WORDS_MAX
 * at most, further ones get -2. -1: no memory. */
int64_t krein__dict_word(krein_ctx *ctx, krein_dict *d, const char *word, bool feature);
/* Adds the pieces' words to the columns and makes provisional codes final. */
krein_status krein__rows_merge(krein_reader *r, krein_raw *raw);
/* Notes the piece's error, at the line of `at`. Returns NULL for convenience. */
char *krein__rows_fail(krein_piece *piece, krein_status status, const char *at, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));
/* The first error in file order, if there is one. */
krein_status krein__rows_status(krein_reader *r);

/* "column 3 (age)"; buf of at least 96 bytes. */
const char *krein__column_text(const krein_reader *r, int64_t j, char *buf);
/* The cell, cut short and printable, in buf of at least 48 bytes. */
const char *krein__cell_text(const char *text, size_t length, char *buf);

extern const krein_reader_class krein__read_csv, krein__read_libsvm, krein__read_npy;
/* read_chain.c: the files that a path stands for. *n is 0 where the path is no pattern; no match is
 * an error. *file and its texts are the caller's to free. */
krein_status krein__files_match(krein_ctx *ctx, const char *path, char ***file, int64_t *n);
void krein__files_free(krein_ctx *ctx, char **file, int64_t n);
/* A reader of several files, which it takes over, also when it fails. */
krein_status krein__chain_open(krein_ctx *ctx, const char *path, char **file, int64_t n,
                               const krein_reader_options *options, krein_reader **out);
/* The reader of file k alone, good until another one is asked for or read; of a reader of one file
 * itself. And the bytes of that file. */
krein_status krein__reader_enter(krein_reader *r, int64_t k, krein_reader **out);
int64_t krein__reader_file_bytes(const krein_reader *r, int64_t k);
/* Whether the beginning of a file (whole lines, padded) looks like LIBSVM. */
bool krein__libsvm_looks(const char *text, size_t length);
/* The first character of a LIBSVM line that is not blank; NULL: the line is no row. */
static inline char *krein__libsvm_row(char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\r') p++;
    return *p == '\n' || *p == '#' ? NULL : p;
}

#endif
