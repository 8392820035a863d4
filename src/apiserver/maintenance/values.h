/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h: stored values as objects: decrypted and decoded when they are read, encoded as the
 * storage has them and encrypted as configured when they are written.
 */
#ifndef KC_APISERVER_MAINTENANCE_VALUES_H
#define KC_APISERVER_MAINTENANCE_VALUES_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"
#include "kc/object.h"

/* The resource of a key prefix, by which an encryption configuration selects its keys. */
kc__encryption_resource kc__maintenance_encryption_resource(kc_str prefix);

/* Whether a stored value is encrypted. */
bool kc__maintenance_is_encrypted(kc_str stored);

/* Sets *ret_plain to the decrypted form of a stored value: a part of `stored`, or appended to
 * `out`. `encryption` may be NULL: an encrypted value is then an error that says which flag is
 * needed. */
int kc__maintenance_open_value(kc__encryption *encryption, const kc__storage *storage, kc_str key,
                               kc_str stored, kc_buf *out, kc_str *ret_plain, kc_error *err);
/* The object of a decrypted value, in the version that the server keeps in memory: from JSON, or
 * from the form that Kubernetes has in etcd (kinds/stored_value.h). Sets *ret_lossy (may be NULL)
 * if the value has fields that the object lacks. NULL on error. */
kc_object *kc__maintenance_decode_value(kc_str key, kc_str plain, bool *ret_lossy, kc_error *err);
/* The object of a stored value: both of the above. NULL on error. */
kc_object *kc__maintenance_object_of(kc__encryption *encryption, const kc__storage *storage,
                                     kc_str key, kc_str stored, kc_error *err);

/* Appends the decrypted form of an object in a storage: JSON, or that of Kubernetes in a shared
 * one.
 */
int kc__maintenance_encode_value(const kc__storage *storage, kc_str key, const kc_object *object,
                                 kc_buf *out, kc_error *err);
/* Appends the stored form of an object. `encryption` may be NULL: it is not encrypted. */
int kc__maintenance_store_value(kc__encryption *encryption, const kc__storage *storage, kc_str key,
                                const kc_object *object, kc_buf *out, kc_error *err);

#endif
