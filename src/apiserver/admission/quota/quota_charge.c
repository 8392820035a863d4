/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_charge.c: see quota_charge.h. A charge is the write of one quota with a larger status.used.
 *
 * Requests of one namespace charge the same quota at the same time. The committer rebases a charge
 * onto the quota that an earlier one of its batch has left: it adds the delta to the current usage
 * and compares the sum with the limit, so requests do not conflict with each other while the quota
 * has room. If its limits or scopes have changed, or the sum exceeds them, the charge is a
 * conflict; the request then checks all quotas again.
 *
 * The managed fields of the quota change as by an update of its status by "kube-apiserver".
 */
#include "apiserver/admission/quota/quota_charge.h"

#include "apiserver/admission/quota/quota_check.h"
#include "apiserver/codec/api_types.h"
#include "apiserver/kinds/topology.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "object/fields/fields_managed.h"

#define MANAGER "kube-apiserver"

typedef struct quota_charge {
    kc__store_write write;
    kc__quota_charges *all;
    kc_object *quota; /* As it was checked. */
    kc_view *view;    /* Of it. */
    kc_quota_amounts delta;
    kc_object *charged; /* To be stored. */
    char *key;
} quota_charge;

struct kc__quota_charges {
    kc__rest_api *api;
    bool checked;
    KC_VEC(quota_charge *) list;
    size_t left; /* Writes whose `done` has not run. */
    void (*done)(void *user);
    void *user;
};

kc__quota_charges *kc__quota_charges_new(kc__rest_api *api, bool checked)
{
    kc__quota_charges *charges = kc_new(kc__quota_charges);
    charges->api = api;
    charges->checked = checked;
    return charges;
}

static void quota_charge_free(quota_charge *charge)
{
    kc_quota_amounts_done(&charge->delta);
    kc_object_unref(charge->quota);
    kc_object_unref(charge->charged);
    kc_view_free(charge->view);
    free(charge->key);
    free(charge);
}

kc__quota_charges *kc__quota_charges_free(kc__quota_charges *charges)
{
    if (!charges)
        return NULL;
    kc_vec_each (&charges->list, charge)
        quota_charge_free(*charge);
    kc_vec_done(&charges->list);
    free(charges);
    return NULL;
}

/* ---- the charged quota ---- */

static kc_object *with_usage(const kc_object *quota, const kc_quota_amounts *used)
{
    kc_scoped(kc_buf) text = {0};
    kc_quota_amounts_write(&text, used);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, NULL);
    kc_auto(kc_edit) *edit = kc_edit_of(quota);
    kc_edit_set_nested(edit, "status.used", kc_node_from_value(edit, kc_view_root(view)));
    return kc_edit_freeze(edit, NULL);
}

/* `now` must live as long as the managed fields. */
static int own_usage(const kc__rest_api *api, kc__fields_managed *managed, const kc_value *live,
                     const kc_value *charged, kc_str now)
{
    static const kc__fields_updater one_version;
    const kc__type_message *type = kc__type_lookup_kind(KC_STR("v1"), KC_STR("ResourceQuota"));
    const kc__resource_topology *topology = kc__resource_topology_cache_get(api->topologies, type);
    const kc__fields_typed typed = {.type = topology->type, .version = KC_STR("v1")};
    kc__fields_request request = {.updater = &one_version,
                                  .live = typed,
                                  .object = typed,
                                  .manager = KC_STR(MANAGER),
                                  .subresource = KC_STR("status"),
                                  .now = now};
    request.live.value = live;
    request.object.value = charged;
    return kc__fields_managed_update(managed, &request, NULL);
}

/* The charged quota with its managed fields; a quota without any gets none, as in Kubernetes. Takes
 * over the reference. */
