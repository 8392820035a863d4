/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c: resolves spec.source and spec.dest to an address.
 *
 *     10.0.0.7:6379          10.0.0.7:6379/2          [fe80::1]:6379
 *     redis://10.0.0.7:6379/2      redis://:password@10.0.0.7:6379      redis://user:password@…
 *     ali-123                       a name of a Secret or ConfigMap
 *
 * A name is looked up in the object's namespace, as a Secret and as a ConfigMap; the Secret has
 * precedence. Keys: address (any of the forms above), db, and in a Secret username and password. So
 * a public address may be in a ConfigMap, and credentials are in a Secret; a password in a
 * ConfigMap is refused. Both are read from the server when needed and not watched: a cache would
 * hold all Secrets of the cluster.
 *
 * Messages never contain a password: an invalid address is not repeated at all, since any part of
 * it may be one.
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

static int redismigration_endpoint_reject(const char *why, kc_error *err)
{
    return kc_error_set(err, KC_INVALID,
                        "not an address of a Redis server: %s; use host:port[/db] or "
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

/* Unescapes a user or password of a URL: any byte but 0; %40 is '@'. NULL if invalid. */
static char *redismigration_endpoint_unescape(kc_str text)
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
    if (!password.p) /* redis://password@host is also accepted. */
        return (e->password = redismigration_endpoint_unescape(text)) ? 0 : -1;
    e->user = user.n ? redismigration_endpoint_unescape(user) : NULL;
    e->password = redismigration_endpoint_unescape(password);
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
        return "missing port";
    if (!kc_str_to_u64(kc_str_sub(text, (size_t)colon + 1, text.n), &port) || !port ||
        port > UINT16_MAX)
        return "invalid port";
    kc_str host = kc_str_sub(text, 0, (size_t)colon);
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = kc_str_sub(host, 1, host.n - 1);
    else if (kc_str_find(host, ':') >= 0)
        return "IPv6 addresses need brackets";
    if (!host.n || host.n > 253 || memchr(host.p, 0, host.n))
        return "invalid host";
    e->host = kc_str_dup(host);
    e->port = (uint16_t)port;
    return NULL;
}

static void redismigration_endpoint_set_position(endpoint *e)
{
    const bool is_v6 = strchr(e->host, ':');
    free(e->place);
    e->place = kc_asprintf(is_v6 ? "[%s]:%u/%d" : "%s:%u/%d", e->host, (unsigned)e->port, e->db);
}

static const char *redismigration_endpoint_parse(kc_str text, endpoint *e)
{
    const ptrdiff_t scheme = kc_str_find(text, '/');
    if (kc_str_starts(text, KC_STR("redis://")))
        text = kc_str_sub(text, strlen("redis://"), text.n);
    else if (kc_str_starts(text, KC_STR("rediss://")))
        return "TLS is not supported";
    else if (scheme > 0 && text.p[scheme - 1] == ':')
        return "the scheme must be redis";
    const ptrdiff_t at = kc_str_rfind(text, '@');
    if (at >= 0 && parse_credentials(kc_str_sub(text, 0, (size_t)at), e) < 0)
        return "invalid escape in user or password";
    kc_str db = kc_str_sub(text, (size_t)(at + 1), text.n);
    const kc_str host = kc_str_cut(&db, '/');
    if (db.n && !parse_db(db, &e->db))
        return "the database is not a number";
    return parse_host(host, e);
}

int endpoint_parse(kc_str text, endpoint *ret, kc_error *err)
{
    kc_scoped(endpoint) e = {0};
    const char *wrong = redismigration_endpoint_parse(text, &e);
    if (wrong)
        return redismigration_endpoint_reject(wrong, err);
    redismigration_endpoint_set_position(&e);
    e.name = kc_strdup(e.place);
    *ret = e;
    e = (endpoint){0};
    return 0;
}

/* ---- names ---- */

/* The two objects of a name, each of which may be missing. */
typedef struct redismigration_endpoint_sources {
    kc_view *secret, *config;
} redismigration_endpoint_sources;

static void redismigration_endpoint_sources_done(redismigration_endpoint_sources *s)
{
    kc_view_free(s->secret);
    kc_view_free(s->config);
}

/* 0 with NULL if it does not exist. */
static int read_data(kc_client *client, const kc_kind *kind, kc_key key, kc_view **ret,
                     kc_error *err)
{
    kc_auto(kc_object) *object =
        kc_client_get(client, kind, key, &(kc_get_opts){.live = true}, err);
    if (!object && !kc_is_not_found(err))
        return kc_error_wrap(err, "read %s %.*s", kind->kind, KC_ARG(key.name));
    kc_error_done(err);
    *ret = object ? kc_view_of(object) : NULL;
    return 0;
}

/* `echo … | base64` includes an unintended newline. */
static char *without_newline(kc_str text)
{
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    return kc_str_dup(text);
}

/* The value of a key, which the caller frees; NULL if absent. The Secret has precedence. */
static char *redismigration_endpoint_value_of(const redismigration_endpoint_sources *s,
                                              const char *name)
{
    kc_scoped(kc_buf) bytes = {0};
    const kc_str coded =
        kc_value_as_str(kc_value_get(kc_value_nested(kc_view_root(s->secret), "data"), name));
    if (s->secret && coded.p && kc_base64_read(&bytes, coded, KC_BASE64))
        return without_newline(kc_buf_str(&bytes));
    const kc_str plain = kc_value_as_str(
        kc_value_get(s->config ? kc_value_nested(kc_view_root(s->config), "data") : NULL, name));
    return plain.p ? without_newline(plain) : NULL;
}

static void redismigration_endpoint_replace(char **old, char *value)
{
    if (value) {
        free(*old);
        *old = value;
    }
}

static int redismigration_endpoint_fill_in(const redismigration_endpoint_sources *s, kc_str name,
                                           endpoint *e, kc_error *err)
{
    kc_autofree char *address = redismigration_endpoint_value_of(s, "address");
    if (!address)
        return kc_error_set(err, KC_INVALID, "Secret or ConfigMap %.*s has no key \"address\"",
                            KC_ARG(name));
    if (endpoint_parse(kc_cstr(address), e, err) < 0)
        return kc_error_wrap(err, "address in %.*s", KC_ARG(name));
    kc_autofree char *db = redismigration_endpoint_value_of(s, "db");
    if (db && !parse_db(kc_cstr(db), &e->db))
        return kc_error_set(err, KC_INVALID, "db in %.*s is not a number", KC_ARG(name));
    redismigration_endpoint_replace(&e->user, redismigration_endpoint_value_of(s, "username"));
    redismigration_endpoint_replace(&e->password, redismigration_endpoint_value_of(s, "password"));
    if (e->user && !e->password)
        return kc_error_set(err, KC_INVALID, "%.*s has a username but no password", KC_ARG(name));
    redismigration_endpoint_set_position(e);
    redismigration_endpoint_replace(&e->name, kc_str_dup(name));
    return 0;
}

static int resolve_name(kc_client *client, kc_str ns, kc_str name, endpoint *ret, kc_error *err)
{
    kc_scoped(redismigration_endpoint_sources) s = {0};
    kc_scoped(endpoint) e = {0};
    const kc_key key = {ns, name};
    if (read_data(client, &kc_kind_secret, key, &s.secret, err) < 0 ||
        read_data(client, &kc_kind_config_map, key, &s.config, err) < 0)
        return kc_error_result(err);
    if (!s.secret && !s.config)
        return kc_error_set(err, KC_NOT_FOUND,
                            "Redis %.*s not found: no Secret or ConfigMap of that name in "
                            "namespace %.*s",
                            KC_ARG(name), KC_ARG(ns));
    if (s.config && kc_value_get(kc_value_nested(kc_view_root(s.config), "data"), "password"))
        return kc_error_set(err, KC_INVALID, "ConfigMap %.*s contains a password; use a Secret",
                            KC_ARG(name));
    if (redismigration_endpoint_fill_in(&s, name, &e, err) < 0)
        return kc_error_result(err);
    *ret = e;
    e = (endpoint){0};
    return 0;
}

int endpoint_resolve(kc_client *client, kc_str ns, kc_str text, endpoint *ret, kc_error *err)
{
    if (kc_str_find(text, ':') >= 0)
        return endpoint_parse(text, ret, err);
    /* Only characters of object names: it becomes part of a path. */
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && !strchr("-.", text.p[i]))
            return redismigration_endpoint_reject("missing port, and not a valid name", err);
    return resolve_name(client, ns, text, ret, err);
}
