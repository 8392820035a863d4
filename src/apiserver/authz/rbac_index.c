/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_index.c: adds and removes roles and bindings, and finds the grants of a user.
 *
 * A service account is the user "system:serviceaccount:NAMESPACE:NAME", so a binding of one is
 * indexed under that user. A user name in a binding cannot collide: the same text means the same
 * account.
 */
#include "apiserver/authz/rbac_index.h"

#include "apiserver/access/account_name.h"
#include "kc/vec.h"

/* Memory of an entry besides the text of its object, for the account of the index. */
enum { ROLE_COST = 512, BINDING_COST = 512, SUBJECT_COST = 288 };

/* ---- entries ---- */

typedef struct rbac_role {
    char *key;
    size_t bytes;          /* Of the role in the store. */
    kc__rbac_rules *rules; /* NULL while the role does not exist. */
    size_t n_bindings;     /* That name it. */
} rbac_role;

typedef struct rbac_binding rbac_binding;

/* One subject of a binding. */
typedef struct rbac_link {
    kc__rbac_grant grant; /* Its texts are in the arena of the binding. */
    rbac_binding *binding;
    struct rbac_subject *subject;
} rbac_link;

typedef KC_VEC(rbac_link *) rbac_links;

struct rbac_binding {
    kc_arena arena;
    size_t bytes;
    kc_str key, ns, name, role_kind, role_name;
    rbac_role *role;
    rbac_link *links;
    size_t n_links;
};

/* A namespace in which a subject has bindings. */
typedef struct rbac_scope {
    rbac_links links;
    char ns[];
} rbac_scope;

typedef struct rbac_subject {
    char *name;
    kc_map *map; /* The map that it is in. */
    rbac_links in_cluster;
    kc_map in_namespaces; /* Of rbac_scope. */
} rbac_subject;

/* ---- roles ---- */

static rbac_role *role_entry(kc__rbac_index *index, kc_str key)
{
    rbac_role *role = kc_map_get(&index->roles, key);
    if (role)
        return role;
    role = kc_new(rbac_role);
    role->key = kc_str_dup(key);
    kc_map_put(&index->roles, kc_cstr(role->key), role);
    return role;
}

static void free_role(rbac_role *role)
{
    kc__rbac_rules_unref(role->rules);
    free(role->key);
    free(role);
}

static void drop_role_if_unused(kc__rbac_index *index, rbac_role *role)
{
    if (role->rules || role->n_bindings)
        return;
    kc_map_remove(&index->roles, kc_cstr(role->key));
    free_role(role);
}

void kc__rbac_index_set_role(kc__rbac_index *index, kc_str key, const kc_object *object)
{
    rbac_role *role = role_entry(index, key);
    role->rules = kc__rbac_rules_unref(role->rules);
    index->bytes -= role->bytes;
    role->bytes = 0;
    if (object) {
        kc_auto(kc_view) *view = kc_view_of(object);
        role->rules = kc__rbac_rules_new(kc_value_get(kc_view_root(view), "rules"));
        role->bytes = kc_object_json(object).n + ROLE_COST;
        index->bytes += role->bytes;
    }
    drop_role_if_unused(index, role);
}

kc__rbac_rules *kc__rbac_index_role_rules(const kc__rbac_index *index, kc_str key)
{
    const rbac_role *role = kc_map_get(&index->roles, key);
    return role ? kc__rbac_rules_ref(role->rules) : NULL;
}

/* ---- subjects ---- */

static rbac_subject *subject_entry(kc_map *map, kc_str name)
{
    rbac_subject *subject = kc_map_get(map, name);
    if (subject)
        return subject;
    subject = kc_new(rbac_subject);
    subject->name = kc_str_dup(name);
    subject->map = map;
    kc_map_put(map, kc_cstr(subject->name), subject);
    return subject;
}

static void free_subject(rbac_subject *subject)
{
    kc_map_each (&subject->in_namespaces, entry) {
        rbac_scope *scope = entry->value;
        kc_vec_done(&scope->links);
        free(scope);
    }
    kc_map_done(&subject->in_namespaces);
    kc_vec_done(&subject->in_cluster);
    free(subject->name);
    free(subject);
}

