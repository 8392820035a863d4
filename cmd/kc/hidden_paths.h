/* SPDX-License-Identifier: Apache-2.0 */
/* hidden_paths.h: files and directories with credentials, which pods must not see. */
#ifndef KC_CMD_HIDDEN_PATHS_H
#define KC_CMD_HIDDEN_PATHS_H

#include "apiserver_options.h"
#include "secret_files.h"

#include "kc/kubeconfig.h"
#include "kc/vec.h"

/* Ends with NULL: `items` can be passed as kc_pods_opts.hidden. Zero is empty. */
typedef KC_VEC(char *) kc__cli_hidden_paths;

/* Adds one path, made absolute; NULL and "" add nothing. */
void kc__cli_hidden_paths_add(kc__cli_hidden_paths *paths, const char *path);
/* Adds the credentials of this user and machine: $KUBECONFIG, ~/.kube, the service account of the
 * pod that kc runs in. */
void kc__cli_hidden_paths_add_usual(kc__cli_hidden_paths *paths);
/* Adds a kubeconfig and the keys and tokens that it names. Relative paths in it are relative to it.
 * NULL adds nothing. Blocks. */
void kc__cli_hidden_paths_add_kubeconfig(kc__cli_hidden_paths *paths, const char *path);
/* Adds the files of a table, by their flags in `options`. */
void kc__cli_hidden_paths_add_files(kc__cli_hidden_paths *paths, const kc__cli_secret_files *files,
                                    const void *options);
/* Adds the files of a server with these options. Files that other files name are added by the
 * plane (kc__cli_plane.named_files). */
void kc__cli_hidden_paths_add_server(kc__cli_hidden_paths *paths,
                                     const kc__cli_apiserver_options *options);
/* Adds the files that a client's configuration names. */
void kc__cli_hidden_paths_add_client(kc__cli_hidden_paths *paths, const kc_config *config);
/* Adds the terminating NULL and returns the items, which live as long as `paths`. */
const char *const *kc__cli_hidden_paths_end(kc__cli_hidden_paths *paths);
void kc__cli_hidden_paths_done(kc__cli_hidden_paths *paths);

#endif
