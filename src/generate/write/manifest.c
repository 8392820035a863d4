/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c: files of several objects.
 *
 * Generators build objects as JSON in any order; the YAML writer sorts. So the output depends only
 * on the content of the objects.
 */
#include "generate/write/manifest.h"

#include "kc/json.h"
#include "kc/yaml.h"

int kc__gen_manifest_add(kc_buf *yaml, kc_str json, kc_error *err)
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

void kc__gen_manifest_list(kc_buf *json, const char *name, const kc_str *items, size_t n)
{
    begin_member(json, name);
    kc_json_quote_all(json, items, n);
}

void kc__gen_manifest_text(kc_buf *json, const char *name, kc_str text)
{
    begin_member(json, name);
    kc_json_quote(json, text);
}
