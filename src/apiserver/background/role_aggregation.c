/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role_aggregation.c: writes the rules of aggregated ClusterRoles, as kube-controller-manager's
 * clusterrole-aggregation-controller does, so a server without controllers has them as well.
 *
 *     change of a ClusterRole ─▶ watcher ─▶ sync: for each role with an aggregationRule
 *         ─▶ the rules of all matching roles, by name, none twice ─▶ compare-and-swap if they
 * differ
 *
 * A role whose rules are written may itself be part of another one: the write wakes the next sync,
 * until nothing differs. A conflict is another change, which wakes the next sync too. The field
 * manager "clusterrole-aggregation-controller" owns the rules, so that a controller manager that
 * runs as well finds nothing to change.
 *
 * Everything runs on a loop of its own, because a sync reads all ClusterRoles. Admission policies
 * use the loop, too (kc__aggregation_loop).
 */
#include "apiserver/background/role_aggregation.h"

#include "apiserver/codec/typed.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/store/watch.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/selector.h"
#include "kc/thread.h"

#define RBAC_GROUP   "rbac.authorization.k8s.io"
#define RBAC_VERSION RBAC_GROUP "/v1"
#define MANAGER      "clusterrole-aggregation-controller"

struct kc__aggregation {
    kc__rest_api *api;
    kc__loop *loop;
    kc__watch_cache *roles;
    /* The fields below belong to the loop. */
    kc__store_watcher *watcher;
    kc__loop_timer timer;
    size_t writing;
    kc_latch *settled; /* Counted down when nothing differs any more; NULL: not awaited. */
    bool stopped;
};

/* ---- the rules of an aggregated role ---- */

/* The rules so far; `known` has the text of each. */
typedef struct rule_union {
    kc_edit *edit;
    kc_node *rules;
    kc_map known;
} rule_union;

static void rule_union_done(rule_union *all)
{
    kc_map_each (&all->known, entry)
        free(entry->value);
    kc_map_done(&all->known);
}

static void add_rules_of(rule_union *all, const kc_object *role)
{
    kc_auto(kc_view) *view = kc_view_of(role);
    kc_value_each_item (kc_value_get(kc_view_root(view), "rules"), rule) {
        kc_scoped(kc_buf) text = {0};
        kc_json_write(&text, rule);
        if (kc_map_get(&all->known, kc_buf_str(&text)))
            continue;
        char *key = kc_buf_take(&text);
        kc_map_put(&all->known, kc_cstr(key), key);
        kc_node_append(all->rules, kc_node_from_value(all->edit, rule));
    }
}

/* The snapshot is in the order of the names. */
static void add_matching_roles(rule_union *all, const kc__cow_snapshot *snapshot, kc_str own,
                               const kc_selector *selector)
{
    kc__cow_iter at = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    while (kc__cow_iter_next(&at))
        if (!kc_str_eq(at.key, own) && kc_selector_match(selector, at.object))
            add_rules_of(all, at.object);
}

/* False if a selector is invalid. */
static bool gather_rules(rule_union *all, const kc__cow_snapshot *snapshot, kc_str own,
                         const kc_value *selectors)
{
    kc_value_each_item (selectors, item) {
        kc_auto(kc_selector) *selector = kc_selector_of(item, NULL);
        if (!selector)
            return false;
        add_matching_roles(all, snapshot, own, selector);
    }
    return true;
}

/* ---- field ownership ---- */

static bool is_own_entry(const kc_node *entry)
{
    return kc_str_is(kc_node_as_str(kc_node_get(entry, KC_STR("manager"))), MANAGER) &&
           kc_str_is(kc_node_as_str(kc_node_get(entry, KC_STR("operation"))), "Apply");
}

/* Takes the rules away from other managers, and the own entry. */
static void release_rules(kc_node *entries)
{
    for (size_t i = kc_node_len(entries); i-- > 0;) {
        kc_node *entry = kc_node_at(entries, i), *fields = kc_node_get(entry, KC_STR("fieldsV1"));
        kc_node_remove(fields, KC_STR("f:rules"));
        if (is_own_entry(entry) || !kc_node_len(fields))
            kc_node_remove_at(entries, i);
    }
}

