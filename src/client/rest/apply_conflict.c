/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_conflict.c: reads the conflicts of a server-side apply from an error.
 *
 * A Status reports each conflict as a cause of reason FieldManagerConflict. The field is a member
 * of the cause; the owner is only in its message, which has a fixed form:
 *
 *     conflict with "kubectl"
 *     conflict with "hpa" with subresource "scale" using apps/v1 at 2026-11-16T08:00:00Z
 *
 * Names are quoted as Go's %q does. A manager has printable characters only, so that quotes and
 * backslashes are the only ones that are escaped. A message of another form gives a conflict
 * without a manager: the field is still right.
 */
#include "client/rest/client_internal.h"

static bool skip_prefix(kc_str *text, const char *prefix)
{
    if (!kc_str_starts(*text, kc_cstr(prefix)))
        return false;
    *text = kc_str_sub(*text, strlen(prefix), text->n);
    return true;
}

/* The text between the quotes, with its escapes; *text moves behind the second quote. */
static kc_str take_quoted(kc_str *text)
{
    size_t end = 1;
    if (!text->n || text->p[0] != '"')
        return (kc_str){0};
    while (end < text->n && text->p[end] != '"')
        end += text->p[end] == '\\' ? 2 : 1;
    if (end >= text->n)
        return (kc_str){0};
    const kc_str inside = kc_str_of(text->p + 1, end - 1);
    *text = kc_str_sub(*text, end + 1, text->n);
    return inside;
}

/* The last byte of `ret` stays NUL. */
static void unescape_manager(kc_str quoted, char ret[static KC_FIELD_MANAGER_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < quoted.n && n < KC_FIELD_MANAGER_MAX; i++) {
        i += quoted.p[i] == '\\' && i + 1 < quoted.n;
        ret[n++] = quoted.p[i];
    }
}

static void parse_owner(kc_str message, kc_apply_conflict *ret)
{
    if (!skip_prefix(&message, "conflict with "))
        return;
    unescape_manager(take_quoted(&message), ret->manager);
    if (skip_prefix(&message, " with subresource "))
        ret->subresource = take_quoted(&message);
    if (skip_prefix(&message, " using "))
        ret->api_version = kc_str_cut(&message, ' ');
}

bool kc_apply_conflict_next(const kc_error *err, size_t *at, kc_apply_conflict *ret)
{
    if (!kc_is_conflict(err))
        return false;
    while (*at < err->causes.n) {
        const kc_cause *cause = &err->causes.items[(*at)++];
        if (!kc_str_is(kc_cstr(cause->reason), "FieldManagerConflict"))
            continue;
        *ret = (kc_apply_conflict){.field = kc_cstr(cause->field)};
        parse_owner(kc_cstr(cause->message), ret);
        return true;
    }
    return false;
}
