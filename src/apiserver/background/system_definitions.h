/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_definitions.h: the CustomResourceDefinitions that belong to the server: User, Team,
 * Catalog and BinMeta. The server creates them before it accepts requests, updates them at every
 * start, and refuses every request that would delete one or change how it is served.
 */
#ifndef KC_APISERVER_SYSTEM_DEFINITIONS_H
#define KC_APISERVER_SYSTEM_DEFINITIONS_H

#include "apiserver/call/call.h"

/* The manifest of a CustomResourceDefinition. */
typedef struct kc__bootstrap_definition {
    const char *source; /* For errors: the path of the file. */
    kc_str yaml;
} kc__bootstrap_definition;

/* The names of the CRDs that belong to the server. */
typedef struct kc__bootstrap_definitions kc__bootstrap_definitions;

/* Stores the CRDs that are absent or differ, before requests are served. NULL on error,
 * which names the source. Blocks. */
kc__bootstrap_definitions *kc__bootstrap_definitions_load(kc__rest_api *api,
                                                          const kc__bootstrap_definition *list,
                                                          size_t n, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__bootstrap_definitions *kc__bootstrap_definitions_free(kc__bootstrap_definitions *definitions);
KC_AUTO_DEFINE(kc__bootstrap_definitions, kc__bootstrap_definitions_free)

/* Whether the call is for CustomResourceDefinitions, and `name` is one that belongs to the server.
 * Any thread. */
bool kc__bootstrap_is_system_definition(const kc__rest_call *call, kc_str name);
/* Fails the call with Forbidden: `action` is what the client tried, "deleted". */
kc__rest_verdict kc__bootstrap_protect_definition(kc__rest_call *call, kc_str name,
                                                  const char *action);

#endif
