/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_status.c: the controller that checks types. At most one write per policy is in flight; a
 * write that loses against another is repeated when the event of that other write arrives.
 */
#include "apiserver/admission/policies/policy_status.h"

#include "apiserver/kinds/resource_ops.h"
#include "kc/edit.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/time.h"
#include "kc/view.h"
#include "object/fields/fields_managed.h"

struct kc__admission_policy_status {
    kc__admission_policy_status_opts opts;
    kc__rest_catalog *catalog; /* During a sync. */
    kc_map writing;            /* status_write by name. */
    kc__loop_timer retry;
    bool stopped;
};

typedef struct status_write {
    kc__store_write write;
    kc__admission_policy_status *status;
    char *name;
    kc_object *object;
} status_write;

#define RETRY_AFTER KC_SECOND

/* ---- writing ---- */

static void status_written(kc__store_write *write)
{
    status_write *w = kc_container_of(write, status_write, write);
    kc__admission_policy_status *s = w->status;
    const bool failed = write->error.reason || write->outcome != KC__STORAGE_STORED;
    kc_map_remove(&s->writing, kc_cstr(w->name));
    if (write->error.reason)
        kc_log_warn(s->opts.log, "write of a policy's status failed", kc_kv("policy", w->name),
                    kc_kv("err", &write->error));
    if (failed && !s->stopped)
        kc__loop_timer_start(&s->retry, kc_clock_deadline(s->opts.clock, RETRY_AFTER));
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_object_unref(w->object);
    free(w->name);
    free(w);
}

static void write_status(kc__admission_policy_status *s, const kc_object *old, kc_object *next)
{
    status_write *w = kc_new(status_write);
    w->status = s;
    w->name = kc_str_dup(kc_object_name(old));
    w->object = next;
    w->write = (kc__store_write){.cache = s->opts.policies,
                                 .verb = KC__STORAGE_PUT,
                                 .key = kc_cstr(w->name),
                                 .expected = kc_object_revision(old),
                                 .object = next,
                                 .loop = s->opts.loop,
                                 .done = status_written};
    kc_map_put(&s->writing, kc_cstr(w->name), w);
    kc__store_submit(s->opts.store, &w->write);
}

/* ---- checking ---- */

#define GROUP   "admissionregistration.k8s.io"
#define VERSION GROUP "/v1"
#define MANAGER "validatingadmissionpolicy-status"

/* What kube-controller-manager applies. */
static kc_view *configuration_of_status(kc__admission_policy_status *s, const kc_object *object,
                                        const kc_value *root)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"apiVersion\":\"" VERSION
                       "\",\"kind\":\"ValidatingAdmissionPolicy\",\"metadata\":{\"name\":");
    kc_json_quote(&text, kc_object_name(object));
    kc_buf_printf(&text, "},\"status\":{\"observedGeneration\":%lld,\"typeChecking\":",
                  (long long)kc_object_generation(object));
    kc__admission_policy_check_types(s->opts.env, s->catalog->kinds, root, &text);
    kc_buf_puts(&text, "}}");
    return kc_view_parse(kc_buf_str(&text), NULL, NULL);
}

/* The merge leaves null where the last member was removed; decoding drops it. */
static kc_object *decode_applied(const kc__resource *resource, const kc_value *merged,
                                 kc_error *err)
{
    const kc__resource_decode_source source = {.patched = true};
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_edit) *edit = kc_edit_of_value(merged);
    kc_auto(kc_object) *object = kc_edit_freeze(edit, err);
    if (!object || resource->ops->decode(resource, &object, &source, &unknown, err) < 0)
        return NULL;
    return kc_take(object);
}

