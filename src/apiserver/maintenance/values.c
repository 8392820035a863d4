/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c: the stored form of values (storage/encryption) by key, with a configuration that may be
 * absent, and the object in them.
 */
#include "apiserver/maintenance/values.h"

#include "apiserver/kinds/key_layout.h"
#include "apiserver/kinds/stored_value.h"
#include "apiserver/storage/stored_key.h"

kc__encryption_resource kc__maintenance_encryption_resource(kc_str prefix)
{
    kc__encryption_resource resource;
    kc__resource_key_resource(prefix, &resource.group, &resource.name);
    return resource;
}

bool kc__maintenance_is_encrypted(kc_str stored)
{
    return kc_str_starts(stored, KC_STR("k8s:enc:"));
}

int kc__maintenance_open_value(kc__encryption *encryption, const kc__storage *storage, kc_str key,
                               kc_str stored, kc_buf *out, kc_str *ret_plain, kc_error *err)
{
    bool stale;
    kc_scoped(kc_buf) room = {0};
    if (!encryption && kc__maintenance_is_encrypted(stored))
        return kc_error_set(err, KC_INTERNAL,
                            "the value is encrypted: name the configuration with its key by "
                            "--encryption-provider-config");
    if (!encryption) {
        *ret_plain = stored;
        return 0;
    }
    kc_auto(kc__encryption_config) *config = kc__encryption_current(encryption);
    return kc__encryption_unseal(
        encryption, config, kc__maintenance_encryption_resource(kc__storage_key_prefix(key)),
        kc__storage_outside_key(storage, key, &room), stored, out, ret_plain, &stale, err);
}

kc_object *kc__maintenance_decode_value(kc_str key, kc_str plain, bool *ret_lossy, kc_error *err)
{
    const kc__resource *kind = kc__resource_value_kind(kc__storage_key_prefix(key));
    return kc__resource_value_decode(kind, plain, ret_lossy, err);
}

kc_object *kc__maintenance_object_of(kc__encryption *encryption, const kc__storage *storage,
                                     kc_str key, kc_str stored, kc_error *err)
{
    kc_scoped(kc_buf) out = {0};
    kc_str plain;
    if (kc__maintenance_open_value(encryption, storage, key, stored, &out, &plain, err) < 0)
        return NULL;
    kc_object *object = kc__maintenance_decode_value(key, plain, NULL, err);
    if (!object)
        kc_error_wrap(err, "the value cannot be read");
    return object;
}

int kc__maintenance_encode_value(const kc__storage *storage, kc_str key, const kc_object *object,
                                 kc_buf *out, kc_error *err)
{
    if (!storage->backend->exclusive)
        return kc__resource_value_encode(kc__resource_value_kind(kc__storage_key_prefix(key)),
                                         object, (kc_str){0}, out, err);
    kc_buf_append(out, kc_object_json(object));
    return 0;
}

int kc__maintenance_store_value(kc__encryption *encryption, const kc__storage *storage, kc_str key,
                                const kc_object *object, kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) plain = {0}, room = {0};
    if (!encryption)
        return kc__maintenance_encode_value(storage, key, object, out, err);
    if (kc__maintenance_encode_value(storage, key, object, &plain, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__encryption_config) *config = kc__encryption_current(encryption);
    return kc__encryption_seal(
        encryption, config, kc__maintenance_encryption_resource(kc__storage_key_prefix(key)),
        kc__storage_outside_key(storage, key, &room), kc_buf_str(&plain), out, err);
}
