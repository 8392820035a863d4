/* SPDX-License-Identifier: Apache-2.0 */
/* client_internal.h: shared by the files of the client: its parts, and how a request is sent. */
#ifndef KC_CLIENT_INTERNAL_H
#define KC_CLIENT_INTERNAL_H

#include "kc/client.h"
#include "kc/ref.h"
#include "kc/thread.h"

typedef struct kc__client_mapper kc__client_mapper;
typedef struct kc__client_schemas kc__client_schemas;

/* State that all handles of a client share. Immutable except for the fields under the mutex. */
typedef struct kc__client_core {
    kc_ref refs;
    kc_transport *transport;
    char *user_agent, *field_manager;
    int64_t timeout;
    const kc_clock *clock;
    kc_log *log;
    kc_metric *retries, *waits;
    kc__client_mapper *mapper;
    kc__client_schemas *schemas;

    kc_mutex mutex; /* Guards the fields below; last in the lock order. */
    kc_rand rand;
    double qps, burst;
    int64_t paid_until;  /* Time up to which the rate limit is used up, one request per 1/qps. */
    uint64_t warned[64]; /* Hashes of the last warnings of the server. */
    size_t n_warned;
} kc__client_core;

struct kc_client {
    kc_ref refs;
    kc__client_core *core;
    kc_client_overrides bind; /* Including all inherited overrides. */
};

/* ---- requests ---- */

/* A request to send. Zero-initialized it is a GET that accepts JSON. */
typedef struct kc__client_request {
    const char *method; /* Defaults to GET. */
    kc_buf target;
    bool broken; /* The target could not be built; `why` has the reason. */
    kc_error why;
    kc_str type, body;
    kc_str accept;     /* Defaults to application/json. */
    bool writes;       /* Not retried if the server may have executed it. */
    bool fenced;       /* Checks the fence before sending. */
    bool watches;      /* A watch: no timeout. */
    kc_cancel *cancel; /* Defaults to the client's. */
} kc__client_request;

void kc__client_request_done(kc__client_request *request);

/* Sends the request and returns a successful response (status below 300); other statuses become
 * errors. Waits for the rate limit and retries as described in send.c. */
kc_http_response *kc__client_send(kc_client *client, kc__client_request *request, kc_error *err);
/* Appends the whole body. KC_TOO_LARGE beyond the limit of `out`. */
int kc__client_read_body(kc_http_response *response, kc_buf *out, kc_error *err);
/* Sends the request and parses the object in the response. The object gets the name of `kind` if
 * it has none. `kind` may be NULL. */
kc_object *kc__client_send_for_object(kc_client *client, kc__client_request *request,
                                      const kc_kind *kind, kc_error *err);

/* ---- targets ---- */

typedef struct kc__client_location {
    const kc_kind *kind;
    kc_str ns, name; /* Both may be empty. */
    const char *subresource;
} kc__client_location;

/* Builds the target: /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE, of which only
 * group and version are required. An invalid path segment makes kc__client_send fail. */
void kc__client_request_set_target(kc__client_request *request, const kc__client_location *place);
/* Adds ?name=value; nothing if `value` is NULL. */
void kc__client_request_param(kc__client_request *request, const char *name, const char *value);
void kc__client_request_param_i64(kc__client_request *request, const char *name, int64_t value);
/* Resolves the location of a key: the client's namespace if the key has none. KC_BAD_REQUEST if
 * the result is invalid. */
int kc__client_locate(const kc_client *client, const kc_kind *kind, kc_key key,
                      kc__client_location *ret, kc_error *err);
/* Returns the namespace of a list; empty for all namespaces. */
kc_str kc__client_list_namespace(const kc_client *client, const kc_kind *kind, const char *ns);

/* Returns the Accept value for metadata-only requests, otherwise empty (the default). The kind
 * below is that of such responses. */
