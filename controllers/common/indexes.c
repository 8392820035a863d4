/* SPDX-License-Identifier: Apache-2.0 */
/* indexes.c: see indexes.h. */
#include "common/indexes.h"

#include "kc/kinds.h"
#include "kc/view.h"

static void by_controller(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_scoped(kc_arena) arena = {0};
    kc_owner controller;
    if (kc_object_controller(object, &arena, &controller))
        emit(controller.uid, to);
}

static void by_node(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(object);
    emit(kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName")), to);
}

bool kc__common_claim_of_volume(kc_str pod, const kc_value *volume, kc_buf *ret)
{
    const kc_str claim =
        kc_value_as_str(kc_value_nested(volume, "persistentVolumeClaim.claimName"));
    kc_buf_clear(ret);
    if (claim.n)
        kc_buf_append(ret, claim);
    else if (kc_value_get(volume, "ephemeral"))
        kc_buf_printf(ret, "%.*s-%.*s", KC_ARG(pod),
                      KC_ARG(kc_value_as_str(kc_value_get(volume, "name"))));
    return ret->n > 0;
}

static bool has_ended(const kc_value *pod)
{
    static const char *const ends[] = {"Succeeded", "Failed", NULL};
    return kc_str_is_any(kc_value_as_str(kc_value_nested(pod, "status.phase")), ends);
}

/* A claim that a pod names stays in use as long as the pod exists; that of an ephemeral volume
 * until the pod has ended. */
static void by_claim(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *spec = kc_value_get(root, "spec");
    kc_scoped(kc_buf) claim = {0};
    kc_scoped(kc_buf) value = {0};
    if (!kc_value_as_str(kc_value_get(spec, "nodeName")).n)
        return;
    kc_value_each_item (kc_value_get(spec, "volumes"), volume) {
        if (!kc__common_claim_of_volume(kc_object_name(object), volume, &claim) ||
            (kc_value_get(volume, "ephemeral") && has_ended(root)))
            continue;
        kc_buf_clear(&value);
        kc_buf_printf(&value, "%.*s/%.*s", KC_ARG(kc_object_namespace(object)),
                      KC_ARG(kc_buf_str(&claim)));
        emit(kc_buf_str(&value), to);
    }
}

void kc__common_node_of_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_str node = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName"));
    if (node.n)
        kc_enqueue(to, (kc_key){.name = node});
}

void kc__common_index_of_label(kc_buf *out, kc_str ns, kc_str key, kc_str value)
{
    kc_buf_clear(out);
    kc_buf_append(out, ns);
    kc_buf_putc(out, '/');
    if (!key.n)
        return;
    kc_buf_append(out, key);
    kc_buf_putc(out, '=');
    kc_buf_append(out, value);
}

void kc__common_required_label(const kc_selector *selector, kc_str *ret_key, kc_str *ret_value)
{
    size_t n = 0;
    const kc_requirement *all = selector ? kc_selector_requirements(selector, &n) : NULL;
    *ret_key = *ret_value = (kc_str){0};
    for (size_t i = 0; i < n && !ret_key->n; i++)
        if (kc_selector_exact(selector, all[i].key, ret_value))
            *ret_key = all[i].key;
}

kc_selector *kc__common_selector_in(const kc_object *object, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_selector_of(kc_value_nested(kc_view_root(view), "spec.selector"), err);
}

static void by_selector(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_auto(kc_selector) *selector = kc__common_selector_in(object, NULL);
    kc_str key, value;
    kc_scoped(kc_buf) at = {0};
    kc__common_required_label(selector, &key, &value);
    kc__common_index_of_label(&at, kc_object_namespace(object), key, value);
    emit(kc_buf_str(&at), to);
}

static void orphans(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) at = {0};
    kc_owner controller;
    if (kc_object_controller(object, &arena, &controller))
        return;
    kc__common_index_of_label(&at, kc_object_namespace(object), (kc_str){0}, (kc_str){0});
    emit(kc_buf_str(&at), to);
    kc_meta_iter labels = kc_object_labels(object, &arena);
    kc_str key, value;
    while (kc_meta_next_pair(&labels, &key, &value)) {
        kc__common_index_of_label(&at, kc_object_namespace(object), key, value);
        emit(kc_buf_str(&at), to);
    }
}

static const struct {
    const kc_kind *kind;
    const char *name;
    kc_index_fn *fn;
} indexes[] = {
    {&kc_kind_pod, KC__COMMON_INDEX_CONTROLLER, by_controller},
    {&kc_kind_pod, KC__COMMON_INDEX_ORPHANS, orphans},
    {&kc_kind_pod, KC__COMMON_INDEX_NODE, by_node},
    {&kc_kind_pod, KC__COMMON_INDEX_CLAIM, by_claim},
    {&kc_kind_replica_set, KC__COMMON_INDEX_CONTROLLER, by_controller},
    {&kc_kind_replica_set, KC__COMMON_INDEX_ORPHANS, orphans},
    {&kc_kind_replica_set, KC__COMMON_INDEX_SELECTOR, by_selector},
    {&kc_kind_deployment, KC__COMMON_INDEX_SELECTOR, by_selector},
};

int kc__common_make_indexes(kc_cache *cache, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(indexes); i++)
        if (kc_cache_add_index(cache, indexes[i].kind, indexes[i].name, indexes[i].fn, NULL, err) <
            0)
            return kc_error_result(err);
    return 0;
}
