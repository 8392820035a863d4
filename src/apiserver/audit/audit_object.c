/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_object.c: bodies of requests and responses in events: compact JSON, without managedFields
 * where the policy omits them: of an object, of the items of a list, of the objects in a table.
 */
#include "apiserver/audit/audit_internal.h"

#include "kc/json.h"
#include "kc/yaml.h"

static void begin_name(kc_buf *out, bool *first, kc_str name)
{
    kc_buf_putc(out, *first ? '{' : ',');
    *first = false;
    kc_json_quote(out, name);
    kc_buf_putc(out, ':');
}

static void end_members(kc_buf *out, bool first)
{
    kc_buf_puts(out, first ? "{}" : "}");
}

static void write_unowned_metadata(kc_buf *out, const kc_value *metadata)
{
    bool first = true;
    kc_value_each_member (metadata, name, value) {
        if (kc_str_is(name, "managedFields"))
            continue;
        begin_name(out, &first, name);
        kc_json_write(out, value);
    }
    end_members(out, first);
}

static void write_without_owners(kc_buf *out, const kc_value *value, unsigned depth);

static void write_items(kc_buf *out, const kc_value *items, unsigned depth)
{
    bool first = true;
    kc_buf_putc(out, '[');
    kc_value_each_item (items, item) {
        kc_buf_puts(out, first ? "" : ",");
        write_without_owners(out, item, depth);
        first = false;
    }
    kc_buf_putc(out, ']');
}

/* `depth` counts levels below which objects are looked for: lists, rows, objects of rows. */
static void write_without_owners(kc_buf *out, const kc_value *value, unsigned depth)
{
    bool first = true;
    if (kc_value_type(value) != KC_JSON_OBJECT) {
        kc_json_write(out, value);
        return;
    }
    kc_value_each_member (value, name, member) {
        const kc_json_type type = kc_value_type(member);
        begin_name(out, &first, name);
        if (kc_str_is(name, "metadata") && type == KC_JSON_OBJECT)
            write_unowned_metadata(out, member);
        else if (depth && type == KC_JSON_ARRAY &&
                 (kc_str_is(name, "items") || kc_str_is(name, "rows")))
            write_items(out, member, depth - 1);
        else if (depth && kc_str_is(name, "object") && type == KC_JSON_OBJECT)
            write_without_owners(out, member, depth - 1);
        else
            kc_json_write(out, member);
    }
    end_members(out, first);
}

bool kc__audit_write_object(kc_buf *out, kc_str text, bool omit_managed_fields)
{
    kc_auto(kc_view) *view = kc_yaml_parse_first(text, NULL, NULL);
    if (!view)
        return false;
    if (omit_managed_fields)
        write_without_owners(out, kc_view_root(view), 3);
    else
        kc_json_write(out, kc_view_root(view));
    return true;
}

void kc__audit_write_status(kc_buf *out, kc_str body, int code)
{
    static const char *const members[] = {"status", "message", "reason", "details"};
    kc_auto(kc_view) *view = kc_yaml_parse_first(body, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    kc_buf_puts(out, "{\"metadata\":{}");
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        const kc_value *value = kc_value_get(root, members[i]);
        if (!value)
            continue;
        kc_buf_printf(out, ",\"%s\":", members[i]);
        kc_json_write(out, value);
    }
    kc_buf_printf(out, ",\"code\":%d}", code);
}

bool kc__audit_write_delete_options(kc_buf *out, kc_str body)
{
    kc_auto(kc_view) *view = kc_yaml_parse_first(body, NULL, NULL);
    if (!view || kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT)
        return false;
    kc_buf_puts(out, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"meta.k8s.io/__internal\"");
    kc_value_each_member (kc_view_root(view), name, value) {
        if (kc_str_is(name, "kind") || kc_str_is(name, "apiVersion"))
            continue;
        kc_buf_putc(out, ',');
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        kc_json_write(out, value);
    }
    kc_buf_putc(out, '}');
    return true;
}
