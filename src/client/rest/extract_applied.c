/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_applied.c: extracts what a manager applied, with the schema of the server.
 *
 * The extraction itself is pure: object/fields/applied.c.
 */
#include "client/rest/merge_schema.h"

#include "object/fields/fields_managed.h"

static const char *manager_of(const kc_client *client, const kc_extract_opts *opts)
{
    if (opts->field_manager || !client)
        return opts->field_manager;
    return client->bind.field_manager ? client->bind.field_manager : client->core->field_manager;
}

static kc_merge_schema *extract_schema(kc_client *client, const kc_extract_opts *opts, kc_gvk gvk,
                                       kc_error *err)
{
    if (opts->schema)
        return kc_merge_schema_ref(opts->schema);
    if (client)
        return kc_client_merge_schema(client, gvk, err);
    kc_error_set(err, KC_BAD_REQUEST, "an extraction requires a client or a schema");
    return NULL;
}

/* Nothing could be extracted, and applying nothing would give up all fields of the manager. */
static bool check_managed_fields(const kc_object *object, kc_error *err)
{
    if (kc_object_managed_fields_json(object).n)
        return true;
    kc_error_set(
        err, KC_BAD_REQUEST,
        "%.*s \"%.*s\" has no managedFields; caches strip them, so read it from the server",
        KC_ARG(kc_object_kind(object)), KC_ARG(kc_object_name(object)));
    return false;
}

kc_object *kc_extract_applied(kc_client *client, const kc_object *object,
                              const kc_extract_opts *opts, kc_error *err)
{
    static const kc_extract_opts none;
    opts = opts ? opts : &none;
    const kc_gvk gvk = kc_object_gvk(object);
    const char *manager = manager_of(client, opts);
    if (!manager) {
        kc_error_set(err, KC_BAD_REQUEST, "an extraction requires a field manager");
        return NULL;
    }
    if (!check_managed_fields(object, err))
        return NULL;
    kc_auto(kc_merge_schema) *schema = extract_schema(client, opts, gvk, err);
    if (!schema)
        return NULL;
    const kc__fields_type *type = kc__client_merge_type(schema, gvk);
    if (!type) {
        kc_scoped(kc_buf) name = {0};
        kc_gvk_write(&name, gvk);
        kc_error_set(err, KC_NOT_FOUND, "no schema of %s", kc_buf_cstr(&name));
        return NULL;
    }
    return kc__fields_extract_applied(type, object, kc_cstr(manager), kc_cstr(opts->subresource),
                                      err);
}
