/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchers.c: many watches at once, and how late each event reaches them.
 *
 * Opens N connections with TLS, each watching the ConfigMaps of one namespace. A second thread then
 * updates ConfigMaps at a steady rate, over a connection of its own; each update carries its number
 * and the time right before it was sent, so a delivery's delay contains the write, the wait for the
 * disk and the way to the watcher. The `after` delays begin when the first sign of the write was
 * seen by anyone, its answer or an event: without the disk's part. Numbers must arrive in each
 * watch without a gap. With --write-port the updates go to another server on the same storage.
 *
 * All watches are read by one thread with epoll, a read per wake-up: cheap enough to take much less
 * than the server does. The bytes of a watch pass a decoder of chunks, which puts lines together;
 * a line is an event.
 *
 * Prints one line: connected= writes= behind= events= lost= twice= p50_us= p99_us= max_us=
 * after_p99_us= write_p50_us= write_p99_us= server_cpu_us= (of the server while there were writes).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STAMP "\"stamp\":\""
enum {
    STAMP_BYTES = sizeof(STAMP) - 1,
    OBJECTS = 10,
    READ_BYTES = 16384,
    LINE_BYTES = 8192,
    QUIET_MS = 2000, /* Without a delivery for so long, what is missing is lost. */
};

static struct {
    int port, write_port, watchers, rate, seconds, server_pid, bytes;
    const char *token, *watched, *written;
} options = {.watchers = 1000,
             .rate = 50,
             .seconds = 5,
             .bytes = 700,
             .token = "",
             .watched = "default",
             .written = "default"};

/* ---- small helpers ---- */

static void die(const char *what)
{
    fprintf(stderr, "server_watchers: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

typedef struct samples {
    uint32_t *us;
    size_t n, room;
} samples;

static void add_sample(samples *s, int64_t ns)
{
    if (s->n < s->room)
        s->us[s->n++] = (uint32_t)(ns / 1000);
}

static uint32_t quantile(const samples *s, double q)
{
    return s->n ? s->us[(size_t)((double)(s->n - 1) * q)] : 0;
}

/* What a process has used of the processors, in microseconds. */
static int64_t cpu_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *f = pid ? fopen(path, "re") : NULL;
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    long long user = 0, system = 0;
    text[n] = '\0';
    const char *after_name = strrchr(text, ')');
    if (f)
        fclose(f);
    if (after_name)
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
               &system);
    return (user + system) * 1000000 / sysconf(_SC_CLK_TCK);
}

/* ---- connections ---- */

static SSL *connect_one(SSL_CTX *tls, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    SSL *ssl = SSL_new(tls);
    if (!ssl || !SSL_set_fd(ssl, fd) || SSL_connect(ssl) != 1)
        die("TLS");
    return ssl;
}

static void send_all(SSL *ssl, const char *text, size_t n)
{
    if (SSL_write(ssl, text, (int)n) != (int)n)
        die("send");
}

/* ---- what a watch says ---- */

typedef struct watcher {
    SSL *ssl;
    uint32_t last; /* Number of the newest stamp. */
    bool in_body;  /* The head of the answer is over. */
    bool in_size;  /* In the line that says a chunk's size. */
    size_t chunk;  /* Bytes left in the chunk. */
    size_t n;      /* Bytes of `line`. */
    char line[LINE_BYTES];
} watcher;

static struct {
    samples delays, after;
    long lost, twice, events;
    _Atomic int64_t *first; /* By number: when anyone learned of the write; 0 before. */
} seen;

/* Returns when the write was first seen. */
static int64_t first_sign(uint32_t number, int64_t now)
{
    int64_t never = 0;
    return atomic_compare_exchange_strong(&seen.first[number], &never, now) ? now : never;
}

/* "NUMBER-NANOSECONDS", both of fixed width. */
static void on_stamp(watcher *w, const char *value, int64_t now)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    int64_t sent = strtoll(value + 10, NULL, 10);
    if (number == 0)
        return; /* The object as it was before. */
    if (number <= w->last)
        seen.twice++;
    else
        seen.lost += number - w->last - 1;
    w->last = number > w->last ? number : w->last;
    seen.events++;
    add_sample(&seen.delays, now - sent);
    add_sample(&seen.after, now - first_sign(number, now));
}

static void on_line(watcher *w, int64_t now)
{
    const char *stamp = memmem(w->line, w->n, STAMP, STAMP_BYTES);
    if (stamp)
        on_stamp(w, stamp + STAMP_BYTES, now);
    w->n = 0;
}

static void on_data(watcher *w, const char *text, size_t n, int64_t now)
{
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        size_t taken = end ? (size_t)(end - text) + 1 : n;
        if (w->n + taken > LINE_BYTES - 1) {
            errno = EMSGSIZE;
            die("an event");
        }
        memcpy(w->line + w->n, text, taken);
        w->n += taken;
        w->line[w->n] = '\0';
        if (end)
            on_line(w, now);
        text += taken;
        n -= taken;
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The line end after the chunk before, then the size in hexadecimal. Returns bytes taken. */
static size_t read_size(watcher *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (hex_digit(text[i]) >= 0)
            w->chunk = w->chunk * 16 + (size_t)hex_digit(text[i]);
        else if (text[i] == '\n' && w->chunk > 0) {
            w->in_size = false;
            return i + 1;
        }
    }
    return n;
}

