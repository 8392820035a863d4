/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_session.h: what `kc login` keeps on disk: a session file of mode 0600, and the entries of a
 * kubeconfig that refer to it.
 *
 *     users:
 *     - name: kc:ann@plane.example:6443
 *       user:
 *         exec: {command: /usr/bin/kc, args: [login, --exec-credential, …/kc-sessions/4f0c….json],
 * …}
 */
#ifndef KC_CMD_LOGIN_SESSION_H
#define KC_CMD_LOGIN_SESSION_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/kubeconfig.h"
#include "kc/view.h"

/* Members of a session file. */
#define KC__CLI_SESSION_CLUSTER "cluster" /* Of a kubeconfig: server, CA. */
#define KC__CLI_SESSION_USER    "username"
#define KC__CLI_SESSION_KEY     "session"
#define KC__CLI_SESSION_TOKEN   "token"
#define KC__CLI_SESSION_EXPIRES "expirationTimestamp" /* Of the token. */

/* The kubeconfig that `kc login` writes: `given`, the first of $KUBECONFIG, or ~/.kube/config. */
char *kc__cli_kubeconfig_path(const char *given, kc_error *err);
/* The session file of a user of a server, beside the kubeconfig. */
char *kc__cli_session_path(const char *kubeconfig, const char *server, const char *username);

/* Appends the cluster of a configuration as JSON, with its CA included. */
int kc__cli_session_cluster(const kc_config *config, kc_buf *out, kc_error *err);
/* A configuration without credentials for a cluster in JSON. */
kc_config *kc__cli_session_config(kc_str cluster, kc_error *err);

/* Writes the file: members of an old one, then those of `answer`, which the server sent. */
int kc__cli_session_write(const char *path, kc_str cluster, const char *username, kc_str session,
                          const kc_value *answer, kc_error *err);
/* Reads it; the caller frees the view. KC_NOT_FOUND without a file. */
kc_view *kc__cli_session_read(const char *path, kc_error *err);

/* Adds the cluster, a user that runs `kc login --exec-credential FILE`, and a context of both, and
 * makes it the current context. */
int kc__cli_session_add_to_kubeconfig(const char *kubeconfig, kc_str cluster, const char *server,
                                      const char *username, const char *session_file,
                                      kc_error *err);
/* The session file of a context (NULL: the current one); NULL, with an error, if its user has
 * none. */
char *kc__cli_session_of_kubeconfig(const char *kubeconfig, const char *context, kc_error *err);

#endif
