/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_file.h: static bearer tokens, in the format of kube-apiserver's --token-auth-file:
 *
 *     31ada4fd-adec-460c-809a-9e56ceb75269,alice,1001,"developers,admins"
 *
 * token, user, uid and optional groups.
 */
#ifndef KC_APISERVER_TOKEN_FILE_H
#define KC_APISERVER_TOKEN_FILE_H

#include "apiserver/access/authn.h"

/* A user with more groups is rejected. */
#define KC__TOKEN_FILE_MAX_GROUPS 1000

typedef struct kc__token_file kc__token_file;

/* NULL on error: the file cannot be read, a record has fewer than three columns or is not CSV; the
 * message has the file's name and the line. `log` gets warnings and may be NULL. Blocks. */
kc__token_file *kc__token_file_read(const char *path, kc_log *log, kc_error *err);
/* The same from text, which is overwritten because it contains secrets. `name` is for messages. */
kc__token_file *kc__token_file_parse(const char *name, char *text, size_t n, kc_log *log,
                                     kc_error *err);
/* Another reference: a request keeps the tokens that it began with when the file is read again. */
kc__token_file *kc__token_file_ref(kc__token_file *file);
/* NULL is allowed; returns NULL. */
kc__token_file *kc__token_file_unref(kc__token_file *file);
KC_AUTO_DEFINE(kc__token_file, kc__token_file_unref)

/* The user of a token, or NULL; owned by the file. The time of the look-up reveals nothing about
 * the tokens. Any thread. */
const kc__user *kc__token_file_find(const kc__token_file *file, kc_str token);
/* Number of tokens, for tests. */
size_t kc__token_file_count(const kc__token_file *file);

#endif
