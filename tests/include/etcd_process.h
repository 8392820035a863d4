/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_process.h: real etcd servers, alone or as a cluster, each with its own directory and ports,
 * removed with the test.
 *
 *     etcd_cluster cluster = {.n = 3};
 *     etcd_cluster_start(&cluster);
 *     kc_auto(kc__etcd) *etcd = etcd_client(&cluster);
 *     etcd_member_kill(&cluster.members[0]);
 *     etcd_cluster_stop(&cluster);
 *
 * The kernel chooses the ports. Another process may take one before etcd listens on it: then the
 * whole cluster starts again with others.
 */
#ifndef KC_ETCD_PROCESS_H
#define KC_ETCD_PROCESS_H

#include "files_testing.h"
#include "free_port.h"

#include "etcd/etcd.h"
#include "kc/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { ETCD_MAX_MEMBERS = 3, ETCD_MAX_ARGS = 16 };

typedef struct etcd_cluster etcd_cluster;

typedef struct etcd_member {
    etcd_cluster *cluster;
    char name[32];
    int port, peer_port;
    char url[64];  /* For clients. */
    char peer[64]; /* For other members. */
    pid_t pid;     /* 0: not running. */
} etcd_member;

struct etcd_cluster {
    size_t n;                        /* Members. Defaults to 1. */
    const char *args[ETCD_MAX_ARGS]; /* Further arguments of etcd; NULL-terminated. */
    kc__etcd_opts opts;              /* Of clients: TLS, user. */
    bool tls;
    etcd_member members[ETCD_MAX_MEMBERS];
    scratch *dir;
};

/* Waits for a condition, for 60 s at most: with sanitizers and other tests beside it, etcd may take
 * long. */
#define etcd_await(condition)                                                    \
    do {                                                                         \
        const int64_t end_ = kc_clock_deadline(kc_clock_real(), 60 * KC_SECOND); \
        while (!(condition) && kc_clock_now(kc_clock_real()) < end_)             \
            kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);                 \
        assert_true(condition);                                                  \
    } while (0)

/* ---- clients ---- */

/* A client of these endpoints, with the options of the cluster. */
static inline KC_UNUSED kc__etcd *etcd_client_of(const etcd_cluster *cluster,
                                                 const char *const *urls, size_t n)
{
    kc_scoped(kc_error) err = {0};
    kc__etcd_opts opts = cluster->opts;
    opts.endpoints = urls;
    opts.n_endpoints = n;
    opts.timeout = opts.timeout ? opts.timeout : 60 * KC_SECOND;
    opts.keepalive_time = opts.keepalive_time ? opts.keepalive_time : KC_SECOND;
    opts.max_backoff = opts.max_backoff ? opts.max_backoff : 100 * KC_MILLISECOND;
    kc__etcd *etcd = kc__etcd_open(&opts, &err);
    if (!etcd)
        fail_msg("%s", kc_error_text(&err));
    return etcd;
}

/* A client of all members. */
static inline KC_UNUSED kc__etcd *etcd_client(const etcd_cluster *cluster)
{
    const char *urls[ETCD_MAX_MEMBERS];
    for (size_t i = 0; i < cluster->n; i++)
        urls[i] = cluster->members[i].url;
    return etcd_client_of(cluster, urls, cluster->n);
}

/* A call that must succeed; the caller frees the reply. */
static inline KC_UNUSED kc__etcd_reply *etcd_do(kc__etcd *etcd, const kc__etcd_request *request)
{
    kc__etcd_reply *reply = kc__etcd_call(etcd, request);
    if (reply->code != KC__ETCD_OK)
        fail_msg("%s", kc_error_text(&reply->err));
    return reply;
}

/* Stores a value; returns the revision. */
static inline KC_UNUSED int64_t etcd_put(kc__etcd *etcd, const char *key, kc_str value)
{
    kc_auto(kc__etcd_reply) *reply =
        etcd_do(etcd, &(kc__etcd_request){.method = KC__ETCD_PUT,
                                          .put = {.key = kc_cstr(key), .value = value}});
    return reply->revision;
}

/* ---- processes ---- */

