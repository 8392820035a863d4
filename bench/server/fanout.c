/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fanout.c: the peer of 1,000 watchers: a server that does nothing but send. It shows what TLS and
 * the kernel take of an event, so that a figure of kc can be judged on any machine.
 *
 *     PUT ─▶ answer, frame ─┬─▶ thread 0 ─▶ SSL_write to each of its watchers
 *                           └─▶ thread 1 ─▶ SSL_write to each of its watchers
 *
 * It accepts the requests of server_watchers and nothing else: a GET begins a watch, a POST or PUT
 * is answered with its body, and the body becomes an event for all watches: one chunk, one
 * SSL_write, one system call for each. It keeps no object, checks nothing and never reads a watch
 * again. Writes block, which is fine, because the load generator always reads.
 *
 *     server_fanout --port PORT --cert FILE --key FILE [--threads N] [--bytes N]
 *
 * --bytes pads an event to the size that it has with the metadata that a real server adds.
 *
 * Threads: the main thread accepts connections and passes them on in turns. A connection belongs to
 * one thread; `lock` guards the list of frames that waits for a thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_THREADS = 64, REQUEST_BYTES = 16384, WAITING = 1024 };

static struct {
    int port, threads, bytes;
    const char *cert, *key;
} options;

/* An event as it is sent, shared by the threads. */
typedef struct frame {
    _Atomic int refs;
    size_t n;
    char text[];
} frame;

typedef struct client {
    SSL *ssl;
    size_t n; /* Bytes of `request`. */
    char request[REQUEST_BYTES];
} client;

typedef struct sender {
    int epoll, wake;
    SSL **watchers;
    size_t n_watchers;
    pthread_mutex_t lock; /* Guards the two fields below. */
    frame *waiting[WAITING];
    size_t n_waiting;
} sender;

static sender senders[MAX_THREADS];

static void die(const char *what)
{
    fprintf(stderr, "server_fanout: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(1);
}

/* ---- events ---- */

static const char event_start[] = "{\"type\":\"MODIFIED\",\"object\":";
static const char event_end[] = "}\n";

/* One chunk of HTTP/1.1; spaces after the object fill it up to --bytes. */
static frame *frame_of(const char *object, size_t n)
{
    const size_t around = sizeof(event_start) + sizeof(event_end) - 2;
    const size_t wanted = options.bytes > 0 ? (size_t)options.bytes : 0;
    const size_t size = n + around < wanted ? wanted : n + around;
    frame *f = malloc(sizeof(*f) + size + 64);
    if (!f)
        die("memory");
    f->refs = options.threads;
    f->n = (size_t)sprintf(f->text, "%zx\r\n%s%.*s%*s%s\r\n", size, event_start, (int)n, object,
                           (int)(size - n - around), "", event_end);
    return f;
}

static void publish(const char *object, size_t n)
{
    frame *f = frame_of(object, n);
    for (int i = 0; i < options.threads; i++) {
        sender *s = &senders[i];
        pthread_mutex_lock(&s->lock);
        if (s->n_waiting == WAITING) {
            errno = EOVERFLOW;
            die("events wait");
        }
        s->waiting[s->n_waiting++] = f;
        pthread_mutex_unlock(&s->lock);
        if (eventfd_write(s->wake, 1) < 0)
            die("eventfd");
    }
}

static void send_frame(const sender *s, frame *f)
{
    for (size_t i = 0; i < s->n_watchers; i++)
        if (SSL_write(s->watchers[i], f->text, (int)f->n) <= 0)
            exit(0); /* The load generator has ended. */
    if (atomic_fetch_sub(&f->refs, 1) == 1)
        free(f);
}

static void send_waiting(sender *s)
{
    eventfd_t count;
    frame *frames[WAITING];
    eventfd_read(s->wake, &count);
    pthread_mutex_lock(&s->lock);
    const size_t n = s->n_waiting;
    memcpy(frames, s->waiting, n * sizeof(frame *));
    s->n_waiting = 0;
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < n; i++)
        send_frame(s, frames[i]);
}

/* ---- requests ---- */

static void reply(const client *c, const char *head, const char *body, size_t n)
{
    char text[REQUEST_BYTES + 256];
    const int size = sprintf(text, "%s%.*s", head, (int)n, body);
    if (SSL_write(c->ssl, text, size) <= 0)
        die("answer");
}

