/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap_owners.c: managedFields of the objects that the server writes itself.
 *
 * kube-apiserver creates these objects as a client of its own, so they have the owners of a POST by
 * the manager "kube-apiserver": all fields of the body and its defaults, but not what the server
 * adds afterwards (the finalizer of a namespace, the cluster IPs of a service), and no status. This
 * server writes the complete objects to its store. So the fields that a client would not have sent
 * are left out of the comparison; the table below names them.
 *
 * To add one: a row in the table, if a create through the API would leave a field without an owner.
 */
#include "apiserver/background/bootstrap_owners.h"

#include "apiserver/codec/api_types.h"
#include "apiserver/kinds/topology.h"
#include "kc/edit.h"
#include "kc/time.h"
#include "object/fields/fields_managed.h"

#define MANAGER "kube-apiserver"

static const struct owner_rule {
    const char *kind;
    const char *unowned[2];     /* Fields that the server adds after the body, "spec.clusterIPs". */
    const char *status_manager; /* Applies the status. NULL: the status has no owner. */
} rules[] = {
    {"Namespace", {"spec"}, NULL},
    {"Service", {"spec.clusterIPs", "spec.ipFamilies"}, NULL},
    {"ServiceCIDR", {0}, "kubernetes-service-cidr-controller"},
};

static const struct owner_rule *owner_rule_of(kc_str kind)
{
    static const struct owner_rule usual;
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (kc_str_is(kind, rules[i].kind))
            return &rules[i];
    return &usual;
}

/* One computation of owners. The sets of fields refer to the strings of the views. */
typedef struct owning {
    const kc__resource_topology *topology;
    kc_str version;
    kc_arena arena;
    kc__fields_managed managed;
    kc_view *before, *written, *status;
    char now[KC_TIME_TEXT];
} owning;

static void owning_done(owning *o)
{
    kc__fields_managed_done(&o->managed);
    kc_view_free(o->before);
    kc_view_free(o->written);
    kc_view_free(o->status);
    kc_arena_done(&o->arena);
}

static void remove_path(kc_edit *edit, const char *path)
{
    kc_str rest = kc_cstr(path), name = kc_str_cut(&rest, '.');
    kc_node *at = kc_edit_root(edit);
    for (; rest.n; name = kc_str_cut(&rest, '.'))
        at = kc_node_get(at, name);
    kc_node_remove(at, name);
}

/* The object with only what a client would have sent. */
static kc_view *view_as_sent(const kc_object *object)
{
    const struct owner_rule *rule = owner_rule_of(kc_object_kind(object));
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    remove_path(edit, "status");
    for (size_t i = 0; i < KC_COUNT(rule->unowned) && rule->unowned[i]; i++)
        remove_path(edit, rule->unowned[i]);
    kc_auto(kc_object) *sent = kc_edit_freeze(edit, NULL);
    return sent ? kc__fields_view_of(sent) : NULL;
}

/* The configuration of the status. A controller that has no reason does not apply one. */
static kc_view *view_of_status(const kc_object *object)
{
    static const kc_str reason = KC_STR_INIT("reason");
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    remove_path(edit, "metadata");
    remove_path(edit, "spec");
    kc_node_each_item (kc_node_get(status, KC_STR("conditions")), condition)
        if (!kc_node_as_str(kc_node_get(condition, reason)).n)
            kc_node_remove(condition, reason);
    return kc_edit_view(edit, NULL);
}

static kc__fields_request owning_request(const owning *o, const char *manager)
{
    static const kc__fields_updater one_version;
    const kc__fields_typed typed = {.type = o->topology->type, .version = o->version};
    return (kc__fields_request){.updater = &one_version,
                                .live = typed,
                                .object = typed,
                                .manager = kc_cstr(manager),
                                .now = kc_cstr(o->now)};
}

/* The entry of "kube-apiserver". */
static int own_written(owning *o, const kc_object *before, const kc_object *object)
{
    kc__fields_request request = owning_request(o, MANAGER);
    o->before = before ? kc__fields_managed_take(&o->managed, before, NULL) : NULL;
    o->written = view_as_sent(object);
    if ((before && !o->before) || !o->written)
        return -1;
    request.live.value = kc_view_root(o->before ? o->before : o->topology->empty);
    request.object.value = kc_view_root(o->written);
    return kc__fields_managed_update(&o->managed, &request, NULL);
}

/* The entry of the controller that applies the status. */
static int own_status(owning *o, const char *manager, const kc_object *object)
{
    kc__fields_request request = owning_request(o, manager);
    const kc_value *unchanged = NULL;
    o->status = view_of_status(object);
    if (!o->status)
        return -1;
    request.subresource = KC_STR("status");
    request.live.value = kc_view_root(o->written);
    request.object.value = kc_view_root(o->status);
    return kc__fields_managed_apply(&o->managed, &request, &unchanged, NULL);
}

static int own_object(owning *o, const kc_object *before, const kc_object *object)
{
    const char *status_manager = owner_rule_of(kc_object_kind(object))->status_manager;
    if (own_written(o, before, object) < 0)
        return -1;
    return status_manager ? own_status(o, status_manager, object) : 0;
}

kc_object *kc__bootstrap_own(kc__rest_api *api, const kc_object *before, kc_object *object)
{
    kc_auto(kc_object) *plain = object;
    const kc__type_message *type =
        plain ? kc__type_lookup_kind(kc_object_api_version(plain), kc_object_kind(plain)) : NULL;
    kc_scoped(kc_buf) text = {0};
    if (!type)
        return kc_take(plain);
    owning o = {.topology = kc__resource_topology_cache_get(api->topologies, type),
                .version = kc_object_api_version(plain)};
    o.managed.arena = &o.arena;
    kc_time_print(kc_clock_wall(api->clock), o.now);
    if (own_object(&o, before, plain) == 0 && o.managed.owners.n)
        kc__fields_managed_write(&text, &o.managed);
    owning_done(&o);
    return text.n ? kc_object_with_managed_fields(plain, kc_buf_str(&text)) : kc_take(plain);
}
