/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_fields.c: the downward API: fields of the pod (fieldRef) and resources of its containers
 * (resourceFieldRef).
 */
#include "pods/pod_inputs.h"

#include "kc/quantity.h"

#include <ctype.h>

/* ---- fields ---- */

static const char *find_pair(const kc_string_map *map, kc_str key)
{
    for (size_t i = 0; i < map->n; i++)
        if (kc_str_is(key, map->items[i].key))
            return map->items[i].value;
    return "";
}

/* As Go's %q. */
static void quote(kc_buf *out, const char *text)
{
    kc_buf_putc(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            kc_buf_printf(out, "\\%c", *p);
        else if (*p == '\n' || *p == '\t' || *p == '\r')
            kc_buf_printf(out, "\\%c", *p == '\n' ? 'n' : *p == '\t' ? 't' : 'r');
        else if (*p < 0x20 || *p == 0x7f)
            kc_buf_printf(out, "\\x%02x", *p);
        else
            kc_buf_putc(out, (char)*p);
    }
    kc_buf_putc(out, '"');
}

static int pair_order(const void *a, const void *b)
{
    return strcmp(((const kc_string_pair *)a)->key, ((const kc_string_pair *)b)->key);
}

/* One line per key, sorted: app="web". */
static const char *format_map(const kc_string_map *map, kc_arena *arena)
{
    kc_scoped(kc_buf) text = {0};
    kc_string_pair *sorted = kc_arena_calloc(arena, map->n + 1, sizeof(*sorted));
    if (map->n)
        memcpy(sorted, map->items, map->n * sizeof(*sorted));
    if (map->n > 1)
        qsort(sorted, map->n, sizeof(*sorted), pair_order);
    for (size_t i = 0; i < map->n; i++) {
        kc_buf_printf(&text, "%s%s=", i ? "\n" : "", sorted[i].key);
        quote(&text, sorted[i].value);
    }
    return kc_arena_str(arena, kc_buf_str(&text)).p;
}

/* metadata.labels['key'] */
static bool in_brackets(kc_str path, kc_str name, kc_str *ret_key)
{
    if (!kc_str_starts(path, name) || !kc_str_ends(path, KC_STR("']")))
        return false;
    const kc_str rest = kc_str_sub(path, name.n, path.n - 2);
    if (!kc_str_starts(rest, KC_STR("['")))
        return false;
    *ret_key = kc_str_sub(rest, 2, rest.n);
    return true;
}

static const char *plain_field(const kc__pod_inputs *in, kc_str path)
{
    const kc_pod *pod = in->pod;
    const struct {
        const char *path, *value;
    } fields[] = {
        {"metadata.name", pod->metadata.name},
        {"metadata.namespace", pod->metadata.ns},
        {"metadata.uid", pod->metadata.uid},
        {"spec.nodeName", pod->spec.node_name},
        {"spec.serviceAccountName", pod->spec.service_account_name},
        {"status.hostIP", in->state->node->ip},
        {"status.hostIPs", in->state->node->ip},
        {"status.podIP", in->state->ip},
        {"status.podIPs", in->state->ip},
    };
    for (size_t i = 0; i < KC_COUNT(fields); i++)
        if (kc_str_is(path, fields[i].path))
            return fields[i].value ? fields[i].value : "";
    return NULL;
}

int kc__pod_field_value(const kc__pod_inputs *in, const char *path, const char **ret, kc_error *err)
{
    const kc_str p = kc_cstr(path);
    const kc_object_meta *meta = &in->pod->metadata;
    kc_str key;
    const char *value = plain_field(in, p);
    if (in_brackets(p, KC_STR("metadata.labels"), &key))
        value = find_pair(&meta->labels, key);
    else if (in_brackets(p, KC_STR("metadata.annotations"), &key))
        value = find_pair(&meta->annotations, key);
    else if (kc_str_is(p, "metadata.labels"))
        value = format_map(&meta->labels, in->arena);
    else if (kc_str_is(p, "metadata.annotations"))
        value = format_map(&meta->annotations, in->arena);
    if (!value)
        return kc_error_set(err, KC_INVALID, "unsupported fieldPath: %s", path);
    *ret = value;
    return 0;
}

/* ---- resources ---- */

static const kc_container *container_named(const kc_pod *pod, const char *name)
{
    const size_t n = pod->spec.n_init_containers + pod->spec.n_containers;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(kc__pod_container(pod, i)->name, name))
            return kc__pod_container(pod, i);
    return NULL;
}

static bool amount_of(const kc_resource_list *list, const char *name, kc_quantity *ret)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].key, name))
            return kc_quantity_parse(kc_cstr(list->items[i].value.text), ret, NULL) == 0;
    return false;
}

/* An unset limit is the node's allocatable amount. */
static kc_quantity of_node(const kc__pods_nodes *nodes, const char *name)
{
    if (!strcmp(name, "cpu"))
        return kc_quantity_of_milli(nodes->cpu, KC_DECIMAL_SI);
    return kc_quantity_of(!strcmp(name, "memory") ? nodes->memory : 0, KC_BINARY_SI);
}

/* Rounded up. */
static int64_t divided(kc_quantity amount, kc_quantity by, bool milli)
{
    const int64_t value = milli ? kc_quantity_milli_value(amount) : kc_quantity_value(amount);
    const int64_t unit = milli ? kc_quantity_milli_value(by) : kc_quantity_value(by);
    return unit > 0 ? value / unit + (value % unit != 0) : 0;
}

int kc__pod_resource_value(const kc__pod_inputs *in, const kc_resource_field_ref *ref,
                           const kc_container *own, const char **ret, kc_error *err)
{
    const char *name = ref->container_name;
    const kc_container *c = name && *name ? container_named(in->pod, name) : own;
    const kc_str path = kc_cstr(ref->resource);
    const bool limit = kc_str_starts(path, KC_STR("limits."));
    kc_quantity amount = {0}, divisor = kc_quantity_of(1, KC_DECIMAL_SI);
    if (!c)
        return kc_error_set(err, KC_INVALID, "container %s not found", name ? name : "");
    if (!limit && !kc_str_starts(path, KC_STR("requests.")))
        return kc_error_set(err, KC_INVALID, "unsupported container resource : %s", ref->resource);
    const char *resource = path.p + (limit ? 7 : 9);
    if (!amount_of(limit ? &c->resources.limits : &c->resources.requests, resource, &amount) &&
        limit)
        amount = of_node(in->state->node->nodes, resource);
    if (ref->divisor.text && kc_quantity_parse(kc_cstr(ref->divisor.text), &divisor, err) < 0)
        return kc_error_result(err);
    if (kc_quantity_sign(divisor) == 0)
        divisor = kc_quantity_of(1, KC_DECIMAL_SI);
    *ret = kc_arena_printf(in->arena, "%lld",
                           (long long)divided(amount, divisor, !strcmp(resource, "cpu")));
    return 0;
}
