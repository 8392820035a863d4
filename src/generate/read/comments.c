/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments.c: finds the comments of a C file.
 *
 * libclang knows only documentation comments, drops those before a blank line and does not report
 * the position of each line; and RBAC markers are read from any C file, which need not compile. So
 * a scanner that knows only strings and comments of C finds them here. It records for each comment
 * where the following code starts: that matches a comment with its declaration, whose position
 * libclang reports.
 *
 * As in Go, a comment directly above a declaration is its documentation; the group above that one,
 * after a blank line, has its markers; groups further up belong to the package. A comment after
 * code belongs to every declaration that ends on its line, so that a list and its count may share
 * one.
 *
 * Pure. Linear in the length of the text.
 */
#include "generate/read/comments.h"

#include "kc/vec.h"

/* The file as it is read. */
typedef struct gen_comments_scanner {
    kc_str text;
    size_t at;
    unsigned line;
    size_t line_start;
    bool code_on_line;
    KC_VEC(kc__gen_comment_line) lines;
    KC_VEC(kc__gen_comment) items;
    size_t n_waiting; /* Comments at the end of items whose following code is not known yet. */
} gen_comments_scanner;

static char peek(const gen_comments_scanner *s, size_t ahead)
{
    return s->at + ahead < s->text.n ? s->text.p[s->at + ahead] : 0;
}

static void gen_comments_next_line(gen_comments_scanner *s)
{
    s->line++;
    s->line_start = s->at;
    s->code_on_line = false;
}

/* ---- lines of a comment ---- */

static kc_str trim_end(kc_str s)
{
    while (s.n && strchr(" \t\r\f\v", s.p[s.n - 1]) && s.p[s.n - 1])
        s.n--;
    return s;
}

/* `from` is where the line's text may begin. */
static void add_line(gen_comments_scanner *s, size_t from, size_t to, bool is_doc, bool is_block)
{
    kc_str text = trim_end(kc_str_sub(s->text, from, to));
    size_t first = from;
    while (first < from + text.n && (s->text.p[first] == ' ' || s->text.p[first] == '\t'))
        first++;
    if (text.n && text.p[0] == ' ')
        text = kc_str_sub(text, 1, text.n);
    kc_vec_push(&s->lines,
                (kc__gen_comment_line){text, s->line, (unsigned)(first - s->line_start) + 1, is_doc,
                                       is_block});
}

/* After the stars that decorate a line of a block comment. */
static size_t behind_stars(const gen_comments_scanner *s, size_t from, size_t to)
{
    size_t at = from;
    while (at < to && (s->text.p[at] == ' ' || s->text.p[at] == '\t'))
        at++;
    if (at < to && s->text.p[at] == '*' && !(at + 1 < to && s->text.p[at + 1] == '/'))
        return at + 1;
    return from;
}

static kc__gen_comment *begin_comment(gen_comments_scanner *s)
{
    kc__gen_comment *comment = kc_vec_add(&s->items);
    comment->first = s->lines.n;
    comment->line = s->line;
    comment->is_behind = s->code_on_line;
    s->n_waiting++;
    return comment;
}

static void end_comment(gen_comments_scanner *s, kc__gen_comment *comment)
{
    comment->n = s->lines.n - comment->first;
    comment->last_line = s->line;
}

static void scan_line_comment(gen_comments_scanner *s)
{
    kc__gen_comment *comment = begin_comment(s);
    s->at += 2;
    comment->is_doc = peek(s, 0) == '/' || peek(s, 0) == '!';
    s->at += comment->is_doc;
    comment->is_trailing = comment->is_doc && peek(s, 0) == '<';
    s->at += comment->is_trailing;
    const char *end = memchr(s->text.p + s->at, '\n', s->text.n - s->at);
    const size_t to = end ? (size_t)(end - s->text.p) : s->text.n;
    add_line(s, s->at, to, comment->is_doc, false);
    s->at = to;
    end_comment(s, comment);
}

static void scan_block_comment(gen_comments_scanner *s)
{
    kc__gen_comment *comment = begin_comment(s);
    s->at += 2;
    comment->is_doc = (peek(s, 0) == '*' && peek(s, 1) != '/') || peek(s, 0) == '!';
    s->at += comment->is_doc;
    comment->is_trailing = comment->is_doc && peek(s, 0) == '<';
    s->at += comment->is_trailing;
    const size_t index = s->items.n - 1;
    size_t from = s->at;
    while (s->at < s->text.n && !(peek(s, 0) == '*' && peek(s, 1) == '/')) {
        if (s->text.p[s->at++] != '\n')
            continue;
        add_line(s, from, s->at - 1, s->items.items[index].is_doc, true);
        const bool code = s->code_on_line;
        gen_comments_next_line(s);
        s->code_on_line = code;
        const char *end = memchr(s->text.p + s->at, '\n', s->text.n - s->at);
        s->at = from = behind_stars(s, s->at, end ? (size_t)(end - s->text.p) : s->text.n);
    }
    add_line(s, from, s->at, s->items.items[index].is_doc, true);
    s->at = KC_MIN(s->at + 2, s->text.n);
    end_comment(s, &s->items.items[index]);
}

/* ---- code ---- */

static void note_code(gen_comments_scanner *s)
{
    s->code_on_line = true;
    for (; s->n_waiting; s->n_waiting--) {
        kc__gen_comment *comment = &s->items.items[s->items.n - s->n_waiting];
        comment->code_line = s->line;
        comment->code_column = (unsigned)(s->at - s->line_start) + 1;
    }
}

static void skip_string(gen_comments_scanner *s)
{
    const char quote = s->text.p[s->at++];
    while (s->at < s->text.n && s->text.p[s->at] != quote && s->text.p[s->at] != '\n')
        s->at += s->text.p[s->at] == '\\' && peek(s, 1) != '\n' ? 2 : 1;
    s->at = KC_MIN(s->at, s->text.n);
    if (peek(s, 0) == quote)
        s->at++;
}

