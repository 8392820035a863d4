/* SPDX-License-Identifier: Apache-2.0 */
/* hook_place.h: where a webhook is. */
#ifndef KC_APISERVER_HOOK_PLACE_H
#define KC_APISERVER_HOOK_PLACE_H

#include "apiserver/admission/hook.h"
#include "apiserver/rest/call.h"

/* Texts are the call's. */
typedef struct kc__hook_place {
    const char *url; /* With ?timeout=. */
    const char
        *connect_to; /* "10.0.0.7:8443": who stands behind a service. NULL: nobody but itself. */
    bool near;       /* On this machine, where nobody stands between. */
} kc__hook_place;

/* KC_SERVICE_UNAVAILABLE where a service has nobody behind it, as the whole of what a client of it
 * would say. */
int kc__hook_place_find(kc__call *call, const kc__hook *hook, int64_t seconds, kc__hook_place *ret,
                        kc_error *err);

#endif
