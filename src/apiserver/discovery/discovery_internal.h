/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery_internal.h: the writers of discovery documents. All append JSON.
 */
#ifndef KC_APISERVER_DISCOVERY_INTERNAL_H
#define KC_APISERVER_DISCOVERY_INTERNAL_H

#include "apiserver/kinds/registry.h"
#include "kc/buf.h"

/* legacy.c */
void kc__discovery_write_api_versions(kc_buf *out, const kc__registry_group *core,
                                      const char *server_address);
void kc__discovery_write_group_list(kc_buf *out, const kc__registry *kinds);
void kc__discovery_write_group(kc_buf *out, const kc__registry_group *group);
void kc__discovery_write_resource_list(kc_buf *out, const kc__registry_version *version);

/* aggregated.c: the core group alone, or all others. */
void kc__discovery_write_aggregated(kc_buf *out, const kc__registry *kinds, bool core);

/* names.c: members that both kinds of documents share. Each writes a whole member: ,"name":value */
void kc__discovery_write_text(kc_buf *out, const char *name, const char *value);
/* Writes nothing if there are none. */
void kc__discovery_write_names(kc_buf *out, const char *name, const char *const *values);
void kc__discovery_write_verbs(kc_buf *out, unsigned verbs);
/* The verbs of a resource, in the order of its operations. */
void kc__discovery_write_resource_verbs(kc_buf *out, const kc__resource *resource);
/* Writes nothing for a resource that is not stored. */
void kc__discovery_write_storage_hash(kc_buf *out, const kc__resource *resource);

#endif
