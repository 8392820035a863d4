/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments.c: the text that stands before generated files is written once, as comments of C; files
 * of YAML get it as theirs. What is in a comment is kept line by line, without the marks around it
 * and the stars that people put before each line of long ones.
 */
#include "comments.h"

/* "* text" within a comment, and the mark of its end. */
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

/* One line; true if a comment goes on after it. */
static bool put_line(kc_buf *out, kc_str line, bool inside)
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
    /* Lines that hold a mark alone say nothing. */
    if (rest.n || (!begins && !ends))
        put_comment(out, rest);
    return !ends;
}

void kc_yaml_comments(kc_str text, kc_buf *out)
{
    bool inside = false;
    while (text.n)
        inside = put_line(out, kc_str_cut(&text, '\n'), inside);
}
