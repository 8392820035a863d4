/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_path.c: where objects are at a server.
 *
 *     /api/v1/namespaces/default/pods/web/status?fieldManager=robots
 *     /apis/apps/v1/deployments?limit=500&labelSelector=app%3Dweb
 *
 * Whatever a target is made of comes from outside sooner or later: a name from an object, a
 * namespace from an argument. A segment must be one that stays one (no '/', no '%', not "..") and
 * all but the plainest characters are escaped. What is wrong is remembered in the request and said
 * when it is sent, so that building reads straight.
 */
#include "client/client_internal.h"
#include "kc/ascii.h"
#include "kc/names.h"

void kc__ask_done(kc__ask *ask)
{
    kc_buf_done(&ask->target);
    kc_error_done(&ask->why);
}

static void escape(kc_buf *out, kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        if (kc_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
            kc_buf_putc(out, c);
        else
            kc_buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

static void break_off(kc__ask *ask, const char *what, kc_str text, const char *problem)
{
    if (!ask->broken)
        kc_error_set(&ask->why, KC_BAD_REQUEST, "invalid %s \"%.*s\": %s", what, KC_ARG(text),
                     problem);
    ask->broken = true;
}

static void add_segment(kc__ask *ask, const char *what, kc_str text)
{
    const char *problems[KC_NAME_MESSAGES];
    if (kc_name_check(KC_NAME_PATH_SEGMENT, text, problems) > 0)
        break_off(ask, what, text, problems[0]);
    else if (!text.n)
        break_off(ask, what, text, "may not be empty");
    kc_buf_putc(&ask->target, '/');
    escape(&ask->target, text);
}

void kc__ask_for(kc__ask *ask, const kc__place *place)
{
    const kc_kind *kind = place->kind;
    const bool core = !kind->group || !*kind->group;
    kc_buf_puts(&ask->target, core ? "/api" : "/apis");
    if (!core)
        add_segment(ask, "group", kc_cstr(kind->group));
    add_segment(ask, "version", kc_cstr(kind->version));
    if (kind->namespaced && place->ns.n) {
        kc_buf_puts(&ask->target, "/namespaces");
        add_segment(ask, "namespace", place->ns);
    }
    if (kind->plural)
        add_segment(ask, "resource", kc_cstr(kind->plural));
    if (place->name.p)
        add_segment(ask, "name", place->name);
    if (place->subresource)
        add_segment(ask, "subresource", kc_cstr(place->subresource));
}

void kc__ask_param(kc__ask *ask, const char *name, const char *value)
{
    if (!value)
        return;
    kc_buf_putc(&ask->target, kc_str_find(kc_buf_str(&ask->target), '?') < 0 ? '?' : '&');
    kc_buf_puts(&ask->target, name);
    kc_buf_putc(&ask->target, '=');
    escape(&ask->target, kc_cstr(value));
}

void kc__ask_param_i64(kc__ask *ask, const char *name, int64_t value)
{
    kc_autofree char *text = kc_asprintf("%lld", (long long)value);
    kc__ask_param(ask, name, text);
}

kc_str kc__list_namespace(const kc_client *client, const kc_kind *kind, const char *ns)
{
    if (!kind->namespaced)
        return (kc_str){0};
    return kc_cstr(ns && *ns ? ns : client->bind.ns);
}

int kc__locate(const kc_client *client, const kc_kind *kind, kc_key key, kc__place *ret,
               kc_error *err)
{
    kc_str ns = key.ns;
    if (kind->namespaced && !ns.n)
        ns = kc_cstr(client->bind.ns);
    if (!key.name.n)
        return kc_error_set(err, KC_BAD_REQUEST, "%s: resource name may not be empty", kind->kind);
    if (kind->namespaced && !ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\": an empty namespace may not be set when a resource name "
                            "is provided",
                            kind->kind, KC_ARG(key.name));
    if (!kind->namespaced && ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\" has no namespace, but \"%.*s\" was given", kind->kind,
                            KC_ARG(key.name), KC_ARG(ns));
    *ret = (kc__place){.kind = kind, .ns = ns, .name = key.name};
    return 0;
}

const kc_kind kc__kind_metadata = {
    .group = "meta.k8s.io", .version = "v1", .kind = "PartialObjectMetadata"};

#define AS(kind) "application/json;as=" kind ";g=meta.k8s.io;v=v1,application/json"

kc_str kc__accept(bool metadata_only, bool list)
{
    if (!metadata_only)
        return (kc_str){0};
    return list ? KC_STR(AS("PartialObjectMetadataList")) : KC_STR(AS("PartialObjectMetadata"));
}
