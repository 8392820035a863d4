/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac.c: decides by the stored roles and bindings. A follower (follower.h) keeps the index up to
 * date; decisions share its read lock.
 */
#include "apiserver/authz/rbac.h"

#include "apiserver/authz/follower.h"
#include "apiserver/authz/rbac_index.h"
#include "object/gofmt/go_quote.h"

struct kc__rbac {
    kc__authz_follower *follower; /* Guards the index by its lock. */
    kc__rbac_index index;
};

/* ---- following the store ---- */

static void set_role(void *index, kc_str key, const kc_object *object)
{
    kc__rbac_index_set_role(index, key, object);
}

static void set_binding(void *index, kc_str key, const kc_object *object)
{
    kc__rbac_index_set_binding(index, key, object);
}

#define RBAC_GROUP "rbac.authorization.k8s.io"

static const kc__authz_source sources[] = {
    {RBAC_GROUP, "clusterroles", set_role},
    {RBAC_GROUP, "roles", set_role},
    {RBAC_GROUP, "clusterrolebindings", set_binding},
    {RBAC_GROUP, "rolebindings", set_binding},
};

kc__rbac *kc__rbac_new(const kc__rbac_opts *opts, kc_error *err)
{
    kc_auto(kc__rbac) *rbac = kc_new(kc__rbac);
    rbac->follower = kc__authz_follower_new(
        &(kc__authz_follower_opts){.store = opts->store,
                                   .sources = sources,
                                   .n_sources = KC_COUNT(sources),
                                   .index = &rbac->index,
                                   .bytes = &rbac->index.bytes,
                                   .metric = "apiserver_rbac_index_bytes",
                                   .metric_help = "Memory of the index of roles and bindings.",
                                   .memory = opts->memory,
                                   .metrics = opts->metrics},
        err);
    return rbac->follower ? kc_take(rbac) : NULL;
}

kc__rbac *kc__rbac_free(kc__rbac *rbac)
{
    if (!rbac)
        return NULL;
    kc__authz_follower_free(rbac->follower);
    kc__rbac_index_done(&rbac->index);
    free(rbac);
    return NULL;
}

void kc__rbac_visit(kc__rbac *rbac, const kc__user *user, kc_str ns, kc__rbac_visit_fn *visit,
                    void *visit_user)
{
    kc__authz_follower_lock(rbac->follower);
    kc__rbac_index_visit(&rbac->index, user, ns, visit, visit_user);
    kc__authz_follower_unlock(rbac->follower);
}

kc__rbac_rules *kc__rbac_role_rules(kc__rbac *rbac, kc_str kind, kc_str ns, kc_str name)
{
    kc_scoped(kc_buf) key = {0};
    if (kc_str_is(kind, "Role"))
        kc_buf_printf(&key, "%.*s/", KC_ARG(ns));
    kc_buf_append(&key, name);
    kc__authz_follower_lock(rbac->follower);
    kc__rbac_rules *rules = kc__rbac_index_role_rules(&rbac->index, kc_buf_str(&key));
    kc__authz_follower_unlock(rbac->follower);
    return rules;
}

/* ---- missing roles ---- */

/* More are not reported: the search for duplicates is quadratic. */
enum { MAX_MISSING = 32 };

/* Several bindings may name the same missing role: it is reported once. */
typedef struct missing_roles {
    kc_buf text; /* ", " and a message for each. */
    size_t n;
    const char *role, *cluster_role; /* The resources in the messages. */
} missing_roles;

static void note_missing_role(missing_roles *missing, const kc__rbac_grant *grant)
{
    kc_scoped(kc_buf) text = {0};
    if (missing->n == MAX_MISSING)
        return;
    kc_buf_printf(&text, ", %s.rbac.authorization.k8s.io ",
                  kc_str_is(grant->role_kind, "Role") ? missing->role : missing->cluster_role);
    kc__go_quote(&text, grant->role);
    kc_buf_puts(&text, " not found");
    if (missing->n && strstr(kc_buf_cstr(&missing->text), kc_buf_cstr(&text)))
        return;
    kc_buf_append(&missing->text, kc_buf_str(&text));
    missing->n++;
}

