/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_status.c: computes the accepted names and conditions of a CRD.
 *
 * A CRD requests names and gets those that no other CRD of its group has. It keeps the names that
 * it was given, so a later CRD never takes a name away. When all requested names are accepted, the
 * CRD is Established, and stays so.
 *
 *     requests ──▶ free, or its own already ──▶ acceptedNames, NamesAccepted=True ──▶ Established
 *              ├─▶ taken ──▶ NamesAccepted=False, the reason says which
 *              └─▶ of a built-in group ──▶ NamesAccepted=False, Established=False: GroupConflict
 *
 * The lastTransitionTime of a condition is the time of the last change of its status.
 */
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/admissionregistration/ca_bundle.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/key_layout.h"
#include "kc/diff.h"
#include "kc/meta.h"
#include "kc/schema.h"
#include "object/gofmt/go_quote.h"

/* ---- names in use ---- */

void kc__crd_names_done(kc__crd_names *names)
{
    kc_map_done(&names->resources);
    kc_map_done(&names->kinds);
    kc_arena_done(&names->arena);
}

static void take_crd_name(kc__crd_names *names, kc_map *map, const kc_value *name)
{
    kc_str text = kc_value_as_str(name);
    if (text.p && !kc_map_get(map, text))
        kc_map_put(map, kc_arena_str(&names->arena, text), names);
}

void kc__crd_names_add(kc__crd_names *names, const kc_value *crd)
{
    const kc_value *accepted = kc_value_get(kc_value_get(crd, "status"), "acceptedNames");
    take_crd_name(names, &names->resources, kc_value_get(accepted, "plural"));
    take_crd_name(names, &names->resources, kc_value_get(accepted, "singular"));
    kc_value_each_item (kc_value_get(accepted, "shortNames"), name)
        take_crd_name(names, &names->resources, name);
    take_crd_name(names, &names->kinds, kc_value_get(accepted, "kind"));
    take_crd_name(names, &names->kinds, kc_value_get(accepted, "listKind"));
}

/* ---- conditions ---- */

typedef struct crd_status_condition {
    const char *type, *status, *reason, *message;
} crd_status_condition;

static void set_text(kc_edit *edit, kc_node *object, const char *name, const char *text)
{
    kc_node_set(edit, object, kc_cstr(name), kc_node_str(edit, kc_cstr(text)));
}

static bool text_is(const kc_node *object, const char *name, const char *text)
{
    return kc_str_is(kc_node_as_str(kc_node_get(object, kc_cstr(name))), text);
}

static kc_node *conditions_of(kc_edit *edit)
{
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    kc_node *list = kc_node_get(status, KC_STR("conditions"));
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, status, KC_STR("conditions"), list);
    return list;
}

static kc_node *find_condition(const kc_node *list, const char *type)
{
    kc_node_each_item (list, item)
        if (text_is(item, "type", type))
            return item;
    return NULL;
}

/* Sets a condition. True if its status, reason or message changed. */
static bool set_condition(kc_edit *edit, crd_status_condition c, kc_time now)
{
    kc_node *list = conditions_of(edit), *old = find_condition(list, c.type);
    if (old && text_is(old, "status", c.status) && text_is(old, "reason", c.reason) &&
        text_is(old, "message", c.message))
        return false;
    bool turned = !old || !text_is(old, "status", c.status);
    if (!old) {
        old = kc_node_object(edit);
        kc_node_append(list, old);
    }
    char time[KC_TIME_TEXT];
    set_text(edit, old, "type", c.type);
    set_text(edit, old, "status", c.status);
    if (turned || !kc_node_get(old, KC_STR("lastTransitionTime")))
        kc_node_set(edit, old, KC_STR("lastTransitionTime"),
                    kc_node_str(edit, kc_time_print(now, time)));
    set_text(edit, old, "reason", c.reason);
    set_text(edit, old, "message", c.message);
    return true;
}

static bool remove_condition(kc_edit *edit, const char *type)
{
    kc_node *list = conditions_of(edit);
    size_t i = 0;
    kc_node_each_item (list, item) {
        if (text_is(item, "type", type)) {
            kc_node_remove_at(list, i);
            return true;
        }
        i++;
    }
    return false;
}

/* ---- names ---- */

typedef struct naming {
    kc_edit *edit;
    const kc_value *requested, *had;
    kc_node *accepted;
    const kc__crd_names *taken;
    const char *reason; /* Reason of the last conflict; NULL: none. */
    kc_buf message;
} naming;

static void names_conflict(naming *n, const char *reason, kc_str name)
{
    kc_buf_clear(&n->message);
    n->reason = reason;
    kc__go_quote(&n->message, name);
    kc_buf_puts(&n->message, " is already in use");
}

