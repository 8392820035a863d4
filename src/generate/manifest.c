/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c: files of several objects.
 *
 * Generators put objects together as JSON, in whatever order is handy; the YAML writer sorts. So
 * what is written depends on what is in the objects and on nothing else.
 */
#include "generate/manifest.h"

#include "kc/json.h"
#include "kc/yaml.h"

int kc__manifest_add(kc_buf *yaml, kc_str json, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, err);
    if (!view)
        return kc_error_wrap(err, "a generated object");
    kc_buf_puts(yaml, "---\n");
    kc_yaml_write(yaml, kc_view_root(view));
    return 0;
}

static void begin_member(kc_buf *json, const char *name)
{
    const bool first = json->n == 0 || json->p[json->n - 1] == '{';
    kc_buf_printf(json, "%s\"%s\":", first ? "" : ",", name);
}

void kc__manifest_list(kc_buf *json, const char *name, const kc_str *items, size_t n)
{
    begin_member(json, name);
    kc_buf_putc(json, '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(json, i ? "," : "");
        kc_json_quote(json, items[i]);
    }
    kc_buf_putc(json, ']');
}

void kc__manifest_text(kc_buf *json, const char *name, kc_str text)
{
    begin_member(json, name);
    kc_json_quote(json, text);
}
