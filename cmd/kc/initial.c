/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initial.c: what a plane has at first.
 *
 *     definitions        at every start as this version has them
 *     initial objects    once each
 *
 * An object belongs to the plane's users from the moment it is there. Its key in a ConfigMap,
 * kube-system/kubecontroller-initialization, says that it was, so that a start creates only what no
 * start has created before: what a user deleted does not come back, what a newer version brings is
 * added. To have an object again, remove its key.
 *
 * The ConfigMap is written last. A start that ends before that leaves objects which nothing
 * remembers; the next one finds them there, leaves them as they are and remembers them. Where an
 * object is refused, those before it are remembered all the same.
 *
 * To add an initial object: a file under initialization/. To add a definition: `kc generate crd`
 * into a folder of manifests/. The build takes both.
 */
#include "initial.h"

#include "kc/ascii.h"
#include "kc/kinds.h"
#include "kc/map.h"

typedef struct loading {
    kc_log *log;
    kc_map before; /* Keys of the ConfigMap. */
    kc_buf added;  /* What it gets beside them: members of a JSON object. */
    size_t definitions, created;
} loading;

static void loading_done(loading *l)
{
    kc_map_done(&l->before);
    kc_buf_done(&l->added);
}

/* ---- keys ---- */

static void write_escaped(kc_buf *out, kc_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (kc_is_alnum(c) || c == '-' || c == '.')
            kc_buf_putc(out, c);
        else
            kc_buf_printf(out, "_%02x", (unsigned char)c);
    }
}

/* "User.platform.kubecontroller.io__admin": kind and group, namespace, name. The version is not
 * part of it: the same object may be written in another one day. */
static void write_key(kc_buf *out, const kc_object *object)
{
    const kc_gvk gvk = kc_object_gvk(object);
    kc_buf_append(out, gvk.kind);
    if (gvk.group.n)
        kc_buf_putc(out, '.');
    kc_buf_append(out, gvk.group);
    kc_buf_putc(out, '_');
    write_escaped(out, kc_object_namespace(object));
    kc_buf_putc(out, '_');
    write_escaped(out, kc_object_name(object));
}

/* ---- what is done with each object ---- */

static bool is_definition(const kc_object *object)
{
    const kc_gvk gvk = kc_object_gvk(object);
    return kc_str_is(gvk.group, kc_kind_custom_resource_definition.group) &&
           kc_str_is(gvk.kind, kc_kind_custom_resource_definition.kind);
}

static kc_apply_how choose(const kc_object *object, void *user)
{
    const loading *l = user;
    kc_scoped(kc_buf) key = {0};
    if (is_definition(object))
        return KC_APPLY_MERGE;
    write_key(&key, object);
    return kc_map_get(&l->before, kc_buf_str(&key)) ? KC_APPLY_SKIP : KC_APPLY_KEEP;
}

static void remember(loading *l, const kc_apply_report *r)
{
    kc_scoped(kc_buf) key = {0};
    write_key(&key, r->text);
    if (l->added.n)
        kc_buf_putc(&l->added, ',');
    kc_json_quote(&l->added, kc_buf_str(&key));
    kc_buf_putc(&l->added, ':');
    kc_json_quote(&l->added, kc_cstr(r->source));
}

static void note(const kc_apply_report *r, void *user)
{
    loading *l = user;
    kc_log_debug(l->log, kc_applied_text(r->what), kc_kv("kind", r->kind->kind),
                 kc_kv("name", r->key.name), kc_kv("from", r->source));
    if (is_definition(r->text)) {
        l->definitions += r->what != KC_APPLIED_UNCHANGED;
        return;
    }
    l->created += r->what == KC_APPLIED_CREATED;
    remember(l, r);
}

/* ---- what is remembered ---- */

static int recall(loading *l, kc_client *client, kc_view **ret_view, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_object) *map =
        kc_client_get(client, &kc_kind_config_map, KC_KEY(KC__INITIAL_NAMESPACE, KC__INITIAL_NAME),
                      &(kc_get_opts){.live = true}, &failed);
    if (!map)
        return kc_is_not_found(&failed) ? 0 : kc_error_move(err, &failed);
    *ret_view = kc_view_of(map);
    kc_members (kc_get(kc_view_root(*ret_view), "data"), key, value)
        kc_map_put(&l->before, key, (void *)value);
    return 0;
}

static int write_down(const loading *l, kc_client *client, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!l->added.n)
        return 0;
    kc_buf_puts(
        &text,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"" KC__INITIAL_NAMESPACE
        "\",\"name\":\"" KC__INITIAL_NAME "\"},\"data\":{");
    kc_buf_append(&text, kc_buf_str(&l->added));
    kc_buf_puts(&text, "}}");
    return kc_apply_text(client, kc_buf_str(&text), NULL, err);
}

int kc__initial_load(kc_client *client, const kc__manifest *manifests, size_t n, kc_log *log,
                     kc_error *err)
{
    const int64_t began = kc_clock_now(kc_client_clock(client));
    kc_scoped(loading) l = {.log = log};
    kc_auto(kc_view) *view = NULL;
    if (recall(&l, client, &view, err) < 0)
        return kc_error_wrap(err, "what was loaded before");
    const kc_apply_opts opts = {.choose = choose, .report = note, .user = &l, .last_applied = true};
    const int applied = kc_apply_sources(client, manifests, n, &opts, err);
    /* Its error, if both fail, is that of the objects: it came first. */
    const int remembered = write_down(&l, client, applied < 0 ? NULL : err);
    if (applied < 0 || remembered < 0)
        return kc_error_wrap(err, "initial objects");
    kc_log_info(log, "initial objects loaded", kc_kv("definitions", l.definitions),
                kc_kv("created", l.created),
                kc_kv_duration("took", kc_clock_now(kc_client_clock(client)) - began));
    return 0;
}
