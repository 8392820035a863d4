/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace_strategy.c: the strategy of Namespaces. A deleted Namespace stays in the phase
 * Terminating until spec.finalizers is empty. The namespace controller empties it through /finalize
 * when everything in the namespace is gone.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/meta.h"
#include "kc/names.h"

/* The finalizer of Kubernetes itself. */
#define OWN_FINALIZER "kubernetes"
#define NAME_LABEL    "kubernetes.io/metadata.name"

static void set_phase(kc_edit *edit, const char *phase)
{
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    kc_node_set(edit, status, KC_STR("phase"), kc_node_str(edit, kc_cstr(phase)));
}

static void set_label(kc_edit *edit)
{
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_str name = kc_node_as_str(kc_node_get(metadata, KC_STR("name")));
    if (!kc_str_empty(name))
        kc_edit_set_label(edit, KC_STR(NAME_LABEL), name);
}

/* Defaults: the label, if the name is already known, and the phase. */
static void complete_namespace(kc_edit *edit, kc_node *object)
{
    const kc_node *status = kc_node_get(object, KC_STR("status"));
    set_label(edit);
    if (kc_str_empty(kc_node_as_str(kc_node_get(status, KC_STR("phase")))))
        set_phase(edit, "Active");
}

static const kc__defaults defaults = {.code = complete_namespace};

static void prepare_namespace(kc_edit *edit)
{
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node *finalizers = kc_node_get(spec, KC_STR("finalizers"));
    bool has = false;
    kc_node_each_item (finalizers, item)
        has = has || kc_str_is(kc_node_as_str(item), OWN_FINALIZER);
    if (!finalizers) {
        finalizers = kc_node_array(edit);
        kc_node_set(edit, spec, KC_STR("finalizers"), finalizers);
    }
    if (!has)
        kc_node_append(finalizers, kc_node_str(edit, KC_STR(OWN_FINALIZER)));
    set_phase(edit, "Active");
    set_label(edit);
}

/* The finalizers of the spec change only through /finalize. */
static void prepare_namespace_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    bool finalize = subresource && !strcmp(subresource, "finalize");
    const kc_value *spec = kc_value_get(old, "spec");
    if (!finalize && spec)
        kc_node_set(edit, kc_edit_root(edit), KC_STR("spec"), kc_node_from_value(edit, spec));
    set_label(edit);
}

/* A finalizer in the spec must be a standard name or qualified with its owner's domain. */
static void validate_finalize(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    (void)old;
    size_t i = 0;
    kc_value_each_item (kc_value_get(kc_value_get(object, "spec"), "finalizers"), item) {
        const char *path = kc_arena_printf(&errors->arena, "spec.finalizers[%zu]", i++);
        kc_validate_name(errors, path, KC_NAME_QUALIFIED, kc_value_as_str(item));
        if (kc_str_find(kc_value_as_str(item), '/') < 0 &&
            !kc_str_is(kc_value_as_str(item), OWN_FINALIZER))
            kc_field_errors_add_value(errors, KC_FIELD_INVALID, path, item,
                                      "name is neither a standard finalizer name nor is it fully "
                                      "qualified");
    }
}

/* The phase of a Namespace that is being deleted must be Terminating, otherwise Active. */
static void validate_namespace_status(const kc_value *object, const kc_value *old,
                                      kc_field_errors *errors)
{
    (void)old;
    const kc_value *phase = kc_value_get(kc_value_get(object, "status"), "phase");
    bool deleted = kc_value_get(kc_value_get(object, "metadata"), "deletionTimestamp");
    if (kc_str_is(kc_value_as_str(phase), deleted ? "Terminating" : "Active"))
        return;
    kc_field_errors_add_value(errors, KC_FIELD_INVALID, "status.Phase", phase,
                              deleted
                                  ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                                  : "may only be 'Active' if `deletionTimestamp` is empty");
}

static bool namespace_may_be_removed(const kc_value *object)
{
    return kc_value_len(kc_value_get(kc_value_get(object, "spec"), "finalizers")) == 0;
}

static void begin_deletion(kc_edit *edit, kc_time now)
{
    (void)now;
    set_phase(edit, "Terminating");
}

static const kc_field_def selectable[] = {{.field = "status.phase"}};

const kc__strategy kc__strategy_namespace = {
    .names = KC_NAME_DNS_LABEL,
    .shows_deleted = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare_namespace,
    .prepare_update = prepare_namespace_update,
    .validate_status = validate_namespace_status,
    .validate_finalize = validate_finalize,
    .may_go = namespace_may_be_removed,
    .begin_deletion = begin_deletion,
};
