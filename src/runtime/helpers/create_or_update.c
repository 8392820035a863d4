/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_or_update.c: read, mutate, compare, and write only if the object changed.
 *
 * The comparison is Kubernetes' semantic equality: an empty list equals a missing one. Otherwise a
 * mutation that sets [] where the server omits the field would write on every reconcile. The status
 * is restored before the comparison: it has its own subresource, and an update of the main resource
 * cannot change it, so a status difference would cause the same ineffective update again and again.
 */
#include "kc/create_or_update.h"

#include "kc/diff.h"
#include "kc/merge_patch.h"
#include "kc/view.h"

static const kc_str STATUS = KC_STR_INIT("status");

static const kc_equal_opts SEMANTIC = {.empty_is_absent = true};

/* Runs the mutation. The mutation must not change the identity of the object. */
static kc_object *mutated(kc_edit *edit, kc_key key, kc_mutate_fn *mutate, void *user,
                          kc_error *err)
{
    if (mutate(edit, user, err) < 0)
        return NULL;
    kc_object *changed = kc_edit_freeze(edit, err);
    if (!changed || kc_key_eq(kc_object_key(changed), key))
        return changed;
    kc_error_set(err, KC_BAD_REQUEST, "the mutation of %.*s must not change its name or namespace",
                 KC_ARG(key.name));
    return kc_object_unref(changed);
}

static void put_back_status(kc_edit *edit, const kc_object *before)
{
    kc_auto(kc_view) *view = kc_view_of(before);
    const kc_value *status = kc_value_get(kc_view_root(view), "status");
    if (status)
        kc_node_set(edit, kc_edit_root(edit), STATUS, kc_node_from_value(edit, status));
    else
        kc_node_remove(kc_edit_root(edit), STATUS);
}

/* ---- create ---- */

static kc_edit *blank(const kc_kind *kind, kc_key key)
{
    kc_edit *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    kc_scoped(kc_buf) api_version = {0};
    kc_api_version_write(&api_version, kc_cstr(kind->group), kc_cstr(kind->version));
    kc_node_add(edit, root, KC_STR("apiVersion"), kc_node_str(edit, kc_buf_str(&api_version)));
    kc_node_add(edit, root, KC_STR("kind"), kc_node_str(edit, kc_cstr(kind->kind)));
    kc_edit_set_name(edit, key.name);
    kc_edit_set_namespace(edit, key.ns);
    return edit;
}

static kc_object *create_or_update_create(kc_client *client, const kc_kind *kind, kc_key key,
                                          kc_mutate_fn *mutate, void *user, kc_error *err)
{
    kc_auto(kc_edit) *edit = blank(kind, key);
    kc_auto(kc_object) *wanted = mutated(edit, key, mutate, user, err);
    return wanted ? kc_client_create(client, wanted, &(kc_write_opts){.kind = kind}, err) : NULL;
}

/* ---- update ---- */

typedef kc_object *create_or_update_write_fn(kc_client *client, const kc_kind *kind,
                                             const kc_object *from, const kc_object *to,
                                             kc_error *err);

static kc_object *by_update(kc_client *client, const kc_kind *kind, const kc_object *from,
                            const kc_object *to, kc_error *err)
{
    (void)from;
    return kc_client_update(client, to, &(kc_write_opts){.kind = kind}, err);
}

static kc_object *by_patch(kc_client *client, const kc_kind *kind, const kc_object *from,
                           const kc_object *to, kc_error *err)
{
    return kc_client_patch_from(client, from, to, false, &(kc_write_opts){.kind = kind}, err);
}

static int change(kc_client *client, const kc_kind *kind, const kc_object *before,
                  kc_mutate_fn *mutate, void *user, create_or_update_write_fn *write,
                  kc_object **ret, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(before);
    kc_auto(kc_object) *changed = mutated(edit, kc_object_key(before), mutate, user, err);
    if (!changed)
        return kc_error_result(err);
    put_back_status(edit, before);
    kc_auto(kc_object) *wanted = kc_edit_freeze(edit, err);
    if (!wanted)
        return kc_error_result(err);
    if (kc_object_equal(before, wanted, &SEMANTIC)) {
        *ret = kc_object_ref(before);
        return KC_OPERATION_UNCHANGED;
    }
    *ret = write(client, kind, before, wanted, err);
    return *ret ? KC_OPERATION_UPDATED : kc_error_result(err);
}

static int create_or(create_or_update_write_fn *write, kc_client *client, const kc_kind *kind,
                     kc_key key, kc_mutate_fn *mutate, void *user, kc_object **ret, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_object) *before = kc_client_get(client, kind, key, NULL, &failed), *now = NULL;
    if (!before && !kc_is_not_found(&failed))
        return kc_error_move(err, &failed);
    int written = KC_OPERATION_CREATED;
    if (before)
        written = change(client, kind, before, mutate, user, write, &now, err);
    else if (!(now = create_or_update_create(client, kind, key, mutate, user, err)))
        written = kc_error_result(err);
    if (ret && written >= 0)
        *ret = kc_take(now);
    return written;
}

int kc_create_or_update(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                        void *user, kc_object **ret, kc_error *err)
{
    return create_or(by_update, client, kind, key, mutate, user, ret, err);
}

int kc_create_or_patch(kc_client *client, const kc_kind *kind, kc_key key, kc_mutate_fn *mutate,
                       void *user, kc_object **ret, kc_error *err)
{
    return create_or(by_patch, client, kind, key, mutate, user, ret, err);
}

/* ---- status ---- */

int kc_mutate_status(kc_client *client, const kc_object *object, kc_mutate_fn *mutate, void *user,
                     kc_object **ret, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_auto(kc_object) *wanted = mutated(edit, kc_object_key(object), mutate, user, err);
    if (!wanted)
        return kc_error_result(err);
    kc_auto(kc_view) *was = kc_view_of(object), *is = kc_view_of(wanted);
    bool same = kc_value_equal(kc_value_get(kc_view_root(was), "status"),
                               kc_value_get(kc_view_root(is), "status"), &SEMANTIC);
    kc_object *now = same ? kc_object_ref(object) : kc_client_update_status(client, wanted, err);
    if (!now)
        return kc_error_result(err);
    if (ret)
        *ret = now;
    else
        kc_object_unref(now);
    return same ? KC_OPERATION_UNCHANGED : KC_OPERATION_UPDATED;
}

/* ---- conflicts ---- */

enum { ATTEMPTS = 5 };

int kc_retry_on_conflict(kc_client *client, int (*attempt)(void *user, kc_error *err), void *user,
                         kc_error *err)
{
    for (int i = 1;; i++) {
        kc_scoped(kc_error) failed = {0};
        int done = attempt(user, &failed);
        if (done >= 0)
            return done;
        if (i == ATTEMPTS || !kc_is_conflict(&failed))
            return kc_error_move(err, &failed);
        kc_clock_sleep(kc_client_clock(client), 10 * KC_MILLISECOND);
    }
}
