/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h: reads and writes objects at a server.
 *
 *     kc_auto(kc_client) *client = kc_client_new(&(kc_client_opts){0}, err);    as kubectl would
 *     kc_auto(kc_object) *web = kc_client_get(client, &kc_kind_deployment,
 *                                             KC_KEY("default", "web"), NULL, err);
 *     if (!web && kc_is_not_found(err))
 *         …
 *     kc_auto(kc_object) *now = kc_client_update(client, changed, NULL, err);
 *
 * Options may be NULL everywhere, and zero means the default in all of them. The caller owns one
 * reference to a returned object. On failure (NULL or a negative number) err holds the server's
 * reason, code and message.
 *
 * Kinds. `kind` says where objects are (kinds.h has those of Kubernetes, generated code has yours).
 * Functions that take an object derive the kind from its apiVersion and kind. The client looks up a
 * kind that the program does not know once, by discovery.
 *
 * Retries. The client retries requests after 429 and 503 with Retry-After, and after connections
 * that broke before a response arrived (reads always; writes only if the server certainly did not
 * execute the request). It never retries conflicts: see kc_retry_on_conflict in create_or_update.h.
 *
 * A client is reference-counted and thread-safe; all functions block.
 */
#ifndef KC_CLIENT_H
#define KC_CLIENT_H

#include "kc/cancel.h"
#include "kc/kind.h"
#include "kc/log.h"
#include "kc/meta.h"
#include "kc/metrics.h"
#include "kc/names.h"
#include "kc/rand.h"
#include "kc/transport.h"

typedef struct kc_client kc_client;
typedef struct kc_reader kc_reader;
typedef struct kc_fence kc_fence;