/* The bytes of a complete request at the start of the input, and its body; 0: incomplete. */
static size_t complete(client *c, const char **ret_body, size_t *ret_n)
{
    c->request[c->n] = '\0';
    const char *end = strstr(c->request, "\r\n\r\n");
    const char *length = strcasestr(c->request, "content-length:");
    if (!end)
        return 0;
    *ret_body = end + 4;
    *ret_n = length && length < end ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
    const size_t size = (size_t)(*ret_body - c->request) + *ret_n;
    return size <= c->n ? size : 0;
}

static void start_watch(sender *s, const client *c)
{
    s->watchers = realloc(s->watchers, (s->n_watchers + 1) * sizeof(*s->watchers));
    if (!s->watchers)
        die("memory");
    s->watchers[s->n_watchers++] = c->ssl;
    reply(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "", 0);
}

static void handle(sender *s, client *c)
{
    const char *body;
    size_t n;
    const size_t size = complete(c, &body, &n);
    if (!size)
        return;
    if (strncmp(c->request, "GET", 3) == 0) {
        start_watch(s, c);
    } else {
        char head[128];
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
        reply(c, head, body, n);
        publish(body, n);
    }
    c->n -= size;
    memmove(c->request, c->request + size, c->n);
}

static void receive(sender *s, client *c)
{
    do {
        const int n = SSL_read(c->ssl, c->request + c->n, (int)(sizeof(c->request) - 1 - c->n));
        if (n <= 0)
            exit(0); /* The load generator has ended. */
        c->n += (size_t)n;
        handle(s, c);
    } while (SSL_has_pending(c->ssl));
}

static void *run_sender(void *user)
{
    sender *s = user;
    struct epoll_event events[64];
    for (;;) {
        const int n = epoll_wait(s->epoll, events, 64, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                receive(s, events[i].data.ptr);
            else
                send_waiting(s);
        }
    }
    return NULL;
}

/* ---- connections ---- */

static void start_senders(void)
{
    for (int i = 0; i < options.threads; i++) {
        sender *s = &senders[i];
        pthread_t thread;
        s->epoll = epoll_create1(EPOLL_CLOEXEC);
        s->wake = eventfd(0, EFD_CLOEXEC);
        pthread_mutex_init(&s->lock, NULL);
        if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &(struct epoll_event){EPOLLIN, {0}}) < 0 ||
            pthread_create(&thread, NULL, run_sender, s))
            die("start a thread");
    }
}

static int listen_on(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, SOMAXCONN) < 0)
        die("listen");
    return fd;
}

static SSL_CTX *make_tls(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (!tls || SSL_CTX_use_certificate_chain_file(tls, options.cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, options.key, SSL_FILETYPE_PEM) != 1)
        die("the certificate");
    return tls;
}

static void accept_one(SSL_CTX *tls, int listener, size_t number)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        die("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    client *c = calloc(1, sizeof(*c));
    if (!c || !(c->ssl = SSL_new(tls)) || !SSL_set_fd(c->ssl, fd))
        die("TLS");
    if (SSL_accept(c->ssl) != 1) { /* A test whether the port is open. */
        SSL_free(c->ssl);
        free(c);
        close(fd);
        return;
    }
    const sender *s = &senders[number % (size_t)options.threads];
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.ptr = c}}) < 0)
        die("epoll");
}

/* ---- start ---- */

static const struct option flags[] = {
    {"port", required_argument, NULL, 'p'},  {"cert", required_argument, NULL, 'c'},
    {"key", required_argument, NULL, 'k'},   {"threads", required_argument, NULL, 't'},
    {"bytes", required_argument, NULL, 'b'}, {0},
};

static void read_flags(int argc, char **argv)
{
    int c;
    options.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    while ((c = getopt_long(argc, argv, "", flags, NULL)) != -1) {
        switch (c) {
        case 'p': options.port = atoi(optarg); break;
        case 'c': options.cert = optarg; break;
        case 'k': options.key = optarg; break;
        case 't': options.threads = atoi(optarg); break;
        case 'b': options.bytes = atoi(optarg); break;
        default: exit(2);
        }
    }
    if (options.threads < 1)
        options.threads = 1;
    if (options.threads > MAX_THREADS)
        options.threads = MAX_THREADS;
}

int main(int argc, char **argv)
{
    struct rlimit files;
    read_flags(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    SSL_CTX *tls = make_tls();
    start_senders();
    const int listener = listen_on(options.port);
    for (size_t i = 0;; i++)
        accept_one(tls, listener, i);
}
