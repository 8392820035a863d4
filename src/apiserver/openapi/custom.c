/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom.c: schemas of resources that are not among the definitions: JSON already, as whoever
 * defined the resource wrote it (kc__openapi_source).
 *
 * They are called by the group read backwards: com.example.v1.Foo. The schema is published as it
 * is, with the kind it belongs to; the list's is made here.
 */
#include "apiserver/openapi/openapi_internal.h"
#include "kc/json.h"

/* "com.example.v1.Foo" of "example.com". */
static const char *schema_name(kc__openapi_writer *w, const kc__resource *resource)
{
    kc_scoped(kc_buf) name = {0};
    kc_str group = kc_cstr(resource->group);
    while (group.n) {
        ptrdiff_t dot = kc_str_rfind(group, '.');
        kc_str last = kc_str_sub(group, (size_t)(dot + 1), group.n);
        kc_buf_printf(&name, "%.*s.", KC_ARG(last));
        group = kc_str_sub(group, 0, dot < 0 ? 0 : (size_t)dot);
    }
    kc_buf_printf(&name, "%s.%s", resource->version, resource->kind);
    return kc_arena_strndup(w->arena, name.p, name.n);
}

const char *kc__openapi_schema_of(kc__openapi_writer *w, const kc__resource *resource)
{
    if (resource->type)
        return kc__openapi_want(w, resource->type);
    const char *name = schema_name(w, resource);
    if (!kc_map_get(&w->customs, kc_cstr(name)))
        kc_map_put(&w->customs, kc_cstr(name), (void *)resource);
    return name;
}

const char *kc__openapi_list_schema_of(kc__openapi_writer *w, const kc__resource *resource)
{
    if (!resource->type)
        return kc_arena_printf(w->arena, "%sList", kc__openapi_schema_of(w, resource));
    const char *name = kc_arena_printf(w->arena, "%sList", resource->type_name);
    return kc__openapi_want(w, kc__definition_find(kc_cstr(name)));
}

/* What is open gets the kind it belongs to, and is closed. */
static void close_with_kind(kc__openapi_writer *w, const kc__resource *resource, const char *kind)
{
    kc__json_member(w->out, "x-kubernetes-group-version-kind");
    kc_buf_putc(w->out, '[');
    kc__openapi_write_kind(w->out, resource->group, resource->version, kind);
    kc_buf_puts(w->out, "]}");
}

static void write_custom(kc__openapi_writer *w, const char *name, const kc__resource *resource)
{
    kc_str schema = {0};
    if (w->source && w->source->schema)
        schema = kc_str_trim(w->source->schema(resource, w->source->user));
    kc__json_member(w->out, name);
    if (schema.n > 2 && schema.p[0] == '{')
        kc_buf_append(w->out, kc_str_sub(schema, 0, schema.n - 1));
    else
        kc_buf_puts(w->out, "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true");
    close_with_kind(w, resource, resource->kind);
}

static void write_custom_list(kc__openapi_writer *w, const char *name, const kc__resource *resource)
{
    kc_buf *out = w->out;
    const char *meta =
        kc__openapi_want(w, kc__definition_find(KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1."
                                                       "ListMeta")));
    kc__json_member(out, kc_arena_printf(w->arena, "%sList", name));
    kc_buf_printf(out,
                  "{\"description\":\"%s is a list of %s\",\"type\":\"object\","
                  "\"required\":[\"items\"],\"properties\":{\"apiVersion\":{\"type\":"
                  "\"string\"},\"items\":{\"type\":\"array\",\"items\":",
                  resource->list_kind, resource->kind);
    kc__openapi_write_ref(w, name);
    kc_buf_puts(out, "},\"kind\":{\"type\":\"string\"},\"metadata\":");
    kc__openapi_write_ref(w, meta);
    kc_buf_putc(out, '}');
    close_with_kind(w, resource, resource->list_kind);
}

void kc__openapi_write_customs(kc__openapi_writer *w)
{
    kc_map_each (&w->customs, entry) {
        const kc__resource *resource = entry->value;
        write_custom(w, entry->key.p, resource);
        if (resource->list_kind)
            write_custom_list(w, entry->key.p, resource);
    }
}
