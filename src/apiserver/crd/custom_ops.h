/* SPDX-License-Identifier: Apache-2.0 */
/* custom_ops.h: the operations of custom resources (kinds/resource_ops.h). */
#ifndef KC_APISERVER_CUSTOM_OPS_H
#define KC_APISERVER_CUSTOM_OPS_H

#include "apiserver/kinds/resource_ops.h"

/* For resources that have a kc__custom. */
extern const kc__resource_ops kc__custom_resource_ops;

#endif
