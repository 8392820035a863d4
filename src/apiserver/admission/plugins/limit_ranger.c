/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_ranger.c: implements the admission plugin LimitRanger for new pods, resized pods and
 * claims. Each LimitRange of the namespace is applied by itself, in the order of their names: its
 * defaults are added to containers in `mutated`, its constraints are checked in `admitted`
 * (limit_range_check.c). The annotation of a pod tells what the last of them added.
 *
 * A namespace may have any number of LimitRanges, and each any number of items: if they are more
 * than a few KiB together, the plugin runs on a worker thread.
 */
#include "apiserver/admission/plugins/limit_ranger.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/plugins/limit_range_check.h"
#include "apiserver/kinds/defaults.h"
#include "base/work.h"
#include "kc/buf.h"
#include "kc/map.h"

#define ANNOTATION "kubernetes.io/limit-ranger"

enum { MANY_BYTES = 8 << 10 }; /* Parsed and applied in less than 0.1 ms. */

/* ---- the LimitRanges of a namespace ---- */

static bool is_limited(const kc__rest_call *call)
{
    if (call->current && !kc_str_empty(kc_object_deletion_timestamp(call->current)))
        return false;
    return kc__admission_creates(call, "core/pods") ||
           kc__admission_writes(call, "core/pods", "resize") ||
           kc__admission_writes(call, "core/persistentvolumeclaims", NULL);
}

static bool is_pod(const kc__rest_call *call)
{
    return !strcmp(call->resource->storage, "core/pods");
}

typedef struct limit_ranges {
    kc__cow_snapshot *all;
    kc__cow_range range; /* Of the namespace. */
    size_t bytes;
} limit_ranges;

static void limit_ranges_done(limit_ranges *ranges)
{
    kc__cow_snapshot_unref(ranges->all);
}

static limit_ranges ranges_of_namespace(kc__rest_call *call)
{
    uint64_t revision;
    limit_ranges ranges = {.range.prefix = kc__rest_key_of(call, (kc_str){0})};
    ranges.all =
        kc__watch_cache_snapshot(kc__admission_objects(call, "", "limitranges"), &revision);
    kc__cow_iter it = kc__cow_iter_start(ranges.all, &ranges.range);
    while (kc__cow_iter_next(&it) && ranges.bytes <= MANY_BYTES)
        ranges.bytes += kc_object_size(it.object);
    return ranges;
}

/* ---- defaults ---- */

/* What one LimitRange adds to containers: the members of a later item win. */
typedef struct container_defaults {
    kc_map requests, limits; /* Of const kc_value *. */
} container_defaults;

static void container_defaults_done(container_defaults *defaults)
{
    kc_map_done(&defaults->requests);
    kc_map_done(&defaults->limits);
}

static void take_defaults(kc_map *to, const kc_value *list)
{
    kc_value_each_member (list, name, amount)
        kc_map_put(to, name, (void *)amount);
}

static void read_container_defaults(const kc_value *range, container_defaults *ret)
{
    kc_value_each_item (kc_value_nested(range, "spec.limits"), item) {
        if (!kc_str_is(kc_value_as_str(kc_value_get(item, "type")), "Container"))
            continue;
        take_defaults(&ret->requests, kc_value_get(item, "defaultRequest"));
        take_defaults(&ret->limits, kc_value_get(item, "default"));
    }
}

static int compare_names(const void *a, const void *b)
{
    return kc_str_compare(a, b);
}

/* Appends "cpu, memory request for container web" with the names in order. */
static void describe_defaults(kc_buf *out, kc_str *names, size_t n, const char *what,
                              const char *noun, kc_str container)
{
    if (!n)
        return;
    qsort(names, n, sizeof(*names), compare_names);
    kc_buf_puts(out, out->n ? "; " : "LimitRanger plugin set: ");
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%s%.*s", i ? ", " : "", KC_ARG(names[i]));
    kc_buf_printf(out, " %s for %s %.*s", what, noun, KC_ARG(container));
}

