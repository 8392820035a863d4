/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.c: forms of answers. The plain form is the stored bytes; items of a list leave out kind
 * and apiVersion, which the list has said (so a Kubernetes API server writes built-in kinds).
 */
#include "apiserver/rest/render.h"

#include "apiserver/kinds/conversion.h"
#include "kc/json.h"
#include "kc/yaml.h"

kc__renderer kc__renderer_of(const kc__call *call)
{
    return (kc__renderer){
        .form = call->form,
        .resource = call->spoken,
        .item_prefix = call->served->item_prefix,
        .table = {.columns = kc__columns_of(call->spoken),
                  .version = call->form.version,
                  .include = call->form.include,
                  .resource = kc__converts(call->spoken) ? call->spoken : NULL,
                  .now = kc_clock_wall(call->api->clock)},
        .partial = {.version = call->form.version},
    };
}

static void begin_plain(kc__renderer *r, kc_buf *out, const kc__list_meta *meta)
{
    const kc__resource *resource = r->resource;
    kc_buf_printf(out,
                  "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",\"metadata\":", resource->list_kind,
                  resource->group, *resource->group ? "/" : "", resource->version);
    size_t start = out->n;
    kc__list_meta_write(out, meta);
    /* Lists of custom resources say that there is no more, too. */
    if (resource->custom && kc_str_empty(meta->continue_token)) {
        out->n--;
        kc_buf_puts(out, out->n > start + 1 ? ",\"continue\":\"\"}" : "\"continue\":\"\"}");
    }
    kc_buf_puts(out, ",\"items\":[");
}

void kc__render_list_begin(kc__renderer *r, kc_buf *out, const kc__list_meta *meta)
{
    switch (r->form.as) {
    case KC__AS_TABLE: kc__table_begin(&r->table, out, meta); break;
    case KC__AS_PARTIAL: kc__partial_list_begin(&r->partial, out, meta); break;
    case KC__AS_OBJECT: begin_plain(r, out, meta); break;
    }
}

/* In the form of the version that was asked for. Tables and metadata of built-in kinds are made of
 * what is stored. */
static kc_object *as_asked(const kc__renderer *r, const kc_object *object)
{
    /* A bookmark has no name, and nothing that could be filled in. */
    bool is_bookmark = kc_str_empty(kc_object_name(object));
    if (is_bookmark || (r->form.as != KC__AS_OBJECT && !r->resource->custom))
        return kc_object_ref(object);
    kc_object *shown = kc__from_stored(r->resource, object, NULL);
    return shown ? shown : kc_object_ref(object);
}

static void plain_item(kc__renderer *r, kc_buf *out, const kc_object *object)
{
    kc_str json = kc_object_json(object);
    if (r->started)
        kc_buf_putc(out, ',');
    r->started = true;
    if (!kc_str_empty(r->item_prefix) && kc_str_starts(json, r->item_prefix)) {
        kc_buf_putc(out, '{');
        json = kc_str_sub(json, r->item_prefix.n, json.n);
    }
    kc_buf_append(out, json);
}

void kc__render_list_item(kc__renderer *r, kc_buf *out, const kc_object *stored)
{
    kc_auto(kc_object) *object = as_asked(r, stored);
    switch (r->form.as) {
    case KC__AS_TABLE: kc__table_row(&r->table, out, object); break;
    case KC__AS_PARTIAL: kc__partial_list_item(&r->partial, out, object); break;
    case KC__AS_OBJECT: plain_item(r, out, object); break;
    }
}

void kc__render_list_end(kc__renderer *r, kc_buf *out)
{
    switch (r->form.as) {
    case KC__AS_TABLE: kc__table_end(&r->table, out); break;
    case KC__AS_PARTIAL: kc__partial_list_end(&r->partial, out); break;
    case KC__AS_OBJECT: kc_buf_puts(out, "]}"); break;
    }
}

void kc__render_one(kc__renderer *r, kc_buf *out, const kc_object *stored)
{
    kc_auto(kc_object) *object = as_asked(r, stored);
    switch (r->form.as) {
    case KC__AS_TABLE: kc__table_of(&r->table, out, object); break;
    case KC__AS_PARTIAL: kc__partial_write(out, object, r->form.version); break;
    case KC__AS_OBJECT: kc_buf_append(out, kc_object_json(object)); break;
    }
}

void kc__render_for_people(const kc__form *form, kc_str json, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(json, &(kc_json_opts){.max_bytes = SIZE_MAX}, NULL);
    if (!view)
        return;
    if (form->yaml)
        kc_yaml_write(out, kc_view_root(view));
    else
        kc_json_write_pretty(out, kc_view_root(view));
}
