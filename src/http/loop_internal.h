/* SPDX-License-Identifier: Apache-2.0 */
/* loop_internal.h: what the transports need of a loop beyond loop.h. */
#ifndef KC_HTTP_LOOP_INTERNAL_H
#define KC_HTTP_LOOP_INTERNAL_H

#include "http/loop.h"

#include <uv.h>

/* For handles of one's own, on the loop's thread. */
uv_loop_t *kc__loop_uv(kc__loop *loop);

#endif
