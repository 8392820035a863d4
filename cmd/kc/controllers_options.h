/* SPDX-License-Identifier: Apache-2.0 */
/* controllers_options.h: which controllers of a plane run, and how: for every verb that runs them.
 */
#ifndef KC_CMD_CONTROLLERS_OPTIONS_H
#define KC_CMD_CONTROLLERS_OPTIONS_H

#include "flags.h"

#include "kc/controllers.h"

/* A part of verbs' flags; its options are a kc_controllers_opts. */
extern const kc_flag_set kc__controllers_part;

#endif
