/* SPDX-License-Identifier: Apache-2.0 */
/* trust.h: checks that the server's files are safe from other users of the machine. */
#ifndef KC_CMD_TRUST_H
#define KC_CMD_TRUST_H

#include "apiserver_options.h"
#include "secret_files.h"

#include "kc/log.h"

/* Negative if other users can change the data directory, tokens or keys; warns if they can read a
 * secret. A missing file is not an error. */
int kc__cli_check_file_modes(const kc__cli_apiserver_options *options, kc_log *log, kc_error *err);
/* The same for the files of a table, by their flags in `options`. */
int kc__cli_check_secret_files(const kc__cli_secret_files *files, const void *options, kc_log *log,
                               kc_error *err);
/* The same for one file with a secret, which `flag` names. `path` may be NULL. */
int kc__cli_check_secret(const char *flag, const char *path, kc_log *log, kc_error *err);

#endif
