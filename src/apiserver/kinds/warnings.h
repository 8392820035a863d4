/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.h: what people should know about objects that are accepted all the same. */
#ifndef KC_APISERVER_WARNINGS_H
#define KC_APISERVER_WARNINGS_H

#include "apiserver/kinds/resource.h"
#include "kc/json.h"
#include "kc/view.h"

/* Whether a kind has any. */
bool kc__kind_warns(const kc__resource *resource);
/* Adds a sentence for each, in Kubernetes' words and order. `old` is what the object replaces,
 * NULL: it is new. Any thread. */
void kc__kind_warnings(const kc__resource *resource, const kc_value *object, const kc_value *old,
                       kc_paths *warnings);

#endif
