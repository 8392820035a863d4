/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_socket.h: backups of a store that a running server has locked. The server listens on a
 * Unix socket in its data directory, and sends the entries of its store at one revision to a
 * client that connects, while it serves requests.
 *
 *     ROOT/backup.sock    mode 0600, for the user of the server and root
 *     stream              8 bytes revision, entries (backup_format.h), an entry without a key: its
 *                         value is empty, or the reason why the server stopped
 */
#ifndef KC_APISERVER_MAINTENANCE_BACKUP_SOCKET_H
#define KC_APISERVER_MAINTENANCE_BACKUP_SOCKET_H

#include "apiserver/maintenance/backup.h"

typedef struct kc__maintenance_backup_server kc__maintenance_backup_server;

/* Starts a thread that answers one client after the other. The store must outlive it; `root` is the
 * data directory. NULL on error. */
kc__maintenance_backup_server *kc__maintenance_backup_server_start(kc__storage *storage,
                                                                   const char *root, kc_log *log,
                                                                   kc_error *err);
/* Ends a backup that is running, which its client then reports as incomplete. NULL is allowed;
 * returns NULL. */
kc__maintenance_backup_server *kc__maintenance_backup_server_stop(
    kc__maintenance_backup_server *server);

/* Writes a backup of the store of the server that runs on this data directory. KC_NOT_FOUND if no
 * server answers. Blocks. */
int kc__maintenance_backup_running(const char *root, const char *path,
                                   kc__maintenance_backup_header *ret_header, kc_error *err);

/* A stream socket that is bound to (`binds`) or connected to ROOT/backup.sock; -1 with errno. */
int kc__maintenance_backup_socket(const char *root, bool binds);

#endif
