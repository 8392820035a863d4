/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_transport.c: a carrier of exchanges (http/exchange.h) whose other end is a thread of this
 * process that waits for the answer.
 *
 *     caller's thread                      loop's thread
 *     open: makes a `carried`  ──start───▶ kc__api_handle(&c->x)
 *           waits for `head`               …
 *                              ◀────────── answer(): keeps head and body, or fills from the source
 *     read: takes of `body`                until there is enough
 *           room again:        ──pump────▶ fills on
 *     close                    ──leave───▶ ends the source
 *
 * A carried exchange is counted: by the caller until it closes, by the loop until it has answered
 * and its source is done, and by each task on its way. What both sides touch is guarded by its
 * mutex. The caller posts only with that mutex held and `finished` not set: so the exchange is
 * still in the door's list, which keeps the loop alive.
 *
 * Back-pressure: the source is asked as long as less than ENOUGH lies in `body`.
 *
 * Callers say who they are and are believed: as a peer whose certificate names them.
 */
#include "embed/embed_internal.h"

#include "kc/ascii.h"

/* Waiting to be read, and asked for at a time. */
enum { ENOUGH = 256 << 10, ROOM = 64 << 10, MAX_BODY = 3 << 20 };

/* ---- who calls ---- */

typedef struct identity {
    kc_ref refs;
    kc__peer peer;
    kc__client_cert cert;
    kc_arena arena;
} identity;

