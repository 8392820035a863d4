/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: reading and writing objects at a server.
 *
 *     kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){0}, err);    as kubectl would
 *     kc_auto(kc_object) *web = kc_client_get(client, &kc_kind_deployment,
 *                                             KC_KEY("default", "web"), NULL, err);
 *     if (!web && kc_is_not_found(err))
 *         …
 *     kc_auto(kc_object) *now = kc_client_update(client, changed, NULL, err);
 *
 * Options may be NULL everywhere, and zero means default in all of them. What is returned is the
 * caller's (one reference); NULL or a negative number means that err says why, in the server's own
 * reason, code and message.
 *
 * Kinds: `kind` says where objects are (kinds.h has those of Kubernetes; generated code has yours).
 * Where a function is given an object, its apiVersion and kind say it; a kind that the program does
 * not know is then looked up at the server, once.
 *
 * Retries: 429 and 503 with Retry-After, and connections that broke before anything was answered,
 * are tried again (reads always; writes only where the request was surely not carried out).
 * Conflicts never are: that is the caller's to decide (kc_retry_on_conflict, create_or_update.h).
 *
 * A client is counted, and for any number of threads; all functions block.
 */
#ifndef KC_CLIENT_H
#define KC_CLIENT_H

#include "kc/cancel.h"
#include "kc/kind.h"
#include "kc/log.h"
#include "kc/meta.h"
#include "kc/metrics.h"
#include "kc/rand.h"
#include "kc/transport.h"

typedef struct kc_client kc_client;
typedef struct kc_reader kc_reader;
typedef struct kc_fence kc_fence;