static void accept(naming *n, const char *member)
{
    const kc_value *requested = kc_value_get(n->requested, member);
    if (requested)
        kc_node_set(n->edit, n->accepted, kc_cstr(member), kc_node_from_value(n->edit, requested));
    else
        kc_node_remove(n->accepted, kc_cstr(member));
}

static void accept_name(naming *n, const char *member, const kc_map *used, const char *reason)
{
    kc_str name = kc_value_as_str(kc_value_get(n->requested, member));
    if (!kc_str_eq(name, kc_value_as_str(kc_value_get(n->had, member))) && kc_map_get(used, name))
        names_conflict(n, reason, name);
    else
        accept(n, member);
}

/* Short names are accepted all together or not at all; each conflict is reported. */
static void accept_short_names(naming *n)
{
    kc_scoped(kc_map) had = {0};
    kc_scoped(kc_buf) all = {0};
    size_t bad = 0;
    kc_value_each_item (kc_value_get(n->had, "shortNames"), item)
        kc_map_put(&had, kc_value_as_str(item), n);
    kc_value_each_item (kc_value_get(n->requested, "shortNames"), item) {
        kc_str name = kc_value_as_str(item);
        if (!kc_map_get(&n->taken->resources, name) || kc_map_get(&had, name))
            continue;
        names_conflict(n, "ShortNamesConflict", name);
        kc_buf_puts(&all, bad++ ? ", " : "");
        kc_buf_append(&all, kc_buf_str(&n->message));
    }
    if (!bad) {
        accept(n, "shortNames");
    } else if (bad > 1) {
        kc_buf_clear(&n->message);
        kc_buf_printf(&n->message, "[%s]", kc_buf_cstr(&all));
    }
}

static kc_str conversion_bundle(const kc_value *crd)
{
    return kc_value_as_str(kc_value_nested(crd, "spec.conversion.webhook.clientConfig.caBundle"));
}

static bool establish(kc_edit *edit, const kc_value *crd, bool named, kc_time now)
{
    if (kc__crd_condition_is_true(crd, "Established"))
        return false;
    crd_status_condition c = {"Established", "False", "NotAccepted", "not all names are accepted"};
    if (named && !kc__hook_bundle_check(conversion_bundle(crd), NULL))
        c = (crd_status_condition){"Established", "False", "InvalidCABundle",
                                   "The conversion webhook CABundle is invalid"};
    else if (named)
        c = (crd_status_condition){"Established", "True", "InitialNamesAccepted",
                                   "the initial names have been accepted"};
    return set_condition(edit, c, now);
}

static bool refuse_names(kc_edit *edit, const kc_value *crd, kc_time now)
{
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    kc_node *none = kc_node_object(edit);
    kc_scoped(kc_buf) message = {0};
    set_text(edit, none, "plural", "");
    set_text(edit, none, "kind", "");
    kc_node_set(edit, status, KC_STR("acceptedNames"), none);
    kc__go_quote(&message, kc_value_as_str(kc_value_get(kc_value_get(crd, "spec"), "group")));
    kc_buf_puts(&message, " is served by a built-in API");
    bool changed = set_condition(
        edit,
        (crd_status_condition){"NamesAccepted", "False", "GroupConflict", kc_buf_cstr(&message)},
        now);
    changed |= set_condition(
        edit,
        (crd_status_condition){"Established", "False", "NotAccepted", "not all names are accepted"},
        now);
    return changed;
}

static bool update_names(kc_edit *edit, const kc_value *crd, const kc__crd_names *taken,
                         kc_time now)
{
    if (kc__crd_group_is_builtin(crd))
        return refuse_names(edit, crd, now);
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    naming n = {.edit = edit, .taken = taken};
    n.requested = kc_value_get(kc_value_get(crd, "spec"), "names");
    n.had = kc_value_get(kc_value_get(crd, "status"), "acceptedNames");
    n.accepted = kc_node_ensure_object(edit, status, KC_STR("acceptedNames"));
    accept_name(&n, "plural", &taken->resources, "PluralConflict");
    accept_name(&n, "singular", &taken->resources, "SingularConflict");
    accept_short_names(&n);
    accept_name(&n, "kind", &taken->kinds, "KindConflict");
    accept_name(&n, "listKind", &taken->kinds, "ListKindConflict");
    accept(&n, "categories");
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    bool changed = !kc_value_equal(
        n.had, kc_value_get(kc_value_get(kc_view_root(after), "status"), "acceptedNames"), NULL);
    crd_status_condition c = {"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
    if (n.reason)
        c = (crd_status_condition){"NamesAccepted", "False", n.reason, kc_buf_cstr(&n.message)};
    changed |= set_condition(edit, c, now);
    changed |= establish(edit, crd, !n.reason, now);
    kc_buf_done(&n.message);
    return changed;
}

/* ---- schemas, approval ---- */

static void join_errors(kc_buf *out, const kc_field_errors *errors)
{
    kc_buf_puts(out, errors->list.n > 1 ? "[" : "");
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(out, "%s%s: %s", i ? ", " : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    kc_buf_puts(out, errors->list.n > 1 ? "]" : "");
}

/* Finds the violations that make the schemas non-structural. */
static void find_violations(const kc_value *spec, kc_field_errors *errors)
{
    size_t i = 0;
    if (kc_value_as_bool(kc_value_get(spec, "preserveUnknownFields"), false))
        kc_field_errors_add(errors, KC_FIELD_INVALID, "spec.preserveUnknownFields", KC_STR("true"),
                            "must be false");
    kc_value_each_item (kc_value_get(spec, "versions"), version) {
        const kc_value *schema = kc__crd_schema_of(version);
        kc_scoped(kc_buf) path = {0};
        kc_buf_printf(&path, "spec.versions[%zu].schema.openAPIV3Schema", i++);
        if (schema)
            kc_schema_check_structural(schema, kc_buf_cstr(&path), errors);
    }
}

static bool update_structure(kc_edit *edit, const kc_value *crd, kc_time now)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) message = {0};
    find_violations(kc_value_get(crd, "spec"), &errors);
    if (!errors.list.n)
        return remove_condition(edit, "NonStructuralSchema");
    join_errors(&message, &errors);
    crd_status_condition c = {"NonStructuralSchema", "True", "Violations", kc_buf_cstr(&message)};
    return set_condition(edit, c, now);
}

