/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h: the address and credentials of a Redis database.
 */
#ifndef KC_RECONCILERS_ENDPOINT_H
#define KC_RECONCILERS_ENDPOINT_H

#include "kc/client.h"

typedef struct endpoint {
    char *name;  /* Display name without password: "ali-123", "10.0.0.7:6379/0". */
    char *place; /* Address: "10.0.0.7:6379/0". */
    char *host;
    uint16_t port;
    int db;
    char *user, *password; /* May be NULL. */
} endpoint;

void endpoint_done(endpoint *e);

/* host:port[/db] and redis://[[user]:password@]host:port[/db]. KC_INVALID if invalid, without the
 * text, which may contain a password. */
int endpoint_parse(kc_str text, endpoint *ret, kc_error *err);

/* The same, or a name of a Secret or ConfigMap of `ns`. KC_NOT_FOUND if neither exists. */
int endpoint_resolve(kc_client *client, kc_str ns, kc_str text, endpoint *ret, kc_error *err);

/* The display name before resolution: a name, or an address without its password. The caller frees
 * it. */
char *endpoint_title(kc_str text);

#endif