static size_t read_head(watcher *w, const char *text, size_t n)
{
    const char *end = memmem(text, n, "\r\n\r\n", 4);
    if (!end || strncmp(text, "HTTP/1.1 200", 12) != 0) {
        fprintf(stderr, "%.*s\n", (int)n, text);
        die("a watch was not answered");
    }
    w->in_body = w->in_size = true;
    return (size_t)(end - text) + 4;
}

static void on_bytes(watcher *w, const char *text, size_t n, int64_t now)
{
    size_t taken;
    for (; n > 0; text += taken, n -= taken) {
        if (!w->in_body) {
            taken = read_head(w, text, n);
        } else if (w->in_size) {
            taken = read_size(w, text, n);
        } else {
            taken = n < w->chunk ? n : w->chunk;
            on_data(w, text, taken, now);
            w->chunk -= taken;
            w->in_size = w->chunk == 0;
        }
    }
}

/* ---- reading all watches ---- */

static void on_readable(watcher *w)
{
    char bytes[READ_BYTES];
    do {
        int n = SSL_read(w->ssl, bytes, sizeof(bytes));
        if (n > 0)
            on_bytes(w, bytes, (size_t)n, now_ns());
        else if (SSL_get_error(w->ssl, n) == SSL_ERROR_WANT_READ)
            return;
        else
            die("a watch ended");
    } while (SSL_has_pending(w->ssl));
}

static int start_watch(watcher *w, SSL_CTX *tls, int epoll)
{
    char request[1024];
    int n = snprintf(request, sizeof(request),
                     "GET /api/v1/namespaces/%s/configmaps?watch=1 HTTP/1.1\r\n"
                     "Host: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n",
                     options.watched, options.token);
    w->ssl = connect_one(tls, options.port);
    send_all(w->ssl, request, (size_t)n);
    int fd = SSL_get_fd(w->ssl);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.ptr = w}});
}

/* Returns false when nothing came for `ms`. */
static bool read_some(int epoll, int ms)
{
    struct epoll_event events[256];
    int n = epoll_wait(epoll, events, 256, ms);
    for (int i = 0; i < n; i++)
        on_readable(events[i].data.ptr);
    return n > 0;
}

static watcher *start_watches(SSL_CTX *tls, int epoll)
{
    watcher *all = calloc((size_t)options.watchers, sizeof(*all));
    for (int i = 0; all && i < options.watchers; i++) {
        if (start_watch(&all[i], tls, epoll) < 0)
            die("epoll");
        while (read_some(epoll, 0)) {
        }
    }
    while (read_some(epoll, 300)) {
    }
    for (int i = 0; all && i < options.watchers; i++)
        if (!all[i].in_body) {
            errno = ETIMEDOUT;
            die("a watch was not answered");
        }
    return all;
}

/* ---- writing ---- */

typedef struct writer {
    SSL *ssl;
    samples delays;
    int behind; /* Writes that began late because the one before took too long. */
    atomic_bool done;
} writer;

/* One request with an object; waits for the answer, which must be 2xx. */
static void request_object(SSL *ssl, const char *verb, int object, uint32_t number)
{
    static const char text[4096] = {[0 ... 4094] = 'x'};
    char body[8192], request[16384], answer[READ_BYTES], *end = NULL;
    int n = snprintf(body, sizeof(body),
                     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                     "\"written-%d\"},\"data\":{" STAMP "%09u-%019lld\",\"text\":\"%.*s\"}}",
                     object, number, (long long)now_ns(), options.bytes, text);
    char name[32] = "";
    if (strcmp(verb, "POST") != 0)
        snprintf(name, sizeof(name), "/written-%d", object);
    n = snprintf(request, sizeof(request),
                 "%s /api/v1/namespaces/%s/configmaps%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                 "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                 "Content-Length: %d\r\n\r\n%s",
                 verb, options.written, name, options.token, n, body);
    send_all(ssl, request, (size_t)n);
    size_t got = 0, wanted = 0;
    while (!end || got < wanted) {
        n = SSL_read(ssl, answer + got, (int)(sizeof(answer) - 1 - got));
        if (n <= 0)
            die("the writer's connection");
        got += (size_t)n;
        answer[got] = '\0';
        const char *length = strcasestr(answer, "content-length:");
        end = strstr(answer, "\r\n\r\n");
        wanted =
            end ? (size_t)(end + 4 - answer) + (length ? strtoul(length + 15, NULL, 10) : 0) : 0;
    }
    if (strncmp(answer, "HTTP/1.1 2", 10) != 0) {
        fprintf(stderr, "%s\n", answer);
        die("a write was refused");
    }
}