static bool update_approval(kc_edit *edit, const kc_value *crd, kc_time now)
{
    static const struct {
        const char *status, *reason;
    } states[] = {
        [KC__CRD_APPROVAL_MISSING] = {"False", "MissingAnnotation"},
        [KC__CRD_APPROVAL_BYPASSED] = {"False", "UnapprovedAnnotation"},
        [KC__CRD_APPROVAL_GRANTED] = {"True", "ApprovedAnnotation"},
        [KC__CRD_APPROVAL_INVALID] = {"False", "InvalidAnnotation"},
    };
    kc_scoped(kc_buf) why = {0};
    kc__crd_approval_state state = kc__crd_approval(crd, &why);
    if (state == KC__CRD_APPROVAL_NOT_NEEDED)
        return false;
    return set_condition(edit,
                         (crd_status_condition){"KubernetesAPIApprovalPolicyConformant",
                                                states[state].status, states[state].reason,
                                                kc_buf_cstr(&why)},
                         now);
}

bool kc__crd_update_status(kc_edit *edit, const kc_value *crd, const kc__crd_names *taken,
                           kc_time now)
{
    bool changed = update_names(edit, crd, taken, now);
    changed |= update_structure(edit, crd, now);
    changed |= update_approval(edit, crd, now);
    return changed;
}

/* ---- deletion ---- */

void kc__crd_set_deletion(kc_edit *edit, kc__crd_deletion how, const char *why, kc_time now)
{
    static const crd_status_condition states[] = {
        [KC__CRD_DELETION_PENDING] = {"Terminating", "True", "InstanceDeletionPending",
                                      "CustomResourceDefinition marked for deletion; "
                                      "CustomResource deletion will begin soon"},
        [KC__CRD_DELETION_RUNNING] = {"Terminating", "True", "InstanceDeletionInProgress",
                                      "CustomResource deletion is in progress"},
        [KC__CRD_DELETION_FAILED] = {"Terminating", "True", "InstanceDeletionFailed",
                                     "could not issue all deletes: "},
        [KC__CRD_DELETION_DONE] = {"Terminating", "False", "InstanceDeletionCompleted",
                                   "removed all instances"},
        [KC__CRD_DELETION_UNUSED] = {"Terminating", "False", "NeverEstablished",
                                     "resource was never established"},
    };
    crd_status_condition c = states[how];
    kc_scoped(kc_buf) message = {0};
    kc_buf_printf(&message, "%s%s", c.message, why ? why : "");
    c.message = kc_buf_cstr(&message);
    set_condition(edit, c, now);
    if (how == KC__CRD_DELETION_PENDING)
        kc_edit_add_finalizer(edit, KC_STR(KC__CRD_FINALIZER));
    if (how == KC__CRD_DELETION_DONE || how == KC__CRD_DELETION_UNUSED)
        kc_edit_remove_finalizer(edit, KC_STR(KC__CRD_FINALIZER));
}

bool kc__crd_group_is_builtin(const kc_value *crd)
{
    const kc_str group = kc_value_as_str(kc_value_get(kc_value_get(crd, "spec"), "group"));
    return group.n && kc__resource_key_group_is_builtin(group);
}

bool kc__crd_is_established(const kc_value *crd)
{
    return kc__crd_condition_is_true(crd, "Established");
}

bool kc__crd_is_terminating(const kc_value *crd)
{
    return kc__crd_condition_is_true(crd, "Terminating");
}
