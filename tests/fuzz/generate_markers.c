/* SPDX-License-Identifier: Apache-2.0 */
/* Comments of any file: markers are parsed or refused, and parsed values are valid JSON. */
#include "fuzzing.h"

#include "generate/markers/markers.h"
#include "generate/read/comments.h"

#include "kc/view.h"

static void check_marker(kc_str line, kc__gen_marker_scope scope, kc_arena *arena)
{
    kc__gen_marker marker;
    kc_scoped(kc_error) err = {0};
    const kc__gen_at at = {"x.h", 1, 1};
    const int read = kc__gen_marker_parse(line, at, scope, arena, &marker, &err);
    if (read < 0)
        assert(err.reason == KC_INVALID && !strncmp(kc_error_text(&err), "x.h:1:1: ", 9));
    if (read <= 0)
        return;
    for (size_t i = 0; i < marker.n_args; i++) {
        const kc_str json = marker.args[i].json;
        kc_auto(kc_view) *view = json.n ? kc_view_parse(json, NULL, NULL) : NULL;
        assert(view || !json.n);
    }
}

static void check_comment(kc__gen_comments *comments, size_t i, kc_str text)
{
    kc_scoped(kc_buf) doc = {0};
    const kc__gen_comment *comment = &comments->items[i];
    assert(comment->first + comment->n <= comments->n_lines && comment->n > 0);
    assert(comment->line <= comment->last_line);
    if (comment->code_line) {
        const kc__gen_comment_about about = kc__gen_comments_about(
            comments, comment->code_line, comment->code_column, comment->code_line);
        assert(about.markers_from <= about.markers_to && about.markers_to <= about.doc_from);
        assert(about.doc_from <= about.doc_to && about.doc_to <= comments->n);
        kc__gen_comments_doc(comments, about.doc_from, about.doc_to, &doc);
    }
    assert(doc.n <= text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const kc__gen_marker_scope scopes[] = {KC__GEN_SCOPE_PACKAGE, KC__GEN_SCOPE_TYPE,
                                                  KC__GEN_SCOPE_FIELD, KC__GEN_SCOPE_ENUMERATOR};
    kc_scoped(kc_arena) arena = {0};
    const kc_str text = kc_str_of((const char *)data, size);
    kc__gen_comments comments;
    kc__gen_comments_scan(&comments, text, &arena);
    for (size_t i = 0; i < comments.n && i < 64; i++)
        check_comment(&comments, i, text);
    for (size_t i = 0; i < comments.n_lines && i < 64; i++)
        for (size_t k = 0; k < KC_COUNT(scopes); k++)
            if (kc__gen_marker_is_line(comments.lines[i].text))
                check_marker(comments.lines[i].text, scopes[k], &arena);
    for (size_t k = 0; k < KC_COUNT(scopes); k++)
        if (kc__gen_marker_is_line(text))
            check_marker(text, scopes[k], &arena);
    return 0;
}
