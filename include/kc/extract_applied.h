/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_applied.h: extracts the fields that a field manager applied from an object.
 *
 * A controller that applies only a part of an object (kc_client_apply) may need its own part again:
 * to change one field of it and apply it, or to give a field up. Everything else in the object
 * belongs to other managers and must not be applied.
 *
 *     const kc_extract_opts mine = {.field_manager = "robots"};
 *     const kc_write_opts ours = {.field_manager = "robots"};
 *     kc_auto(kc_object) *part = kc_extract_applied(client, object, &mine, err);
 *     …                                                                       change it
 *     kc_auto(kc_object) *now = kc_client_apply(client, part, &ours, err);
 *
 * How fields merge depends on the schema of the kind: which lists are associative, and by which
 * keys. The client reads it from the server's OpenAPI documents and keeps it for a minute.
 *
 * The object must have its managedFields. Caches of a server elsewhere strip them by default
 * (kc_cache_opts.transform): read the object with `live`, or let the cache keep them. An object
 * without managedFields is an error: nothing could be extracted, and applying nothing would give up
 * all fields of the manager.
 */
#ifndef KC_EXTRACT_APPLIED_H
#define KC_EXTRACT_APPLIED_H

#include "kc/client.h"

/* The schemas of a group version: how the fields of its kinds merge. Immutable, reference-counted;
 * any number of threads may use it. */
typedef struct kc_merge_schema kc_merge_schema;

/* Parses an OpenAPI v3 document, or the definitions of a v2 document. KC_INVALID if it is not
 * one. */
kc_merge_schema *kc_merge_schema_parse(kc_str json, kc_error *err);
/* The schemas of the kind's group version, from the server. Blocks, at most once in a minute for
 * each group version. */
kc_merge_schema *kc_client_merge_schema(kc_client *client, kc_gvk gvk, kc_error *err);
kc_merge_schema *kc_merge_schema_ref(const kc_merge_schema *schema);
kc_merge_schema *kc_merge_schema_unref(kc_merge_schema *schema);
KC_AUTO_DEFINE(kc_merge_schema, kc_merge_schema_unref)

typedef struct kc_extract_opts {
    const char *field_manager;     /* Defaults to the client's. */
    const char *subresource;       /* "status": what the manager applied there. Defaults to none. */
    const kc_merge_schema *schema; /* Defaults to the server's. */
} kc_extract_opts;

/*
 * Returns the fields of `object` that the manager applied, as an apply configuration: apiVersion,
 * kind, name, namespace and these fields. Without fields, if the manager applied none. `client`
 * may be NULL if the options have a manager and a schema. The caller owns the result.
 * KC_BAD_REQUEST if the object has no managedFields; KC_NOT_FOUND if the schema does not have the
 * kind; KC_INVALID if the object does not match it.
 */
kc_object *kc_extract_applied(kc_client *client, const kc_object *object,
                              const kc_extract_opts *opts, kc_error *err);

#endif
