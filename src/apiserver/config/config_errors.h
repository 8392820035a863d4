/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_errors.h: errors about the fields of a configuration file, and all of them as one error,
 * in the words of Kubernetes:
 *
 *     [authorizers[0].timeout: Required value, authorizers[1].name: Duplicate value: "a"]
 *
 * Values are quoted as Go's %q.
 */
#ifndef KC_APISERVER_CONFIG_ERRORS_H
#define KC_APISERVER_CONFIG_ERRORS_H

#include "kc/field_error.h"

void kc__config_required(kc_field_errors *errors, const char *path, const char *detail);
void kc__config_invalid(kc_field_errors *errors, const char *path, kc_str value,
                        const char *detail);
void kc__config_duplicate(kc_field_errors *errors, const char *path, kc_str value);
/* `supported` are the accepted values, ended by NULL. */
void kc__config_unsupported(kc_field_errors *errors, const char *path, kc_str value,
                            const char *const *supported);

/* One error (KC_INVALID) of all field errors, each once: "a: b", or "[a: b, c: d]". 0 if there are
 * none. */
int kc__config_errors(const kc_field_errors *errors, kc_error *err);

#endif
