/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c: from what spec.source and spec.dest say to an address.
 *
 *     10.0.0.7:6379          10.0.0.7:6379/2          [fe80::1]:6379
 *     redis://10.0.0.7:6379/2      redis://:password@10.0.0.7:6379      redis://user:password@…
 *     ali-123                       a name: what a Secret and a ConfigMap of this name say
 *
 * A name is looked for in the object's own namespace, as a Secret and as a ConfigMap; what both say
 * is taken from the Secret. Keys: address (any of the forms above), db, and in a Secret username
 * and password. So an address everybody may know stands in a ConfigMap, and what nobody may know in
 * a Secret; a password in a ConfigMap is refused, before somebody gets used to it. Both are read
 * at the server when they are needed, not watched: a cache would hold all Secrets of the cluster.
 *
 * Nothing said here repeats a password: an address that is wrong is not repeated at all, since
 * nobody knows which part of it was meant as one.
 */
#include "endpoint.h"

#include "kc/ascii.h"
#include "kc/base64.h"
#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>

enum { MAX_DB = 1 << 20 };

void endpoint_done(endpoint *e)
{
    free(e->name);
    free(e->place);
    free(e->host);
    free(e->user);
    if (e->password)
        explicit_bzero(e->password, strlen(e->password));
    free(e->password);
    *e = (endpoint){0};
}

/* ---- addresses ---- */

char *endpoint_title(kc_str text)
{
    kc_scoped(endpoint) e = {0};
    if (kc_str_find(text, ':') < 0)
        return kc_str_dup(text);
    return kc_strdup(endpoint_parse(text, &e, NULL) == 0 ? e.place : "(no address)");
}

static int refuse(const char *why, kc_error *err)
{
    return kc_error_set(err, KC_INVALID,
                        "that is no address of a Redis server: %s; host:port[/db] is one, and "
                        "redis://[[user]:password@]host:port[/db]",
                        why);
}

