/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.c: renders responses. The plain form is the stored bytes; list items omit kind and
 * apiVersion, which the list has (as a Kubernetes API server does for built-in kinds).
 */
#include "apiserver/request/render.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/unservable.h"
#include "kc/json.h"
#include "kc/yaml.h"

kc__rest_renderer kc__rest_renderer_of(const kc__rest_call *call)
{
    const bool one_form = !call->request_resource->ops->transforms_on_read &&
                          !kc__convert_is_needed(call->request_resource);
    return (kc__rest_renderer){
        .api = call->api,
        .form = call->form,
        .resource = call->request_resource,
        .catalog_number = call->request_resource->ops->serves_alike ? call->catalog->number : 0,
        .as_stored = one_form && call->form.as == KC__REST_AS_OBJECT,
        .item_prefix = call->served->item_prefix,
        .table = {.columns = kc__print_columns_of(call->request_resource),
                  .version = call->form.version,
                  .include = call->form.include,
                  .resource =
                      kc__convert_is_needed(call->request_resource) ? call->request_resource : NULL,
                  .now = kc_clock_wall(call->api->clock)},
        .partial = {.version = call->form.version},
    };
}

static void begin_plain(kc__rest_renderer *r, kc_buf *out, const kc__print_list_meta *meta)
{
    const kc__resource *resource = r->resource;
    kc_buf_printf(out,
                  "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",\"metadata\":", resource->list_kind,
                  resource->group, *resource->group ? "/" : "", resource->version);
    size_t start = out->n;
    kc__print_list_meta_write(out, meta);
    if (resource->ops->list_has_empty_continue && kc_str_empty(meta->continue_token)) {
        out->n--;
        kc_buf_puts(out, out->n > start + 1 ? ",\"continue\":\"\"}" : "\"continue\":\"\"}");
    }
    kc_buf_puts(out, ",\"items\":[");
}

void kc__rest_renderer_done(kc__rest_renderer *r)
{
    kc_buf_done(&r->empty);
    kc_buf_done(&r->tail);
}

static void begin_json(kc__rest_renderer *r, kc_buf *out, const kc__print_list_meta *meta)
{
    switch (r->form.as) {
    case KC__REST_AS_TABLE: kc__print_table_begin(&r->table, out, meta); break;
    case KC__REST_AS_PARTIAL: kc__print_partial_list_begin(&r->partial, out, meta); break;
    case KC__REST_AS_OBJECT: begin_plain(r, out, meta); break;
    }
}

static void end_json(kc__rest_renderer *r, kc_buf *out)
{
    switch (r->form.as) {
    case KC__REST_AS_TABLE: kc__print_table_end(&r->table, out); break;
    case KC__REST_AS_PARTIAL: kc__print_partial_list_end(&r->partial, out); break;
    case KC__REST_AS_OBJECT: kc_buf_puts(out, "]}"); break;
    }
}

static bool is_readable(const kc__rest_renderer *r)
{
    return r->form.yaml || r->form.pretty;
}

void kc__rest_render_list_begin(kc__rest_renderer *r, kc_buf *out, const kc__print_list_meta *meta)
{
    kc_scoped(kc_buf) shell = {0};
    kc_buf *to = is_readable(r) ? &shell : out;
    begin_json(r, to, meta);
    if (!is_readable(r))
        return;
    end_json(r, to);
    kc__rest_readable_begin(r, out, kc_buf_str(&shell));
}

/* Whether the stored bytes can be used: reading does not transform metadata, or the values in a
 * table. A bookmark, which has no name, has only metadata. */
static bool shows_stored(const kc__rest_renderer *r, const kc_object *object)
{
    const kc__resource_ops *ops = r->resource->ops;
    return r->as_stored || kc_str_empty(kc_object_name(object)) ||
           (r->form.as == KC__REST_AS_PARTIAL && !ops->coerce_metadata) ||
           (r->form.as == KC__REST_AS_TABLE && !ops->transforms_on_read);
}

