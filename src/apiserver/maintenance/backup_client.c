/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_client.c: the side of `kc store backup`: reads the entries that a running server sends and
 * writes them to a file. The file gets its name only after the server has said that it sent all.
 */
#include "apiserver/maintenance/backup_socket.h"

#include "apiserver/storage/stored_record.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A server that sends nothing for this long is given up. */
enum { RECEIVE_TIMEOUT_SECONDS = 120 };

/* A system call with a timeout is not restarted when the process was stopped and continues. */
static ssize_t receive_bytes(void *socket, char *to, size_t size)
{
    const int *fd = socket;
    ssize_t n;
    do
        n = recv(*fd, to, size, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

static int close_socket(void *socket)
{
    int *fd = socket;
    const int failed = close(*fd);
    free(fd);
    return failed;
}

static FILE *open_stream(int fd)
{
    int *socket = kc_new(int);
    *socket = fd;
    FILE *in = fopencookie(socket, "r",
                           (cookie_io_functions_t){.read = receive_bytes, .close = close_socket});
    if (!in)
        close_socket(socket);
    return in;
}

static FILE *connect_to_server(const char *root, kc_error *err)
{
    const struct timeval timeout = {.tv_sec = RECEIVE_TIMEOUT_SECONDS};
    const int fd = kc__maintenance_backup_socket(root, false);
    if (fd < 0) {
        kc_error_set(err, KC_NOT_FOUND, "its server does not answer on %s/backup.sock: %s", root,
                     strerror(errno));
        return NULL;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    FILE *in = open_stream(fd);
    if (!in)
        kc_error_set(err, KC_INTERNAL, "cannot read: %s", strerror(errno));
    return in;
}

static int receive_revision(FILE *in, uint64_t *ret_revision, kc_error *err)
{
    char bytes[sizeof(uint64_t)];
    if (fread(bytes, 1, sizeof(bytes), in) != sizeof(bytes))
        return kc_error_set(err, KC_INTERNAL,
                            "the server sent nothing: run the command as its user or as root");
    *ret_revision = kc__storage_get_u64(bytes);
    return 0;
}

/* *ret_end: the server has sent everything. */
static int receive_entry(kc__maintenance_entry_reader *reader,
                         kc__maintenance_backup_writer *writer, bool *ret_end, kc_error *err)
{
    kc__storage_entry entry;
    if (kc__maintenance_entry_read(reader, &entry, err) < 0)
        return kc_error_wrap(err, "the server did not complete the backup");
    if (entry.key.n)
        return kc__maintenance_backup_add(writer, &entry, err);
    if (entry.value.n)
        return kc_error_set(err, KC_INTERNAL, "the server did not complete the backup: %.*s",
                            KC_ARG(entry.value));
    *ret_end = true;
    return 0;
}

static int receive_backup(FILE *in, const char *path, kc__maintenance_backup_header *ret_header,
                          kc_error *err)
{
    uint64_t revision = 0;
    bool end = false;
    kc_scoped(kc__maintenance_entry_reader) reader = {.in = in};
    if (receive_revision(in, &revision, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__maintenance_backup_writer) *writer =
        kc__maintenance_backup_create(path, revision, err);
    if (!writer)
        return kc_error_result(err);
    while (!end)
        if (receive_entry(&reader, writer, &end, err) < 0)
            return kc_error_result(err);
    return kc__maintenance_backup_finish(writer, ret_header, err);
}

int kc__maintenance_backup_running(const char *root, const char *path,
                                   kc__maintenance_backup_header *ret_header, kc_error *err)
{
    FILE *in = connect_to_server(root, err);
    if (!in)
        return kc_error_result(err);
    const int failed = receive_backup(in, path, ret_header, err);
    fclose(in);
    return failed;
}
