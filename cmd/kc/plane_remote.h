/* SPDX-License-Identifier: Apache-2.0 */
/* plane_remote.h: webhook and OIDC authenticators of an API server. */
#ifndef KC_CMD_PLANE_REMOTE_H
#define KC_CMD_PLANE_REMOTE_H

#include "plane.h"

/* Reads their files, before the first write. Blocks. */
int kc__cli_plane_read_remotes(kc__cli_plane *plane, kc_error *err);
/* Reads --authentication-config again; `plane` is a kc__cli_plane. On the thread of the watch. */
int kc__cli_plane_reload_jwt(void *plane, kc_error *err);
/* Adds them to plane->authn, once the audiences of the server are known. */
int kc__cli_plane_open_remotes(kc__cli_plane *plane, kc_error *err);

#endif
