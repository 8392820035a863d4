/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_proxy.c: authenticates requests that a front proxy forwards. The proxy has authenticated
 * its client and names the user in header fields:
 *
 *     X-Remote-User: alice     X-Remote-Uid: 1001     X-Remote-Group: dev X-Remote-Extra-scopes: a
 *
 * The fields of any other client mean nothing. So this authenticator first verifies the certificate
 * of the connection, by CAs that issue certificates to proxies only, and compares its common name
 * with the allowed names. A field counts under the exact names of the configuration, in any case:
 * X_Remote_User, for example, is another field. Of the fields for user name and uid the first
 * counts, as in Kubernetes; every group field is one group.
 *
 * After authentication kc__authn_strip removes the fields from every request, of any client.
 */
#include "apiserver/access/authn_internal.h"
#include "apiserver/access/user_extra.h"

struct kc__authn_proxy {
    kc_arena arena; /* Holds the texts. */
    kc__authn_proxy_opts opts;
    kc__cert_pool *cas;
};

/* ---- configuration ---- */

kc__authn_proxy *kc__authn_proxy_new(const kc__authn_proxy_opts *opts)
{
    kc__authn_proxy *proxy = kc_new(kc__authn_proxy);
    proxy->cas = kc__cert_pool_new();
    proxy->opts = (kc__authn_proxy_opts){
        .allowed_names = kc__authn_copy_texts(&proxy->arena, opts->allowed_names),
        .username_headers = kc__authn_copy_texts(&proxy->arena, opts->username_headers),
        .uid_headers = kc__authn_copy_texts(&proxy->arena, opts->uid_headers),
        .group_headers = kc__authn_copy_texts(&proxy->arena, opts->group_headers),
        .extra_prefixes = kc__authn_copy_texts(&proxy->arena, opts->extra_prefixes)};
    return proxy;
}

kc__authn_proxy *kc__authn_proxy_free(kc__authn_proxy *proxy)
{
    if (!proxy)
        return NULL;
    kc__cert_pool_free(proxy->cas);
    kc_arena_done(&proxy->arena);
    free(proxy);
    return NULL;
}

int kc__authn_set_proxy_ca(kc__authn *authn, kc_str pem, kc_error *err)
{
    if (!authn->proxy)
        return kc_error_set(err, KC_INVALID, "front proxies are not configured");
    return kc__cert_pool_replace(authn->proxy->cas, pem, err);
}

/* ---- the proxy ---- */

static int check_proxy_name(const kc__authn_proxy *proxy, kc_str name, kc_error *err)
{
    const kc__authn_texts allowed = proxy->opts.allowed_names;
    for (size_t i = 0; i < allowed.n; i++)
        if (kc_str_eq(allowed.items[i], name))
            return 0;
    if (!allowed.n)
        return 0;
    return kc_error_set(err, KC_UNAUTHORIZED,
                        "x509: subject with cn=%.*s is not in the allowed list", KC_ARG(name));
}

/* ---- header fields ---- */

static kc_str first_field(const kc__http_headers *headers, kc__authn_texts names)
{
    for (size_t i = 0; i < names.n; i++) {
        const kc_str value = kc__http_headers_get(headers, names.items[i]);
        if (value.n)
            return value;
    }
    return (kc_str){0};
}

/* With room for one more group; NULL if the arena is full. */
static kc_str *proxy_groups(const kc__http_headers *headers, kc__authn_texts names, kc_arena *arena,
                            size_t *ret_n)
{
    kc_str *groups = kc_arena_calloc(arena, names.n * headers->list.n + 1, sizeof(*groups));
    size_t n = 0;
    for (size_t i = 0; groups && i < names.n; i++) {
        kc_str value;
        for (size_t at = 0; kc__http_headers_next(headers, names.items[i], &at, &value);)
            if (value.n)
                groups[n++] = kc_arena_str(arena, value);
    }
    *ret_n = n;
    return groups;
}

