/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_output.c: writes events of a watch, as bytes or as objects.
 *
 * The bytes of a change are a shared frame (watch_frames.h). The objects are the stored ones if the
 * watched version is the stored version: server and client then share the same object.
 */
#include "apiserver/verbs/watch_output.h"

#include "object/model/status.h"

static void output_count(kc__rest_watch_output *out, size_t bytes)
{
    out->room -= KC_MIN(out->room, bytes);
}

void kc__rest_watch_put_object(kc__rest_watch_output *out, kc__exchange_item_type type,
                               const kc_object *object)
{
    if (!object)
        return;
    out->items->take(out->items, type, object);
    output_count(out, kc_object_json(object).n);
}

void kc__rest_watch_put_frame(kc__rest_watch_output *out, kc__http_shared_bytes *frame)
{
    if (!frame)
        return;
    kc__http_body_sink_put(out->bytes, frame);
    output_count(out, frame->n);
}

void kc__rest_watch_put(kc__rest_watch_output *out, kc__rest_renderer *renderer,
                        kc__exchange_item_type type, const kc_object *object)
{
    if (out->items) {
        kc_auto(kc_object) *shown = kc__rest_render_object(renderer, object, NULL);
        kc__rest_watch_put_object(out, type, shown);
        return;
    }
    const size_t before = out->bytes->text->n;
    kc__rest_frame_write(renderer, out->bytes->text, type, object);
    output_count(out, out->bytes->text->n - before);
}

void kc__rest_watch_put_unshared(kc__rest_watch_output *out, kc__rest_renderer *renderer,
                                 const kc__rest_watch_change *change)
{
    const bool as_stored = renderer->as_stored;
    kc_auto(kc_object) *object = kc__rest_watch_change_object(renderer, change);
    if (object)
        kc__rest_watch_put(out, renderer, change->type, object);
    renderer->as_stored = as_stored;
}

void kc__rest_watch_put_change(kc__rest_watch_output *out, kc__rest_near_frames *near,
                               kc__rest_renderer *renderer, const kc__rest_watch_change *change)
{
    if (out->items || !kc__rest_frames_has(renderer, change)) {
        kc__rest_watch_put_unshared(out, renderer, change);
        return;
    }
    kc_auto(kc__http_shared_bytes) *frame = kc__rest_frames_get(near, renderer, change);
    kc__rest_watch_put_frame(out, frame);
}

void kc__rest_watch_put_error(kc__rest_watch_output *out, const kc_error *err)
{
    kc_scoped(kc_buf) status = {0};
    kc__status_write(&status, err, NULL);
    if (out->items) {
        kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&status), NULL, NULL);
        kc__rest_watch_put_object(out, KC__EXCHANGE_ITEM_ERROR, object);
        return;
    }
    kc_buf_puts(out->bytes->text, "{\"type\":\"ERROR\",\"object\":");
    kc_buf_append(out->bytes->text, kc_buf_str(&status));
    kc_buf_puts(out->bytes->text, "}\n");
    output_count(out, status.n);
}