typedef struct kc_client_opts {
    const kc_config *config; /* Copied. Defaults to kc_config_load(NULL). */
    /* Overrides config. The client frees it, also when kc_client_new fails. */
    kc_transport *transport;
    const char *user_agent; /* Defaults to the program's name. */
    /* Of writes without a field manager. Defaults to the program's name. */
    const char *field_manager;
    int64_t timeout; /* Of one request, except watches. Defaults to one minute. */
    double qps;      /* Requests per second, with bursts of `burst`. 0: no limit. */
    int burst;
    const kc_clock *clock; /* Defaults to the real one. */
    kc_rand *rand;         /* For retry jitter; split. Defaults to the system's. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc_client_opts;

kc_client *kc_client_new(const kc_client_opts *opts, kc_error *err);
kc_client *kc_client_ref(kc_client *client);
kc_client *kc_client_unref(kc_client *client);
KC_AUTO_DEFINE(kc_client, kc_client_unref)

/* What a derived client handle changes. Zero: as the original. */
typedef struct kc_client_overrides {
    kc_cancel *cancel; /* Cancels all calls when it fires. */
    int64_t deadline;  /* Of all calls, on the client's clock. */
    kc_reader *reader; /* Serves reads instead of the server: a cache. */
    kc_fence *fence;   /* Checked before each write. */
    bool read_live;    /* Read from the server even if there is a reader. */
    bool dry_run;      /* All writes are dry runs. */
    const char *ns;    /* Default namespace of keys and lists, for namespaced kinds. */
    const char *field_manager;
    const kc_client_user *act_as; /* The user of the requests: see kc_http_request. */
} kc_client_overrides;

/* A derived handle that shares the connections. Cheap enough to create for each reconcile. Whatever
 * `bind` refers to must live as long as the handle. Never NULL. */
kc_client *kc_client_with(kc_client *client, const kc_client_overrides *bind);

/* ---- errors ---- */

#define KC_IS(name, reason)                                        \
    static inline KC_UNUSED bool kc_is_##name(const kc_error *err) \
    {                                                              \
        return kc_error_has_reason(err, reason);                   \
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
/* For deletes: clears a "not found" error and returns 0. Any other error stays, and the result is
 * negative. */
static inline KC_UNUSED int kc_ignore_not_found(kc_error *err)
{
    if (!kc_is_not_found(err))
        return kc_error_result(err);
    kc_error_done(err);
    return 0;
}

/* ---- reading ---- */

typedef struct kc_get_opts {
    const char *subresource;      /* "status", "scale". */
    const char *resource_version; /* Defaults to the newest. */
    bool metadata_only;           /* Fetch a PartialObjectMetadata. A cache may return more. */
    bool live;                    /* Read from the server, not from a cache. */
} kc_get_opts;

kc_object *kc_client_get(kc_client *client, const kc_kind *kind, kc_key key,
                         const kc_get_opts *opts, kc_error *err);

typedef struct kc_list_opts {
    const char *ns;     /* Defaults to all namespaces. */
    const char *labels; /* Selectors, in the syntax of kubectl -l and --field-selector. */
    const char *fields;
    const char *index, *value; /* Caches only: the objects that an index has under a value. */
    int64_t limit;             /* Maximum number of objects. Defaults to all. */
    int64_t page;              /* Page size of requests. Defaults to 500; -1: one page. */
    const char *resource_version, *resource_version_match, *continue_token;
    bool metadata_only;
    bool live;
} kc_list_opts;

/* The result of a list: the objects, each with its apiVersion and kind, and the list's metadata. */
typedef struct kc_object_list {
    kc_object **items;
    size_t n;
    char *resource_version, *continue_token;
    int64_t remaining; /* remainingItemCount; 0 if absent. */
} kc_object_list;

/* Releases the objects and zeroes the list. */
void kc_object_list_done(kc_object_list *list);

/* Reads all pages, or stops at opts->limit; continue_token then holds the position. */
int kc_client_list(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                   kc_object_list *ret, kc_error *err);

/*
 * As kc_client_list, streaming: `each` receives every object as soon as its last byte arrives, so
 * only one is in memory. `each` takes the reference; if it returns a negative number, the list ends
 * with that error. `ret` (may be NULL) receives all but the items.
 */
typedef int kc_each_object_fn(kc_object *object, void *user, kc_error *err);
int kc_client_list_each(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                        kc_each_object_fn *each, void *user, kc_object_list *ret, kc_error *err);

/* ---- writing ---- */

typedef struct kc_write_opts {
    const kc_kind *kind;          /* Defaults to the kind of the object. */
    const char *subresource;      /* "status", "scale", "binding", "eviction". */
    const char *name;             /* Of the parent object of a subresource, if the body has none. */
    const char *field_manager;    /* Defaults to the client's. */
    const char *field_validation; /* Strict, Warn, Ignore. Defaults to the server's. */
    bool dry_run;                 /* The server does everything but store the object. */
    bool force;    /* Server-side apply takes ownership of fields of other managers. */
    bool unfenced; /* Skip the fence, for writes that do not need the lease. */
} kc_write_opts;

/* Each returns the object as the server stored it. An object without a namespace gets the client's
 * (kc_client_overrides). */
kc_object *kc_client_create(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err);
/* If the object has a resourceVersion and it is not the newest: KC_CONFLICT. */
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
/* Sends the merge patch that turns `from` into `to`. If the patch is empty, sends nothing and
 * returns `from`. With `locked`, fails with KC_CONFLICT if `from` is not the newest. */
kc_object *kc_client_patch_from(kc_client *client, const kc_object *from, const kc_object *to,
                                bool locked, const kc_write_opts *opts, kc_error *err);

/* ---- server-side apply ---- */

/*
 * Applies `object`: creates it if it is missing, sets all its fields otherwise. `object` is an
 * apply configuration: apiVersion, kind, name, and only the fields that the caller decides about,
 * which the field manager then owns. Fields that the manager applied before and that are missing
 * now are removed, unless another manager owns them, too.
 *
 *     const kc_write_opts ours = {.field_manager = "robots", .force = true};
 *     kc_auto(kc_object) *now = kc_client_apply(client, wanted, &ours, err);
 *
 * Controllers should force: they are the authority for the fields that they apply. Without `force`,
 * a field that another manager owns with another value makes the call fail with KC_CONFLICT (see
 * kc_apply_conflict_next). `object` must not have managedFields; a uid or resourceVersion is a
 * precondition. Generated kinds have apply functions of their own (typed.h).
 */
kc_object *kc_client_apply(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                           kc_error *err);
/* The same for the subresource status: only the status of `object` counts. */
kc_object *kc_client_apply_status(kc_client *client, const kc_object *object,
                                  const kc_write_opts *opts, kc_error *err);

/* A field that an apply without force would have taken from another manager. Slices refer to the
 * error. */
typedef struct kc_apply_conflict {
    kc_str field;                           /* .spec.template.spec.containers[name="web"].image */
    char manager[KC_FIELD_MANAGER_MAX + 1]; /* The owner of the field. */
    kc_str subresource;                     /* Through which the owner wrote it; empty for none. */
    kc_str api_version; /* Of the owner's last update; empty if the owner applied the field. */
} kc_apply_conflict;

/*
 * Iterates over the conflicts of an apply. *at begins with 0. False at the end, and for any other
 * error, so a first call also tells a conflict of owners from one of resourceVersions:
 *
 *     kc_apply_conflict conflict;
 *     for (size_t at = 0; kc_apply_conflict_next(err, &at, &conflict);)
 *         kc_log_info(ctx->log, "field has another owner", kc_kv("field", conflict.field),
 *                     kc_kv("manager", conflict.manager));
 */
bool kc_apply_conflict_next(const kc_error *err, size_t *at, kc_apply_conflict *ret);

typedef struct kc_delete_opts {
    const char *propagation; /* Foreground, Background, Orphan. Defaults to the kind's. */
    int64_t grace;           /* Seconds; defaults to the kind's. */
    bool immediately;        /* Grace period of 0. */
    const char *uid, *resource_version; /* Preconditions: KC_CONFLICT if they do not match. */
    bool dry_run, unfenced;
    /* Ask the server for metadata only. It then needs no conversion webhook: the deletion works
     * while the webhook of the kind does not. */
    bool metadata_only;
} kc_delete_opts;

/* KC_NOT_FOUND when the object does not exist. An object with finalizers is only marked for
 * deletion. */
int kc_client_delete(kc_client *client, const kc_kind *kind, kc_key key, const kc_delete_opts *opts,
                     kc_error *err);
/* Deletes all objects that the namespace and the selectors of the list options match. */
int kc_client_delete_all(kc_client *client, const kc_kind *kind, const kc_list_opts *which,
                         const kc_delete_opts *opts, kc_error *err);

/* ---- watching ---- */

typedef enum kc_watch_event_type {
    KC_WATCH_ADDED,
    KC_WATCH_MODIFIED,
    KC_WATCH_DELETED,
    KC_WATCH_BOOKMARK, /* No change; the object has only a resourceVersion. */
} kc_watch_event_type;

typedef struct kc_watch_event {
    kc_watch_event_type type;
    kc_object *object; /* The caller's. */
    bool initial_end;  /* A bookmark: the initial events are complete. */
} kc_watch_event;

/* For kc_scoped(kc_watch_event) event = {0}. */
static inline KC_UNUSED void kc_watch_event_done(kc_watch_event *event)
{
    event->object = kc_object_unref(event->object);
}

typedef struct kc_watch_opts {
    const char *ns, *labels, *fields;
    /* Start after this one. Defaults to the current objects, then changes. */
    const char *resource_version;
    bool bookmarks;
    bool initial_events; /* sendInitialEvents: a streamed list, then changes. */
    int64_t timeout;     /* After which the server ends the watch. Defaults to the server's. */
    bool metadata_only;
    kc_cancel *cancel; /* In addition to the client's. */
} kc_watch_opts;

typedef struct kc_watch kc_watch;

/* Returns when the server has accepted the watch. */
kc_watch *kc_client_watch(kc_client *client, const kc_kind *kind, const kc_watch_opts *opts,
                          kc_error *err);
/*
 * Returns 1 with the next event, 0 at the watch's regular end. Negative if the connection broke
 * (KC_SERVICE_UNAVAILABLE), the server sent an error (KC_EXPIRED: relist), the deadline of the
 * client's clock passed (KC_TIMEOUT; the watch continues) or it was cancelled (KC_TIMEOUT).
 */
int kc_watch_next(kc_watch *watch, int64_t deadline, kc_watch_event *ret, kc_error *err);
/* NULL is allowed; returns NULL. */
kc_watch *kc_watch_close(kc_watch *watch);
KC_AUTO_DEFINE(kc_watch, kc_watch_close)

/* ---- anything else ---- */

/* Sends any request and appends the body of the response to `out`. Status codes from 400 are
 * errors. */
int kc_client_raw(kc_client *client, const char *method, kc_str target, kc_str content_type,
                  kc_str body, kc_buf *out, kc_error *err);

/* Looks up a kind by discovery; it lives as long as the client. KC_NOT_FOUND if the server does not
 * serve it. The client discovers one group at a time, on demand, and repeats a miss at most every
 * ten seconds. */
const kc_kind *kc_client_kind(kc_client *client, kc_gvk gvk, kc_error *err);
/* The same by resource or short name, in any group unless one is given: "deploy",
 * "robots.llleon.io". */
const kc_kind *kc_client_kind_of_resource(kc_client *client, kc_str resource, kc_error *err);
/* A resource of the server and its verbs. */
typedef struct kc_api_resource {
    const kc_kind *kind;
    const char *const *verbs; /* End with NULL. */
    const char *const *short_names;
    const char *const *categories;
    bool preferred; /* It is in the group's preferred version. */
} kc_api_resource;
/* Discovers all resources, uncached: calls `each` for every resource, without subresources. Groups
 * whose discovery fails are left out and named in err while the return value is 0: one cause each,
 * with group and version in its field. */
int kc_client_discover(kc_client *client, void (*each)(const kc_api_resource *resource, void *user),
                       void *user, kc_error *err);

/* The client's clock. */
const kc_clock *kc_client_clock(const kc_client *client);

/* ---- interfaces that a client may be bound to ---- */

/* Serves reads instead of the server. Any thread; may block. */
typedef struct kc_reader_ops {
    kc_object *(*get)(kc_reader *reader, const kc_kind *kind, kc_key key, const kc_get_opts *opts,
                      kc_cancel *cancel, kc_error *err);
    int (*list)(kc_reader *reader, const kc_kind *kind, const kc_list_opts *opts, kc_cancel *cancel,
                kc_object_list *ret, kc_error *err);
    /* Called after each write of this client: its next reads must reflect the write. `object` is
     * the server's response; for a deletion, the last known state (may have only a key). */
    void (*wrote)(kc_reader *reader, const kc_kind *kind, const kc_object *object, bool deleted);
} kc_reader_ops;

struct kc_reader {
    const kc_reader_ops *ops;
};

/* Checked before each write that needs the lease. */
struct kc_fence {
    /* Returns 0 and the time (of the client's clock) by which the request must end. Negative: the
     * lease is not held, so writes are forbidden. */
    int (*check)(kc_fence *fence, int64_t *ret_deadline, kc_error *err);
};

#endif
