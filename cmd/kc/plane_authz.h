/* SPDX-License-Identifier: Apache-2.0 */
/* plane_authz.h: the authorizers of an API server, according to the flags. */
#ifndef KC_CMD_PLANE_AUTHZ_H
#define KC_CMD_PLANE_AUTHZ_H

#include "plane.h"

/* Reads the files and creates the chain of authorizers, before the first write. Blocks. */
int kc__cli_plane_open_authz(kc__cli_plane *plane, kc_error *err);
/* Whether every request that is authenticated is allowed. */
bool kc__cli_plane_allows_everything(const kc__cli_plane *plane);
/* Whether clients on other machines can reach the server. */
bool kc__cli_plane_is_reachable(const kc__cli_plane *plane);
/* Reads --authorization-config again; `plane` is a kc__cli_plane. On the thread of the watch. */
int kc__cli_plane_reload_authz(void *plane, kc_error *err);
/* After the server has stopped. */
void kc__cli_plane_close_authz(kc__cli_plane *plane);

#endif
