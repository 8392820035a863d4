/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h: writes objects and lists in the form that a client asked for, directly from their
 * bytes.
 */
#ifndef KC_APISERVER_RENDER_H
#define KC_APISERVER_RENDER_H

#include "apiserver/printing/table.h"
#include "apiserver/request/phases.h"

/* Writes objects one by one: the items of a list, the events of a watch. Passed by value; may
 * outlive the call. The renderer of a list must be released. */
typedef struct kc__rest_renderer {
    kc__rest_api *api;
    kc__rest_format form;
    const kc__resource *resource;
    uint64_t catalog_number; /* The catalog's number, for a resource that can change at run time;
                          otherwise 0. */
    bool as_stored;          /* Objects are served as stored: a built-in kind with one version. */
    kc_str item_prefix;      /* See kc__rest_served_resource. */
    kc__print_table table;
    kc__print_partial_list partial;
    bool started;
    bool any;           /* Of a readable list: an item has been written. */
    kc_buf empty, tail; /* Of a readable list: the text of an empty list of items; the text after
                           the items. */
} kc__rest_renderer;

kc__rest_renderer kc__rest_renderer_of(const kc__rest_call *call);

void kc__rest_renderer_done(kc__rest_renderer *r);

/* A list, item by item, in the form of the renderer. Objects that cannot be served are omitted
 * (unservable.h). */
void kc__rest_render_list_begin(kc__rest_renderer *r, kc_buf *out, const kc__print_list_meta *meta);
void kc__rest_render_list_item(kc__rest_renderer *r, kc_buf *out, const kc_object *object);
void kc__rest_render_list_end(kc__rest_renderer *r, kc_buf *out);

/* One object, also of a watch event. 0, or negative if it cannot be served; `out` is then
 * unchanged. `err` may be NULL. */
int kc__rest_render_one(kc__rest_renderer *r, kc_buf *out, const kc_object *object, kc_error *err);

/* Returns the object in the version of the renderer, with a reference for the caller; the stored
 * object itself if both are the same. NULL if it cannot be served. `err` may be NULL. */
kc_object *kc__rest_render_object(const kc__rest_renderer *r, const kc_object *stored,
                                  kc_error *err);

/* The parts of a list in YAML and indented JSON (render_readable.c). `shell` is the list without
 * items as JSON, `item` one item. */
void kc__rest_readable_begin(kc__rest_renderer *r, kc_buf *out, kc_str shell);
void kc__rest_readable_item(kc__rest_renderer *r, kc_buf *out, kc_str item);
void kc__rest_readable_end(kc__rest_renderer *r, kc_buf *out);

/* Converts JSON to YAML or indented JSON. */
void kc__rest_render_readable(const kc__rest_format *form, kc_str json, kc_buf *out);

#endif
