/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_members.c: finds and deletes the members of an apply set.
 *
 * The parent names kinds without a version. The set discovers all resources of the server when it
 * needs a kind for the first time, lists the preferred version, and remembers it. A kind that is
 * not served any more (404) is discovered again: its CRD may have another version now.
 *
 * The set sends one list per kind, and per namespace if the kind is namespaced, as kubectl does: so
 * the same permissions suffice.
 */
#include "client/apply/apply_set_internal.h"

void kc__apply_members_done(kc__apply_members *members)
{
    kc_vec_each (members, m)
        kc_object_unref(m->object);
    kc_vec_done(members);
}

/* ---- kinds ---- */

static bool can_list(const kc_api_resource *resource)
{
    for (const char *const *verb = resource->verbs; *verb; verb++)
        if (!strcmp(*verb, "list"))
            return true;
    return false;
}

static void remember_kind(const kc_api_resource *resource, void *user)
{
    kc__apply_set *set = user;
    kc_scoped(kc_buf) name = {0};
    const kc_kind *kind = resource->kind;
    kc_group_kind_write(&name, (kc_group_kind){kc_cstr(kind->group), kc_cstr(kind->kind)});
    if (!can_list(resource) || !kc__apply_names_has(&set->scope.kinds, kc_buf_str(&name)))
        return;
    if (kc_map_get(&set->kinds, kc_buf_str(&name)) && !resource->preferred)
        return;
    kc__apply_names_add(&set->kind_names, kc_buf_str(&name));
    const char *own = kc_map_get(&set->kind_names.map, kc_buf_str(&name));
    kc_map_put(&set->kinds, kc_cstr(own), (void *)kind);
}

static bool knows_all_kinds(const kc__apply_set *set)
{
    kc_map_each (&set->scope.kinds.map, entry)
        if (!kc_map_get(&set->kinds, entry->key))
            return false;
    return true;
}

/* Fails if a group could not be discovered and a kind was not found: it may have members. */
static int discover_kinds(kc__apply_set *set, kc_client *client, kc_error *err)
{
    kc_scoped(kc_error) missing = {0};
    kc_map_clear(&set->kinds);
    if (kc_client_discover(client, remember_kind, set, &missing) < 0 ||
        (missing.reason && !knows_all_kinds(set))) {
        kc_error_move(err, &missing);
        return kc_error_wrap(err, "discover the kinds of the apply set");
    }
    return 0;
}

/* ---- members ---- */

typedef struct members_search {
    kc__apply_set *set;
    kc_client *client;
    kc__apply_members *found;
    char *selector;
    bool discovered; /* The kinds were discovered in this call. */
} members_search;

static int list_kind(members_search *s, const kc_kind *kind, const char *ns, kc_error *err)
{
    kc_scoped(kc_object_list) list = {0};
    if (kc_client_list(
            s->client, kind,
            &(kc_list_opts){.ns = ns, .labels = s->selector, .metadata_only = true, .live = true},
            &list, err) < 0)
        return kc_error_wrap(err, "list the %s of the apply set", kind->plural);
    for (size_t i = 0; i < list.n; i++)
        kc_vec_push(s->found, (kc__apply_member){kind, kc_object_ref(list.items[i])});
    return 0;
}

static int list_in_namespaces(members_search *s, const kc_kind *kind, kc_error *err)
{
    if (!kind->namespaced)
        return list_kind(s, kind, NULL, err);
    kc_map_each (&s->set->scope.namespaces.map, entry)
        if (list_kind(s, kind, entry->value, err) < 0)
            return kc_error_result(err);
    return 0;
}

/* Appends the members of one kind. A kind that the server does not serve has none. */
static int search_kind(members_search *s, kc_str name, kc_error *err)
{
    for (;;) {
        const kc_kind *kind = kc_map_get(&s->set->kinds, name);
        const size_t before = s->found->n;
        kc_scoped(kc_error) why = {0};
        if (!kind || list_in_namespaces(s, kind, &why) == 0)
            return 0;
        if (!kc_is_not_found(&why))
            return kc_error_move(err, &why);
        while (s->found->n > before)
            kc_object_unref(kc_vec_pop(s->found).object);
        if (s->discovered)
            return 0;
        s->discovered = true;
        if (discover_kinds(s->set, s->client, err) < 0)
            return kc_error_result(err);
    }
}

int kc__apply_set_members(kc__apply_set *set, kc_client *client, kc__apply_members *ret,
                          kc_error *err)
{
    kc_scoped(kc__apply_members) found = {0};
    kc_autofree char *selector = kc_asprintf(KC__APPLY_SET_PART_OF "=%s", set->id);
    members_search s = {.set = set, .client = client, .found = &found, .selector = selector};
    s.discovered = !knows_all_kinds(set);
    if (s.discovered && discover_kinds(set, client, err) < 0)
        return kc_error_result(err);
    kc_map_each (&set->scope.kinds.map, entry)
        if (search_kind(&s, entry->key, err) < 0)
            return kc_error_result(err);
    *ret = found;
    found = (kc__apply_members){0};
    return 0;
}

int kc__apply_member_delete(kc_client *client, const kc__apply_member *member, bool dry_run,
                            kc_error *err)
{
    kc_autofree char *uid = kc_str_dup(kc_object_uid(member->object));
    kc_scoped(kc_error) why = {0};
    const kc_delete_opts opts = {.propagation = "Background", .uid = uid, .dry_run = dry_run};
    if (kc_client_delete(client, member->kind, kc_object_key(member->object), &opts, &why) == 0 ||
        kc_is_not_found(&why) || kc_is_conflict(&why))
        return 0;
    return kc_error_move(err, &why);
}
