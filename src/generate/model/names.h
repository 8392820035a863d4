/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: converts names between naming conventions. */
#ifndef KC_GENERATE_NAMES_H
#define KC_GENERATE_NAMES_H

#include "kc/arena.h"

/* deployment_name → deploymentName. A name that has upper case keeps it. */
kc_str kc__gen_json_name(kc_arena *arena, kc_str c_name);
/* robot_spec → RobotSpec; robot_v1alpha1, v1alpha1_robot and robot_t → Robot. */
kc_str kc__gen_go_name(kc_arena *arena, kc_str c_name, kc_str version);
/* NOT_READY → NotReady. */
kc_str kc__gen_enum_text(kc_arena *arena, kc_str enumerator);
/* Length of the common prefix of two enumerators' names, up to and including an underscore. */
size_t kc__gen_common_prefix(kc_str a, kc_str b);
/* The plural resource of a kind: Application → applications, Policy → policies. */
kc_str kc__gen_plural(kc_arena *arena, kc_str kind);

#endif
