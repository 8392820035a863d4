/* SPDX-License-Identifier: Apache-2.0 */
/*
 * free_port.h: a port of loopback for a server that a test starts. The port is below those that the
 * system gives to outgoing connections, and set aside for some minutes by a file of its name, as by
 * tests/e2e/free-ports, so that no other test takes it before the server listens.
 */
#ifndef KC_FREE_PORT_H
#define KC_FREE_PORT_H

#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FREE_PORT_FIRST = 20000, FREE_PORT_COUNT = 12000, FREE_PORT_ASIDE = 300 };

static inline bool free_port_set_aside(int port)
{
    const char *tmp = getenv("TMPDIR");
    char folder[200], path[220];
    struct stat file;
    snprintf(folder, sizeof(folder), "%s/kc-test-ports-%d", tmp ? tmp : "/tmp", (int)getuid());
    snprintf(path, sizeof(path), "%s/%d", folder, port);
    mkdir(folder, 0700);
    if (stat(path, &file) == 0 && time(NULL) - file.st_mtime > FREE_PORT_ASIDE)
        unlink(path);
    const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static inline bool free_port_is_free(int port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
    if (fd >= 0)
        close(fd);
    return is_free;
}

/* 0 where none can be had. */
static inline int free_port(void)
{
    for (int tries = 0; tries < FREE_PORT_COUNT; tries++) {
        uint32_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return 0;
        const int port = FREE_PORT_FIRST + (int)(random % FREE_PORT_COUNT);
        if (free_port_is_free(port) && free_port_set_aside(port))
            return port;
    }
    return 0;
}

#endif
