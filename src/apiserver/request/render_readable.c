/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render_readable.c: lists as YAML or indented JSON, item by item, so that a list of any length
 * needs no more memory than its longest item.
 *
 * The list without items (the shell) is rendered as a whole and split where its items belong:
 *
 *     apiVersion: v1                       {
 *     items:                                 "kind": "PodList",
 *     - …   the items                        "items": [
 *     kind: PodList   the tail                 …   the items
 *     metadata: …                            ]
 *                                          }   the tail
 *
 * Only keys of the list itself begin at the left margin (in JSON after two spaces): lines of longer
 * strings are indented further.
 */
#include "apiserver/request/render.h"

#include "kc/json.h"
#include "kc/yaml.h"

/* The offset of the value of the list's items in the rendered shell: after the colon. */
static size_t find_items(const kc__rest_renderer *r, kc_str text)
{
    const char *name = r->form.as == KC__REST_AS_TABLE ? "rows" : "items";
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, r->form.yaml ? "\n%s:" : "\n  \"%s\":", name);
    const char *at = memmem(text.p, text.n, key.p, key.n);
    assert(at);
    return (size_t)(at - text.p) + key.n;
}

void kc__rest_readable_begin(kc__rest_renderer *r, kc_buf *out, kc_str shell)
{
    kc_scoped(kc_buf) rendered = {0};
    kc__rest_render_readable(&r->form, shell, &rendered);
    kc_str text = kc_buf_str(&rendered);
    size_t value = find_items(r, text), end = value;
    while (end < text.n && text.p[end] != '\n' && text.p[end] != ',')
        end++;
    kc_buf_append(out, kc_str_sub(text, 0, value));
    kc_buf_append(&r->empty, kc_str_sub(text, value, end));
    kc_buf_append(&r->tail, kc_str_sub(text, end, text.n));
    r->started = false;
    r->any = false;
}

/* Indents all lines but the first by two levels. */
static void append_indented(kc_buf *out, kc_str text)
{
    while (text.p) {
        kc_str line = kc_str_cut(&text, '\n');
        kc_buf_append(out, line);
        if (text.p)
            kc_buf_puts(out, "\n    ");
    }
}

void kc__rest_readable_item(kc__rest_renderer *r, kc_buf *out, kc_str item)
{
    kc_auto(kc_view) *view = kc_view_parse(item, &(kc_json_opts){.max_bytes = SIZE_MAX}, NULL);
    kc_scoped(kc_buf) text = {0};
    if (r->form.yaml) {
        kc_buf_puts(out, r->any ? "" : "\n");
        kc_yaml_write_element(out, kc_view_root(view));
    } else {
        kc_buf_puts(out, r->any ? ",\n    " : " [\n    ");
        kc_json_write_pretty(&text, kc_view_root(view));
        append_indented(out, kc_buf_str(&text));
    }
    r->any = true;
}

void kc__rest_readable_end(kc__rest_renderer *r, kc_buf *out)
{
    kc_str tail = kc_buf_str(&r->tail);
    if (!r->any)
        kc_buf_append(out, kc_buf_str(&r->empty));
    else if (r->form.yaml)
        tail = kc_str_sub(tail, 1, tail.n); /* The last item has ended its line. */
    else
        kc_buf_puts(out, "\n  ]");
    kc_buf_append(out, tail);
}
