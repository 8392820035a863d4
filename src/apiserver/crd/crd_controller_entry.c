/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller_entry.c: one stored CRD: its names, its status, its compiled form.
 *
 * A name belongs to the first CRD that had it. CRDs whose names conflict are tried again with every
 * change. A CRD in one of the server's own groups, which an older version of this program accepted,
 * is never served.
 */
#include "apiserver/crd/crd_controller_internal.h"
#include "apiserver/crd/crd_conversion.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/create_gate.h"
#include "kc/meta.h"
#include "kc/resource_metadata.h"

typedef struct taken_names {
    char *group;
    kc__crd_names names;
} taken_names;

/* ---- serving ---- */

void kc__crd_entry_free(kc__crd_entry *e)
{
    kc__crd_entry_replace(e, NULL);
    kc_view_free(e->names);
    free(e->group);
    free(e->facts);
    free(e->name);
    free(e);
}

kc__crd_entry *kc__crd_entry_of(kc__crd_controller *c, const kc_object *object)
{
    kc__crd_entry *e = kc_map_get(&c->entries, kc_object_name(object));
    if (e)
        return e;
    e = kc_new(kc__crd_entry);
    e->controller = c;
    e->name = kc_str_dup(kc_object_name(object));
    kc_map_put(&c->entries, kc_cstr(e->name), e);
    return e;
}

/* A server in portable mode hides kinds that are marked as not portable. */
static bool is_hidden(const kc__crd_entry *e, const kc_object *object)
{
    return e->controller->opts.portable &&
           kc_object_annotation_is(object, KC_STR(KC_ANNOTATION_NOT_PORTABLE), KC_STR("true"));
}

/* Everything that determines how the CRD is served; the generation represents the spec. */
static char *facts_of(const kc__crd_entry *e, const kc_object *object, const kc_value *root)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "%lld %d %d %d ", (long long)kc_object_generation(object),
                  kc__crd_is_established(root), kc__crd_is_terminating(root), is_hidden(e, object));
    kc_buf_append(&out, kc_object_uid(object));
    kc_json_write(&out, kc_value_get(kc_value_get(root, "status"), "acceptedNames"));
    return kc_buf_take(&out);
}

static void keep_accepted_names(kc__crd_entry *e, const kc_value *root)
{
    kc_scoped(kc_buf) out = {0};
    const kc_value *names = kc_value_get(kc_value_get(root, "status"), "acceptedNames");
    kc_buf_puts(&out, "{\"status\":{\"acceptedNames\":");
    if (names)
        kc_json_write(&out, names);
    else
        kc_buf_puts(&out, "{}");
    kc_buf_puts(&out, "}}");
    kc_view_free(e->names);
    e->names = kc_view_parse(kc_buf_str(&out), NULL, NULL);
    free(e->group);
    e->group = kc_str_dup(kc_value_as_str(kc_value_get(kc_value_get(root, "spec"), "group")));
}

/* Refuses creates through a compiled CRD that is no longer served. */
static void close_old_gate(const kc__crd *before, const kc__crd *now)
{
    if (!now || kc__crd_gate(now) != kc__crd_gate(before))
        kc__resource_create_gate_close(kc__crd_gate(before));
}

void kc__crd_entry_replace(kc__crd_entry *e, kc__crd *compiled)
{
    kc__crd *before = e->compiled;
    e->compiled = compiled;
    if (!before)
        return;
    close_old_gate(before, compiled);
    e->controller->withdraws |= !compiled || !kc__crd_serves_alike(before, compiled);
    kc__crd_unref(before);
}

static bool has_objects(const kc__crd_entry *e, const kc__crd *compiled)
{
    const kc__resource_set *set = kc__crd_resources(compiled);
    if (!set->n)
        return false;
    kc_auto(kc__watch_cache) *cache =
        kc__store_watch_cache_ref(e->controller->opts.store, kc_cstr(set->resources[0].key_prefix));
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(cache, NULL);
    kc__cow_iter at = kc__cow_iter_start(now, NULL);
    return kc__cow_iter_next(&at);
}

