/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_socket.c: the address of the socket. The address of a Unix socket has at most 107 bytes; a
 * longer path is named through the file descriptor of its directory.
 */
#include "apiserver/maintenance/backup_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "backup.sock"

static int use_address(int fd, const struct sockaddr_un *address, bool binds)
{
    const struct sockaddr *at = (const struct sockaddr *)address;
    return binds ? bind(fd, at, sizeof(*address)) : connect(fd, at, sizeof(*address));
}

/* Returns 0 or an errno code. */
static int open_at(int fd, const char *root, bool binds)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int n = snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SOCKET_NAME, root);
    if (n > 0 && (size_t)n < sizeof(address.sun_path))
        return use_address(fd, &address, binds) < 0 ? errno : 0;
    const int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno;
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET_NAME, dir);
    const int code = use_address(fd, &address, binds) < 0 ? errno : 0;
    close(dir);
    return code;
}

int kc__maintenance_backup_socket(const char *root, bool binds)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    const int code = open_at(fd, root, binds);
    if (!code)
        return fd;
    close(fd);
    errno = code;
    return -1;
}