typedef struct kc_client_opts {
    const kc_config *config; /* Copied. Defaults to kc_config_load(NULL). */
    kc_transport
        *transport;         /* Instead of config; the client frees it, also when it cannot start. */
    const char *user_agent; /* Defaults to the program's name. */
    const char *field_manager; /* Of writes that name none. Defaults to the program's name. */
    int64_t timeout;           /* Of one request, watches excepted. Defaults to one minute. */
    double qps;                /* Requests a second, with bursts of `burst`. 0: no limit. */
    int burst;
    const kc_clock *clock; /* Defaults to the real one. */
    kc_rand *rand;         /* Of retries; split from. Defaults to the system's. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc_client_opts;

kc_client *kc_client_new(const kc_client_opts *opts, kc_error *err);
kc_client *kc_client_ref(kc_client *client);
kc_client *kc_client_unref(kc_client *client);
KC_AUTO_DEFINE(kc_client, kc_client_unref)

/* What another handle to the same client does otherwise; zero: as the first. */
typedef struct kc_client_bind {
    kc_cancel *cancel; /* Every call gives up when it fires. */
    int64_t deadline;  /* And at this time. */
    kc_reader *reader; /* Reads are answered by it: a cache. */
    kc_fence *fence;   /* Writes ask it first. */
    bool read_live;    /* Reads go to the server though there is a reader. */
    bool dry_run;      /* All writes are dry runs. */
    const char *ns;    /* Of keys and lists that say none, of namespaced kinds. */
    const char *field_manager;
} kc_client_bind;

/* A handle with the same connections. Cheap: one for each reconcile is. What `bind` names must live
 * as long as the handle. Never NULL. */
kc_client *kc_client_with(kc_client *client, const kc_client_bind *bind);

/* ---- errors ---- */

#define KC_IS(name, reason)                                        \
    static inline KC_UNUSED bool kc_is_##name(const kc_error *err) \
    {                                                              \
        return kc_failed_with(err, reason);                        \
    }
KC_IS(not_found, KC_NOT_FOUND)
KC_IS(already_exists, KC_ALREADY_EXISTS)
KC_IS(conflict, KC_CONFLICT)
KC_IS(invalid, KC_INVALID)
KC_IS(forbidden, KC_FORBIDDEN)
KC_IS(unauthorized, KC_UNAUTHORIZED)
KC_IS(gone, KC_GONE)
KC_IS(expired, KC_EXPIRED)
KC_IS(timeout, KC_TIMEOUT)
KC_IS(too_many_requests, KC_TOO_MANY_REQUESTS)
KC_IS(unavailable, KC_SERVICE_UNAVAILABLE)
/* What is not there is often as it was wanted: then the error is emptied, and this is 0. Any other
 * error stays, and it is negative. */
static inline KC_UNUSED int kc_ignore_not_found(kc_error *err)
{
    if (!kc_is_not_found(err))
        return -1;
    kc_error_done(err);
    return 0;
}

/* ---- reading ---- */

typedef struct kc_get_opts {
    const char *subresource;      /* "status", "scale". */
    const char *resource_version; /* Defaults to the newest. */
    bool metadata_only;           /* A PartialObjectMetadata; from a cache, at least that. */
    bool live;                    /* From the server, though the client reads from a cache. */
} kc_get_opts;

kc_object *kc_client_get(kc_client *client, const kc_kind *kind, kc_key key,
                         const kc_get_opts *opts, kc_error *err);

typedef struct kc_list_opts {
    const char *ns;     /* Defaults to all namespaces. */
    const char *labels; /* Selectors, as kubectl -l and --field-selector take them. */
    const char *fields;
    const char *index, *value; /* From a cache only: the objects an index has under a value. */
    int64_t limit;             /* How many at most. Defaults to all there are. */
    int64_t page;              /* How many in one answer. Defaults to 500; -1: all. */
    const char *resource_version, *resource_version_match, *continue_token;
    bool metadata_only;
    bool live;
} kc_list_opts;

/* A list: the objects, each with its apiVersion and kind, and the metadata of the list. */
typedef struct kc_objects {
    kc_object **items;
    size_t n;
    char *resource_version, *continue_token;
    int64_t remaining; /* remainingItemCount; 0 if not said. */
} kc_objects;

/* Releases the objects and zeroes it. */
void kc_objects_done(kc_objects *list);

/* Goes through all pages unless opts->limit is reached; then continue_token says where to go on. */
int kc_client_list(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                   kc_objects *ret, kc_error *err);

/*
 * The same without keeping: each object is given as soon as its last byte has come, so that memory
 * holds one of them. `each` takes the reference; a negative number from it ends the list with that
 * error. `ret` (may be NULL) gets all but the items.
 */
typedef int kc_each_object(kc_object *object, void *user, kc_error *err);
int kc_client_list_each(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                        kc_each_object *each, void *user, kc_objects *ret, kc_error *err);

/* ---- writing ---- */

typedef struct kc_write_opts {
    const kc_kind *kind;     /* Defaults to what the object says. */
    const char *subresource; /* "status", "scale", "binding", "eviction". */
    const char *name;        /* Of the object a subresource belongs to, where the body has none. */
    const char *field_manager;
    const char *field_validation; /* Strict, Warn, Ignore. Defaults to the server's. */
    bool dry_run;
    bool force;    /* kc_client_apply takes fields that others own. */
    bool unfenced; /* Do not ask the fence: for what may be written by who does not lead. */
} kc_write_opts;

/* Each gives the object as the server keeps it now. A namespace that the object does not say is the
 * client's (kc_client_bind). */
kc_object *kc_client_create(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err);
/* With a resourceVersion in it, KC_CONFLICT if somebody was faster. */
kc_object *kc_client_update(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err);
static inline kc_object *kc_client_update_status(kc_client *client, const kc_object *object,
                                                 kc_error *err)
{
    return kc_client_update(client, object, &(kc_write_opts){.subresource = "status"}, err);
}

typedef enum kc_patch_type {
    KC_PATCH_MERGE = 0, /* RFC 7396 */
    KC_PATCH_JSON,      /* RFC 6902 */
    KC_PATCH_STRATEGIC, /* Built-in kinds only. */
    KC_PATCH_APPLY,     /* Server-side apply; YAML is allowed. */
} kc_patch_type;

kc_object *kc_client_patch(kc_client *client, const kc_kind *kind, kc_key key, kc_patch_type type,
                           kc_str patch, const kc_write_opts *opts, kc_error *err);
/* The merge patch that makes `to` of `from`; nothing is sent, and `from` is returned, when that is
 * empty. With `locked` it fails with KC_CONFLICT if `from` is not the newest. */
kc_object *kc_client_patch_from(kc_client *client, const kc_object *from, const kc_object *to,
                                bool locked, const kc_write_opts *opts, kc_error *err);
/* Server-side apply of the fields that `object` has. */
kc_object *kc_client_apply(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                           kc_error *err);

typedef struct kc_delete_opts {
    const char *propagation; /* Foreground, Background, Orphan. Defaults to the kind's. */
    int64_t grace;           /* Seconds; defaults to the kind's. */
    bool now;                /* Grace of 0. */
    const char *uid, *resource_version; /* Preconditions: KC_CONFLICT if it is another one. */
    bool dry_run, unfenced;
} kc_delete_opts;

/* KC_NOT_FOUND when it is not there. With finalizers the object stays for a while. */
int kc_client_delete(kc_client *client, const kc_kind *kind, kc_key key, const kc_delete_opts *opts,
                     kc_error *err);
/* All that the list's namespace and selectors name. */
int kc_client_delete_all(kc_client *client, const kc_kind *kind, const kc_list_opts *which,
                         const kc_delete_opts *opts, kc_error *err);

/* ---- watching ---- */

typedef enum kc_event_type {
    KC_EVENT_ADDED,
    KC_EVENT_MODIFIED,
    KC_EVENT_DELETED,
    KC_EVENT_BOOKMARK, /* Nothing happened; the object has only a resourceVersion. */
} kc_event_type;

typedef struct kc_watch_event {
    kc_event_type type;
    kc_object *object; /* The caller's. */
    bool initial_end;  /* A bookmark: all that was there at the start has been sent. */
} kc_watch_event;

/* For kc_scoped(kc_watch_event) event = {0}. */
static inline KC_UNUSED void kc_watch_event_done(kc_watch_event *event)
{
    event->object = kc_object_unref(event->object);
}

typedef struct kc_watch_opts {
    const char *ns, *labels, *fields;
    const char *resource_version; /* After this one. Defaults to what is there now, then changes. */
    bool bookmarks;
    bool initial_events; /* sendInitialEvents: a streamed list, then changes. */
    int64_t timeout;     /* The server ends it after so long. Defaults to the server's. */
    bool metadata_only;
    kc_cancel *cancel; /* Beside the client's. */
} kc_watch_opts;

typedef struct kc_watch kc_watch;

/* Returns when the server has accepted it. */
kc_watch *kc_client_watch(kc_client *client, const kc_kind *kind, const kc_watch_opts *opts,
                          kc_error *err);
/*
 * The next event: 1; at the watch's regular end: 0; negative when it broke
 * (KC_SERVICE_UNAVAILABLE), the server sent an error (KC_EXPIRED: list again), the deadline of the
 * client's clock passed (KC_TIMEOUT; the watch goes on) or it was cancelled (KC_TIMEOUT).
 */
int kc_watch_next(kc_watch *watch, int64_t deadline, kc_watch_event *ret, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_watch *kc_watch_close(kc_watch *watch);
KC_AUTO_DEFINE(kc_watch, kc_watch_close)

/* ---- anything else ---- */

/* A request of one's own; the body of the answer is appended to `out`. Statuses from 400 are
 * errors. */
int kc_client_raw(kc_client *client, const char *method, kc_str target, kc_str content_type,
                  kc_str body, kc_buf *out, kc_error *err);

/* The kind an object is of, from discovery; lives as long as the client. KC_NOT_FOUND when the
 * server has none. Groups are asked for one by one, as they are needed, and again after a miss (at
 * most every ten seconds). */
const kc_kind *kc_client_kind(kc_client *client, kc_gvk gvk, kc_error *err);
/* The same by resource or short name, in any group if none is said: "deploy", "robots.llleon.io".
 */
const kc_kind *kc_client_kind_of_resource(kc_client *client, kc_str resource, kc_error *err);
/* A resource of the server, and what can be done with it. */
typedef struct kc_api_resource {
    const kc_kind *kind;
    const char *const *verbs; /* End with NULL. */
    const char *const *short_names;
    const char *const *categories;
    bool preferred; /* The version its group prefers. */
} kc_api_resource;
/* Everything the server has, asked now: `each` for every resource (not subresources). Groups that
 * cannot be asked are left out, and named in err while the return value is 0: a cause for each,
 * with group and version in its field. */
int kc_client_discover(kc_client *client, void (*each)(const kc_api_resource *resource, void *user),
                       void *user, kc_error *err);

/* The clock it was given. */
const kc_clock *kc_client_clock(const kc_client *client);

/* ---- what a client may be bound to ---- */

/* Answers reads in the server's place. Any thread; may block until it can. */
typedef struct kc_reader_ops {
    kc_object *(*get)(kc_reader *reader, const kc_kind *kind, kc_key key, const kc_get_opts *opts,
                      kc_cancel *cancel, kc_error *err);
    int (*list)(kc_reader *reader, const kc_kind *kind, const kc_list_opts *opts, kc_cancel *cancel,
                kc_objects *ret, kc_error *err);
    /* This client has written: what it reads next must show it. `object` is what the server
     * answered; of a deletion, the last state known (may have only a key). */
    void (*wrote)(kc_reader *reader, const kc_kind *kind, const kc_object *object, bool deleted);
} kc_reader_ops;

struct kc_reader {
    const kc_reader_ops *ops;
};

/* Asked before each write that a term of leadership covers. */
struct kc_fence {
    /* 0, and the time (of the client's clock) at which the request must be over; negative: we may
     * not write any more. */
    int (*check)(kc_fence *fence, int64_t *ret_deadline, kc_error *err);
};

#endif
