/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments.h: the comments of a C file, and what they say of the code that follows.
 *
 *     kc__comments comments;
 *     kc__comments_scan(&comments, text, &arena);
 *     kc__comment_about about = kc__comments_about(&comments, line, column, last_line);
 */
#ifndef KC_GENERATE_COMMENTS_H
#define KC_GENERATE_COMMENTS_H

#include "kc/arena.h"
#include "kc/buf.h"

/* One line of a comment without what makes it one. */
typedef struct kc__comment_line {
    kc_str text;           /* Without one leading space and all trailing ones. */
    unsigned line, column; /* Of the first sign of the text that is no space. */
    bool is_doc;           /* Of a comment with three slashes or two stars. */
    bool is_block;
} kc__comment_line;

typedef struct kc__comment {
    size_t first, n; /* Lines. */
    unsigned line, last_line;
    unsigned code_line, code_column; /* The code that follows; 0: none does. */
    bool is_doc;
    bool is_behind;   /* Code stands before it on its line. */
    bool speaks_back; /* ///< or its like. */
    bool is_used;     /* Somebody asked about the code it belongs to. */
} kc__comment;

typedef struct kc__comments {
    kc__comment_line *lines;
    size_t n_lines;
    kc__comment *items;
    size_t n;
} kc__comments;

/* Lines of the code at a place: ranges of comments->items, each from, up to and not including. */
typedef struct kc__comment_about {
    size_t doc_from, doc_to;         /* Directly above it. */
    size_t markers_from, markers_to; /* The group above that: markers count, text does not. */
    size_t behind_from, behind_to;   /* On the last line of it. */
} kc__comment_about;

/* Finds all comments. What they hold points into `text`; arrays live in the arena. */
void kc__comments_scan(kc__comments *ret, kc_str text, kc_arena *arena);

/* What is said of the code that begins at this place and ends on `last_line`. Marks it as used. */
kc__comment_about kc__comments_about(kc__comments *comments, unsigned line, unsigned column,
                                     unsigned last_line);
/* Marks all comments between two lines as used. */
void kc__comments_use(kc__comments *comments, unsigned from, unsigned to);

/* Appends a comment's text as documentation: without markers, without lines that begin with TODO,
 * without all that follows a line that begins with ---. */
void kc__comments_doc(const kc__comments *comments, size_t from, size_t to, kc_buf *out);

#endif
