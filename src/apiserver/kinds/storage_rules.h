/* SPDX-License-Identifier: Apache-2.0 */
/* storage_rules.h: what claims and volumes have in common. */
#ifndef KC_APISERVER_STORAGE_RULES_H
#define KC_APISERVER_STORAGE_RULES_H

#include "apiserver/kinds/rules.h"

extern const char *const kc__volume_modes[]; /* Ended by NULL. */

void kc__check_access_modes(const kc__place *modes);
/* A quantity not below 0, told as a number. */
void kc__check_basic(const kc__place *amount);
/* A quantity above 0. */
void kc__check_positive(const kc__place *amount);
/* The name of a class, where there is one. */
void kc__check_class_name(const kc__place *name);

#endif