static kc_node *own_entry(kc__aggregation *a, kc_edit *edit)
{
    char now[KC_TIME_TEXT];
    kc_node *entry = kc_node_object(edit), *fields = kc_node_object(edit);
    kc_time_print(kc_clock_wall(a->api->clock), now);
    const struct {
        const char *name, *value;
    } texts[] = {{"manager", MANAGER},
                 {"operation", "Apply"},
                 {"apiVersion", RBAC_VERSION},
                 {"time", now},
                 {"fieldsType", "FieldsV1"}};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        kc_node_set(edit, entry, kc_cstr(texts[i].name),
                    kc_node_str(edit, kc_cstr(texts[i].value)));
    kc_node_set(edit, fields, KC_STR("f:rules"), kc_node_object(edit));
    kc_node_set(edit, entry, KC_STR("fieldsV1"), fields);
    return entry;
}

/* Entries of applies come before those of updates. */
static void own_rules(kc__aggregation *a, kc_edit *edit, bool any)
{
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node *entries = kc_node_get(metadata, KC_STR("managedFields"));
    size_t at = 0;
    if (!entries) {
        kc_node_set(edit, metadata, KC_STR("managedFields"), kc_node_array(edit));
        entries = kc_node_get(metadata, KC_STR("managedFields"));
    }
    release_rules(entries);
    while (kc_str_is(kc_node_as_str(kc_node_get(kc_node_at(entries, at), KC_STR("operation"))),
                     "Apply"))
        at++;
    if (any)
        kc_node_insert(entries, at, own_entry(a, edit));
}

/* ---- writing ---- */

typedef struct aggregation_write {
    kc__store_write write;
    kc__aggregation *aggregation;
    kc_object *object;
    char key[];
} aggregation_write;

static void wake_aggregation(kc__aggregation *a)
{
    if (!a->stopped)
        kc__loop_timer_start(&a->timer, kc_clock_deadline(a->api->clock, 0));
}

static void rules_written(kc__store_write *write)
{
    aggregation_write *w = kc_container_of(write, aggregation_write, write);
    kc__aggregation *a = w->aggregation;
    if (write->error.reason)
        kc_log_warn(a->api->log, "writing the rules of an aggregated ClusterRole failed",
                    kc_kv("name", w->key), kc_kv("err", &write->error));
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_object_unref(w->object);
    free(w);
    if (--a->writing == 0)
        wake_aggregation(a);
}

static void submit_rules(kc__aggregation *a, kc_str key, const kc_object *role, kc_object *object)
{
    aggregation_write *w = kc_calloc(1, sizeof(*w) + key.n + 1);
    memcpy(w->key, key.p, key.n);
    w->aggregation = a;
    w->object = object;
    w->write = (kc__store_write){.cache = a->roles,
                                 .verb = KC__STORAGE_PUT,
                                 .key = kc_str_of(w->key, key.n),
                                 .expected = kc_object_revision(role),
                                 .object = object,
                                 .loop = a->loop,
                                 .done = rules_written};
    a->writing++;
    kc__store_submit(a->api->store, &w->write);
}

/* ---- comparing ---- */

static bool has_rules(const kc_value *root, const kc_node *rules)
{
    kc_scoped(kc_buf) stored = {0}, wanted = {0};
    const kc_value *list = kc_value_get(root, "rules");
    if (!kc_value_len(list))
        return !kc_node_len(rules);
    kc_json_write(&stored, list);
    kc_node_write(&wanted, rules);
    return kc_str_eq(kc_buf_str(&stored), kc_buf_str(&wanted));
}

/* The role with its rules; NULL if it has them, or if it would be too large. */
static kc_object *aggregate_role(kc__aggregation *a, const kc__cow_snapshot *snapshot, kc_str key,
                                 const kc_object *role)
{
    kc_auto(kc_view) *view = kc_view_of(role);
    const kc_value *root = kc_view_root(view), *aggregation = kc_value_get(root, "aggregationRule");
    kc_auto(kc_edit) *edit = kc_edit_of(role);
    kc_scoped(rule_union) all = {.edit = edit, .rules = kc_node_array(edit)};
    if (!aggregation ||
        !gather_rules(&all, snapshot, key, kc_value_get(aggregation, "clusterRoleSelectors")) ||
        has_rules(root, all.rules))
        return NULL;
    const bool any = kc_node_len(all.rules) > 0;
    kc_node_set(edit, kc_edit_root(edit), KC_STR("rules"), any ? all.rules : kc_node_null(edit));
    own_rules(a, edit, any);
    kc_auto(kc_object) *changed = kc_edit_freeze(edit, NULL);
    if (!changed || kc_object_json(changed).n > a->api->max_object_bytes) {
        kc_log_warn(a->api->log, "an aggregated ClusterRole has too many rules",
                    kc_kv("name", kc_object_name(role)));
        return NULL;
    }
    return kc__typed_decode(kc__type_lookup_kind(KC_STR(RBAC_VERSION), KC_STR("ClusterRole")),
                            changed, NULL, NULL);
}

