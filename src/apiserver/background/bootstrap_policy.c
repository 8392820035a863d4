/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap_policy.c: reconciles the roles and bindings of authz/policy.h with the store, at each
 * start, as kube-apiserver does:
 *
 *     missing                            created
 *     annotation autoupdate: "false"     left alone
 *     otherwise                          missing labels, annotations, rules, selectors and
 *                                        subjects are added; nothing that is there is removed,
 *                                        except for an aggregation of a role that is none
 *     a binding with another roleRef     replaced: a roleRef is immutable
 *
 * A rule is missing in parts: one verb of one resource that no stored rule covers.
 */
#include "apiserver/background/bootstrap_policy.h"

#include "apiserver/authz/policy.h"
#include "apiserver/authz/rbac_rules.h"
#include "apiserver/background/bootstrap_owners.h"
#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/key_layout.h"
#include "kc/diff.h"
#include "kc/edit.h"

#define RBAC_GROUP   "rbac.authorization.k8s.io"
#define RBAC_VERSION RBAC_GROUP "/v1"
#define AUTO_UPDATE  "rbac.authorization.kubernetes.io/autoupdate"

/* ---- the objects as they should be ---- */

static void begin_policy_object(kc__rest_api *api, kc_buf *out, const char *kind, const char *name,
                                const char *ns)
{
    kc_buf_printf(out,
                  "{\"kind\":\"%s\",\"apiVersion\":\"" RBAC_VERSION "\",\"metadata\":{"
                  "\"name\":\"%s\"",
                  kind, name);
    if (ns)
        kc_buf_printf(out, ",\"namespace\":\"%s\"", ns);
    kc__bootstrap_system_fields(api, 0, out);
}

/* `label`: "admin" for rbac.authorization.k8s.io/aggregate-to-admin; NULL: none. `own`: an object
 * of this project. */
static void write_policy_metadata(kc_buf *out, const char *label, bool own)
{
    kc_buf_printf(out, ",\"labels\":{\"%s.io/bootstrapping\":\"rbac-defaults\"",
                  own ? "kubecontroller" : "kubernetes");
    if (label)
        kc_buf_printf(out, ",\"" RBAC_GROUP "/aggregate-to-%s\":\"true\"", label);
    kc_buf_puts(out, "},\"annotations\":{\"" AUTO_UPDATE "\":\"true\"}}");
}

/* Equal objects have equal bytes only in the order of the type. Without managedFields: most objects
 * exist and are not written. */
static kc_object *parse_policy_object(const char *kind, kc_buf *json)
{
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(json), NULL, NULL);
    const kc__type_message *type = kc__type_lookup_kind(KC_STR(RBAC_VERSION), kc_cstr(kind));
    return kc__typed_decode(type, object, NULL, NULL);
}

static kc_object *make_role(kc__rest_api *api, const kc__policy_role *role)
{
    kc_scoped(kc_buf) json = {0};
    const char *kind = role->ns ? "Role" : "ClusterRole";
    begin_policy_object(api, &json, kind, role->name, role->ns);
    write_policy_metadata(&json, role->aggregate_to, role->own);
    kc_buf_puts(&json, ",\"rules\":");
    if (role->rules)
        kc__policy_rules_write(&json, role->rules);
    else
        kc_buf_puts(&json, "null");
    if (role->aggregates)
        kc_buf_printf(&json,
                      ",\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{"
                      "\"" RBAC_GROUP "/aggregate-to-%s\":\"true\"}}]}",
                      role->aggregates);
    kc_buf_putc(&json, '}');
    return parse_policy_object(kind, &json);
}

static kc_object *make_binding(kc__rest_api *api, const kc__policy_binding *binding)
{
    kc_scoped(kc_buf) json = {0};
    const char *kind = binding->ns ? "RoleBinding" : "ClusterRoleBinding";
    const bool bound = *binding->subjects;
    begin_policy_object(api, &json, kind, binding->name, binding->ns);
    write_policy_metadata(&json, NULL, binding->own);
    if (bound) {
        kc_buf_puts(&json, ",\"subjects\":");
        kc__policy_subjects_write(&json, binding->subjects);
    }
    kc_buf_printf(
        &json, ",\"roleRef\":{\"apiGroup\":\"" RBAC_GROUP "\",\"kind\":\"%s\",\"name\":\"%s\"}}",
        binding->ns ? "Role" : "ClusterRole", binding->role ? binding->role : binding->name);
    return parse_policy_object(kind, &json);
}

/* ---- merging ---- */

/* An object of the store that gets what is missing. */
typedef struct policy_merge {
    const kc_value *wanted, *stored;
    kc_edit *edit;
    bool changed;
} policy_merge;

