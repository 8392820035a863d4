/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery_internal.h: the writers of discovery's documents. All append JSON text.
 */
#ifndef KC_APISERVER_DISCOVERY_INTERNAL_H
#define KC_APISERVER_DISCOVERY_INTERNAL_H

#include "apiserver/kinds/registry.h"
#include "kc/buf.h"

/* legacy.c */
void kc__write_api_versions(kc_buf *out, const kc__kinds_group *core, const char *server_address);
void kc__write_group_list(kc_buf *out, const kc__kinds *kinds);
void kc__write_group(kc_buf *out, const kc__kinds_group *group);
void kc__write_resource_list(kc_buf *out, const kc__kinds_version *version);

/* aggregated.c: the core group alone, or all others. */
void kc__write_aggregated(kc_buf *out, const kc__kinds *kinds, bool core);

/* names.c: what both have in common. Each writes a whole member: ,"name":value */
void kc__write_text(kc_buf *out, const char *name, const char *value);
/* Nothing when there are none. */
void kc__write_names(kc_buf *out, const char *name, const char *const *values);
void kc__write_verbs(kc_buf *out, unsigned verbs);
/* Those of a resource; of custom ones in the order Kubernetes has them in. */
void kc__write_resource_verbs(kc_buf *out, const kc__resource *resource);
/* Nothing for what is not stored. */
void kc__write_storage_hash(kc_buf *out, const kc__resource *resource);

#endif