static void scan_next(gen_comments_scanner *s)
{
    const char c = s->text.p[s->at];
    if (c == '\n') {
        s->at++;
        gen_comments_next_line(s);
    } else if (c == '/' && peek(s, 1) == '/') {
        scan_line_comment(s);
    } else if (c == '/' && peek(s, 1) == '*') {
        scan_block_comment(s);
    } else if (c == ' ' || c == '\t' || c == '\r') {
        s->at++;
    } else {
        note_code(s);
        if (c == '"' || c == '\'')
            skip_string(s);
        else
            s->at++;
    }
}

void kc__gen_comments_scan(kc__gen_comments *ret, kc_str text, kc_arena *arena)
{
    gen_comments_scanner s = {.text = text, .line = 1};
    while (s.at < text.n)
        scan_next(&s);
    *ret = (kc__gen_comments){.n_lines = s.lines.n, .n = s.items.n};
    ret->lines = kc_arena_calloc(arena, s.lines.n + 1, sizeof(*ret->lines));
    ret->items = kc_arena_calloc(arena, s.items.n + 1, sizeof(*ret->items));
    if (s.lines.n)
        memcpy(ret->lines, s.lines.items, s.lines.n * sizeof(*ret->lines));
    if (s.items.n)
        memcpy(ret->items, s.items.items, s.items.n * sizeof(*ret->items));
    kc_vec_done(&s.lines);
    kc_vec_done(&s.items);
}

/* ---- matching declarations ---- */

/* The first comment whose code starts at or after a position; codes increase with comments. */
static size_t first_before(const kc__gen_comments *c, unsigned line, unsigned column)
{
    size_t low = 0, high = c->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const kc__gen_comment *it = &c->items[middle];
        const bool earlier = it->code_line && (it->code_line < line ||
                                               (it->code_line == line && it->code_column < column));
        if (earlier)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Start of the comment group that ends before `to`. Not before `from`. */
static size_t group_start(const kc__gen_comments *c, size_t from, size_t to)
{
    size_t at = to;
    while (at > from && !c->items[at - 1].is_behind &&
           (at == to || c->items[at - 1].last_line + 1 >= c->items[at].line))
        at--;
    return at;
}

static void use(kc__gen_comments *c, size_t from, size_t to)
{
    for (; from < to; from++)
        c->items[from].is_used = true;
}

/* Comments after code on a line, by the position of the code that follows them. */
static void find_behind(kc__gen_comments *c, unsigned line, size_t start,
                        kc__gen_comment_about *about)
{
    size_t at = start;
    while (at < c->n && c->items[at].line < line)
        at++;
    about->behind_from = at;
    while (at < c->n && c->items[at].line == line && c->items[at].is_behind)
        at++;
    about->behind_to = at;
}

kc__gen_comment_about kc__gen_comments_about(kc__gen_comments *c, unsigned line, unsigned column,
                                             unsigned last_line)
{
    kc__gen_comment_about about = {0};
    const size_t from = first_before(c, line, column);
    size_t to = from;
    while (to < c->n && c->items[to].code_line == line && c->items[to].code_column == column)
        to++;
    const bool close = to > from && c->items[to - 1].last_line + 1 >= line;
    about.doc_to = about.markers_to = to;
    about.doc_from = close ? group_start(c, from, to) : to;
    about.markers_to = about.doc_from;
    about.markers_from = group_start(c, from, about.markers_to);
    find_behind(c, last_line, to, &about);
    use(c, about.markers_from, about.doc_to);
    use(c, about.behind_from, about.behind_to);
    return about;
}

void kc__gen_comments_use(kc__gen_comments *c, unsigned from, unsigned to)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].line >= from && c->items[i].last_line <= to)
            c->items[i].is_used = true;
}

/* ---- documentation ---- */

/* The documentation written so far. */
typedef struct doc {
    kc_buf *out;
    size_t n_lines;
    bool blank; /* A pending blank line. */
    bool in_code, ended, is_block;
} doc;

static void put_doc_line(doc *d, kc_str text)
{
    if (d->n_lines++)
        kc_buf_puts(d->out, d->blank ? "\n\n" : "\n");
    d->blank = false;
    kc_buf_append(d->out, text);
}

static void add_doc_line(doc *d, kc_str text)
{
    if (d->is_block)
        text = kc_str_trim(text);
    if (!text.n) {
        d->blank = d->n_lines > 0;
        return;
    }
    if (kc_str_starts(text, KC_STR("```")) || kc_str_starts(text, KC_STR("~~~")))
        d->in_code = !d->in_code;
    if (!d->in_code && kc_str_starts(text, KC_STR("TODO")))
        return;
    d->ended |= !d->in_code && kc_str_starts(text, KC_STR("---"));
    if (!d->ended)
        put_doc_line(d, text);
}

void kc__gen_comments_doc(const kc__gen_comments *c, size_t from, size_t to, kc_buf *out)
{
    doc d = {.out = out};
    for (size_t i = from; i < to; i++)
        d.is_block |= c->items[i].is_doc && c->lines[c->items[i].first].is_block;
    for (size_t i = from; i < to && !d.ended; i++) {
        const kc__gen_comment *comment = &c->items[i];
        if (!comment->is_doc || comment->is_trailing != comment->is_behind)
            continue;
        for (size_t k = 0; k < comment->n && !d.ended; k++) {
            const kc_str text = c->lines[comment->first + k].text;
            const kc_str trimmed = kc_str_trim(text);
            if (!trimmed.n || trimmed.p[0] != '+')
                add_doc_line(&d, text);
        }
    }
}
