/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: from objects to Scales and back.
 *
 *     object ─▶ kc__scale (two numbers, a selector) ─▶ Scale ─▶ what the client makes of it
 *        ▲                                                              │
 *        └──────────────── spec.replicas, resourceVersion ◀─────────────┘
 *
 * Only the first step depends on where an object comes from: all built-in kinds that scale have
 * spec.replicas, status.replicas and spec.selector; custom ones are read by the paths of their
 * definition (crd/custom_scale.c).
 */
#include "apiserver/kinds/scale.h"

#include "apiserver/crd/custom_object.h"
#include "kc/edit.h"
#include "kc/metadata_validation.h"
#include "kc/selector.h"

#include <inttypes.h>

/* ---- built-in kinds ---- */

/* Labels that must be there, as ReplicationControllers have them. */
static void write_labels(kc_buf *out, const kc_value *labels)
{
    kc_members (labels, name, value)
        kc_buf_printf(out, "%s%.*s=%.*s", out->n ? "," : "", KC_ARG(name),
                      KC_ARG(kc_as_str(value)));
}

static int write_selector(kc_buf *out, const kc__resource *resource, const kc_value *selector,
                          kc_error *err)
{
    if (!strcmp(resource->kind, "ReplicationController")) {
        write_labels(out, selector);
        return 0;
    }
    kc_auto(kc_selector) *read = kc_selector_of(selector, err);
    if (!read)
        return -1;
    kc_selector_write(out, read);
    return 0;
}

/* `text` holds the selector. */
static int read_built_in(const kc__resource *resource, const kc_value *root, kc_buf *text,
                         kc__scale *ret, kc_error *err)
{
    const kc_value *spec = kc_get(root, "spec");
    if (write_selector(text, resource, kc_get(spec, "selector"), err) < 0)
        return -1;
    ret->wanted = kc_as_i64_or(kc_get(spec, "replicas"), 0);
    ret->there = kc_as_i64_or(kc_get(kc_get(root, "status"), "replicas"), 0);
    ret->selector = kc_buf_str(text);
    return 0;
}

/* ---- the Scale ---- */

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

static kc_object *scale_object(const kc_object *of, const kc__scale *scale, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{");
    write_metadata(&text, of);
    kc_buf_puts(&text, "},\"spec\":{");
    if (scale->wanted) /* Left out when it is 0, as Go does. */
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
    kc__scale scale = {0};
    kc_scoped(kc_buf) selector = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    int read = resource->custom ? kc__custom_scale_read(resource->custom, root, needs, &scale, err)
                                : read_built_in(resource, root, &selector, &scale, err);
    return read < 0 ? NULL : scale_object(object, &scale, err);
}

kc_object *kc__with_scale(const kc__resource *resource, const kc_object *object,
                          const kc_object *scale, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(scale);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *root = kc_edit_root(edit);
    int64_t replicas = kc_as_i64_or(kc_get(kc_get(kc_view_root(view), "spec"), "replicas"), 0);
    kc_str version = kc_object_resource_version(scale);
    if (!resource->custom)
        kc_node_set(edit, kc_node_need_object(edit, root, KC_STR("spec")), KC_STR("replicas"),
                    kc_node_i64(edit, replicas));
    else if (kc__custom_scale_write(resource->custom, edit, replicas, err) < 0)
        return NULL;
    kc_node *metadata = kc_node_need_object(edit, root, KC_STR("metadata"));
    if (version.n)
        kc_node_set(edit, metadata, KC_STR("resourceVersion"), kc_node_str(edit, version));
    else
        kc_node_remove(metadata, KC_STR("resourceVersion"));
    return kc_edit_freeze(edit, err);
}

void kc__check_scale(const kc_value *scale, kc_field_errors *errors)
{
    const kc_value *replicas = kc_get(kc_get(scale, "spec"), "replicas");
    const kc_value *metadata = kc_get(scale, "metadata");
    /* The namespace of the request is its own where it names none. */
    kc_validate_metadata(errors, metadata,
                         &(kc_metadata_rules){.namespaced = kc_get(metadata, "namespace")});
    if (kc_as_i64_or(replicas, 0) < 0)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, "spec.replicas", replicas,
                                  "must be greater than or equal to 0");
}
