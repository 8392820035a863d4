/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_testing.h: real Redis servers, each with its own directory and port, removed with the test.
 *
 *     redis_server server = {.args = {"--requirepass", "secret"}, .password = "secret"};
 *     redis_server_start(&server);
 *     redis_do(&server, "SET a b");
 *     redis_server_stop(&server);
 */
#ifndef KC_REDIS_TESTING_H
#define KC_REDIS_TESTING_H

#include "free_port.h"
#include "testing.h"

#include "redismigration/redis.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct redis_server {
    const char *args[16]; /* Arguments of redis-server; NULL-terminated. */
    const char *password; /* The same as in `args`. */
    int port;
    char folder[64];
    pid_t pid;
    redis *conn;
} redis_server;

static inline KC_UNUSED void redis_run(const redis_server *s)
{
    char port[8];
    const char *argv[32] = {"redis-server", "--port",     port,      "--bind",    "127.0.0.1",
                            "--dir",        s->folder,    "--save",  "",          "--appendonly",
                            "no",           "--loglevel", "warning", "--logfile", "log"};
    size_t n = 15;
    const int nothing = open("/dev/null", O_RDWR);
    snprintf(port, sizeof(port), "%d", s->port);
    for (size_t i = 0; s->args[i]; i++)
        argv[n++] = s->args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDOUT_FILENO);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static inline KC_UNUSED redis *redis_connect(const redis_server *s)
{
    return redis_open(&(redis_opts){.host = "127.0.0.1",
                                    .port = (uint16_t)s->port,
                                    .password = s->password,
                                    .timeout = 5 * KC_SECOND},
                      NULL);
}

/* Another process may have taken the port since it was found free. */
static inline KC_UNUSED bool redis_is_ours(const redis_server *s)
{
    resp_value answer;
    char line[32];
    snprintf(line, sizeof(line), "process_id:%d\r", (int)s->pid);
    return s->conn && REDIS_CALL(s->conn, &answer, NULL, KC_STR("INFO"), KC_STR("server")) == 0 &&
           kc_str_contains(answer.str, kc_cstr(line));
}

/* False if it ended, or cannot be reached for ten seconds. */
static inline KC_UNUSED bool redis_try_start(redis_server *s)
{
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0)
        redis_run(s);
    for (int tries = 0; tries < 2000 && waitpid(s->pid, NULL, WNOHANG) == 0; tries++) {
        s->conn = redis_connect(s);
        if (redis_is_ours(s))
            return true;
        s->conn = redis_close(s->conn);
        usleep(5000);
    }
    return false;
}

/* Also restarts a server that was killed, on the same port. Returns when it responds. */
static inline KC_UNUSED void redis_server_start(redis_server *s)
{
    const bool is_new = !s->port;
    if (is_new) {
        strcpy(s->folder, "/tmp/kc-redis-XXXXXX");
        assert_non_null(mkdtemp(s->folder));
    }
    for (int tries = 0; tries < 5; tries++) {
        s->port = is_new ? free_port() : s->port;
        if (redis_try_start(s))
            return;
    }
    fail_msg("redis-server does not start on port %d: is it installed?", s->port);
}

static inline KC_UNUSED void redis_server_kill(redis_server *s)
{
    s->conn = redis_close(s->conn);
    if (!s->pid)
        return;
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

static inline KC_UNUSED void redis_server_stop(redis_server *s)
{
    static const char *const files[] = {"log", "nodes.conf"};
    redis_server_kill(s);
    if (!s->port)
        return;
    for (size_t i = 0; i < KC_COUNT(files); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", s->folder, files[i]);
        unlink(path);
    }
    rmdir(s->folder);
    s->port = 0;
}

/* Runs a command that must not fail; the reply is valid until the next command. */
static inline KC_UNUSED resp_value redis_do_words(redis_server *s, const kc_str *words, size_t n)
{
    kc_scoped(kc_error) err = {0};
    resp_value answer = {0};
    if (redis_call(s->conn, &answer, &err, words, n) < 0)
        fail_msg("%.*s: %s", KC_ARG(words[0]), kc_error_text(&err));
    return answer;
}
#define REDIS_DO(s, ...) redis_do_words(s, REDIS_WORDS(__VA_ARGS__))

/* Likewise, with words separated by spaces. */
static inline KC_UNUSED resp_value redis_do(redis_server *s, const char *command)
{
    kc_str words[32], rest = kc_cstr(command);
    size_t n = 0;
    while (rest.p && n < KC_COUNT(words))
        words[n++] = kc_str_cut(&rest, ' ');
    return redis_do_words(s, words, n);
}

static inline KC_UNUSED int64_t redis_count(redis_server *s)
{
    return redis_do(s, "DBSIZE").number;
}

/* Strings named PREFIX0 and so on. */
static inline KC_UNUSED void redis_fill(redis_server *s, const char *prefix, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char key[64], value[32];
        snprintf(key, sizeof(key), "%s%zu", prefix, i);
        snprintf(value, sizeof(value), "value %zu", i);
        REDIS_SEND(s->conn, KC_STR("SET"), kc_cstr(key), kc_cstr(value));
    }
    for (size_t i = 0; i < n; i++) {
        resp_value answer;
        assert_int_equal(redis_read(s->conn, &answer, NULL), 0);
        assert_int_equal(answer.type, RESP_TEXT);
    }
}

#endif