/* A table row shows the stored values if the object cannot be served, unless the row includes the
 * object. */
kc_object *kc__rest_render_object(const kc__rest_renderer *r, const kc_object *object,
                                  kc_error *err)
{
    if (shows_stored(r, object))
        return kc_object_ref(object);
    if (r->form.as == KC__REST_AS_PARTIAL)
        return r->resource->ops->coerce_metadata(object);
    kc_object *shown = kc__rest_show_stored(r->api, r->resource, object, err);
    bool row = r->form.as == KC__REST_AS_TABLE && r->form.include != KC__PRINT_INCLUDE_OBJECT;
    return shown || !row ? shown : kc_object_ref(object);
}

/* Hot path of a list: one check of the room, one copy per item. */
static void plain_item(kc__rest_renderer *r, kc_buf *out, const kc_object *object)
{
    kc_str json = kc_object_json(object);
    char *to = kc_buf_reserve(out, json.n + 2);
    if (!to)
        return;
    if (r->started)
        *to++ = ',';
    r->started = true;
    if (!kc_str_empty(r->item_prefix) && kc_str_starts(json, r->item_prefix)) {
        *to++ = '{';
        json = kc_str_sub(json, r->item_prefix.n, json.n);
    }
    memcpy(to, json.p, json.n);
    out->n = (size_t)(to - out->p) + json.n;
}

static void write_shown(kc__rest_renderer *r, kc_buf *out, const kc_object *object)
{
    switch (r->form.as) {
    case KC__REST_AS_TABLE: kc__print_table_row(&r->table, out, object); break;
    case KC__REST_AS_PARTIAL: kc__print_partial_list_item(&r->partial, out, object); break;
    case KC__REST_AS_OBJECT: plain_item(r, out, object); break;
    }
}

static void write_item(kc__rest_renderer *r, kc_buf *out, const kc_object *stored)
{
    if (shows_stored(r, stored)) {
        write_shown(r, out, stored); /* The list holds it. */
        return;
    }
    kc_auto(kc_object) *object = kc__rest_render_object(r, stored, NULL);
    if (object)
        write_shown(r, out, object);
}

void kc__rest_render_list_item(kc__rest_renderer *r, kc_buf *out, const kc_object *stored)
{
    if (!is_readable(r)) {
        write_item(r, out, stored);
        return;
    }
    /* Rendered like any item but the first: after a comma. */
    kc_scoped(kc_buf) json = {0};
    r->started = r->table.started = r->partial.started = true;
    write_item(r, &json, stored);
    if (json.n)
        kc__rest_readable_item(r, out, kc_str_sub(kc_buf_str(&json), 1, json.n));
}

void kc__rest_render_list_end(kc__rest_renderer *r, kc_buf *out)
{
    if (is_readable(r))
        kc__rest_readable_end(r, out);
    else
        end_json(r, out);
}

int kc__rest_render_one(kc__rest_renderer *r, kc_buf *out, const kc_object *stored, kc_error *err)
{
    kc_auto(kc_object) *object = kc__rest_render_object(r, stored, err);
    if (!object)
        return kc_error_result(err);
    switch (r->form.as) {
    case KC__REST_AS_TABLE: kc__print_table_of(&r->table, out, object); break;
    case KC__REST_AS_PARTIAL: kc__print_partial_write(out, object, r->form.version); break;
    case KC__REST_AS_OBJECT: kc_buf_append(out, kc_object_json(object)); break;
    }
    return 0;
}

void kc__rest_render_readable(const kc__rest_format *form, kc_str json, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(json, &(kc_json_opts){.max_bytes = SIZE_MAX}, NULL);
    if (!view)
        return;
    if (form->yaml)
        kc_yaml_write(out, kc_view_root(view));
    else
        kc_json_write_pretty(out, kc_view_root(view));
}