static bool add_proxy_extra(kc__user *user, kc__user_extra *list, size_t most, kc_str key,
                            kc_str value, kc_arena *arena)
{
    kc__user_extra *extra = kc__user_extra_of_key(list, &user->n_extra, key);
    kc_str *values = (kc_str *)extra->values;
    if (!values)
        values = kc_arena_calloc(arena, most, sizeof(*values));
    if (!values)
        return false;
    values[extra->n_values++] = kc_arena_str(arena, value);
    extra->values = values;
    return true;
}

/* Values of the same key become one list; those of an earlier prefix come first. */
static bool read_proxy_extra(const kc__http_headers *headers, kc__authn_texts prefixes,
                             kc_arena *arena, kc__user *user)
{
    const size_t most = prefixes.n * headers->list.n;
    kc__user_extra *list = most ? kc_arena_calloc(arena, most, sizeof(*list)) : NULL;
    user->extra = list;
    if (most && !list)
        return false;
    for (size_t i = 0; i < prefixes.n; i++)
        kc_vec_each (&headers->list, field) {
            const kc_str prefix = prefixes.items[i];
            if (!kc__user_extra_has_prefix(field->name, prefix))
                continue;
            const kc_str key =
                kc__user_extra_key(kc_str_sub(field->name, prefix.n, field->name.n), arena);
            if (!add_proxy_extra(user, list, most, key, field->value, arena))
                return false;
        }
    kc__user_extra_sort(list, user->n_extra);
    return true;
}

int kc__authn_by_proxy(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    const kc__authn_proxy *proxy = q->authn->proxy;
    const kc__conn_client_cert *cert = q->request->peer ? q->request->peer->cert : NULL;
    const kc__http_headers *headers = &q->request->headers;
    if (!proxy || !cert || !cert->presented)
        return 0;
    if (kc__cert_pool_verify(proxy->cas, cert->presented, kc_clock_wall(q->authn->clock), err) <
            0 ||
        check_proxy_name(proxy, cert->common_name, err) < 0)
        return kc_error_result(err);
    const kc_str name = first_field(headers, proxy->opts.username_headers);
    if (!name.n)
        return 0;
    kc__user user = {.name = kc_arena_str(q->arena, name),
                     .uid = kc_arena_str(q->arena, first_field(headers, proxy->opts.uid_headers))};
    kc_str *groups = proxy_groups(headers, proxy->opts.group_headers, q->arena, &user.n_groups);
    user.groups = groups;
    if (!groups || !user.name.p ||
        !read_proxy_extra(headers, proxy->opts.extra_prefixes, q->arena, &user))
        return kc__authn_out_of_memory(err);
    kc__user_authenticated(&user, groups);
    *ret = user;
    return 1;
}

/* ---- removal ---- */

static bool names_field(kc__authn_texts names, kc_str name)
{
    for (size_t i = 0; i < names.n; i++)
        if (kc_str_eq_nocase(names.items[i], name))
            return true;
    return false;
}

static bool has_any_prefix(kc__authn_texts prefixes, kc_str name)
{
    for (size_t i = 0; i < prefixes.n; i++)
        if (kc__user_extra_has_prefix(name, prefixes.items[i]))
            return true;
    return false;
}

static bool is_configured_field(const kc__authn_proxy_opts *opts, kc_str name)
{
    return names_field(opts->username_headers, name) || names_field(opts->uid_headers, name) ||
           names_field(opts->group_headers, name) || has_any_prefix(opts->extra_prefixes, name);
}

/* The fields that other servers use, too. */
static bool is_usual_field(kc_str name)
{
    static const kc_str names[] = {KC_STR_INIT("X-Remote-User"), KC_STR_INIT("X-Remote-Uid"),
                                   KC_STR_INIT("X-Remote-Group")};
    return names_field((kc__authn_texts){names, KC_COUNT(names)}, name) ||
           kc__user_extra_has_prefix(name, KC_STR("X-Remote-Extra-"));
}

void kc__authn_strip(const kc__authn *authn, kc__http_headers *headers)
{
    size_t kept = 0;
    for (size_t i = 0; i < headers->list.n; i++) {
        const kc__http_header field = headers->list.items[i];
        if (!is_usual_field(field.name) &&
            !(authn->proxy && is_configured_field(&authn->proxy->opts, field.name)))
            headers->list.items[kept++] = field;
    }
    headers->list.n = kept;
}
