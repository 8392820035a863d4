/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_status.c: names, conditions.
 *
 * A definition asks for names, and gets those that no other of its group has. It keeps what it was
 * given once, so one that comes later never takes a name away. When all names are its own, it is
 * established, and stays so.
 *
 *     asks for ──▶ free, or its own already ──▶ acceptedNames, NamesAccepted=True ──▶ Established
 *              └─▶ taken ──▶ NamesAccepted=False, the reason says which
 *
 * A condition's time is that of the last change of its status.
 */
#include "apiserver/crd/crd_status.h"
#include "apiserver/crd/crd_internal.h"
#include "apiserver/crd/crd_type.h"
#include "kc/diff.h"
#include "kc/meta.h"
#include "kc/schema.h"
#include "object/go_quote.h"

/* ---- names in use ---- */

void kc__crd_names_done(kc__crd_names *names)
{
    kc_map_done(&names->resources);
    kc_map_done(&names->kinds);
    kc_arena_done(&names->arena);
}

static void take(kc__crd_names *names, kc_map *map, const kc_value *name)
{
    kc_str text = kc_as_str(name);
    if (text.p && !kc_map_get(map, text))
        kc_map_put(map, kc_arena_str(&names->arena, text), names);
}

void kc__crd_names_add(kc__crd_names *names, const kc_value *crd)
{
    const kc_value *accepted = kc_get(kc_get(crd, "status"), "acceptedNames");
    take(names, &names->resources, kc_get(accepted, "plural"));
    take(names, &names->resources, kc_get(accepted, "singular"));
    kc_items (kc_get(accepted, "shortNames"), name)
        take(names, &names->resources, name);
    take(names, &names->kinds, kc_get(accepted, "kind"));
    take(names, &names->kinds, kc_get(accepted, "listKind"));
}

/* ---- conditions ---- */

typedef struct condition {
    const char *type, *status, *reason, *message;
} condition;

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
    kc_node *status = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("status"));
    kc_node *list = kc_node_get(status, KC_STR("conditions"));
    if (kc_node_type(list) == KC_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, status, KC_STR("conditions"), list);
    return list;
}

static kc_node *find_condition(const kc_node *list, const char *type)
{
    kc_node_items (list, item)
        if (text_is(item, "type", type))
            return item;
    return NULL;
}

/* True when it says something new. */
static bool set_condition(kc_edit *edit, condition c, kc_time now)
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
    for (size_t i = 0; i < kc_node_len(list); i++) {
        if (!text_is(kc_node_at(list, i), "type", type))
            continue;
        kc_node_remove_at(list, i);
        return true;
    }
    return false;
}

/* ---- names ---- */

typedef struct naming {
    kc_edit *edit;
    const kc_value *asked, *had;
    kc_node *accepted;
    const kc__crd_names *taken;
    const char *reason; /* Of the last conflict; NULL: none. */
    kc_buf message;
} naming;

static void conflict(naming *n, const char *reason, kc_str name)
{
    kc_buf_clear(&n->message);
    n->reason = reason;
    kc__go_quote(&n->message, name);
    kc_buf_puts(&n->message, " is already in use");
}

static void accept(naming *n, const char *member)
{
    const kc_value *asked = kc_get(n->asked, member);
    if (asked)
        kc_node_set(n->edit, n->accepted, kc_cstr(member), kc_node_copy(n->edit, asked));
    else
        kc_node_remove(n->accepted, kc_cstr(member));
}

static void accept_name(naming *n, const char *member, const kc_map *used, const char *reason)
{
    kc_str name = kc_as_str(kc_get(n->asked, member));
    if (!kc_str_eq(name, kc_as_str(kc_get(n->had, member))) && kc_map_get(used, name))
        conflict(n, reason, name);
    else
        accept(n, member);
}

static bool has_name(const kc_value *list, kc_str name)
{
    kc_items (list, item)
        if (kc_str_eq(kc_as_str(item), name))
            return true;
    return false;
}