static void prepare_conversion(const kc__crd_entry *e, kc__crd *compiled)
{
    kc__crd_set_converter(compiled, e->controller->opts.converter);
    const kc__resource_set *before = e->compiled ? kc__crd_resources(e->compiled) : NULL;
    const bool converted = before && before->n && kc__crd_serves_alike(e->compiled, compiled) &&
                           kc__crd_is_converting(before->resources);
    if (kc__crd_webhook_of(compiled) && (converted || !has_objects(e, compiled)))
        kc__crd_set_converting(compiled);
}

/* Compiles the CRD again if its inputs have changed. */
static void serve_crd(kc__crd_entry *e, const kc_object *object)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    kc_autofree char *facts = facts_of(e, object, root);
    keep_accepted_names(e, root);
    if (e->facts && !strcmp(e->facts, facts))
        return;
    const bool served =
        kc__crd_is_established(root) && !kc__crd_group_is_builtin(root) && !is_hidden(e, object);
    kc__crd *compiled = served ? kc__crd_compile(object, e->compiled, &err) : NULL;
    if (compiled)
        prepare_conversion(e, compiled);
    kc__crd_entry_replace(e, compiled);
    if (err.reason)
        kc_log_error(e->controller->opts.log, "CRD does not compile; not served",
                     kc_kv("name", e->name), kc_kv("err", &err));
    free(e->facts);
    e->facts = kc_take(facts);
    e->controller->changed = true;
}

/* ---- names and status ---- */

/* The accepted names of a group. A round collects them once, when a CRD first needs them; names
 * that become free during a round are free in the next one. */
static kc__crd_names *names_of_group(kc__crd_controller *c, kc_str group)
{
    taken_names *t = kc_map_get(&c->taken, group);
    if (t)
        return &t->names;
    t = kc_new(taken_names);
    t->group = kc_str_dup(group);
    kc_map_put(&c->taken, kc_cstr(t->group), t);
    return &t->names;
}

static void add_names(const kc__crd_entry *e)
{
    if (e->names)
        kc__crd_names_add(names_of_group(e->controller, kc_cstr(e->group)), kc_view_root(e->names));
}

static void collect_names(kc__crd_controller *c)
{
    if (c->collected)
        return;
    c->collected = true;
    kc_map_each (&c->entries, at)
        add_names(at->value);
}

void kc__crd_forget_names(kc__crd_controller *c)
{
    kc_map_each (&c->taken, at) {
        taken_names *t = at->value;
        kc__crd_names_done(&t->names);
        free(t->group);
        free(t);
    }
    kc_map_done(&c->taken);
    c->taken = (kc_map){0};
    c->collected = false;
}

/* The CRD with its current status; NULL if the status is up to date. */
static kc_object *with_status(kc__crd_entry *e, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    collect_names(e->controller);
    const kc__crd_names *taken = names_of_group(
        e->controller, kc_value_as_str(kc_value_get(kc_value_get(root, "spec"), "group")));
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    if (!kc__crd_update_status(edit, root, taken, kc_clock_wall(e->controller->opts.clock)))
        return NULL;
    return kc__crd_own_status(e->controller, object, kc__crd_freeze(edit, NULL));
}

static bool names_are_accepted(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc__crd_condition_is_true(kc_view_root(view), "NamesAccepted");
}

void kc__crd_entry_sync(kc__crd_entry *e, const kc_object *object)
{
    bool terminating = !kc_str_empty(kc_object_deletion_timestamp(object));
    bool synced = e->revision == kc_object_revision(object) && !e->conflicts && !terminating;
    if (e->writing || synced)
        return;
    e->revision = kc_object_revision(object);
    if (terminating) {
        serve_crd(e, object);
        kc__crd_entry_delete(e, object);
        return;
    }
    kc_auto(kc_object) *next = with_status(e, object);
    serve_crd(e, next ? next : object);
    add_names(e);
    e->conflicts = !names_are_accepted(next ? next : object);
    if (next)
        kc__crd_controller_put(e, object, next);
}
