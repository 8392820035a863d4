/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.c: pages by their path, and pages of checks.
 *
 * A page of checks answers "ok" with 200 when all of them pass, and with ?verbose, or when one
 * fails (then with 500), a line for each. Beneath its path each check has a page of its own:
 * /readyz/caches. ?exclude=NAME leaves one out. Why a check failed is said in the log, and on the
 * page too: it is served where operators are, not where clients are.
 */
#include "runtime/site.h"

#include "http/query.h"
#include "http/server.h"

#include <ctype.h>
#include <stdio.h>

typedef struct check {
    char *name;
    kc_check_fn *run;
    void *user;
} check;

typedef struct page {
    char *path, *type;
    void (*write)(kc_buf *out, void *user);
    void *user;
    bool of_checks;
    KC_VEC(check) checks;
} page;

struct kc__site {
    kc_mutex
        mutex; /* Guards `pages` and their checks while they grow; nothing is called under it. */
    KC_VEC(page *) pages;
    kc__server *server;
};

/* ---- adding ---- */

static page *find(const kc__site *site, kc_str path)
{
    kc_vec_each (&site->pages, p)
        if (kc_str_eq(kc_cstr((*p)->path), path))
            return *p;
    return NULL;
}

static page *add(kc__site *site, const char *path, const char *type)
{
    page *p = kc_new(page);
    p->path = kc_strdup(path);
    p->type = kc_strdup(type);
    kc_vec_push(&site->pages, p);
    return p;
}

int kc__site_add(kc__site *site, const char *path, const char *type,
                 void (*write)(kc_buf *out, void *user), void *user, kc_error *err)
{
    bool taken = false;
    kc_locked (&site->mutex) {
        taken = find(site, kc_cstr(path));
        if (taken)
            break;
        page *p = add(site, path, type);
        p->write = write;
        p->user = user;
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "there is a page %s already", path) : 0;
}

