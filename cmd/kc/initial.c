/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initial.c: loads the CRDs and objects that come with kc.
 *
 *     CRDs               applied at every start
 *     initial objects    created once
 *
 * After its creation an object belongs to the users. A key in the ConfigMap
 * kube-system/kubecontroller-initialization records the creation, so that later starts do not
 * recreate an object that a user deleted, and create those that a newer version adds. To have an
 * object created again, remove its key.
 *
 * The ConfigMap is written last. If a start ends before that, the next one finds the objects,
 * leaves them unchanged and records them. If the server refuses an object, those created before it
 * are recorded.
 *
 * To add an initial object: a file under initialization/. To add a CRD: `kc generate crd`
 * into a directory of manifests/. The build embeds both.
 */
#include "initial.h"

#include "kc/ascii.h"
#include "kc/kinds.h"
#include "kc/map.h"

typedef struct cli_initial_loading {
    kc_log *log;
    kc_map before; /* Keys of the ConfigMap. */
    kc_buf added;  /* Keys to add to the ConfigMap: members of a JSON object. */
    size_t crds, created;
} cli_initial_loading;

static void cli_initial_loading_done(cli_initial_loading *l)
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
 * part of it: a later release may write the same object in another version. */
static void cli_initial_write_key(kc_buf *out, const kc_object *object)
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

/* ---- objects ---- */

static bool is_crd(const kc_object *object)
{
    const kc_gvk gvk = kc_object_gvk(object);
    return kc_str_is(gvk.group, kc_kind_custom_resource_definition.group) &&
           kc_str_is(gvk.kind, kc_kind_custom_resource_definition.kind);
}

static kc_apply_mode cli_initial_choose(const kc_object *object, void *user)
{
    const cli_initial_loading *l = user;
    kc_scoped(kc_buf) key = {0};
    if (is_crd(object))
        return KC_APPLY_MERGE;
    cli_initial_write_key(&key, object);
    return kc_map_get(&l->before, kc_buf_str(&key)) ? KC_APPLY_SKIP : KC_APPLY_KEEP;
}

static void cli_initial_record_local(cli_initial_loading *l, const kc_apply_report *r)
{
    kc_scoped(kc_buf) key = {0};
    cli_initial_write_key(&key, r->text);
    if (l->added.n)
        kc_buf_putc(&l->added, ',');
    kc_json_quote(&l->added, kc_buf_str(&key));
    kc_buf_putc(&l->added, ':');
    kc_json_quote(&l->added, kc_cstr(r->source));
}

static void cli_initial_record(const kc_apply_report *r, void *user)
{
    cli_initial_loading *l = user;
    kc_log_debug(l->log, kc_apply_result_text(r->what), kc_kv("kind", r->kind->kind),
                 kc_kv("name", r->key.name), kc_kv("from", r->source));
    if (is_crd(r->text)) {
        l->crds += r->what != KC_APPLY_UNCHANGED;
        return;
    }
    l->created += r->what == KC_APPLY_CREATED;
    cli_initial_record_local(l, r);
}

/* ---- record ---- */

static int recall(cli_initial_loading *l, kc_client *client, kc_view **ret_view, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_object) *map = kc_client_get(client, &kc_kind_config_map,
                                            KC_KEY(KC__CLI_INITIAL_NAMESPACE, KC__CLI_INITIAL_NAME),
                                            &(kc_get_opts){.live = true}, &failed);
    if (!map)
        return kc_is_not_found(&failed) ? 0 : kc_error_move(err, &failed);
    *ret_view = kc_view_of(map);
    kc_value_each_member (kc_value_get(kc_view_root(*ret_view), "data"), key, value)
        kc_map_put(&l->before, key, (void *)value);
    return 0;
}

static int write_down(const cli_initial_loading *l, kc_client *client, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!l->added.n)
        return 0;
    kc_buf_puts(
        &text,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"" KC__CLI_INITIAL_NAMESPACE
        "\",\"name\":\"" KC__CLI_INITIAL_NAME "\"},\"data\":{");
    kc_buf_append(&text, kc_buf_str(&l->added));
    kc_buf_puts(&text, "}}");
    return kc_apply_text(client, kc_buf_str(&text), NULL, err);
}

int kc__cli_initial_load(kc_client *client, const kc__cli_manifest *manifests, size_t n,
                         kc_log *log, kc_error *err)
{
    const int64_t began = kc_clock_now(kc_client_clock(client));
    kc_scoped(cli_initial_loading) l = {.log = log};
    kc_auto(kc_view) *view = NULL;
    if (recall(&l, client, &view, err) < 0)
        return kc_error_wrap(err, "read the record of initial objects");
    const kc_apply_opts opts = {.choose = cli_initial_choose,
                                .report = cli_initial_record,
                                .user = &l,
                                .last_applied = true};
    const int applied = kc_apply_sources(client, manifests, n, &opts, err);
    /* If both fail, report the error of the objects. */
    const int remembered = write_down(&l, client, applied < 0 ? NULL : err);
    if (applied < 0 || remembered < 0)
        return kc_error_wrap(err, "initial objects");
    kc_log_info(log, "initial objects loaded", kc_kv("crds", l.crds), kc_kv("created", l.created),
                kc_kv_duration("took", kc_clock_now(kc_client_clock(client)) - began));
    return 0;
}
