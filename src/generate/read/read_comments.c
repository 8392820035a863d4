/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_comments.c: documentation and markers of a declaration.
 *
 * The comments of a file are scanned when its first declaration is queried: headers of the SDK
 * count as well (kc_status_condition has validation there), system headers never.
 */
#include "generate/read/read_internal.h"

static void gen_read_comments_scan(kc__gen_reader *r, kc__gen_read_file *file)
{
    size_t n = 0;
    const char *text = r->clang.getFileContents(r->unit, file->file, &n);
    file->is_scanned = true;
    kc__gen_comments_scan(&file->comments, kc_str_of(text, text ? n : 0), r->arena);
}

/* One line that starts with '+'. In the separate group above a type, package markers are the
 * package's. */
static void add_marker(kc__gen_reader *r, kc__gen_read_file *file, const kc__gen_comment_line *line,
                       kc__gen_marker_scope scope, bool apart, kc__gen_marker_list *into)
{
    const kc__gen_at at = {file->name, line->line, line->column};
    kc__gen_marker marker;
    kc_scoped(kc_error) why = {0};
    if (!kc__gen_marker_is_line(line->text)) {
        if (kc__gen_marker_is_misplaced(line->text))
            kc__gen_reader_fail(r, at,
                                "a marker needs a line of its own; was this comment filled by a "
                                "formatter? (clang-format keeps markers with CommentPragmas: "
                                "'^/? *\\+')");
        return;
    }
    int read = kc__gen_marker_parse(line->text, at, scope, r->arena, &marker, &why);
    if (read > 0) {
        kc_vec_push(into, marker);
        return;
    }
    if (read < 0 && apart && scope == KC__GEN_SCOPE_TYPE) {
        read = kc__gen_marker_parse(line->text, at, KC__GEN_SCOPE_PACKAGE, r->arena, &marker, NULL);
        if (read > 0)
            kc_vec_push(&r->package_markers, marker);
    }
    if (read < 0)
        kc__gen_reader_fail(r, ((kc__gen_at){0}), "%s", kc_error_text(&why));
}

static void add_markers(kc__gen_reader *r, kc__gen_read_file *file, size_t from, size_t to,
                        kc__gen_marker_scope scope, bool apart, kc__gen_marker_list *into)
{
    for (size_t i = from; i < to; i++) {
        const kc__gen_comment *comment = &file->comments.items[i];
        for (size_t k = 0; k < comment->n; k++)
            add_marker(r, file, &file->comments.lines[comment->first + k], scope, apart, into);
    }
}

static void add_doc(kc__gen_reader *r, const kc__gen_comments *comments, size_t from, size_t to,
                    kc__gen_read_doc *into)
{
    kc_scoped(kc_buf) text = {0};
    if (into->doc.n)
        return;
    kc__gen_comments_doc(comments, from, to, &text);
    into->doc = kc_arena_str(r->arena, kc_buf_str(&text));
}

void kc__gen_reader_doc(kc__gen_reader *r, CXCursor cursor, kc__gen_marker_scope scope,
                        kc__gen_read_doc *into)
{
    const CXSourceRange extent = r->clang.getCursorExtent(cursor);
    kc__gen_at start, end;
    kc__gen_read_file *file = kc__gen_reader_position(r, r->clang.getRangeStart(extent), &start);
    if (!file || kc__gen_reader_position(r, r->clang.getRangeEnd(extent), &end) != file)
        return;
    if (!file->is_scanned)
        gen_read_comments_scan(r, file);
    const kc__gen_comment_about about =
        kc__gen_comments_about(&file->comments, start.line, start.column, end.line);
    add_markers(r, file, about.markers_from, about.markers_to, scope, true, &into->markers);
    add_markers(r, file, about.doc_from, about.doc_to, scope, false, &into->markers);
    add_markers(r, file, about.behind_from, about.behind_to, scope, false, &into->markers);
    add_doc(r, &file->comments, about.doc_from, about.doc_to, into);
    add_doc(r, &file->comments, about.behind_from, about.behind_to, into);
}

kc__gen_markers kc__gen_reader_keep(kc__gen_reader *r, kc__gen_marker_list *markers)
{
    kc__gen_marker *items = kc_arena_calloc(r->arena, markers->n + 1, sizeof(*items));
    if (markers->n)
        memcpy(items, markers->items, markers->n * sizeof(*items));
    const kc__gen_markers kept = {items, markers->n};
    kc_vec_done(markers);
    return kept;
}

void kc__gen_reader_package_markers(kc__gen_reader *r, kc__gen_read_file *file)
{
    if (!file->is_scanned)
        gen_read_comments_scan(r, file);
    for (size_t i = 0; i < file->comments.n; i++)
        if (!file->comments.items[i].is_used)
            add_markers(r, file, i, i + 1, KC__GEN_SCOPE_PACKAGE, false, &r->package_markers);
}
