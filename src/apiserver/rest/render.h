/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h: objects and lists in the form a client asked for, written straight from their bytes.
 */
#ifndef KC_APISERVER_RENDER_H
#define KC_APISERVER_RENDER_H

#include "apiserver/printing/table.h"
#include "apiserver/rest/call.h"

/* Writes objects one by one: a list's items, a watch's events. A value; outlives the call. */
typedef struct kc__renderer {
    kc__form form;
    const kc__resource *resource;
    kc_str item_prefix; /* See kc__served. */
    kc__table table;
    kc__partial_list partial;
    bool started;
} kc__renderer;

kc__renderer kc__renderer_of(const kc__call *call);

/* A list, item by item. */
void kc__render_list_begin(kc__renderer *r, kc_buf *out, const kc__list_meta *meta);
void kc__render_list_item(kc__renderer *r, kc_buf *out, const kc_object *object);
void kc__render_list_end(kc__renderer *r, kc_buf *out);

/* One object, also that of an event. */
void kc__render_one(kc__renderer *r, kc_buf *out, const kc_object *object);

/* JSON as YAML, or indented. */
void kc__render_for_people(const kc__form *form, kc_str json, kc_buf *out);

#endif
