/* SPDX-License-Identifier: Apache-2.0 */
/* loop_internal.h: what transports need from a loop in addition to loop.h. */
#ifndef KC_HTTP_LOOP_INTERNAL_H
#define KC_HTTP_LOOP_INTERNAL_H

#include "http/loop/loop.h"

#include <uv.h>

/* For additional libuv handles, on the loop's thread. */
uv_loop_t *kc__loop_uv(kc__loop *loop);

#endif