static rbac_links *links_of(rbac_subject *subject, kc_str ns)
{
    if (kc_str_empty(ns))
        return &subject->in_cluster;
    rbac_scope *scope = kc_map_get(&subject->in_namespaces, ns);
    if (!scope) {
        scope = kc_calloc(1, sizeof(*scope) + ns.n + 1);
        memcpy(scope->ns, ns.p, ns.n);
        kc_map_put(&subject->in_namespaces, kc_cstr(scope->ns), scope);
    }
    return &scope->links;
}

static void remove_link(rbac_links *links, const rbac_link *link)
{
    for (size_t i = 0; i < links->n; i++)
        if (links->items[i] == link) {
            links->items[i] = links->items[links->n - 1];
            links->n--;
            return;
        }
}

static void unlink_subject(rbac_link *link)
{
    rbac_subject *subject = link->subject;
    const kc_str ns = link->binding->ns;
    rbac_links *links = links_of(subject, ns);
    remove_link(links, link);
    if (!links->n && !kc_str_empty(ns)) {
        rbac_scope *scope = kc_map_remove(&subject->in_namespaces, ns);
        kc_vec_done(&scope->links);
        free(scope);
    }
    if (subject->in_cluster.n || subject->in_namespaces.n)
        return;
    kc_map_remove(subject->map, kc_cstr(subject->name));
    free_subject(subject);
}

/* ---- bindings ---- */

/* The entry of a subject in the index; NULL if the subject can match no user. */
static rbac_subject *entry_of_subject(kc__rbac_index *index, const kc_value *subject,
                                      kc_str binding_ns, kc_arena *arena, rbac_link *link)
{
    const kc_str kind = kc_value_as_str(kc_value_get(subject, "kind"));
    const kc_str name = kc_value_as_str(kc_value_get(subject, "name"));
    kc_str ns = kc_value_as_str(kc_value_get(subject, "namespace"));
    link->grant.subject_kind = kc_arena_str(arena, kind);
    link->grant.subject = kc_arena_str(arena, name);
    if (kc_str_is(kind, "User") || kc_str_is(kind, "Group"))
        return subject_entry(kc_str_is(kind, "User") ? &index->users : &index->groups, name);
    ns = kc_str_empty(ns) ? binding_ns : ns;
    if (!kc_str_is(kind, "ServiceAccount") || kc_str_empty(ns))
        return NULL;
    link->grant.subject = kc_cstr(kc_arena_printf(arena, "%.*s/%.*s", KC_ARG(name), KC_ARG(ns)));
    return subject_entry(&index->users, kc__user_account_name(arena, ns, name));
}

static void link_subjects(kc__rbac_index *index, rbac_binding *binding, const kc_value *subjects)
{
    const size_t n = kc_value_len(subjects);
    if (n)
        binding->links = kc_arena_calloc(&binding->arena, n, sizeof(*binding->links));
    kc_value_each_item (subjects, subject) {
        rbac_link *link = &binding->links[binding->n_links];
        link->binding = binding;
        link->grant = (kc__rbac_grant){.ns = binding->ns,
                                       .binding = binding->name,
                                       .role_kind = binding->role_kind,
                                       .role = binding->role_name,
                                       .rules = &binding->role->rules};
        link->subject = entry_of_subject(index, subject, binding->ns, &binding->arena, link);
        if (!link->subject)
            continue;
        kc_vec_push(links_of(link->subject, binding->ns), link);
        binding->n_links++;
    }
}

static void name_role(kc__rbac_index *index, rbac_binding *binding, const kc_value *ref)
{
    kc_arena *arena = &binding->arena;
    binding->role_kind = kc_arena_str(arena, kc_value_as_str(kc_value_get(ref, "kind")));
    binding->role_name = kc_arena_str(arena, kc_value_as_str(kc_value_get(ref, "name")));
    kc_str key = binding->role_name;
    if (kc_str_is(binding->role_kind, "Role"))
        key = kc_cstr(kc_arena_printf(arena, "%.*s/%.*s", KC_ARG(binding->ns), KC_ARG(key)));
    binding->role = role_entry(index, key);
    binding->role->n_bindings++;
}