static kc_object *with_owners(const kc__rest_api *api, const kc_object *quota, kc_object *object)
{
    kc_auto(kc_object) *charged = object;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) managed = {.arena = &arena};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *live = charged ? kc__fields_managed_take(&managed, quota, NULL) : NULL;
    if (!live || !managed.owners.n)
        return kc_take(charged);
    kc_auto(kc_view) *view = kc__fields_view_of(charged);
    char text_of_now[KC_TIME_TEXT];
    const kc_str now = kc_time_print(kc_clock_wall(api->clock), text_of_now);
    if (own_usage(api, &managed, kc_view_root(live), kc_view_root(view), now) < 0)
        return kc_take(charged);
    kc__fields_managed_write(&text, &managed);
    return kc_object_with_managed_fields(charged, kc_buf_str(&text));
}

/* NULL: the delta does not fit. */
static kc_object *charge_quota(const kc__quota_charges *all, const kc_object *quota,
                               const kc_value *root, const kc_quota_amounts *delta)
{
    kc_scoped(kc_quota_amounts) used = {0};
    if (!kc__quota_add(root, delta, all->checked, &used))
        return NULL;
    return with_owners(all->api, quota, with_usage(quota, &used));
}

bool kc__quota_charges_add(kc__quota_charges *charges, const kc_object *quota,
                           kc_quota_amounts *delta)
{
    quota_charge *charge = kc_new(quota_charge);
    charge->all = charges;
    charge->quota = kc_object_ref(quota);
    charge->view = kc_view_of(quota);
    charge->delta = *delta;
    *delta = (kc_quota_amounts){0};
    charge->charged = charge_quota(charges, quota, kc_view_root(charge->view), &charge->delta);
    charge->key =
        kc_asprintf("%.*s/%.*s", KC_ARG(kc_object_namespace(quota)), KC_ARG(kc_object_name(quota)));
    kc_vec_push(&charges->list, charge);
    return charge->charged;
}

/* ---- writing ---- */

/* Whether the quota limits the same objects by the same amounts as when it was checked. */
static bool has_same_limits(const quota_charge *charge, const kc_value *now)
{
    const kc_value *then = kc_view_root(charge->view);
    return kc_value_equal(kc_value_get(then, "spec"), kc_value_get(now, "spec"), NULL) &&
           kc_value_equal(kc_value_nested(then, "status.hard"), kc_value_nested(now, "status.hard"),
                          NULL);
}

/* On the committer's thread. */
static bool rebase_charge(kc__store_write *write, const kc_object *current)
{
    quota_charge *charge = kc_container_of(write, quota_charge, write);
    kc_auto(kc_view) *view = kc_view_of(current);
    kc_object *charged =
        has_same_limits(charge, kc_view_root(view))
            ? charge_quota(charge->all, current, kc_view_root(view), &charge->delta)
            : NULL;
    if (!charged)
        return false;
    kc_object_unref(charge->charged);
    write->object = charge->charged = charged;
    return true;
}

static void charge_done(kc__store_write *write)
{
    kc__quota_charges *all = kc_container_of(write, quota_charge, write)->all;
    write->result = kc_object_unref(write->result);
    kc_error_done(&write->error);
    if (--all->left == 0)
        all->done(all->user);
}

size_t kc__quota_charges_join(kc__quota_charges *charges, kc__loop *loop, kc__store_write **writes,
                              void (*done)(void *user), void *user)
{
    charges->left = charges->list.n;
    charges->done = done;
    charges->user = user;
    for (size_t i = 0; i < charges->list.n; i++) {
        quota_charge *charge = charges->list.items[i];
        charge->write = (kc__store_write){.cache = charges->api->quotas,
                                          .verb = KC__STORAGE_PUT,
                                          .key = kc_cstr(charge->key),
                                          .expected = kc_object_revision(charge->quota),
                                          .object = charge->charged,
                                          .loop = loop,
                                          .done = charge_done,
                                          .rebase = rebase_charge};
        writes[i] = &charge->write;
    }
    return charges->list.n;
}
