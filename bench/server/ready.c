/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready.c: measures the time from the start of a server until /readyz returns 200, in milliseconds.
 * It polls over HTTP on loopback every 0.2 ms, then stops the server and waits for it.
 *
 *     server_ready PORT COMMAND [ARGUMENT…]
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double READY_TIMEOUT_MS = 20000;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static bool is_ready(int port)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char answer[64] = "";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ready = fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
                 send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0 &&
                 recv(fd, answer, sizeof(answer) - 1, 0) > 0 &&
                 !strncmp(answer, "HTTP/1.1 200", 12);
    close(fd);
    return ready;
}

static int start(char **command)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    dup2(STDERR_FILENO, STDOUT_FILENO); /* Ours is the figure alone. */
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: server_ready PORT COMMAND [ARGUMENT…]\n");
        return 2;
    }
    int port = atoi(argv[1]), status = 0;
    double began = now_ms(), took = 0;
    pid_t pid = start(argv + 2);
    while (!is_ready(port) && waitpid(pid, &status, WNOHANG) == 0 && took < READY_TIMEOUT_MS) {
        nanosleep(&(struct timespec){.tv_nsec = 200 * 1000}, NULL);
        took = now_ms() - began;
    }
    took = now_ms() - began;
    if (kill(pid, SIGTERM) < 0 || took >= READY_TIMEOUT_MS) {
        fprintf(stderr, "server_ready: it did not become ready\n");
        return 1;
    }
    waitpid(pid, &status, 0);
    printf("%.1f\n", took);
    return 0;
}
