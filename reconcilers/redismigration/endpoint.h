/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h: where a Redis database is, and how one gets in.
 */
#ifndef KC_RECONCILERS_ENDPOINT_H
#define KC_RECONCILERS_ENDPOINT_H

#include "kc/client.h"

typedef struct endpoint {
    char *name;  /* As people call it, without a password: "ali-123", "10.0.0.7:6379/0". */
    char *place; /* Where it is: "10.0.0.7:6379/0". */
    char *host;
    uint16_t port;
    int db;
    char *user, *password; /* May be NULL. */
} endpoint;

void endpoint_done(endpoint *e);

/* host:port[/db] and redis://[[user]:password@]host:port[/db]. KC_INVALID, without the text (it may
 * have a password in it), when it is none. */
int endpoint_parse(kc_str text, endpoint *ret, kc_error *err);

/* The same, or a name: of a Secret or ConfigMap of `ns`. KC_NOT_FOUND when there is neither. */
int endpoint_resolve(kc_client *client, kc_str ns, kc_str text, endpoint *ret, kc_error *err);

/* What people call it, before it is known where it is: a name, or an address without its password.
 * The caller's. */
char *endpoint_title(kc_str text);

#endif
