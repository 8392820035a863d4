/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_value.h: the values of objects as Kubernetes v1.34 has them in etcd.
 *
 *     const kc__resource *kind = kc__resource_value_kind(KC_STR("/registry/pods/"));
 *     kc__resource_value_encode(kind, pod, (kc_str){0}, &value, err);
 *     kc_object *same = kc__resource_value_decode(kind, value, &lossy, err);
 *
 * | resource                    | value                                                          |
 * |-----------------------------|----------------------------------------------------------------|
 * | built-in                    | protobuf with envelope, in the version of `etcd_api_version`   |
 * | CRD, APIService             | JSON with the fields in the order of Go, in that version       |
 * | custom                      | JSON with sorted fields, in the storage version of the CRD     |
 *
 * No value has a resource version: it is the revision of its key. Decoding gives the form that the
 * server keeps in memory (storage_api_version), from protobuf or JSON, whatever the resource, and
 * from every version that Kubernetes v1.34 reads and that has the same fields. Any thread; does not
 * block.
 */
#ifndef KC_APISERVER_STORED_VALUE_H
#define KC_APISERVER_STORED_VALUE_H

#include "apiserver/kinds/resource.h"
#include "kc/buf.h"
#include "kc/object.h"

/* The resource of a key prefix: its stored version. A resource without a name stands for all custom
 * ones. NULL: no resource has this prefix; Kubernetes stores data of its own there. */
const kc__resource *kc__resource_value_kind(kc_str prefix);

/* The object of a value. Sets *ret_lossy (may be NULL) if the value has fields that the object
 * lacks. `kind` may be NULL. The caller drops the reference. NULL on error. */
kc_object *kc__resource_value_decode(const kc__resource *kind, kc_str value, bool *ret_lossy,
                                     kc_error *err);

/* Appends the value of an object in the form that the server keeps. `older`: the lossy value that
 * it replaces, whose additional fields it gets; empty: none. `kind` may be NULL. Returns 0, or
 * negative with `out` unchanged. */
int kc__resource_value_encode(const kc__resource *kind, const kc_object *object, kc_str older,
                              kc_buf *out, kc_error *err);

#endif
