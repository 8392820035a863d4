/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_files.h: the flags whose files hold secrets. trust.c checks the modes of these files, and
 * hidden_paths.c hides them from pods.
 */
#ifndef KC_CMD_SECRET_FILES_H
#define KC_CMD_SECRET_FILES_H

#include <stddef.h>

typedef enum kc__cli_secret_kind {
    KC__CLI_SECRET,            /* A key, or tokens. */
    KC__CLI_SECRET_KUBECONFIG, /* The same, and files that it names. */
    KC__CLI_SECRET_CONFIG,     /* May hold credentials, but usually does not: others may read it. */
} kc__cli_secret_kind;

typedef struct kc__cli_secret_file {
    const char *flag; /* "--tls-private-key-file" */
    size_t offset;    /* Of the path in the options of the verb; it may be NULL. */
    kc__cli_secret_kind kind;
} kc__cli_secret_file;

typedef struct kc__cli_secret_files {
    const kc__cli_secret_file *items;
    size_t n;
} kc__cli_secret_files;

/* Of kc__cli_apiserver_options. --service-account-key-file, a list, is apart: its keys are usually
 * public. */
extern const kc__cli_secret_files kc__cli_apiserver_secrets;
/* Of kc__cli_up_options, without those of the server. */
extern const kc__cli_secret_files kc__cli_up_secrets;
/* Of the options of `kc controllers` (controllers.c). */
extern const kc__cli_secret_files kc__cli_controllers_secrets;

/* The path of a file in `options`; NULL: not set. */
const char *kc__cli_secret_path(const kc__cli_secret_file *file, const void *options);

#endif
