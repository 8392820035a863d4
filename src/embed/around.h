/* SPDX-License-Identifier: Apache-2.0 */
/* around.h: a way without a socket into a server of this process that others can reach too. */
#ifndef KC_EMBED_AROUND_H
#define KC_EMBED_AROUND_H

#include "apiserver/apiserver.h"
#include "kc/embed.h"

/* For a server that somebody else has started and stops, after kc_embed_stop of this one. Its port
 * is 0. Never NULL. */
kc_embed *kc__embed_around(kc_apiserver *server, const kc_clock *clock);

#endif