/* In the child of a process with threads: only calls that are safe there. */
static inline KC_UNUSED void etcd_exec(const char *const *argv, const char *log)
{
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Starts the process, also again after it was killed; does not wait for it. */
static inline KC_UNUSED void etcd_member_start(etcd_member *m)
{
    const etcd_cluster *cluster = m->cluster;
    kc_autofree char *log = kc_asprintf("%s/%s.log", cluster->dir->dir, m->name);
    kc_autofree char *data = kc_asprintf("%s/%s", cluster->dir->dir, m->name);
    kc_scoped(kc_buf) initial = {0};
    for (size_t i = 0; i < cluster->n; i++)
        kc_buf_printf(&initial, "%s%s=%s", i ? "," : "", cluster->members[i].name,
                      cluster->members[i].peer);
    const char *argv[64] = {"etcd",
                            "--name",
                            m->name,
                            "--data-dir",
                            data,
                            "--listen-client-urls",
                            m->url,
                            "--advertise-client-urls",
                            m->url,
                            "--listen-peer-urls",
                            m->peer,
                            "--initial-advertise-peer-urls",
                            m->peer,
                            "--initial-cluster",
                            kc_buf_cstr(&initial),
                            "--unsafe-no-fsync",
                            "--log-level",
                            "warn",
                            "--heartbeat-interval",
                            "100",
                            "--election-timeout",
                            "500",
                            "--grpc-keepalive-min-time", /* Tests probe often. */
                            "10ms"};
    size_t n = 0;
    while (argv[n])
        n++;
    for (size_t i = 0; cluster->args[i]; i++)
        argv[n++] = cluster->args[i];
    m->pid = fork();
    assert_true(m->pid >= 0);
    if (m->pid == 0)
        etcd_exec(argv, log);
}

static inline KC_UNUSED void etcd_member_kill(etcd_member *m)
{
    if (!m->pid)
        return;
    kill(m->pid, SIGKILL);
    waitpid(m->pid, NULL, 0);
    m->pid = 0;
}

static inline KC_UNUSED bool etcd_member_has_ended(etcd_member *m)
{
    return waitpid(m->pid, NULL, WNOHANG) != 0;
}

/* ---- clusters ---- */

/* Whether a linearizable read succeeds, by the process that has the name of the member. */
static inline KC_UNUSED bool etcd_member_is_ready(etcd_member *m)
{
    const char *url = m->url;
    kc_auto(kc__etcd) *etcd = etcd_client_of(m->cluster, &url, 1);
    kc_auto(kc__etcd_reply) *list =
        kc__etcd_call(etcd, &(kc__etcd_request){.method = KC__ETCD_MEMBER_LIST,
                                                .timeout = KC_SECOND,
                                                .member_list = {.linearizable = true}});
    bool found = false;
    for (size_t i = 0; list->code == KC__ETCD_OK && i < list->member_list->members.n; i++)
        found = found || kc_str_is(list->member_list->members.items[i].name, m->name);
    return found;
}

/* False if it ended. */
static inline KC_UNUSED bool etcd_member_await(etcd_member *m)
{
    const int64_t end = kc_clock_deadline(kc_clock_real(), 120 * KC_SECOND);
    while (kc_clock_now(kc_clock_real()) < end && !etcd_member_has_ended(m)) {
        if (etcd_member_is_ready(m))
            return true;
        kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
    }
    return false;
}

/* GET /health, by a socket of the test: ThreadSanitizer does not see that libuv closes descriptors,
 * and takes one that a new client uses again for shared. Without TLS. */
static inline KC_UNUSED bool etcd_member_is_healthy(const etcd_member *m)
{
    static const char request[] = "GET /health HTTP/1.0\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)m->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval timeout = {5, 0};
    char response[2048] = "";
    size_t n = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
        send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
        for (ssize_t more = 1; more > 0 && n < sizeof(response) - 1; n += (size_t)KC_MAX(more, 0))
            do
                more = recv(fd, response + n, sizeof(response) - 1 - n, 0);
            while (more < 0 && errno == EINTR); /* As in http_testing.h. */
    close(fd);
    return strstr(response, "\"health\":\"true\"") != NULL;
}

/* Starts members that were killed, on their ports, and waits until they serve requests. */
static inline KC_UNUSED void etcd_members_restart(etcd_member *const *members, size_t n)
{
    for (size_t i = 0; i < n; i++)
        etcd_member_start(members[i]);
    for (size_t i = 0; i < n; i++)
        etcd_await((etcd_member_has_ended(members[i]) ? etcd_member_start(members[i]) : (void)0,
                    etcd_member_is_healthy(members[i])));
}

static inline KC_UNUSED void etcd_member_restart(etcd_member *m)
{
    etcd_members_restart(&m, 1);
}

static inline KC_UNUSED bool etcd_cluster_try(etcd_cluster *cluster)
{
    const char *scheme = cluster->tls ? "https" : "http";
    bool ready = true;
    for (size_t i = 0; i < cluster->n; i++) {
        etcd_member *m = &cluster->members[i];
        *m = (etcd_member){.cluster = cluster};
        m->port = free_port();
        m->peer_port = free_port();
        snprintf(m->name, sizeof(m->name), "m%d-%d-%d", (int)getpid(), m->port, m->peer_port);
        snprintf(m->url, sizeof(m->url), "%s://127.0.0.1:%d", scheme, m->port);
        snprintf(m->peer, sizeof(m->peer), "http://127.0.0.1:%d", m->peer_port);
    }
    for (size_t i = 0; i < cluster->n; i++)
        etcd_member_start(&cluster->members[i]);
    for (size_t i = 0; i < cluster->n; i++)
        ready = ready && etcd_member_await(&cluster->members[i]);
    for (size_t i = 0; !ready && i < cluster->n; i++)
        etcd_member_kill(&cluster->members[i]);
    return ready;
}

/* Returns when every member serves requests. */
static inline KC_UNUSED void etcd_cluster_start(etcd_cluster *cluster)
{
    cluster->n = cluster->n ? cluster->n : 1;
    cluster->dir = cluster->dir ? cluster->dir : scratch_new();
    for (int tries = 0; tries < 5; tries++)
        if (etcd_cluster_try(cluster))
            return;
    fail_msg("etcd does not start: is etcd-server 3.5 installed? Logs were in %s",
             cluster->dir->dir);
}

static inline KC_UNUSED void etcd_cluster_stop(etcd_cluster *cluster)
{
    for (size_t i = 0; i < cluster->n; i++)
        etcd_member_kill(&cluster->members[i]);
    scratch_free(kc_take(cluster->dir));
}

/* Expands to main(): runs the tests with one cluster, a static variable. */
#define ETCD_TESTS(cluster, ...)                                                     \
    static int start_cluster(void **state)                                           \
    {                                                                                \
        (void)state;                                                                 \
        etcd_cluster_start(&(cluster));                                              \
        return 0;                                                                    \
    }                                                                                \
    static int stop_cluster(void **state)                                            \
    {                                                                                \
        (void)state;                                                                 \
        etcd_cluster_stop(&(cluster));                                               \
        return 0;                                                                    \
    }                                                                                \
    int main(void)                                                                   \
    {                                                                                \
        const struct CMUnitTest tests[] = {KC__EACH(cmocka_unit_test, __VA_ARGS__)}; \
        return cmocka_run_group_tests(tests, start_cluster, stop_cluster);           \
    }

#endif
