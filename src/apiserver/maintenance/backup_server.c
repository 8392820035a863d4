/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_server.c: the side of the server: a thread that sends the entries of its store.
 *
 * LMDB would let other processes read its file, but the backend runs it without a lock file, so
 * that a reader elsewhere would not keep pages from being reused; and the newest changes are in the
 * journal. So the process that has the store open reads it, in pages at one revision (pages.h):
 * commits wait for one page at most. The history of the store must reach back to that revision
 * until the last page; if a slow client or many writes outrun it, the stream ends with that reason.
 *
 * One client at a time; others wait in the queue of the socket. The socket belongs to the user of
 * the server and cannot be opened by others. The thread waits for the client and for the end of the
 * server alike, so no client delays a stop.
 */
#include "apiserver/maintenance/backup_socket.h"

#include "apiserver/maintenance/pages.h"
#include "apiserver/storage/stored_record.h"
#include "kc/thread.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A client that reads nothing for this long is dropped. */
enum { SEND_TIMEOUT_MS = 60000, WAITING_CLIENTS = 4 };

struct kc__maintenance_backup_server {
    kc__storage *storage;
    char *path;
    int listener, stop; /* `stop` is an eventfd. */
    kc_log *log;
    kc_thread *thread;
};

/* ---- one client ---- */

/* Whether the descriptor is ready; false when the server stops, and after the timeout. */
static bool wait_for(const kc__maintenance_backup_server *server, int fd, short what, int timeout)
{
    struct pollfd fds[] = {{.fd = server->stop, .events = POLLIN}, {.fd = fd, .events = what}};
    int n;
    do
        n = poll(fds, KC_COUNT(fds), timeout);
    while (n < 0 && errno == EINTR);
    return n > 0 && !fds[0].revents && fds[1].revents;
}

static bool send_bytes(const kc__maintenance_backup_server *server, int client, kc_str bytes)
{
    while (bytes.n) {
        if (!wait_for(server, client, POLLOUT, SEND_TIMEOUT_MS))
            return false;
        const ssize_t n = send(client, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        bytes = kc_str_sub(bytes, n > 0 ? (size_t)n : 0, bytes.n);
    }
    return true;
}

static bool send_end(const kc__maintenance_backup_server *server, int client, const char *reason)
{
    kc_scoped(kc_buf) end = {0};
    kc__maintenance_entry_write(&end, &(kc__storage_entry){.value = kc_cstr(reason)});
    return send_bytes(server, client, kc_buf_str(&end));
}

static int append_entry(const kc__storage_entry *entry, void *user)
{
    kc__maintenance_entry_write(user, entry);
    return 0;
}

/* False if the client is gone or the server stops; `err` is set if the store failed. */
static bool send_store(const kc__maintenance_backup_server *server, int client, kc_error *err)
{
    kc__storage_state state;
    char revision[sizeof(uint64_t)];
    kc_scoped(kc_buf) bytes = {0};
    if (kc__storage_progress(server->storage, &state, err) < 0)
        return true;
    kc_scoped(kc__maintenance_pages) pages = {.storage = server->storage,
                                              .revision = state.revision};
    kc__storage_put_u64(revision, state.revision);
    if (!send_bytes(server, client, kc_str_of(revision, sizeof(revision))))
        return false;
    while (!pages.end) {
        kc_buf_clear(&bytes);
        if (kc__maintenance_page_read(&pages, append_entry, &bytes, err) < 0)
            return true;
        if (!send_bytes(server, client, kc_buf_str(&bytes)))
            return false;
    }
    return true;
}

/* The mode of the socket keeps other users out; a file system without modes does not. */
static bool is_own_user(int client)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static void answer_client(const kc__maintenance_backup_server *server, int client)
{
    kc_scoped(kc_error) err = {0};
    if (!is_own_user(client))
        return;
    bool complete = send_store(server, client, &err);
    if (complete)
        complete = send_end(server, client, err.reason ? kc_error_text(&err) : "");
    if (complete && !err.reason)
        kc_log_info(server->log, "sent a backup of the store");
    else
        kc_log_warn(server->log, "backup of the store was not completed",
                    kc_kv("reason", err.reason ? kc_error_text(&err) : "client closed or stalled"));
}

static void serve_backups(void *user)
{
    const kc__maintenance_backup_server *server = user;
    while (wait_for(server, server->listener, POLLIN, -1)) {
        const int client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        answer_client(server, client);
        close(client);
    }
}

/* ---- the socket ---- */

/* No client can connect before the socket listens, and by then it has its mode. */
static int open_listener(kc__maintenance_backup_server *server, const char *root, kc_error *err)
{
    (void)unlink(server->path); /* Of a server that was killed: this one has the store's lock. */
    server->listener = kc__maintenance_backup_socket(root, true);
    if (server->listener < 0 || chmod(server->path, 0600) < 0 ||
        listen(server->listener, WAITING_CLIENTS) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot listen on %s: %s", server->path,
                            strerror(errno));
    server->stop = eventfd(0, EFD_CLOEXEC);
    if (server->stop < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot create an eventfd: %s", strerror(errno));
    return 0;
}

kc__maintenance_backup_server *kc__maintenance_backup_server_start(kc__storage *storage,
                                                                   const char *root, kc_log *log,
                                                                   kc_error *err)
{
    kc__maintenance_backup_server *server = kc_new(kc__maintenance_backup_server);
    server->storage = storage;
    server->log = log;
    server->path = kc_asprintf("%s/backup.sock", root);
    server->listener = server->stop = -1;
    if (open_listener(server, root, err) == 0)
        server->thread = kc_thread_start("backup", serve_backups, server, err);
    return server->thread ? server : kc__maintenance_backup_server_stop(server);
}

kc__maintenance_backup_server *kc__maintenance_backup_server_stop(
    kc__maintenance_backup_server *server)
{
    if (!server)
        return NULL;
    if (server->thread) {
        (void)eventfd_write(server->stop, 1);
        kc_thread_join(server->thread);
        (void)unlink(server->path);
    }
    if (server->listener >= 0)
        close(server->listener);
    if (server->stop >= 0)
        close(server->stop);
    free(server->path);
    free(server);
    return NULL;
}