/* Applies a configuration. NULL: `err`, or nothing changes. */
static kc_object *apply_status(const kc__resource *resource, const kc__resource_topology *topology,
                               const kc_object *object, const kc_value *config, kc_time now,
                               kc_error *err)
{
    char text[KC_TIME_TEXT];
    kc_scoped(kc_buf) fields = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) managed = {.arena = &arena};
    kc_auto(kc_view) *live = kc__fields_managed_take(&managed, object, err);
    const kc__fields_typed typed = {.type = topology->type, .version = KC_STR(VERSION)};
    kc__fields_ignored ignored;
    kc__fields_updater updater = {.ignored = &ignored};
    kc__fields_request request = {.updater = &updater,
                                  .live = typed,
                                  .object = typed,
                                  .manager = KC_STR(MANAGER),
                                  .subresource = KC_STR("status"),
                                  .now = kc_time_print(now, text),
                                  .force = true};
    const kc_value *merged = NULL;
    if (!live)
        return NULL;
    updater.n_ignored =
        kc__resource_reset_fields(resource, "status", typed.version, &arena, &ignored);
    request.live.value = kc_view_root(live);
    request.object.value = config;
    if ((!managed.owners.n &&
         kc__fields_managed_begin(&managed, &request, kc_view_root(topology->empty), err) < 0) ||
        kc__fields_managed_apply(&managed, &request, &merged, err) < 0 || !merged)
        return NULL;
    kc_auto(kc_object) *applied = decode_applied(resource, merged, err);
    kc__fields_managed_write(&fields, &managed);
    return applied ? kc_object_with_managed_fields(applied, kc_buf_str(&fields)) : NULL;
}

/* The policy with a new status; NULL if it cannot be made. */
static kc_object *checked_policy(kc__admission_policy_status *s, const kc_object *object,
                                 const kc_value *root)
{
    kc_scoped(kc_error) err = {0};
    const kc__resource *resource = kc__registry_find(s->catalog->kinds, KC_STR(GROUP), KC_STR("v1"),
                                                     KC_STR("validatingadmissionpolicies"));
    kc_auto(kc_view) *config = configuration_of_status(s, object, root);
    if (!config)
        return NULL;
    kc_object *checked =
        apply_status(resource, resource->ops->topology(resource, s->opts.topologies), object,
                     kc_view_root(config), kc_clock_wall(s->opts.clock), &err);
    if (!checked)
        kc_log_warn(s->opts.log, "apply of a policy's status failed",
                    kc_kv("policy", kc_object_name(object)), kc_kv("err", &err));
    return checked;
}

static void sync_policy(kc__admission_policy_status *s, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    const int64_t observed =
        kc_value_as_i64_or(kc_value_nested(root, "status.observedGeneration"), 0);
    if (kc_object_generation(object) <= observed || kc_map_get(&s->writing, kc_object_name(object)))
        return;
    kc_object *next = checked_policy(s, object, root);
    if (next)
        write_status(s, object, next);
}

void kc__admission_policy_status_sync(kc__admission_policy_status *s)
{
    if (s->stopped)
        return;
    kc__rest_catalog_slot_current(s->opts.catalog, &s->catalog);
    kc_auto(kc__cow_snapshot) *stored = kc__watch_cache_snapshot(s->opts.policies, NULL);
    kc__cow_iter at = kc__cow_iter_start(stored, NULL);
    while (kc__cow_iter_next(&at))
        sync_policy(s, at.object);
    s->catalog = kc__rest_catalog_unref(s->catalog);
}

static void retry_fired(kc__loop_timer *timer)
{
    kc__admission_policy_status_sync(kc_container_of(timer, kc__admission_policy_status, retry));
}

/* ---- start and stop ---- */

kc__admission_policy_status *kc__admission_policy_status_new(
    const kc__admission_policy_status_opts *opts)
{
    kc__admission_policy_status *s = kc_new(kc__admission_policy_status);
    s->opts = *opts;
    s->retry = (kc__loop_timer){.loop = opts->loop, .fire = retry_fired};
    return s;
}

void kc__admission_policy_status_stop(kc__admission_policy_status *s)
{
    s->stopped = true;
    kc__loop_timer_stop(&s->retry);
}

kc__admission_policy_status *kc__admission_policy_status_free(kc__admission_policy_status *s)
{
    if (!s)
        return NULL;
    kc_map_done(&s->writing);
    free(s);
    return NULL;
}