kc_str kc__client_accept(bool metadata_only, bool list);
extern const kc_kind kc__client_kind_partial_metadata;

/* Adds the parameters of a list page, and of a watch. `token` may be NULL; `page` 0 requests all
 * objects at once. */
void kc__client_list_params(kc__client_request *request, const kc_list_opts *opts, int64_t page,
                            const char *token);
void kc__client_watch_params(kc__client_request *request, const kc_watch_opts *opts);
/* Sets resourceVersion, continue and remaining from a list object. */
void kc__client_objects_describe(kc_object_list *about, const kc_object *list);
enum { KC__LIST_PAGE = 500 }; /* Default page size. */

/* Parses one frame of a watch into an event. Returns 1 or an error, which may come from an ERROR
 * event. `kind` applies to objects that do not state theirs. */
struct kc__stream_frame;
int kc__client_watch_event_of(const struct kc__stream_frame *frame, const kc_kind *kind,
                              kc_watch_event *ret, kc_error *err);
bool kc__client_is_initial_end(kc_watch_event_type type, const kc_object *object);

/* ---- responses ---- */

/* Fills *err from an error response. Returns -reason. */
int kc__client_error_from_response(const char *method, kc_http_response *response, kc_error *err);
/* The same from a body that was already read; only KC__MAX_ERROR_BODY bytes of it are used. */
int kc__client_error_of_body(const char *method, int status, kc_str body, kc_str retry_after,
                             kc_error *err);
/* A server lists up to a mebibyte of conflicts of an apply, in the message and in the causes. */
#define KC__MAX_ERROR_BODY ((size_t)4 << 20)
/* Fills *err from a Status; `code` is used if the Status has none. */
int kc__client_error_from_status(const kc_object *status, int code, kc_error *err);

/* The response cannot be parsed. Changes the parser's KC_BAD_REQUEST to KC_INTERNAL, because the
 * request is not at fault, and prefixes the message with `what`. Returns -reason. */
int kc__client_bad_response(kc_error *err, const char *what);

/* ---- writing ---- */

/* Returns the kind of an object to be written. */
const kc_kind *kc__client_kind_of_object(kc_client *client, const kc_object *object,
                                         const kc_kind *requested, kc_error *err);
/* Notifies the reader of a write of this client. */
void kc__client_notify_reader(kc_client *client, const kc_kind *kind, const kc_object *object,
                              bool deleted);
/* Returns whether a write is a dry run, by its options or the client's. */
bool kc__client_is_dry_run(const kc_client *client, bool requested);

/* ---- kinds ---- */

kc__client_mapper *kc__client_mapper_new(void);
kc__client_mapper *kc__client_mapper_free(kc__client_mapper *mapper);

/* The OpenAPI schemas that a client keeps: merge_schema.c. */
kc__client_schemas *kc__client_schemas_new(void);
void kc__client_schemas_free(kc__client_schemas *schemas);

/* Like kc_client_kind, for a kind that may have been added just now: always asks the server if
 * the kind is unknown, without the minimum interval between lookups. */
const kc_kind *kc__client_kind_refresh(kc_client *client, kc_gvk gvk, kc_error *err);

/* A resource as reported by discovery; borrowed. */
typedef struct kc__client_discovered {
    kc_gvk gvk;
    kc_str plural, singular;
    bool namespaced, preferred;
    const kc_value *verbs, *short_names, *categories;
} kc__client_discovered;

typedef void kc__client_discovered_fn(const kc__client_discovered *found, void *user);

/* Discovers the resources of one group version. */
int kc__client_discover_version(kc_client *client, kc_str group, kc_str version,
                                kc__client_discovered_fn *each, void *user, kc_error *err);
/* Discovers all resources, in the server's order. Groups whose discovery failed are causes in
 * `ret_missing`. */
int kc__client_discover_all(kc_client *client, kc__client_discovered_fn *each, void *user,
                            kc_error *ret_missing, kc_error *err);

#endif
