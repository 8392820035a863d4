/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insert.c: inserts lines at markers.
 *
 * Earlier insertions are found by their text, at any place: so a repeated command changes nothing,
 * and moved lines stay where users put them. The marker stays below inserted lines, so that they
 * are in order of creation.
 */
#include "scaffold/insert.h"

#define MARKER "+kubebuilder:scaffold:"

/* The next line of a text, with its line break. */
static kc_str scaffold_insert_next_line(kc_str *rest)
{
    const ptrdiff_t end = kc_str_find(*rest, '\n');
    const size_t n = end < 0 ? rest->n : (size_t)end + 1;
    kc_str line = kc_str_sub(*rest, 0, n);
    *rest = kc_str_sub(*rest, n, rest->n);
    return line;
}

static bool is_marker(kc_str line, kc_str name)
{
    const char *at = line.n ? memmem(line.p, line.n, MARKER, sizeof(MARKER) - 1) : NULL;
    if (!at)
        return false;
    kc_str rest = kc_str_sub(line, (size_t)(at - line.p) + sizeof(MARKER) - 1, line.n);
    if (!kc_str_starts(rest, name))
        return false;
    /* "webhook" is not "webhookserver". */
    const char after = rest.n > name.n ? rest.p[name.n] : '\n';
    return after == ' ' || after == '\n' || after == '\r' || after == '*' || after == '\t';
}

static kc_str indentation(kc_str line)
{
    size_t n = 0;
    while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
        n++;
    return kc_str_sub(line, 0, n);
}

static void put_indented(kc_buf *out, kc_str indent, kc_str lines)
{
    while (lines.n) {
        kc_str line = scaffold_insert_next_line(&lines);
        if (kc_str_trim(line).n)
            kc_buf_append(out, indent);
        kc_buf_append(out, line);
    }
}

kc__scaffold_inserted kc__scaffold_insert_at_marker(kc_str text, const char *name, kc_str lines,
                                                    kc_buf *out)
{
    for (kc_str rest = text; rest.n;) {
        kc_str line = scaffold_insert_next_line(&rest);
        if (!is_marker(line, kc_cstr(name)))
            continue;
        kc_scoped(kc_buf) more = {0};
        put_indented(&more, indentation(line), lines);
        if (kc_str_contains(text, kc_buf_str(&more)))
            return KC__SCAFFOLD_INSERT_PRESENT;
        kc_buf_append(out, kc_str_sub(text, 0, (size_t)(line.p - text.p)));
        kc_buf_append(out, kc_buf_str(&more));
        kc_buf_append(out, kc_str_sub(text, (size_t)(line.p - text.p), text.n));
        return KC__SCAFFOLD_INSERTED;
    }
    return KC__SCAFFOLD_INSERT_NO_MARKER;
}
