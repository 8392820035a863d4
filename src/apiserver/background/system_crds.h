/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_crds.h: the CustomResourceDefinitions that belong to the server: User, Team,
 * Catalog and BinMeta. The server creates them before it accepts requests, updates them at every
 * start, and refuses every request that would delete one or change how it is served.
 */
#ifndef KC_APISERVER_SYSTEM_CRDS_H
#define KC_APISERVER_SYSTEM_CRDS_H

#include "apiserver/call/call.h"

/* The manifest of a CustomResourceDefinition. */
typedef struct kc__bootstrap_crd {
    const char *source; /* For errors: the path of the file. */
    kc_str yaml;
} kc__bootstrap_crd;

/* The names of the CRDs that belong to the server. */
typedef struct kc__bootstrap_crds kc__bootstrap_crds;

/* Stores the CRDs that are absent or differ, before requests are served. NULL on error,
 * which names the source. Blocks. */
kc__bootstrap_crds *kc__bootstrap_crds_load(kc__rest_api *api, const kc__bootstrap_crd *list,
                                            size_t n, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__bootstrap_crds *kc__bootstrap_crds_free(kc__bootstrap_crds *crds);
KC_AUTO_DEFINE(kc__bootstrap_crds, kc__bootstrap_crds_free)

/* Whether the call is for CustomResourceDefinitions, and `name` is one that belongs to the server.
 * Any thread. */
bool kc__bootstrap_is_system_crd(const kc__rest_call *call, kc_str name);
/* Fails the call with Forbidden: `action` is what the client tried, "deleted". */
kc__rest_verdict kc__bootstrap_protect_crd(kc__rest_call *call, kc_str name, const char *action);

#endif
