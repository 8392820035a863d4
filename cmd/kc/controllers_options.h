/* SPDX-License-Identifier: Apache-2.0 */
/* controllers_options.h: flags about controllers and pods, for the verbs that run them. */
#ifndef KC_CMD_CONTROLLERS_OPTIONS_H
#define KC_CMD_CONTROLLERS_OPTIONS_H

#include "flags.h"

#include "kc/controllers.h"

/* Rows for kc__cli_flag_part; their options are a kc_controllers_opts. */
extern const kc__cli_flag_set kc__cli_controllers_part;

#endif