static identity *identity_new(const kc_embed_user *user)
{
    static const char *const masters[] = {KC__GROUP_MASTERS, NULL}, *const none[] = {NULL};
    const kc_embed_user admin = {.name = KC__USER_LOCALHOST, .groups = masters};
    identity *who = kc_new(identity);
    user = user ? user : &admin;
    const char *const *groups = user->groups ? user->groups : none;
    size_t n = 0;
    while (groups[n])
        n++;
    kc_str *names = kc_arena_calloc(&who->arena, n, sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = kc_arena_str(&who->arena, kc_cstr(groups[i]));
    kc_ref_init(&who->refs);
    who->cert = (kc__client_cert){.common_name = kc_arena_str(&who->arena, kc_cstr(user->name)),
                                  .organizations = names,
                                  .n_organizations = n};
    who->peer = (kc__peer){.loopback = true, .cert = &who->cert};
    return who;
}

static identity *identity_ref(identity *who)
{
    kc_ref_add(&who->refs);
    return who;
}

static void identity_unref(identity *who)
{
    if (!kc_ref_drop(&who->refs))
        return;
    kc_arena_done(&who->arena);
    free(who);
}

/* ---- carried exchanges ---- */

typedef struct way {
    kc_transport base;
    kc__door *door;
    identity *who;
} way;

typedef struct carried {
    kc_http_response response;
    kc__exchange x;
    kc_ref refs;
    kc__door *door;
    kc__api *api;
    identity *who;
    kc_arena arena; /* Filled before the start, and by the loop. */
    kc__headers headers;
    kc__task start, pump, leave;
    kc__guest guest; /* While it is inside. */

    /* The caller's. */
    int64_t deadline;
    kc_cancel *cancel;
    kc_cancel_hook hook;

    /* The loop's. */
    const kc__body_source *source;
    void *user;
    kc_buf piece;
    bool ending; /* The body, or what of it there is at once, is all the caller will get. */

    kc_mutex mutex; /* Guards what follows. Taken last but for what posting takes. */
    kc_cond changed;
    kc_buf body; /* Not read yet, from `taken` on. */
    size_t taken;
    bool full; /* The loop has stopped to fill. */
    bool head, cancelled;
    bool aborted;  /* The body ended in the middle. */
    bool finished; /* The loop has done with it: nothing may be posted any more. */
    bool pumping, leaving, closed;
} carried;

static void carried_unref(carried *c)
{
    if (!kc_ref_drop(&c->refs))
        return;
    kc_buf_done(&c->body);
    kc_buf_done(&c->piece);
    kc__headers_done(&c->headers);
    kc_cond_done(&c->changed);
    kc_mutex_done(&c->mutex);
    kc_arena_done(&c->arena);
    identity_unref(c->who);
    kc__door_unref(c->door);
    free(c);
}

/* With the mutex held and not finished. */
static void post(carried *c, kc__task *task)
{
    kc_ref_add(&c->refs);
    kc__loop_post(c->x.loop, task);
}

static void post_pump(carried *c)
{
    if (c->pumping || c->finished)
        return;
    c->pumping = true;
    post(c, &c->pump);
}

static void post_leave(carried *c)
{
    if (c->leaving || c->finished)
        return;
    c->leaving = true;
    post(c, &c->leave);
}

/* ---- the loop's side ---- */

/* The loop has no use for it any more. */
static void finish(carried *c)
{
    kc_locked (&c->mutex) {
        c->finished = true;
        kc_cond_broadcast(&c->changed);
    }
    kc__door_leave(c->door, &c->guest);
    carried_unref(c);
}

static void end_source(carried *c)
{
    const kc__body_source *source = c->source;
    c->source = NULL;
    if (source)
        source->done(c->user);
}

/* Whether to go on filling; if not, the caller says when. */
static bool has_room(carried *c)
{
    bool room = false;
    kc_locked (&c->mutex) {
        room = c->body.n - c->taken < ENOUGH;
        c->full = !room;
    }
    return room;
}

static void forget_taken(carried *c)
{
    if (c->taken < c->body.n / 2)
        return;
    c->body.n -= c->taken;
    if (c->body.n)
        memmove(c->body.p, c->body.p + c->taken, c->body.n);
    c->taken = 0;
}

/* Moves the piece that was filled to where the caller reads. */
static void hand_over(carried *c, bool aborted)
{
    kc_locked (&c->mutex) {
        forget_taken(c);
        if (c->body.n == 0) {
            const kc_buf empty = c->body;
            c->body = c->piece;
            c->piece = empty;
        } else {
            kc_buf_append(&c->body, kc_buf_str(&c->piece));
        }
        c->aborted = aborted;
        kc_cond_broadcast(&c->changed);
    }
    kc_buf_clear(&c->piece);
}

static void fill_some(carried *c)
{
    kc__fill more = KC__FILL_MORE;
    while (c->source && more == KC__FILL_MORE && has_room(c)) {
        more = c->source->fill(&c->piece, ROOM, c->user);
        if (more == KC__FILL_END || more == KC__FILL_ABORT)
            end_source(c);
        hand_over(c, more == KC__FILL_ABORT);
    }
    if (c->source && c->ending) {
        end_source(c);
        hand_over(c, true);
    }
    if (!c->source)
        finish(c);
}

static void run_pump(kc__task *task)
{
    carried *c = kc_container_of(task, carried, pump);
    kc_locked (&c->mutex)
        c->pumping = false;
    if (c->source)
        fill_some(c);
    carried_unref(c);
}

static void wake(kc__exchange *x)
{
    carried *c = kc_container_of(x, carried, x);
    kc_locked (&c->mutex)
        post_pump(c);
}

/* Names in lower case; the type is a field as the others. */
static void keep_field(carried *c, kc_http_field *to, kc_str name, kc_str value)
{
    char *lower = kc_arena_strndup(&c->arena, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        lower[i] = kc_lower(lower[i]);
    *to = (kc_http_field){kc_str_of(lower, name.n), kc_arena_str(&c->arena, value)};
}

static void keep_head(carried *c, const kc__answer *answer)
{
    kc_http_field *fields =
        kc_arena_calloc(&c->arena, answer->n_headers + 1, sizeof(kc_http_field));
    size_t n = 0;
    if (answer->type.n)
        keep_field(c, &fields[n++], KC_STR("content-type"), answer->type);
    for (size_t i = 0; i < answer->n_headers; i++)
        keep_field(c, &fields[n++], answer->headers[i].name, answer->headers[i].value);
    c->response.status = answer->status;
    c->response.fields = fields;
    c->response.n_fields = n;
}

static bool is_bodiless(const carried *c, int status)
{
    return c->x.gone || kc_str_is(c->x.request.method, "HEAD") || status == 204 || status == 304;
}

static void answer(kc__exchange *x, const kc__answer *answer)
{
    carried *c = kc_container_of(x, carried, x);
    const bool bodiless = is_bodiless(c, answer->status);
    c->source = answer->source;
    c->user = answer->user;
    if (bodiless)
        end_source(c);
    keep_head(c, answer);
    kc_locked (&c->mutex) {
        if (!answer->source && !bodiless)
            kc_buf_append(&c->body, answer->body);
        c->head = true;
        kc_cond_broadcast(&c->changed);
    }
    if (answer->release)
        answer->release(answer->owner);
    fill_some(c);
}

static const kc__exchange_ops exchange_ops = {.answer = answer, .wake = wake};

static void run_start(kc__task *task)
{
    carried *c = kc_container_of(task, carried, start);
    kc__api_handle(&c->x, c->api);
    carried_unref(c);
}

/* The caller has closed it, or the server stops. */
static void run_leave(kc__task *task)
{
    carried *c = kc_container_of(task, carried, leave);
    c->ending = true;
    kc_locked (&c->mutex)
        c->x.gone = c->closed;
    if (c->source) {
        end_source(c);
        hand_over(c, true);
        finish(c);
    }
    carried_unref(c);
}

/* ---- the caller's side ---- */

static int fill_headers(carried *c, const kc_http_request *request, kc_error *err)
{
    for (size_t i = 0; i < request->n_fields; i++) {
        const kc_http_field *field = &request->fields[i];
        if (kc__headers_add(&c->headers, kc_arena_str(&c->arena, field->name),
                            kc_arena_str(&c->arena, field->value), err) < 0)
            return -1;
    }
    return 0;
}

/* A copy: the caller may give up before the server has read it. */
static int fill_request(carried *c, const kc_http_request *request, kc_error *err)
{
    kc__request *to = &c->x.request;
    if (request->body.n > MAX_BODY)
        return kc_error_set(err, KC_TOO_LARGE, "Request entity too large: limit is %d", MAX_BODY);
    if (kc__target_parse(request->target, NULL, &c->arena, &to->target, err) < 0 ||
        fill_headers(c, request, err) < 0)
        return -1;
    to->method = kc_arena_str(&c->arena, kc_cstr(request->method));
    to->headers = c->headers;
    to->body = kc_arena_str(&c->arena, request->body);
    to->peer = &c->who->peer;
    to->protocol = "HTTP/1.1";
    to->arena = &c->arena;
    to->received = kc_clock_now(c->door->clock);
    return 0;
}

static void on_cancel(kc_cancel_hook *hook)
{
    carried *c = kc_container_of(hook, carried, hook);
    kc_locked (&c->mutex) {
        c->cancelled = true;
        kc_cond_broadcast(&c->changed);
    }
}

/* The door is closed to what is inside. */
static void on_closing(kc__guest *guest)
{
    carried *c = kc_container_of(guest, carried, guest);
    kc_locked (&c->mutex)
        post_leave(c);
}

/* Hands it to one of the loops; it holds a reference as long as it is inside. */
static void on_entry(kc__guest *guest, kc__api *api, kc__loop *loop)
{
    carried *c = kc_container_of(guest, carried, guest);
    c->api = api;
    c->x.loop = loop;
    kc_ref_add(&c->refs);
    post(c, &c->start);
}

static const kc_transport_ops way_ops;

static carried *carried_new(way *w, const kc_http_request *request)
{
    carried *c = kc_new(carried);
    c->response.ops = &way_ops;
    c->door = kc__door_ref(w->door);
    c->who = identity_ref(w->who);
    c->deadline = request->deadline ? request->deadline : KC_FOREVER;
    c->cancel = kc_cancel_ref(request->cancel);
    c->hook.fire = on_cancel;
    c->x.ops = &exchange_ops;
    c->guest = (kc__guest){.enter = on_entry, .leave = on_closing};
    c->start.run = run_start;
    c->pump.run = run_pump;
    c->leave.run = run_leave;
    kc_ref_init(&c->refs);
    kc_mutex_init(&c->mutex);
    kc_cond_init(&c->changed);
    return c;
}

static bool has_head(const carried *c)
{
    return c->head || c->finished;
}

static bool has_bytes(const carried *c)
{
    return c->taken < c->body.n || c->finished;
}

/* With the mutex held: until it is so. */
static int await(carried *c, bool (*what)(const carried *c), kc_error *err)
{
    const int64_t mine = c->response.read_deadline ? c->response.read_deadline : KC_FOREVER;
    bool late = false;
    while (!what(c)) {
        if (c->cancelled)
            return kc_error_set(err, KC_TIMEOUT, "cancelled");
        if (late)
            return kc_error_set(err, KC_TIMEOUT, "the server has not answered in time");
        late =
            !kc_cond_wait_until(&c->changed, &c->mutex, c->door->clock, KC_MIN(mine, c->deadline));
    }
    return 0;
}

static int await_head(carried *c, kc_error *err)
{
    int r = 0;
    kc_locked (&c->mutex)
        r = await(c, has_head, err);
    return r;
}

static void way_close(kc_http_response *response)
{
    carried *c = kc_container_of(response, carried, response);
    kc_cancel_unhang(c->cancel, &c->hook);
    kc_cancel_unref(c->cancel);
    kc_locked (&c->mutex) {
        c->closed = true;
        post_leave(c);
    }
    carried_unref(c);
}

/* Nothing was sent. */
static kc_http_response *refuse(carried *c)
{
    c->finished = true;
    way_close(&c->response);
    return NULL;
}

static kc_http_response *way_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    way *w = kc_container_of(t, way, base);
    carried *c = carried_new(w, request);
    if (!kc_cancel_hang(c->cancel, &c->hook)) {
        kc_error_set(err, KC_TIMEOUT, "cancelled");
        return refuse(c);
    }
    if (fill_request(c, request, err) < 0)
        return refuse(c);
    if (!kc__door_enter(c->door, &c->guest)) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server has stopped");
        if (err)
            err->code = 0;
        return refuse(c);
    }
    if (await_head(c, err) < 0) {
        way_close(&c->response);
        return NULL;
    }
    return &c->response;
}

