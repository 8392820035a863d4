/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c: defines the kinds of kinds.h. To add one, add a line there. */
#include "kc/kinds.h"

#define DEFINE(name, group_, version_, kind_, plural_, singular_, namespaced_) \
    const kc_kind kc_kind_##name = {.group = group_,                           \
                                    .version = version_,                       \
                                    .kind = kind_,                             \
                                    .plural = plural_,                         \
                                    .singular = singular_,                     \
                                    .namespaced = namespaced_};
KC_KINDS_BUILTIN(DEFINE)