/* Most roles are not aggregated: a search in the bytes is faster than parsing them. */
static bool may_be_aggregated(const kc_object *role)
{
    const kc_str json = kc_object_json(role);
    static const char member[] = "\"aggregationRule\":";
    return memmem(json.p, json.n, member, sizeof(member) - 1) != NULL;
}

static void sync_roles(kc__aggregation *a)
{
    kc_auto(kc__cow_snapshot) *snapshot = kc__watch_cache_snapshot(a->roles, NULL);
    kc__cow_iter at = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    if (a->writing)
        return; /* The last of them wakes the next sync. */
    while (kc__cow_iter_next(&at)) {
        kc_object *changed =
            may_be_aggregated(at.object) ? aggregate_role(a, snapshot, at.key, at.object) : NULL;
        if (changed)
            submit_rules(a, at.key, at.object, changed);
    }
    if (!a->writing && a->settled) {
        kc_latch_count_down(a->settled);
        a->settled = NULL;
    }
}

/* ---- waking up ---- */

static void roles_changed(void *user)
{
    wake_aggregation(user);
}

static void watch_roles(kc__aggregation *a)
{
    uint64_t revision;
    kc__cow_snapshot_unref(kc__watch_cache_snapshot(a->roles, &revision));
    kc__store_watch_stop(a->watcher);
    a->watcher = kc__store_watch_start(&(kc__store_watch_opts){
        .cache = a->roles, .loop = a->loop, .since = revision, .ready = roles_changed, .user = a});
}

/* Discards the events: they only wake the sync, which reads the cache. */
static void drain_roles(kc__aggregation *a)
{
    for (;;) {
        kc_auto(kc__store_event) *event = NULL;
        const kc__store_watch_result state = kc__store_watch_next(a->watcher, &event);
        if (state == KC__STORE_WATCH_EMPTY)
            return;
        if (state != KC__STORE_WATCH_EVENT)
            watch_roles(a);
    }
}

static void aggregation_due(kc__loop_timer *timer)
{
    kc__aggregation *a = kc_container_of(timer, kc__aggregation, timer);
    drain_roles(a);
    sync_roles(a);
}

/* ---- start and stop ---- */

static void begin_aggregation(void *user)
{
    kc__aggregation *a = user;
    watch_roles(a);
    drain_roles(a);
    sync_roles(a);
}

static void end_aggregation(void *user)
{
    kc__aggregation *a = user;
    a->stopped = true;
    kc__loop_timer_stop(&a->timer);
    a->watcher = kc__store_watch_stop(a->watcher);
}

/* Returns when the roles that are stored have been aggregated. */
static void start_and_settle(kc__aggregation *a)
{
    kc_latch settled;
    kc_latch_init(&settled);
    kc_latch_add(&settled, 1);
    a->settled = &settled;
    kc__loop_call(a->loop, begin_aggregation, a);
    kc_latch_wait(&settled);
    kc_latch_done(&settled);
}

kc__aggregation *kc__aggregation_start(kc__rest_api *api, kc_error *err)
{
    kc__loop *loop = kc__loop_start("background", api->clock, err);
    if (!loop)
        return NULL;
    kc__aggregation *a = kc_new(kc__aggregation);
    a->api = api;
    a->loop = loop;
    a->timer = (kc__loop_timer){.loop = loop, .fire = aggregation_due};
    a->roles = kc__store_watch_cache(api->store,
                                     kc__resource_key_builtin_prefix(RBAC_GROUP, "clusterroles"));
    start_and_settle(a);
    return a;
}

kc__loop *kc__aggregation_loop(kc__aggregation *aggregation)
{
    return aggregation ? aggregation->loop : NULL;
}

void kc__aggregation_stop(kc__aggregation *aggregation)
{
    if (aggregation)
        kc__loop_call(aggregation->loop, end_aggregation, aggregation);
}

kc__aggregation *kc__aggregation_free(kc__aggregation *aggregation)
{
    if (!aggregation)
        return NULL;
    kc__loop_stop(aggregation->loop);
    free(aggregation);
    return NULL;
}
