/* SPDX-License-Identifier: Apache-2.0 */
/* people_client.h: requests to the endpoints for people (/people/…), for `kc user`, `kc login` and
 * `kc token`. */
#ifndef KC_CMD_PEOPLE_CLIENT_H
#define KC_CMD_PEOPLE_CLIENT_H

#include "flags.h"

#include "kc/client.h"

/* The flags that choose a server. */
typedef struct kc__cli_server_options {
    const char *kubeconfig, *context, *server;
} kc__cli_server_options;

/* The rows of these flags, for a set of a verb: a part (flags.h). */
extern const kc__cli_flag_set kc__cli_server_flags;

kc_client *kc__cli_people_client(const kc__cli_server_options *o, kc_error *err);

/* The kind User. */
extern const kc_kind kc__cli_kind_user;

/* A member of a JSON body. */
typedef struct kc__cli_people_member {
    const char *name;
    kc_str text;    /* A string, … */
    int64_t number; /* … or, if `text` is NULL, a number, … */
    bool is_true;   /* … or true. */
} kc__cli_people_member;

/*
 * POSTs an object of these members. Repeats the request a few times if the server is busy (429).
 * The body is wiped. *ret, which may be NULL, is the response; the caller frees it.
 */
int kc__cli_people_post(kc_client *client, const char *path, const kc__cli_people_member *members,
                        size_t n, kc_view **ret, kc_error *err);

#endif