/* Adds the labels or annotations that the stored object does not have. */
static void merge_texts(policy_merge *m, const char *member)
{
    const kc_value *stored = kc_value_get(kc_value_get(m->stored, "metadata"), member);
    kc_node *metadata = kc_node_get(kc_edit_root(m->edit), KC_STR("metadata"));
    kc_value_each_member (kc_value_get(kc_value_get(m->wanted, "metadata"), member), name, value) {
        if (kc_value_get_str(stored, name))
            continue;
        kc_node_set(m->edit, kc_node_ensure_object(m->edit, metadata, kc_cstr(member)), name,
                    kc_node_from_value(m->edit, value));
        m->changed = true;
    }
}

static kc_node *ensure_list(kc_edit *edit, kc_node *object, const char *member)
{
    kc_node *list = kc_node_get(object, kc_cstr(member));
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    kc_node_set(edit, object, kc_cstr(member), kc_node_array(edit));
    return kc_node_get(object, kc_cstr(member));
}

/* Appends the items of the wanted list that are not equal to one of the stored list. */
static void merge_list(policy_merge *m, kc_node *parent, const char *member, const kc_value *wanted,
                       const kc_value *stored)
{
    kc_value_each_item (wanted, item) {
        bool there = false;
        kc_value_each_item (stored, old)
            there |= kc_value_equal(item, old, NULL);
        if (there)
            continue;
        kc_node_append(ensure_list(m->edit, parent, member), kc_node_from_value(m->edit, item));
        m->changed = true;
    }
}

static kc_node *names_node(kc_edit *edit, const kc__rbac_names *names)
{
    kc_node *list = kc_node_array(edit);
    for (size_t i = 0; i < names->n; i++)
        kc_node_append(list, kc_node_str(edit, names->items[i]));
    return list;
}

static kc_node *rule_node(kc_edit *edit, const kc__rbac_rule *rule)
{
    const struct {
        const char *member;
        const kc__rbac_names *names;
    } lists[] = {{"verbs", &rule->verbs},
                 {"apiGroups", &rule->groups},
                 {"resources", &rule->resources},
                 {"resourceNames", &rule->names},
                 {"nonResourceURLs", &rule->urls}};
    kc_node *node = kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        if (lists[i].names->n)
            kc_node_set(edit, node, kc_cstr(lists[i].member), names_node(edit, lists[i].names));
    return node;
}

static bool rules_cover(const kc__rbac_rules *rules, const kc__rbac_rule *part)
{
    for (size_t i = 0; i < rules->n; i++)
        if (kc__rbac_rule_covers(&rules->items[i], part))
            return true;
    return false;
}

static void merge_rules(policy_merge *m)
{
    kc_auto(kc__rbac_rules) *stored = kc__rbac_rules_new(kc_value_get(m->stored, "rules"));
    kc_auto(kc__rbac_rules) *wanted = kc__rbac_rules_new(kc_value_get(m->wanted, "rules"));
    kc__rbac_rule_list parts = {0};
    for (size_t i = 0; i < wanted->n; i++)
        kc__rbac_rule_split(&wanted->items[i], SIZE_MAX, &parts);
    kc_vec_each (&parts, part) {
        if (rules_cover(stored, part))
            continue;
        kc_node_append(ensure_list(m->edit, kc_edit_root(m->edit), "rules"),
                       rule_node(m->edit, part));
        m->changed = true;
    }
    kc_vec_done(&parts);
}

static void merge_aggregation(policy_merge *m)
{
    kc_node *root = kc_edit_root(m->edit);
    const kc_value *wanted = kc_value_get(m->wanted, "aggregationRule"),
                   *stored = kc_value_get(m->stored, "aggregationRule");
    if (!wanted) {
        m->changed |= kc_node_remove(root, KC_STR("aggregationRule"));
        return;
    }
    merge_list(m, kc_node_ensure_object(m->edit, root, KC_STR("aggregationRule")),
               "clusterRoleSelectors", kc_value_get(wanted, "clusterRoleSelectors"),
               kc_value_get(stored, "clusterRoleSelectors"));
}

static void merge_role(policy_merge *m)
{
    merge_rules(m);
    merge_aggregation(m);
}

static void merge_binding(policy_merge *m)
{
    merge_list(m, kc_edit_root(m->edit), "subjects", kc_value_get(m->wanted, "subjects"),
               kc_value_get(m->stored, "subjects"));
}

/* ---- reconciling ---- */

