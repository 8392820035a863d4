/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments.h: the comments of a C file, and the code they belong to.
 *
 *     kc__gen_comments comments;
 *     kc__gen_comments_scan(&comments, text, &arena);
 *     kc__gen_comment_about about = kc__gen_comments_about(&comments, line, column, last_line);
 */
#ifndef KC_GENERATE_COMMENTS_H
#define KC_GENERATE_COMMENTS_H

#include "kc/arena.h"
#include "kc/buf.h"

/* One line of a comment without delimiters. */
typedef struct kc__gen_comment_line {
    kc_str text;           /* Without one leading space and trailing ones. */
    unsigned line, column; /* Position of the first non-space character. */
    bool is_doc;           /* Of a comment with three slashes or two stars. */
    bool is_block;
} kc__gen_comment_line;

typedef struct kc__gen_comment {
    size_t first, n; /* Lines. */
    unsigned line, last_line;
    unsigned code_line, code_column; /* The code that follows; 0: none. */
    bool is_doc;
    bool is_behind;   /* Code precedes it on its line. */
    bool is_trailing; /* ///< or similar. */
    bool is_used;     /* Its declaration was queried. */
} kc__gen_comment;

typedef struct kc__gen_comments {
    kc__gen_comment_line *lines;
    size_t n_lines;
    kc__gen_comment *items;
    size_t n;
} kc__gen_comments;

/* Comment lines of a declaration: half-open ranges of comments->items. */
typedef struct kc__gen_comment_about {
    size_t doc_from, doc_to;         /* Directly above it. */
    size_t markers_from, markers_to; /* The group above that: only its markers count. */
    size_t behind_from, behind_to;   /* On its last line. */
} kc__gen_comment_about;

/* Finds all comments. They point into `text`; arrays are allocated from the arena. */
void kc__gen_comments_scan(kc__gen_comments *ret, kc_str text, kc_arena *arena);

/* The comments of the code that starts here and ends on `last_line`. Marks them as used. */
kc__gen_comment_about kc__gen_comments_about(kc__gen_comments *comments, unsigned line,
                                             unsigned column, unsigned last_line);
/* Marks all comments between two lines as used. */
void kc__gen_comments_use(kc__gen_comments *comments, unsigned from, unsigned to);

/* Appends a comment's text as documentation: without markers, lines that start with TODO, and
 * everything after a line that starts with ---. */
void kc__gen_comments_doc(const kc__gen_comments *comments, size_t from, size_t to, kc_buf *out);

#endif