static void add_binding(kc__rbac_index *index, kc_str key, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    rbac_binding *binding = kc_new(rbac_binding);
    binding->key = kc_arena_str(&binding->arena, key);
    binding->ns = kc_arena_str(&binding->arena, kc_object_namespace(object));
    binding->name = kc_arena_str(&binding->arena, kc_object_name(object));
    name_role(index, binding, kc_value_get(root, "roleRef"));
    link_subjects(index, binding, kc_value_get(root, "subjects"));
    binding->bytes = kc_object_json(object).n + BINDING_COST + binding->n_links * SUBJECT_COST;
    index->bytes += binding->bytes;
    kc_map_put(&index->bindings, binding->key, binding);
}

static void free_binding(rbac_binding *binding)
{
    kc_arena arena = binding->arena;
    kc_arena_done(&arena);
    free(binding);
}

static void remove_binding(kc__rbac_index *index, rbac_binding *binding)
{
    for (size_t i = 0; i < binding->n_links; i++)
        unlink_subject(&binding->links[i]);
    binding->role->n_bindings--;
    index->bytes -= binding->bytes;
    drop_role_if_unused(index, binding->role);
    kc_map_remove(&index->bindings, binding->key);
    free_binding(binding);
}

void kc__rbac_index_set_binding(kc__rbac_index *index, kc_str key, const kc_object *object)
{
    rbac_binding *before = kc_map_get(&index->bindings, key);
    if (before)
        remove_binding(index, before);
    if (object)
        add_binding(index, key, object);
}

void kc__rbac_index_done(kc__rbac_index *index)
{
    kc_map_each (&index->bindings, entry)
        free_binding(entry->value);
    kc_map_each (&index->roles, entry)
        free_role(entry->value);
    kc_map_each (&index->users, entry)
        free_subject(entry->value);
    kc_map_each (&index->groups, entry)
        free_subject(entry->value);
    kc_map_done(&index->bindings);
    kc_map_done(&index->roles);
    kc_map_done(&index->users);
    kc_map_done(&index->groups);
}

/* ---- grants of a user ---- */

enum { MAX_SUBJECTS = 64 }; /* On the stack; users of more groups need an allocation. */

static bool visit_links(const rbac_links *links, kc__rbac_visit_fn *visit, void *user)
{
    for (size_t i = 0; links && i < links->n; i++)
        if (!visit(&links->items[i]->grant, user))
            return false;
    return true;
}

static const rbac_links *links_in(const rbac_subject *subject, kc_str ns)
{
    if (kc_str_empty(ns))
        return &subject->in_cluster;
    const rbac_scope *scope =
        subject->in_namespaces.n ? kc_map_get(&subject->in_namespaces, ns) : NULL;
    return scope ? &scope->links : NULL;
}

static size_t find_subjects(const kc__rbac_index *index, const kc__user *user,
                            const rbac_subject **found)
{
    size_t n = 0;
    found[n] = kc_map_get(&index->users, user->name);
    n += found[n] != NULL;
    for (size_t i = 0; i < user->n_groups; i++) {
        found[n] = kc_map_get(&index->groups, user->groups[i]);
        n += found[n] != NULL;
    }
    return n;
}

void kc__rbac_index_visit(const kc__rbac_index *index, const kc__user *user, kc_str ns,
                          kc__rbac_visit_fn *visit, void *visit_user)
{
    const rbac_subject *few[MAX_SUBJECTS];
    const size_t max = user->n_groups + 1;
    kc_autofree const rbac_subject **many =
        max > MAX_SUBJECTS ? kc_calloc(max, sizeof(*many)) : NULL;
    const rbac_subject **found = many ? many : few;
    const size_t n = find_subjects(index, user, found);
    for (size_t i = 0; i < n; i++)
        if (!visit_links(&found[i]->in_cluster, visit, visit_user))
            return;
    for (size_t i = 0; !kc_str_empty(ns) && i < n; i++)
        if (!visit_links(links_in(found[i], ns), visit, visit_user))
            return;
}
