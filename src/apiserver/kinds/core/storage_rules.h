/* SPDX-License-Identifier: Apache-2.0 */
/* storage_rules.h: rules that PersistentVolumes and PersistentVolumeClaims share. */
#ifndef KC_APISERVER_STORAGE_RULES_H
#define KC_APISERVER_STORAGE_RULES_H

#include "apiserver/kinds/validate_rules.h"

extern const char *const kc__validate_volume_modes[]; /* NULL-terminated. */

void kc__validate_access_modes(const kc__location *modes);
/* The quantity must not be negative; the error shows it as a number. */
void kc__validate_basic(const kc__location *amount);
/* The quantity must be positive. */
void kc__validate_positive(const kc__location *amount);
/* Validates the name of a class, if it is set. */
void kc__validate_class_name(const kc__location *name);

#endif