static void *write_steadily(void *user)
{
    writer *w = user;
    int64_t gap = 1000000000LL / options.rate, next = now_ns();
    for (int i = 0; i < options.rate * options.seconds; i++, next += gap) {
        int64_t began = now_ns();
        struct timespec until = {next / 1000000000LL, next % 1000000000LL};
        w->behind += began > next + gap;
        if (began < next)
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        began = now_ns();
        request_object(w->ssl, "PUT", i % OBJECTS, (uint32_t)i + 1);
        first_sign((uint32_t)i + 1, now_ns());
        add_sample(&w->delays, now_ns() - began);
    }
    w->done = true;
    return NULL;
}

/* ---- all of it ---- */

static SSL_CTX *make_tls(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (!tls)
        die("TLS");
    SSL_CTX_set_read_ahead(tls, 1); /* One system call for an event, not two. */
    return tls;
}

static samples room_for(size_t n)
{
    return (samples){.us = calloc(n, sizeof(uint32_t)), .room = n};
}

static void measure(int epoll, writer *w)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_steadily, w))
        die("a thread");
    while (!w->done)
        read_some(epoll, 20);
    pthread_join(thread, NULL);
}

/* What is under way after the last write; then what never came counts as lost. */
static void settle(int epoll, const watcher *all)
{
    const uint32_t last = (uint32_t)(options.rate * options.seconds);
    if (strcmp(options.watched, options.written) != 0)
        return;
    while (seen.events + seen.lost < (long)last * options.watchers && read_some(epoll, QUIET_MS)) {
    }
    for (int i = 0; i < options.watchers; i++)
        seen.lost += last - all[i].last;
}

static void report(writer *w, int64_t server_cpu, int64_t own_cpu)
{
    qsort(seen.delays.us, seen.delays.n, sizeof(uint32_t), by_value);
    qsort(seen.after.us, seen.after.n, sizeof(uint32_t), by_value);
    qsort(w->delays.us, w->delays.n, sizeof(uint32_t), by_value);
    printf("watchers=%d writes=%zu behind=%d events=%ld lost=%ld twice=%ld p50_us=%u p99_us=%u "
           "max_us=%u after_p99_us=%u write_p50_us=%u write_p99_us=%u server_cpu_us=%lld "
           "client_cpu_us=%lld\n",
           options.watchers, w->delays.n, w->behind, seen.events, seen.lost, seen.twice,
           quantile(&seen.delays, .5), quantile(&seen.delays, .99), quantile(&seen.delays, 1),
           quantile(&seen.after, .99), quantile(&w->delays, .5), quantile(&w->delays, .99),
           (long long)server_cpu, (long long)own_cpu);
}

static const struct option flags[] = {
    {"port", required_argument, NULL, 'p'},
    {"token", required_argument, NULL, 't'},
    {"watch", required_argument, NULL, 'w'},
    {"write", required_argument, NULL, 'u'},
    {"watchers", required_argument, NULL, 'n'},
    {"rate", required_argument, NULL, 'r'},
    {"seconds", required_argument, NULL, 's'},
    {"server", required_argument, NULL, 'c'},
    {"bytes", required_argument, NULL, 'b'},
    {"write-port", required_argument, NULL, 'o'},
    {0},
};

static void read_flags(int argc, char **argv)
{
    int c;
    while ((c = getopt_long(argc, argv, "", flags, NULL)) != -1) {
        switch (c) {
        case 'p': options.port = atoi(optarg); break;
        case 't': options.token = optarg; break;
        case 'w': options.watched = optarg; break;
        case 'u': options.written = optarg; break;
        case 'n': options.watchers = atoi(optarg); break;
        case 'r': options.rate = atoi(optarg); break;
        case 's': options.seconds = atoi(optarg); break;
        case 'c': options.server_pid = atoi(optarg); break;
        case 'b': options.bytes = atoi(optarg); break;
        case 'o': options.write_port = atoi(optarg); break;
        default: exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    read_flags(argc, argv);
    struct rlimit files = {.rlim_cur = (rlim_t)options.watchers + 64};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    const size_t writes = (size_t)(options.rate * options.seconds);
    writer w = {.delays = room_for(writes)};
    seen.delays = room_for(writes * (size_t)options.watchers);
    seen.after = room_for(writes * (size_t)options.watchers);
    seen.first = calloc(writes + 1, sizeof(*seen.first));
    SSL_CTX *tls = make_tls();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    w.ssl = connect_one(tls, options.write_port ? options.write_port : options.port);
    for (int i = 0; i < OBJECTS; i++)
        request_object(w.ssl, "POST", i, 0);
    watcher *all = start_watches(tls, epoll);
    const int64_t server_cpu = cpu_of(options.server_pid), own_cpu = cpu_of(getpid());
    measure(epoll, &w);
    settle(epoll, all);
    report(&w, cpu_of(options.server_pid) - server_cpu, cpu_of(getpid()) - own_cpu);
    return seen.lost || seen.twice;
}