static int hex_pair(kc_str text, size_t at)
{
    if (at + 2 >= text.n)
        return -1;
    const int high = kc_hex_value(text.p[at + 1]), low = kc_hex_value(text.p[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* %40 is an '@': users and passwords of URLs may have any byte but 0. NULL if it is wrong. */
static char *unescape(kc_str text)
{
    char *out = kc_alloc(text.n + 1), *to = out;
    for (size_t i = 0; i < text.n; i++) {
        int c = (unsigned char)text.p[i];
        if (c == '%') {
            c = hex_pair(text, i);
            i += 2;
        }
        if (c <= 0) {
            free(out);
            return NULL;
        }
        *to++ = (char)c;
    }
    *to = 0;
    return out;
}

static int parse_credentials(kc_str text, endpoint *e)
{
    kc_str password = text;
    const kc_str user = kc_str_cut(&password, ':');
    if (!password.p) /* redis://password@host: some write it so. */
        return (e->password = unescape(text)) ? 0 : -1;
    e->user = user.n ? unescape(user) : NULL;
    e->password = unescape(password);
    return e->password && (!user.n || e->user) ? 0 : -1;
}

static bool parse_db(kc_str text, int *ret)
{
    uint64_t db = 0;
    if (!kc_str_to_u64(text, &db) || db > MAX_DB)
        return false;
    *ret = (int)db;
    return true;
}

/* host:port, [::1]:port */
static const char *parse_host(kc_str text, endpoint *e)
{
    const ptrdiff_t colon = kc_str_rfind(text, ':');
    uint64_t port = 0;
    if (colon < 0)
        return "it has no port";
    if (!kc_str_to_u64(kc_str_sub(text, (size_t)colon + 1, text.n), &port) || !port ||
        port > UINT16_MAX)
        return "its port is none";
    kc_str host = kc_str_sub(text, 0, (size_t)colon);
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = kc_str_sub(host, 1, host.n - 1);
    else if (kc_str_find(host, ':') >= 0)
        return "an IPv6 address stands in brackets";
    if (!host.n || host.n > 253 || memchr(host.p, 0, host.n))
        return "its host is none";
    e->host = kc_str_dup(host);
    e->port = (uint16_t)port;
    return NULL;
}

static void set_place(endpoint *e)
{
    const bool is_v6 = strchr(e->host, ':');
    free(e->place);
    e->place = kc_asprintf(is_v6 ? "[%s]:%u/%d" : "%s:%u/%d", e->host, (unsigned)e->port, e->db);
}

static const char *parse(kc_str text, endpoint *e)
{
    const ptrdiff_t scheme = kc_str_find(text, '/');
    if (kc_str_starts(text, KC_STR("redis://")))
        text = kc_str_sub(text, strlen("redis://"), text.n);
    else if (kc_str_starts(text, KC_STR("rediss://")))
        return "TLS is not spoken here";
    else if (scheme > 0 && text.p[scheme - 1] == ':')
        return "its scheme is not redis";
    const ptrdiff_t at = kc_str_rfind(text, '@');
    if (at >= 0 && parse_credentials(kc_str_sub(text, 0, (size_t)at), e) < 0)
        return "its user or password is not written as in a URL";
    kc_str db = kc_str_sub(text, (size_t)(at + 1), text.n);
    const kc_str host = kc_str_cut(&db, '/');
    if (db.n && !parse_db(db, &e->db))
        return "its database is no number";
    return parse_host(host, e);
}

int endpoint_parse(kc_str text, endpoint *ret, kc_error *err)
{
    kc_scoped(endpoint) e = {0};
    const char *wrong = parse(text, &e);
    if (wrong)
        return refuse(wrong, err);
    set_place(&e);
    e.name = kc_strdup(e.place);
    *ret = e;
    e = (endpoint){0};
    return 0;
}

/* ---- names ---- */

/* What a name stands for: two objects, each of which may be missing. */
typedef struct sources {
    kc_view *secret, *config;
} sources;

static void sources_done(sources *s)
{
    kc_view_free(s->secret);
    kc_view_free(s->config);
}

/* 0 with NULL when it is not there. */
static int read_data(kc_client *client, const kc_kind *kind, kc_key key, kc_view **ret,
                     kc_error *err)
{
    kc_auto(kc_object) *object =
        kc_client_get(client, kind, key, &(kc_get_opts){.live = true}, err);
    if (!object && !kc_is_not_found(err))
        return kc_error_wrap(err, "read the %s %.*s", kind->kind, KC_ARG(key.name));
    kc_error_done(err);
    *ret = object ? kc_view_of(object) : NULL;
    return 0;
}

/* `echo … | base64` leaves a newline that nobody meant. */
static char *without_newline(kc_str text)
{
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    return kc_str_dup(text);
}

/* The value of a key, the caller's; NULL when there is none. Of a Secret first. */
static char *value_of(const sources *s, const char *name)
{
    kc_scoped(kc_buf) bytes = {0};
    const kc_str coded = kc_as_str(kc_get(kc_dig(kc_view_root(s->secret), "data"), name));
    if (s->secret && coded.p && kc_base64_read(&bytes, coded, KC_BASE64))
        return without_newline(kc_buf_str(&bytes));
    const kc_str plain =
        kc_as_str(kc_get(s->config ? kc_dig(kc_view_root(s->config), "data") : NULL, name));
    return plain.p ? without_newline(plain) : NULL;
}

static void replace(char **old, char *value)
{
    if (value) {
        free(*old);
        *old = value;
    }
}

static int fill_in(const sources *s, kc_str name, endpoint *e, kc_error *err)
{
    kc_autofree char *address = value_of(s, "address");
    if (!address)
        return kc_error_set(err, KC_INVALID, "the Secret or ConfigMap %.*s has no key \"address\"",
                            KC_ARG(name));
    if (endpoint_parse(kc_cstr(address), e, err) < 0)
        return kc_error_wrap(err, "the address that %.*s has", KC_ARG(name));
    kc_autofree char *db = value_of(s, "db");
    if (db && !parse_db(kc_cstr(db), &e->db))
        return kc_error_set(err, KC_INVALID, "the db that %.*s has is no number", KC_ARG(name));
    replace(&e->user, value_of(s, "username"));
    replace(&e->password, value_of(s, "password"));
    if (e->user && !e->password)
        return kc_error_set(err, KC_INVALID, "%.*s has a username, and no password", KC_ARG(name));
    set_place(e);
    replace(&e->name, kc_str_dup(name));
    return 0;
}

static int resolve_name(kc_client *client, kc_str ns, kc_str name, endpoint *ret, kc_error *err)
{
    kc_scoped(sources) s = {0};
    kc_scoped(endpoint) e = {0};
    const kc_key key = {ns, name};
    if (read_data(client, &kc_kind_secret, key, &s.secret, err) < 0 ||
        read_data(client, &kc_kind_config_map, key, &s.config, err) < 0)
        return -1;
    if (!s.secret && !s.config)
        return kc_error_set(err, KC_NOT_FOUND,
                            "no Redis is known as %.*s: there is neither a Secret nor a ConfigMap "
                            "of that name in namespace %.*s",
                            KC_ARG(name), KC_ARG(ns));
    if (s.config && kc_get(kc_dig(kc_view_root(s.config), "data"), "password"))
        return kc_error_set(err, KC_INVALID,
                            "the ConfigMap %.*s has a password in it, which belongs in a Secret",
                            KC_ARG(name));
    if (fill_in(&s, name, &e, err) < 0)
        return -1;
    *ret = e;
    e = (endpoint){0};
    return 0;
}

int endpoint_resolve(kc_client *client, kc_str ns, kc_str text, endpoint *ret, kc_error *err)
{
    if (kc_str_find(text, ':') >= 0)
        return endpoint_parse(text, ret, err);
    /* A name in no other characters than objects' names have: it becomes part of a path. */
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && !strchr("-.", text.p[i]))
            return refuse("it has no port, and is no name either", err);
    return resolve_name(client, ns, text, ret, err);
}
