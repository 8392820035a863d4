/* SPDX-License-Identifier: Apache-2.0 */
/* crd_warnings.c: warnings about an accepted CRD: unknown formats, which are not validated. */
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_validate.h"
#include "kc/map.h"
#include "object/gofmt/go_quote.h"
#include "object/schema/schema_internal.h"

enum { MOST_WARNINGS = 100 };

typedef struct notes {
    kc_map formats; /* Unknown formats. */
} notes;

static void notes_done(notes *n)
{
    kc_map_done(&n->formats);
}

static bool is_known(kc_str format)
{
    return kc__schema_format_find(format) || kc_str_is(format, "password") ||
           kc_str_is(format, "k8s-short-name") || kc_str_is(format, "k8s-long-name");
}

static void note_schema(notes *n, const kc_value *schema);

static void note_children(notes *n, kc_str keyword, const kc_value *value)
{
    bool named = kc_str_is(keyword, "properties") || kc_str_is(keyword, "patternProperties") ||
                 kc_str_is(keyword, "definitions");
    bool listed =
        kc_str_is(keyword, "allOf") || kc_str_is(keyword, "anyOf") || kc_str_is(keyword, "oneOf");
    if (named)
        kc_value_each_member (value, name, child) {
            (void)name;
            note_schema(n, child);
        }
    else if (listed)
        kc_value_each_item (value, child)
            note_schema(n, child);
    else if (kc_str_is(keyword, "items") || kc_str_is(keyword, "not") ||
             kc_str_is(keyword, "additionalProperties"))
        note_schema(n, value);
}

static void note_schema(notes *n, const kc_value *schema)
{
    kc_str format = kc_value_as_str(kc_value_get(schema, "format"));
    bool is_string = kc_str_is(kc_value_as_str(kc_value_get(schema, "type")), "string");
    if (is_string && format.n && !is_known(format))
        kc_map_put(&n->formats, format, n);
    kc_value_each_member (schema, keyword, value)
        note_children(n, keyword, value);
}

static void note_definition(notes *n, const kc_value *crd)
{
    kc_value_each_item (kc_value_get(kc_value_get(crd, "spec"), "versions"), version)
        note_schema(n, kc__crd_schema_of(version));
}

void kc__crd_warnings(const kc_value *crd, const kc_value *old, kc_paths *warnings)
{
    kc_scoped(notes) now = {0}, before = {0};
    note_definition(&now, crd);
    note_definition(&before, old);
    kc_map_each (&now.formats, format) {
        if (kc_map_get(&before.formats, format->key) || warnings->n >= MOST_WARNINGS)
            continue;
        kc_scoped(kc_buf) text = {0};
        kc_buf_puts(&text, "unrecognized format ");
        kc__go_quote(&text, format->key);
        kc_vec_push(warnings, kc_buf_take(&text));
    }
}
