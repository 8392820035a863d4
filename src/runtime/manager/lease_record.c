/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_record.c: converts a Lease's spec to a record and back.
 *
 * The times in it are informational, for users and other programs; neither this file nor election.c
 * decides by them.
 */
#include "runtime/manager/lease_record.h"

#include "kc/view.h"

void kc__lease_record_done(kc__lease_record *record)
{
    free(record->holder);
    *record = (kc__lease_record){0};
}

static kc_time time_at(const kc_value *spec, const char *name)
{
    kc_time at = 0;
    kc_str text = kc_value_as_str(kc_value_get(spec, name));
    return kc_time_parse_micro(text, &at, NULL) == 0 || kc_time_parse(text, &at, NULL) == 0 ? at
                                                                                            : 0;
}

kc__lease_record kc__lease_record_of(const kc_object *lease)
{
    kc_auto(kc_view) *view = kc_view_of(lease);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    return (kc__lease_record){
        .holder = kc_strdup(kc_value_as_cstr(kc_value_get(spec, "holderIdentity"), "")),
        .seconds = kc_value_as_i64_or(kc_value_get(spec, "leaseDurationSeconds"), 0),
        .transitions = kc_value_as_i64_or(kc_value_get(spec, "leaseTransitions"), 0),
        .acquired = time_at(spec, "acquireTime"),
        .renewed = time_at(spec, "renewTime"),
    };
}

static void set_time(kc_edit *edit, kc_node *spec, kc_str name, kc_time at)
{
    char text[KC_TIME_TEXT];
    kc_node_set(edit, spec, name, kc_node_str(edit, kc_time_print_micro(at, text)));
}

kc_object *kc__lease_record_apply(const kc_object *lease, kc_key key,
                                  const kc__lease_record *record, kc_error *err)
{
    kc_auto(kc_edit) *edit = lease ? kc_edit_of(lease) : kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    if (!lease) {
        kc_node_add(edit, root, KC_STR("apiVersion"),
                    kc_node_str(edit, KC_STR("coordination.k8s.io/v1")));
        kc_node_add(edit, root, KC_STR("kind"), kc_node_str(edit, KC_STR("Lease")));
        kc_edit_set_name(edit, key.name);
        kc_edit_set_namespace(edit, key.ns);
    }
    kc_node *spec = kc_node_ensure_object(edit, root, KC_STR("spec"));
    kc_node_set(edit, spec, KC_STR("holderIdentity"), kc_node_str(edit, kc_cstr(record->holder)));
    kc_node_set(edit, spec, KC_STR("leaseDurationSeconds"), kc_node_i64(edit, record->seconds));
    set_time(edit, spec, KC_STR("acquireTime"), record->acquired);
    set_time(edit, spec, KC_STR("renewTime"), record->renewed);
    kc_node_set(edit, spec, KC_STR("leaseTransitions"), kc_node_i64(edit, record->transitions));
    return kc_edit_freeze(edit, err);
}