/* What there is, with the mutex held. */
static size_t take(carried *c, char *ret_bytes, size_t n)
{
    n = KC_MIN(n, c->body.n - c->taken);
    if (n)
        memcpy(ret_bytes, c->body.p + c->taken, n);
    c->taken += n;
    if (c->full && c->body.n - c->taken < ENOUGH / 2) {
        c->full = false;
        post_pump(c);
    }
    return n;
}

static ssize_t way_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err)
{
    carried *c = kc_container_of(response, carried, response);
    ssize_t r = 0;
    kc_locked (&c->mutex) {
        r = await(c, has_bytes, err);
        if (r == 0)
            r = (ssize_t)take(c, ret_bytes, n);
        if (r == 0 && c->aborted)
            r = kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server broke off its answer");
    }
    return r;
}

/* ---- transports ---- */

static void way_free(kc_transport *t)
{
    way *w = kc_container_of(t, way, base);
    identity_unref(w->who);
    kc__door_unref(w->door);
    free(w);
}

static const kc_transport_ops way_ops = {
    .open = way_open, .read = way_read, .close = way_close, .free = way_free};

kc_transport *kc__embed_transport_new(kc__door *door, const kc_embed_user *user)
{
    way *w = kc_new(way);
    *w = (way){.base.ops = &way_ops, .door = kc__door_ref(door), .who = identity_new(user)};
    return &w->base;
}