/* Adds what the container lacks to resources.requests or resources.limits. */
static void add_defaults(kc_edit *edit, kc_node *container, const kc_map *defaults,
                         const char *member, const char *noun, kc_buf *text)
{
    KC_VEC(kc_str) added = {0};
    kc_node *resources = kc_node_ensure_object(edit, container, KC_STR("resources"));
    kc_map_each (defaults, entry) {
        kc_node *list = kc_node_get(resources, kc_cstr(member));
        if (kc_node_get(list, entry->key))
            continue;
        kc_node_set(edit, kc_node_ensure_object(edit, resources, kc_cstr(member)), entry->key,
                    kc_node_from_value(edit, entry->value));
        kc_vec_push(&added, entry->key);
    }
    describe_defaults(text, added.items, added.n, strcmp(member, "limits") ? "request" : "limit",
                      noun, kc__defaults_node_text(container, "name"));
    kc_vec_done(&added);
}

static void default_pod(kc_edit *edit, const container_defaults *defaults)
{
    static const struct {
        const char *member, *noun;
    } lists[] = {{"containers", "container"}, {"initContainers", "init container"}};
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_node_each_item (kc_node_get(spec, kc_cstr(lists[i].member)), container) {
            if (kc__work_is_over())
                return;
            add_defaults(edit, container, &defaults->requests, "requests", lists[i].noun, &text);
            add_defaults(edit, container, &defaults->limits, "limits", lists[i].noun, &text);
        }
    }
    if (!text.n)
        return;
    kc_node *metadata = kc_node_ensure_object(edit, root, KC_STR("metadata"));
    kc_node_set(edit, kc_node_ensure_object(edit, metadata, KC_STR("annotations")),
                KC_STR(ANNOTATION), kc_node_str(edit, kc_buf_str(&text)));
}

kc__rest_verdict kc__admission_limit_ranger_mutate(kc__rest_call *call)
{
    if (!is_limited(call) || !is_pod(call))
        return KC__REST_NEXT;
    kc_scoped(limit_ranges) ranges = ranges_of_namespace(call);
    if (kc__admission_needs_worker(call, ranges.bytes > MANY_BYTES))
        return KC__REST_ON_WORKER;
    kc__cow_iter it = kc__cow_iter_start(ranges.all, &ranges.range);
    while (kc__cow_iter_next(&it)) {
        kc_auto(kc_view) *view = kc_view_of(it.object);
        kc_scoped(container_defaults) defaults = {0};
        read_container_defaults(kc_view_root(view), &defaults);
        if (defaults.requests.n || defaults.limits.n)
            default_pod(kc__draft_edit(&call->draft), &defaults);
    }
    return KC__REST_NEXT;
}

/* ---- constraints ---- */

static kc__rest_verdict check_range(kc__rest_call *call, const kc_value *range,
                                    const kc_value *object)
{
    kc_scoped(kc_buf) why = {0};
    if (is_pod(call))
        kc__admission_limit_range_check_pod(range, object, &why);
    else
        kc__admission_limit_range_check_claim(range, object, &why);
    return why.n ? kc__admission_forbid(call, "%s", kc_buf_cstr(&why)) : KC__REST_NEXT;
}

kc__rest_verdict kc__admission_limit_ranger_validate(kc__rest_call *call)
{
    if (!is_limited(call))
        return KC__REST_NEXT;
    kc_scoped(limit_ranges) ranges = ranges_of_namespace(call);
    if (kc__admission_needs_worker(call, ranges.bytes > MANY_BYTES))
        return KC__REST_ON_WORKER;
    kc__cow_iter it = kc__cow_iter_start(ranges.all, &ranges.range);
    if (!ranges.bytes)
        return KC__REST_NEXT;
    kc_auto(kc_view) *object = kc_view_of(call->proposed);
    while (kc__cow_iter_next(&it)) {
        kc_auto(kc_view) *range = kc_view_of(it.object);
        const kc__rest_verdict verdict =
            check_range(call, kc_view_root(range), kc_view_root(object));
        if (verdict != KC__REST_NEXT)
            return verdict;
    }
    return KC__REST_NEXT;
}
