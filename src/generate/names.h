/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: names in one language from names in another. */
#ifndef KC_GENERATE_NAMES_H
#define KC_GENERATE_NAMES_H

#include "kc/arena.h"

/* deployment_name → deploymentName. A name that has upper case keeps it. */
kc_str kc__json_name(kc_arena *arena, kc_str c_name);
/* robot_spec → RobotSpec; robot_v1alpha1, v1alpha1_robot and robot_t → Robot. */
kc_str kc__go_name(kc_arena *arena, kc_str c_name, kc_str version);
/* NOT_READY → NotReady. */
kc_str kc__enum_text(kc_arena *arena, kc_str enumerator);
/* How much of two enumerators' names is the same, up to and with an underscore. */
size_t kc__common_prefix(kc_str a, kc_str b);
/* Application → applications, Policy → policies: a kind's resource. */
kc_str kc__plural(kc_arena *arena, kc_str kind);

#endif
