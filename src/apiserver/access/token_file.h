/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_file.h: static bearer tokens, as kube-apiserver's --token-auth-file has them:
 *
 *     31ada4fd-adec-460c-809a-9e56ceb75269,alice,1001,"developers,admins"
 *
 * token, user, uid and, if there are any, groups.
 */
#ifndef KC_APISERVER_TOKEN_FILE_H
#define KC_APISERVER_TOKEN_FILE_H

#include "apiserver/access/authn.h"

/* Groups of one user beyond these are refused. */
#define KC__TOKEN_MAX_GROUPS 1000

typedef struct kc__token_file kc__token_file;

/* NULL on error: the file cannot be read, a record has less than three columns or is not CSV; the
 * message has the file's name and the line. `log` gets warnings and may be NULL. Blocks. */
kc__token_file *kc__token_file_read(const char *path, kc_log *log, kc_error *err);
/* The same from text, which is overwritten: it held secrets. `name` is for messages. */
kc__token_file *kc__token_file_parse(const char *name, char *text, size_t n, kc_log *log,
                                     kc_error *err);
/* NULL is allowed; returns NULL. */
kc__token_file *kc__token_file_free(kc__token_file *file);
KC_AUTO_DEFINE(kc__token_file, kc__token_file_free)

/* Whose token it is, or NULL; stays the file's. How long it takes says nothing about the tokens.
 * Any thread. */
const kc__user *kc__token_file_find(const kc__token_file *file, kc_str token);
/* How many tokens there are. */
size_t kc__token_file_count(const kc__token_file *file);

#endif
