/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_validate.h: validation and warnings of built-in resources, called through
 * resource_ops.h. */
#ifndef KC_APISERVER_BUILTIN_VALIDATE_H
#define KC_APISERVER_BUILTIN_VALIDATE_H

#include "apiserver/kinds/resource_ops.h"

void kc__builtin_validate(const kc__resource *resource, const kc__resource_change *change,
                          kc_field_errors *errors);
void kc__builtin_warn(const kc__resource *resource, const kc__resource_change *change,
                      kc_paths *warnings);

#endif
