/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments.c: converts a header of C comments into YAML comments, line by line, without comment
 * marks and leading stars.
 */
#include "comments.h"

/* Strips a leading star and the end mark of a comment. */
static kc_str without_marks(kc_str line, bool *ret_ends)
{
    line = kc_str_trim(line);
    *ret_ends = kc_str_ends(line, KC_STR("*/"));
    if (*ret_ends)
        line.n -= 2;
    while (line.n && line.p[0] == '*')
        line = kc_str_sub(line, 1, line.n);
    return kc_str_trim(line);
}

static void put_comment(kc_buf *out, kc_str line)
{
    kc_buf_puts(out, "#");
    if (line.n)
        kc_buf_printf(out, " %.*s", KC_ARG(line));
    kc_buf_puts(out, "\n");
}

/* Converts one line; returns true if a comment continues after it. */
static bool cli_comments_put_line(kc_buf *out, kc_str line, bool inside)
{
    const kc_str trimmed = kc_str_trim(line);
    const bool begins = !inside && kc_str_starts(trimmed, KC_STR("/*"));
    bool ends;
    if (!inside && kc_str_starts(trimmed, KC_STR("//"))) {
        put_comment(out, kc_str_trim(kc_str_sub(trimmed, 2, trimmed.n)));
        return false;
    }
    if (!inside && !begins) {
        kc_buf_printf(out, "%.*s\n", KC_ARG(line));
        return false;
    }
    const kc_str rest = without_marks(begins ? kc_str_sub(trimmed, 2, trimmed.n) : trimmed, &ends);
    /* Drops lines that contain only a comment mark. */
    if (rest.n || (!begins && !ends))
        put_comment(out, rest);
    return !ends;
}

void kc__cli_yaml_comments(kc_str text, kc_buf *out)
{
    bool inside = false;
    while (text.n)
        inside = cli_comments_put_line(out, kc_str_cut(&text, '\n'), inside);
}