static bool has_check(const page *p, const char *name)
{
    kc_vec_each (&p->checks, c)
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

int kc__site_add_check(kc__site *site, const char *path, const char *name, kc_check_fn *run,
                       void *user, kc_error *err)
{
    bool taken = false;
    kc_locked (&site->mutex) {
        page *p = find(site, kc_cstr(path));
        if (!p) {
            p = add(site, path, "text/plain; charset=utf-8");
            p->of_checks = true;
        }
        taken = !p->of_checks || has_check(p, name);
        if (!taken)
            kc_vec_push(&p->checks, ((check){kc_strdup(name), run, user}));
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "%s has a check %s already", path, name)
                 : 0;
}

/* ---- answering ---- */

static void answer(kc__exchange *x, int status, const char *type, kc_str body)
{
    static const kc__header no_cache = {KC_STR_INIT("cache-control"),
                                        KC_STR_INIT("no-cache, no-store")};
    kc__exchange_answer(x, &(kc__answer){.status = status,
                                         .type = kc_cstr(type),
                                         .headers = &no_cache,
                                         .n_headers = 1,
                                         .body = body,
                                         .gzip = true});
}

static void answer_text(kc__exchange *x, int status, const char *text)
{
    answer(x, status, "text/plain; charset=utf-8", kc_cstr(text));
}

static bool is_excluded(const kc__query *query, const char *name)
{
    size_t at = 0;
    for (kc_str one; kc__query_next(query, KC_STR("exclude"), &at, &one);)
        if (kc_str_eq(one, kc_cstr(name)))
            return true;
    return false;
}

static bool run_check(const check *c, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    bool ok = c->run(c->user, &err) >= 0;
    if (ok)
        kc_buf_printf(out, "[+]%s ok\n", c->name);
    else
        kc_buf_printf(out, "[-]%s failed: %s\n", c->name, kc_error_text(&err));
    return ok;
}

static void answer_checks(kc__exchange *x, const page *p, const check *checks, size_t n)
{
    kc_scoped(kc_buf) out = {0};
    kc__query query = {0};
    bool all = true;
    kc__query_parse(x->request.target.query, NULL, x->request.arena, &query, NULL);
    for (size_t i = 0; i < n; i++) {
        if (is_excluded(&query, checks[i].name))
            kc_buf_printf(&out, "[+]%s excluded: ok\n", checks[i].name);
        else
            all = run_check(&checks[i], &out) && all;
    }
    kc_buf_printf(&out, "%s check %s\n", p->path + 1, all ? "passed" : "failed");
    if (!all || kc__query_has(&query, KC_STR("verbose")))
        answer(x, all ? 200 : 500, p->type, kc_buf_str(&out));
    else
        answer_text(x, 200, "ok");
}

int kc__site_check(kc__site *site, const char *path, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    check *checks = NULL;
    size_t n = 0;
    kc_locked (&site->mutex) {
        const page *p = find(site, kc_cstr(path));
        n = p ? p->checks.n : 0;
        checks = kc_arena_alloc(&arena, n * sizeof(check) + 1);
        if (n)
            memcpy(checks, p->checks.items, n * sizeof(check));
    }
    for (size_t i = 0; i < n; i++)
        if (checks[i].run(checks[i].user, err) < 0)
            return kc_error_wrap(err, "%s", checks[i].name);
    return 0;
}

/* The checks as they are now: they are only ever added to, so a copy of the list is enough. */
static void answer_page_of_checks(kc__site *site, kc__exchange *x, const page *p)
{
    check *checks = NULL;
    size_t n = 0;
    kc_locked (&site->mutex) {
        n = p->checks.n;
        checks = kc_arena_alloc(x->request.arena, n * sizeof(check));
        memcpy(checks, p->checks.items, n * sizeof(check));
    }
    answer_checks(x, p, checks, n);
}

/* "/readyz/caches": one check of a page. */
static bool answer_one_check(kc__site *site, kc__exchange *x)
{
    check one = {0};
    const page *of = NULL;
    if (x->request.target.n_segments != 2)
        return false;
    kc_str name = kc__target_segment(&x->request.target, 1), path = x->request.target.path;
    kc_locked (&site->mutex) {
        of = find(site, kc_str_of(path.p, path.n - name.n - 1));
        if (of && of->of_checks)
            kc_vec_each (&of->checks, c)
                if (kc_str_eq(kc_cstr(c->name), name))
                    one = *c;
    }
    if (one.run)
        answer_checks(x, of, &one, 1);
    return one.run;
}

static void handle(kc__exchange *x, void *user)
{
    kc__site *site = user;
    const page *p = NULL;
    if (!kc_str_eq(x->request.method, KC_STR("GET")) &&
        !kc_str_eq(x->request.method, KC_STR("HEAD"))) {
        answer_text(x, 405, "method not allowed\n");
        return;
    }
    kc_locked (&site->mutex)
        p = find(site, x->request.target.path);
    if (p && p->of_checks) {
        answer_page_of_checks(site, x, p);
    } else if (p) {
        kc_scoped(kc_buf) out = {0};
        p->write(&out, p->user);
        answer(x, 200, p->type, kc_buf_str(&out));
    } else if (!answer_one_check(site, x)) {
        answer_text(x, 404, "404 page not found\n");
    }
}

/* ---- serving ---- */

/* "host:port": [::1]:80, 127.0.0.1:0, :8081. The host is written to `ret_host`. */
int kc__split_address(const char *address, char ret_host[64], int *ret_port, kc_error *err)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    char *end = NULL;
    long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end || n >= 64)
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not an address: want host:port", address);
    bool bracketed = n > 1 && address[0] == '[' && address[n - 1] == ']';
    snprintf(ret_host, 64, "%.*s", (int)(bracketed ? n - 2 : n), address + bracketed);
    if (!n)
        snprintf(ret_host, 64, "0.0.0.0");
    else if (strcmp(ret_host, "localhost") == 0)
        snprintf(ret_host, 64, "127.0.0.1");
    *ret_port = (int)port;
    return 0;
}

int kc__site_serve(kc__site *site, const char *address, kc_log *log, kc_error *err)
{
    char host[64];
    kc__listener listener = {.address = host};
    if (kc__split_address(address, host, &listener.port, err) < 0)
        return -1;
    site->server = kc__server_start(&(kc__server_opts){.listeners = &listener,
                                                       .n_listeners = 1,
                                                       .loops = 1,
                                                       .handle = handle,
                                                       .user = site,
                                                       .log = log},
                                    err);
    return site->server ? 0 : kc_error_wrap(err, "serve %s", address);
}

void kc__site_stop(kc__site *site)
{
    site->server = kc__server_stop(site->server, KC_SECOND);
}

int kc__site_port(const kc__site *site)
{
    return site->server ? kc__server_port(site->server, 0) : 0;
}

kc__site *kc__site_new(void)
{
    kc__site *site = kc_new(kc__site);
    kc_mutex_init(&site->mutex);
    return site;
}

static void page_free(page *p)
{
    kc_vec_each (&p->checks, c)
        free(c->name);
    kc_vec_done(&p->checks);
    free(p->path);
    free(p->type);
    free(p);
}

kc__site *kc__site_free(kc__site *site)
{
    if (!site)
        return NULL;
    kc__site_stop(site);
    kc_vec_each (&site->pages, p)
        page_free(*p);
    kc_vec_done(&site->pages);
    kc_mutex_done(&site->mutex);
    free(site);
    return NULL;
}