static bool is_protected(const kc_value *stored)
{
    const kc_value *annotations = kc_value_get(kc_value_get(stored, "metadata"), "annotations");
    return kc_str_is(kc_value_as_str(kc_value_get(annotations, AUTO_UPDATE)), "false");
}

/* The stored object with what is missing in it; NULL: nothing is. */
static kc_object *merge_policy_object(kc__rest_api *api, const kc_object *stored,
                                      const kc_value *stored_root, const kc_value *wanted,
                                      void (*merge)(policy_merge *m))
{
    kc_auto(kc_edit) *edit = kc_edit_of(stored);
    policy_merge m = {.wanted = wanted, .stored = stored_root, .edit = edit};
    merge_texts(&m, "annotations");
    merge_texts(&m, "labels");
    merge(&m);
    if (!m.changed)
        return NULL;
    kc_auto(kc_object) *merged = kc_edit_freeze(edit, NULL);
    const kc__type_message *type =
        kc__type_lookup_kind(KC_STR(RBAC_VERSION), kc_object_kind(stored));
    return kc__bootstrap_own(api, stored, kc__typed_decode(type, merged, NULL, NULL));
}

static void create_policy_object(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                 kc_object *object)
{
    kc__bootstrap_writes_put(writes, cache, key, kc__bootstrap_own(writes->api, NULL, object),
                             KC__STORAGE_ABSENT);
}

static void reconcile_object(kc__bootstrap_writes *writes, const char *resource, kc_object *object,
                             void (*merge)(policy_merge *m))
{
    kc__watch_cache *cache = kc__store_watch_cache(
        writes->api->store, kc__resource_key_builtin_prefix(RBAC_GROUP, resource));
    const kc_str ns = kc_object_namespace(object), name = kc_object_name(object);
    kc_autofree char *key =
        kc_asprintf("%.*s%s%.*s", KC_ARG(ns), kc_str_empty(ns) ? "" : "/", KC_ARG(name));
    kc_auto(kc_object) *stored = kc__watch_cache_get(cache, kc_cstr(key));
    if (!stored) {
        create_policy_object(writes, cache, kc_cstr(key), object);
        return;
    }
    kc_auto(kc_object) *wanted = object;
    kc_auto(kc_view) *wanted_view = kc_view_of(wanted), *stored_view = kc_view_of(stored);
    const kc_value *want = kc_view_root(wanted_view), *have = kc_view_root(stored_view);
    const uint64_t revision = kc_object_revision(stored);
    if (is_protected(have))
        return;
    if (!kc_value_equal(kc_value_get(want, "roleRef"), kc_value_get(have, "roleRef"), NULL)) {
        kc__bootstrap_writes_delete(writes, cache, kc_cstr(key), revision);
        create_policy_object(writes, cache, kc_cstr(key), kc_take(wanted));
        return;
    }
    kc_object *merged = merge_policy_object(writes->api, stored, have, want, merge);
    if (merged)
        kc__bootstrap_writes_put(writes, cache, kc_cstr(key), merged, revision);
}

static void reconcile_roles(kc__bootstrap_writes *writes, const kc__policy_role *roles)
{
    for (; roles->name; roles++)
        reconcile_object(writes, roles->ns ? "roles" : "clusterroles",
                         make_role(writes->api, roles), merge_role);
}

static void reconcile_bindings(kc__bootstrap_writes *writes, const kc__policy_binding *bindings)
{
    for (; bindings->name; bindings++)
        reconcile_object(writes, bindings->ns ? "rolebindings" : "clusterrolebindings",
                         make_binding(writes->api, bindings), merge_binding);
}

/* The role of each controller is bound to its service account. */
static void reconcile_controllers(kc__bootstrap_writes *writes)
{
    for (const kc__policy_role *role = kc__policy_controller_roles; role->name; role++) {
        const char *account = role->name + strlen("system:controller:");
        kc_autofree char *subjects = kc_asprintf("S:kube-system:%s", account);
        const kc__policy_binding binding[] = {{.name = role->name, .subjects = subjects}, {0}};
        reconcile_bindings(writes, binding);
    }
}

int kc__bootstrap_policy(kc__rest_api *api, kc_error *err)
{
    kc__bootstrap_writes writes;
    kc__bootstrap_writes_init(&writes, api);
    reconcile_roles(&writes, kc__policy_cluster_roles);
    reconcile_roles(&writes, kc__policy_controller_roles);
    reconcile_roles(&writes, kc__policy_namespace_roles);
    reconcile_roles(&writes, kc__policy_own_roles);
    reconcile_bindings(&writes, kc__policy_bindings);
    reconcile_controllers(&writes);
    return kc__bootstrap_writes_wait(&writes, err);
}
