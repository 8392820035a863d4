/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c: publishes the CA certificates to API servers: the caBundle of webhook configurations,
 * and of CRDs whose conversion webhook is this server.
 *
 * Each object is read, compared and patched only where it differs, on the condition that it has not
 * changed in between. Certificates that other replicas of the program published are kept
 * (kc__webhook_ca_bundle_merge). To publish in one more kind, add it to `places` with a function
 * that finds its caBundles.
 */
#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/kinds.h"
#include "runtime/webhook/certs.h"

/* Attempts, each after a conflict with another writer. */
enum { TRIES = 10 };

/* Sets the caBundle of a clientConfig. */
static void set_bundle(kc_edit *edit, kc_node *client_config, const kc__webhook_ca_bundle *bundle)
{
    kc_scoped(kc_buf) there = {0}, wanted = {0}, text = {0};
    const kc_str name = KC_STR("caBundle");
    if (kc_node_type(client_config) != KC_JSON_OBJECT ||
        !kc_base64_read(&there, kc_node_as_str(kc_node_get(client_config, name)), KC_BASE64))
        kc_buf_clear(&there);
    if (bundle->alone)
        kc_buf_append(&wanted, bundle->authorities);
    else
        kc__webhook_ca_bundle_merge(bundle->authorities, kc_buf_str(&there), bundle->wall, &wanted);
    if (kc_str_eq(kc_buf_str(&there), kc_buf_str(&wanted)))
        return;
    kc_base64_write(&text, kc_buf_str(&wanted), KC_BASE64);
    kc_node_set(edit, client_config, name, kc_node_str(edit, kc_buf_str(&text)));
}

static void set_in_configuration(kc_edit *edit, const kc__webhook_ca_bundle *bundle)
{
    kc_node_each_item (kc_node_get(kc_edit_root(edit), KC_STR("webhooks")), webhook)
        set_bundle(edit, kc_node_get(webhook, KC_STR("clientConfig")), bundle);
}

static void set_in_definition(kc_edit *edit, const kc__webhook_ca_bundle *bundle)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc_node *webhook = kc_node_get(kc_node_get(spec, KC_STR("conversion")), KC_STR("webhook"));
    set_bundle(edit, kc_node_get(webhook, KC_STR("clientConfig")), bundle);
}

typedef struct webhook_bundle_place {
    const kc_kind *kind;
    void (*set)(kc_edit *edit, const kc__webhook_ca_bundle *bundle);
} webhook_bundle_place;

static const webhook_bundle_place of_configurations[] = {
    {&kc_kind_mutating_webhook, set_in_configuration},
    {&kc_kind_validating_webhook, set_in_configuration},
};
static const webhook_bundle_place of_definitions[] = {
    {&kc_kind_custom_resource_definition, set_in_definition},
};

/* The result for one object. */
enum { DONE, CHANGED_MEANWHILE, NOT_THERE };

static int patch_once(kc_client *client, const kc__webhook_ca_bundle *bundle,
                      const webhook_bundle_place *where, const char *name, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc_write_opts unfenced = {.kind = where->kind, .unfenced = true};
    kc_auto(kc_object) *now =
        kc_client_get(client, where->kind, KC_KEY("", name), &(kc_get_opts){.live = true}, &why);
    if (!now)
        return kc_is_not_found(&why) ? NOT_THERE : kc_error_move(err, &why);
    kc_auto(kc_edit) *edit = kc_edit_of(now);
    where->set(edit, bundle);
    kc_auto(kc_object) *wanted = kc_edit_freeze(edit, err);
    if (!wanted)
        return kc_error_result(err);
    if (kc_str_eq(kc_object_json(now), kc_object_json(wanted)))
        return DONE;
    kc_auto(kc_object) *patched = kc_client_patch_from(client, now, wanted, true, &unfenced, &why);
    if (!patched)
        return kc_is_conflict(&why) || kc_is_not_found(&why) ? CHANGED_MEANWHILE
                                                             : kc_error_move(err, &why);
    kc_log_info(bundle->log, "patched the caBundle", kc_kv("kind", where->kind->kind),
                kc_kv("name", name));
    return DONE;
}

static int webhook_bundle_patch(kc_client *client, const kc__webhook_ca_bundle *bundle,
                                const webhook_bundle_place *where, const char *name, kc_error *err)
{
    int result = CHANGED_MEANWHILE;
    for (int i = 0; i < TRIES && result == CHANGED_MEANWHILE; i++)
        result = patch_once(client, bundle, where, name, err);
    if (result == CHANGED_MEANWHILE)
        result = kc_error_set(err, KC_CONFLICT, "too many conflicting updates");
    return result < 0 ? kc_error_wrap(err, "caBundle of %s %s", where->kind->kind, name) : result;
}

/* Each of the kinds may have an object of this name. */
static int patch_named(kc_client *client, const kc__webhook_ca_bundle *bundle,
                       const webhook_bundle_place *places, size_t n, const char *name,
                       kc_error *err)
{
    int worst = NOT_THERE;
    for (size_t i = 0; i < n; i++) {
        const int result = webhook_bundle_patch(client, bundle, &places[i], name, err);
        worst = KC_MIN(worst, result); /* A failure takes precedence, then a completed patch. */
    }
    return worst == NOT_THERE ? 1 : worst;
}

/* The more severe of two results: a failure, then 1, then 0. */
static int worse(int a, int b)
{
    return a < 0 || b < 0 ? KC_MIN(a, b) : KC_MAX(a, b);
}

static int patch_all(kc_client *client, const kc__webhook_ca_bundle *bundle,
                     const webhook_bundle_place *places, size_t n, const char *const *names,
                     kc_error *err)
{
    int result = 0;
    for (; names && *names; names++)
        result = worse(result, patch_named(client, bundle, places, n, *names, err));
    return result;
}

int kc__webhook_ca_bundle_publish(kc_client *client, const kc__webhook_ca_bundle *bundle,
                                  kc_error *err)
{
    const int configurations = patch_all(client, bundle, of_configurations,
                                         KC_COUNT(of_configurations), bundle->configurations, err);
    const int definitions = patch_all(client, bundle, of_definitions, KC_COUNT(of_definitions),
                                      bundle->definitions, err);
    return worse(configurations, definitions);
}
