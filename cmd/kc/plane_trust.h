/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane_trust.h: which clients an API server accepts, and which certificate it presents; both
 * follow their files while the server runs.
 */
#ifndef KC_CMD_PLANE_TRUST_H
#define KC_CMD_PLANE_TRUST_H

#include "plane.h"

/* Watches the files of flags, before they are read. The certificates that the server creates are
 * added by kc__cli_plane_watch_own_files, after their creation. */
void kc__cli_plane_watch_files(kc__cli_plane *plane);
void kc__cli_plane_watch_own_files(kc__cli_plane *plane);

/* Front proxies by the flags. Borrows from the options. */
kc__authn_proxy_opts kc__cli_plane_proxy_opts(const kc__cli_plane *plane);

/* Reads the CAs of clients and puts them in effect. On failure nothing has changed. Blocks. */
int kc__cli_plane_read_client_ca(kc__cli_plane *plane, kc_error *err);
/* Creates the TLS configuration of the server, from its files and the CAs. */
int kc__cli_plane_open_tls(kc__cli_plane *plane, kc_error *err);
/* What the server publishes about the clients it accepts. Valid until the CAs are read again. */
kc__bootstrap_trust kc__cli_plane_published(kc__cli_plane *plane);

/* Frees what the functions above have stored in the plane. */
void kc__cli_plane_trust_done(kc__cli_plane *plane);

#endif
