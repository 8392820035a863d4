/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale_values.c: creates the Scale of an object, and applies a Scale to an object.
 *
 *     object ─▶ kc__scale_values (two numbers, a selector) ─▶ Scale ─▶ changed by the client
 *        ▲                                                              │
 *        └──────────────── spec.replicas, resourceVersion ◀─────────────┘
 *
 * The operations of the resource (resource_ops.h) know where an object keeps its replica counts.
 */
#include "apiserver/kinds/scale_values.h"

#include "apiserver/kinds/resource_ops.h"
#include "kc/edit.h"
#include "kc/metadata_validation.h"

#include <inttypes.h>

static void write_metadata(kc_buf *out, const kc_object *object)
{
    const struct {
        const char *name;
        kc_str value;
    } members[] = {
        {"name", kc_object_name(object)},
        {"namespace", kc_object_namespace(object)},
        {"uid", kc_object_uid(object)},
        {"resourceVersion", kc_object_resource_version(object)},
        {"creationTimestamp", kc_object_creation_timestamp(object)},
    };
    const char *between = "";
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        if (!members[i].value.n)
            continue;
        kc_buf_printf(out, "%s\"%s\":", between, members[i].name);
        kc_json_quote(out, members[i].value);
        between = ",";
    }
}

static kc_object *scale_object(const kc_object *of, const kc__scale_values *scale, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{");
    write_metadata(&text, of);
    kc_buf_puts(&text, "},\"spec\":{");
    if (scale->wanted) /* Omitted when it is 0, as in Go. */
        kc_buf_printf(&text, "\"replicas\":%" PRId32, (int32_t)scale->wanted);
    kc_buf_printf(&text, "},\"status\":{\"replicas\":%" PRId32, (int32_t)scale->there);
    if (scale->selector.n) {
        kc_buf_puts(&text, ",\"selector\":");
        kc_json_quote(&text, scale->selector);
    }
    kc_buf_puts(&text, "}}");
    return kc_object_parse(kc_buf_str(&text), NULL, err);
}

kc_object *kc__scale_of(const kc__resource *resource, const kc_object *object, bool needs,
                        kc_error *err)
{
    kc__scale_values scale = {0};
    kc_scoped(kc_buf) selector = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    if (resource->ops->read_scale(resource, kc_view_root(view), needs, &selector, &scale, err) < 0)
        return NULL;
    return scale_object(object, &scale, err);
}

kc_object *kc__scale_apply_to(const kc__resource *resource, const kc_object *object,
                              const kc_object *scale, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(scale);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *root = kc_edit_root(edit);
    int64_t replicas =
        kc_value_as_i64_or(kc_value_get(kc_value_get(kc_view_root(view), "spec"), "replicas"), 0);
    kc_str version = kc_object_resource_version(scale);
    if (resource->ops->write_scale(resource, edit, replicas, err) < 0)
        return NULL;
    kc_node *metadata = kc_node_ensure_object(edit, root, KC_STR("metadata"));
    if (version.n)
        kc_node_set(edit, metadata, KC_STR("resourceVersion"), kc_node_str(edit, version));
    else
        kc_node_remove(metadata, KC_STR("resourceVersion"));
    return kc_edit_freeze(edit, err);
}

void kc__validate_scale(const kc_value *scale, kc_field_errors *errors)
{
    const kc_value *replicas = kc_value_get(kc_value_get(scale, "spec"), "replicas");
    const kc_value *metadata = kc_value_get(scale, "metadata");
    /* A Scale without a namespace has that of the request. */
    kc_validate_metadata(errors, metadata,
                         &(kc_metadata_rules){.namespaced = kc_value_get(metadata, "namespace")});
    if (kc_value_as_i64_or(replicas, 0) < 0)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "spec.replicas", replicas,
                                  "must be greater than or equal to 0");
}