/* Short names are accepted all together or not at all; each that is taken is told. */
static void accept_short_names(naming *n)
{
    const kc_value *had = kc_get(n->had, "shortNames");
    kc_scoped(kc_buf) all = {0};
    size_t bad = 0;
    kc_items (kc_get(n->asked, "shortNames"), item) {
        kc_str name = kc_as_str(item);
        if (!kc_map_get(&n->taken->resources, name) || has_name(had, name))
            continue;
        conflict(n, "ShortNamesConflict", name);
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

static bool establish(kc_edit *edit, const kc_value *crd, bool named, kc_time now)
{
    if (kc__crd_condition_is_true(crd, "Established"))
        return false;
    condition c = {"Established", "False", "NotAccepted", "not all names are accepted"};
    if (named)
        c = (condition){"Established", "True", "InitialNamesAccepted",
                        "the initial names have been accepted"};
    return set_condition(edit, c, now);
}

static bool update_names(kc_edit *edit, const kc_value *crd, const kc__crd_names *taken,
                         kc_time now)
{
    kc_node *status = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("status"));
    naming n = {.edit = edit, .taken = taken};
    n.asked = kc_get(kc_get(crd, "spec"), "names");
    n.had = kc_get(kc_get(crd, "status"), "acceptedNames");
    n.accepted = kc_node_need_object(edit, status, KC_STR("acceptedNames"));
    accept_name(&n, "plural", &taken->resources, "PluralConflict");
    accept_name(&n, "singular", &taken->resources, "SingularConflict");
    accept_short_names(&n);
    accept_name(&n, "kind", &taken->kinds, "KindConflict");
    accept_name(&n, "listKind", &taken->kinds, "ListKindConflict");
    accept(&n, "categories");
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    bool changed = !kc_value_equal(
        n.had, kc_get(kc_get(kc_view_root(after), "status"), "acceptedNames"), NULL);
    condition c = {"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
    if (n.reason)
        c = (condition){"NamesAccepted", "False", n.reason, kc_buf_cstr(&n.message)};
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

/* What keeps the schemas from being structural. */
static void find_violations(const kc_value *spec, kc_field_errors *errors)
{
    size_t i = 0;
    if (kc_as_bool(kc_get(spec, "preserveUnknownFields"), false))
        kc_field_errors_add(errors, KC_FIELD_INVALID, "spec.preserveUnknownFields", KC_STR("true"),
                            "must be false");
    kc_items (kc_get(spec, "versions"), version) {
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
    find_violations(kc_get(crd, "spec"), &errors);
    if (!errors.list.n)
        return remove_condition(edit, "NonStructuralSchema");
    join_errors(&message, &errors);
    condition c = {"NonStructuralSchema", "True", "Violations", kc_buf_cstr(&message)};
    return set_condition(edit, c, now);
}

static bool update_approval(kc_edit *edit, const kc_value *crd, kc_time now)
{
    static const struct {
        const char *status, *reason;
    } states[] = {
        [KC__APPROVAL_MISSING] = {"False", "MissingAnnotation"},
        [KC__APPROVAL_BYPASSED] = {"False", "UnapprovedAnnotation"},
        [KC__APPROVED] = {"True", "ApprovedAnnotation"},
        [KC__APPROVAL_INVALID] = {"False", "InvalidAnnotation"},
    };
    kc_scoped(kc_buf) why = {0};
    kc__approval state = kc__crd_approval(crd, &why);
    if (state == KC__APPROVAL_NOT_NEEDED)
        return false;
    return set_condition(edit,
                         (condition){"KubernetesAPIApprovalPolicyConformant", states[state].status,
                                     states[state].reason, kc_buf_cstr(&why)},
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

/* ---- the end ---- */

void kc__crd_set_deletion(kc_edit *edit, kc__crd_deletion how, const char *why, kc_time now)
{
    static const condition states[] = {
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
    condition c = states[how];
    kc_scoped(kc_buf) message = {0};
    kc_buf_printf(&message, "%s%s", c.message, why ? why : "");
    c.message = kc_buf_cstr(&message);
    set_condition(edit, c, now);
    if (how == KC__CRD_DELETION_PENDING)
        kc_edit_add_finalizer(edit, KC_STR(KC__CRD_FINALIZER));
    if (how == KC__CRD_DELETION_DONE || how == KC__CRD_DELETION_UNUSED)
        kc_edit_remove_finalizer(edit, KC_STR(KC__CRD_FINALIZER));
}

bool kc__crd_is_established(const kc_value *crd)
{
    return kc__crd_condition_is_true(crd, "Established");
}

bool kc__crd_is_terminating(const kc_value *crd)
{
    return kc__crd_condition_is_true(crd, "Terminating");
}