/* As an aggregate of errors in Go. */
static void write_missing_roles(kc_buf *out, missing_roles *missing)
{
    if (!missing->n)
        return;
    const bool several = missing->n > 1;
    kc_buf_puts(out, several ? "[" : "");
    kc_buf_puts(out, kc_buf_cstr(&missing->text) + 2);
    kc_buf_puts(out, several ? "]" : "");
}

/* ---- decisions ---- */

typedef struct rbac_decision {
    const kc__authz_attributes *attributes;
    kc_buf *reason;
    bool allowed;
    missing_roles missing;
} rbac_decision;

/* As Kubernetes says it, with the namespace behind the name. */
static void quote_name_and_namespace(kc_buf *out, kc_str name, kc_str ns)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, name);
    if (!kc_str_empty(ns))
        kc_buf_printf(&text, "/%.*s", KC_ARG(ns));
    kc__go_quote(out, kc_buf_str(&text));
}

static void explain_grant(kc_buf *out, const kc__rbac_grant *grant)
{
    kc_buf_printf(out, "RBAC: allowed by %s ",
                  kc_str_empty(grant->ns) ? "ClusterRoleBinding" : "RoleBinding");
    quote_name_and_namespace(out, grant->binding, grant->ns);
    kc_buf_printf(out, " of %.*s ", KC_ARG(grant->role_kind));
    kc__go_quote(out, grant->role);
    kc_buf_printf(out, " to %.*s ", KC_ARG(grant->subject_kind));
    kc__go_quote(out, grant->subject);
}

static bool check_grant(const kc__rbac_grant *grant, void *user)
{
    rbac_decision *d = user;
    if (!*grant->rules && d->reason)
        note_missing_role(&d->missing, grant);
    d->allowed = kc__rbac_rules_allow(*grant->rules, d->attributes);
    if (d->allowed && d->reason)
        explain_grant(d->reason, grant);
    return !d->allowed;
}

kc__authz_decision kc__rbac_authorize(kc__rbac *rbac, const kc__authz_attributes *a, kc_buf *reason)
{
    kc__authz_attributes request = *a;
    request.verb_bit = kc__rbac_verb_bit(a->verb);
    rbac_decision d = {.attributes = &request,
                       .reason = reason,
                       .missing = {.role = "role", .cluster_role = "clusterrole"}};
    kc__rbac_visit(rbac, a->user, a->ns, check_grant, &d);
    if (!d.allowed && d.missing.n) {
        kc_buf_puts(reason, "RBAC: ");
        write_missing_roles(reason, &d.missing);
    }
    kc_buf_done(&d.missing.text);
    return d.allowed ? KC__AUTHZ_ALLOW : KC__AUTHZ_NO_OPINION;
}

/* ---- rights of a user ---- */

typedef struct rights_collection {
    kc__rbac_rights *rights;
    missing_roles missing;
} rights_collection;

static bool collect_grant(const kc__rbac_grant *grant, void *user)
{
    rights_collection *c = user;
    if (*grant->rules)
        kc_vec_push(&c->rights->rules, kc__rbac_rules_ref(*grant->rules));
    else
        note_missing_role(&c->missing, grant);
    return true;
}

void kc__rbac_rights_collect(kc__rbac *rbac, const kc__user *user, kc_str ns, bool plural,
                             kc__rbac_rights *ret)
{
    rights_collection c = {.rights = ret,
                           .missing = {.role = plural ? "roles" : "role",
                                       .cluster_role = plural ? "clusterroles" : "clusterrole"}};
    kc__rbac_visit(rbac, user, ns, collect_grant, &c);
    write_missing_roles(&ret->missing, &c.missing);
    kc_buf_done(&c.missing.text);
}

void kc__rbac_rights_done(kc__rbac_rights *rights)
{
    kc_vec_each (&rights->rules, rules)
        kc__rbac_rules_unref(*rules);
    kc_vec_done(&rights->rules);
    kc_buf_done(&rights->missing);
}
