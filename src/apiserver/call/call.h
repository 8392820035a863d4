/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h: one API request on its way through the server.
 *
 *     received → authenticated → limited → authorized → routed → negotiated → decoded
 *              → proposed → defaulted → owned → mutated → prepared → validated → admitted
 *              → encoded → stored → answered
 *
 * Each step is a request phase: a function that reads the call, adds to it and returns a verdict.
 * One table defines the order of the phases (request/phases.c). Reads skip from `proposed` to
 * `answered`; writes return from `stored` to `proposed` after a conflict. The verb-specific part of
 * a phase is in the table of the verb (kc__rest_verb, one file each: get.c, create.c, …).
 *
 * A call is allocated in its exchange's arena, belongs to the exchange's loop, and ends with the
 * response. An expensive call runs on a worker thread for the phases that only compute
 * (offload_call.c), and belongs to that thread meanwhile.
 */
#ifndef KC_APISERVER_CALL_H
#define KC_APISERVER_CALL_H

#include "apiserver/access/authn.h"
#include "apiserver/call/catalog.h"
#include "apiserver/call/metadata.h"
#include "apiserver/call/negotiate.h"
#include "apiserver/call/options.h"
#include "apiserver/call/request_info.h"
#include "apiserver/kinds/draft.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/store/store.h"
#include "http/message/query.h"
#include "http/server/exchange.h"
#include "kc/dlist.h"
#include "kc/rand.h"
#include "kc/time.h"
#include "kc/uid.h"

#include <stdatomic.h>

typedef struct kc__rest_call kc__rest_call;
typedef struct kc__rest_api kc__rest_api;

#define KC__REST_PHASES(X) \
    X(RECEIVED)            \
    X(AUTHENTICATED)       \
    X(LIMITED)             \
    X(AUTHORIZED)          \
    X(ROUTED)              \
    X(NEGOTIATED)          \
    X(SYNCED)              \
    X(DECODED)             \
    X(PROPOSED)            \
    X(DEFAULTED)           \
    X(OWNED)               \
    X(MUTATED)             \
    X(PREPARED)            \
    X(VALIDATED)           \
    X(ADMITTED)            \
    X(ENCODED)             \
    X(STORED)              \
    X(ANSWERED)

typedef enum kc__rest_phase {
#define KC__REST_PHASE_ENUM(name) KC__REST_PHASE_##name,
    KC__REST_PHASES(KC__REST_PHASE_ENUM)
#undef KC__REST_PHASE_ENUM
        KC__REST_N_PHASES
} kc__rest_phase;

typedef enum kc__rest_verdict {
    KC__REST_NEXT,    /* Continue with the next phase. */
    KC__REST_PROPOSE, /* Return to PROPOSED: the stored object has changed, or the next step of the
                         verb begins. */
    KC__REST_RESPOND, /* Skip to ANSWERED: nothing is left to do. */
    KC__REST_PENDING, /* The phase waits; kc__rest_call_resume continues the call. On the loop only.
                       */
    KC__REST_ON_LOOP, /* Run the same phase again on the loop: it needs state of the loop, or a
                         response that it waited for has arrived. */
    KC__REST_ON_WORKER, /* Run the same phase again, on a worker thread if there is one: the phase
                           has found that it takes long. Sets call->heavy. */
    KC__REST_DONE,      /* The call is answered. Do not access it any more. */
    KC__REST_FAIL,      /* Respond with the Status of call->error. */
} kc__rest_verdict;

typedef kc__rest_verdict kc__rest_phase_fn(kc__rest_call *call);

/* The functions of one verb; NULL: the phase does nothing. */
typedef struct kc__rest_verb {
    const char *name; /* The name in authorization and metrics: "get", "deletecollection". */
    unsigned bit;     /* KC__VERB_GET, … (resource.h). */
    bool mutates;
    bool replaces_object; /* The body is a Binding, an Eviction or a TokenRequest: webhooks receive
                             it instead of the object. */
    bool unstored;        /* The result is not stored: ADMITTED is followed by ANSWERED. */
    bool on_loop;         /* Phases after decoding wait, or use state of the loop. */
    kc__rest_phase_fn *decode;     /* Reads options and body. */
    kc__rest_phase_fn *check_body; /* With replaces_object: checks the body after mutating
                                      admission. NULL: `propose` does. */
    kc__rest_phase_fn
        *propose; /* Makes call->draft from body and stored object, or sets call->proposed. */
    kc__rest_phase_fn *prepare; /* Sets the server's fields in call->draft. */
    kc__rest_phase_fn *respond;
    void (*forget)(kc__rest_call *call); /* Frees call->state at the end of the call. */
} kc__rest_verb;

/* An endpoint that is not a resource: "/version". */
typedef struct kc__rest_endpoint {
    const char *path;
    bool below;      /* Matches all paths below it, too. */
    bool only_get;   /* 405 for other methods; other endpoints treat every method as GET. */
    bool open;       /* Needs no credentials. */
    bool authorizes; /* Checks permissions itself; the request is authenticated. */
    size_t max_body; /* Bytes. Defaults to the server's limit. */
    bool heavy;      /* Its response may take long to build: a worker thread builds it … */
    bool grows;      /* … if the catalog has many resources. */
    kc__rest_phase_fn *respond;
} kc__rest_endpoint;

/*
 * Each field names the phase that sets it → the phases that read it. "all" is any phase after the
 * one that sets it. A phase that is not named neither sets nor reads the field.
 */
struct kc__rest_call {
    /* ---- the request: kc__rest_api_begin → all ---- */
    kc__exchange *x;
    kc__rest_api *api;
    struct kc__rest_context *context;
    kc_arena *arena;      /* The exchange's. */
    kc__rest_phase phase; /* Set by kc__rest_call_resume alone. */
    kc_rand *rand;        /* Of the loop's context, or of the worker thread that runs the call. */

    /* received → authenticated, … */
    kc_str audit_id;            /* The client's, or a generated one → answered. */
    kc__query query;            /* → decoded, mutated (webhook options), answered. */
    kc__rest_request_info info; /* Verb, group, resource, namespace, name → all. */
    int64_t request_timeout; /* Maximum duration of the request; not of watches → mutated, admitted,
                                stored, offloading. */

    /* authenticated → authorized, mutated and admitted (webhooks), offloading */
    kc__user user;
    bool impersonated; /* The sender acts as this user → authorized. */
    bool impersonates; /* A webhook must say first whether the sender may: authenticated →
                          authorized. */
    /* The reviews by authorization webhooks, and their results; NULL: none. Any phase → any phase.
     */
    struct kc__authz_request_state *authz_state;
    bool unauthenticated; /* No credentials, at an endpoint that needs none; or authenticating →
                             kc__rest_grant_body. */
    bool authenticating;  /* A remote authenticator must verify the token → kc__rest_api_handle. */

    struct kc__audit_event *audit_event; /* Of the audit log (audit/audit.h); NULL: the request is
                                            not recorded: authenticated → answered. */

    /* limited → kc__rest_call_release */
    _Atomic size_t *counted; /* The counter of requests in flight that includes this one. */
    size_t memory;           /* Bytes that the request is expected to hold. */

    /* kc__rest_api_handle → all */
    kc__rest_catalog *catalog; /* The catalog that serves this request. */

    /* offloading (offload_call.c): set between phases */
    bool heavy;                      /* Phases that only compute run on a worker thread. */
    struct kc__rest_call_work *work; /* NULL: not offloaded yet. */
    bool on_worker;                  /* A worker thread runs the call now. */

    /* ---- endpoint or resource: routed → all ---- */
    const kc__rest_endpoint *endpoint;           /* NULL: the path names a resource. */
    const kc__rest_verb *verb;                   /* NULL for an endpoint. */
    const kc__resource *resource;                /* evict.c switches between pod and budget. */
    const kc__resource_subresource *subresource; /* NULL: the object itself. */
    /* The resource of bodies and responses: the object's, or that of a subresource, such as
     * Scale. */
    const kc__resource *request_resource;
    const kc__rest_served_resource *served;
    /* "namespace/name"; for a collection the prefix "namespace/". Of a create: prepared →
     * stored. */
    kc_str key;

    /* negotiated → answered */
    kc__rest_format form;

    /* decoded → all */
    kc__rest_options options;

    /* ---- writes ---- */
    /* The typed body: decoded → proposed. Of a patch: proposed. mutated replaces it if webhooks
     * have seen an object whose generated name may turn out to be taken. */
    kc_object *body;
    /* A Scale, Binding or Eviction, typed: decoded → proposed; webhooks may replace it. */
    kc_object *subresource_body;
    /* The stored object: proposed, stored (after a conflict, and with the result) → all. NULL: it
     * does not exist. */
    kc_object *current;
    /* The object that is being built: proposed → defaulted, mutated, prepared, which edit it.
     * prepared empties it. Empty for deletions, bindings and evictions. */
    kc__draft draft;
    /* The object to store: prepared (from the draft), or proposed if there is no draft → validated,
     * admitted, encoded, stored. */
    kc_object *proposed;
    kc_view *body_view; /* Of `body` without managedFields; may be NULL: decoded → proposed. */
    kc_view
        *proposed_view; /* Of `proposed` without managedFields; may be NULL: prepared → validated.
                         */
    kc_object *encoded; /* `proposed` in the stored form: encoded → stored. */
    const void *patch;  /* Patch type: decoded → proposed (patch.c). */
    /* ---- field ownership (request/own.h) ---- */
    kc_view *config; /* Of an apply: the configuration: the first proposed → proposed, stored. */
    bool config_has_duplicates; /* It may have duplicate keys: proposed → proposed. */
    bool resets_owners;         /* The body clears managedFields: decoded, proposed → owned. */
    bool owned;                 /* The draft has its managedFields: proposed (apply) → owned. */
    kc_view *current_view; /* Of `current` without managedFields; may be NULL: owned → validated. */
    bool client_managed_fields; /* Some are the client's, and are to be validated: owned →
                                   validated. */
    kc_str managed_fields;      /* Of the draft before mutating admission: owned → mutated. */
    struct kc__rest_own_conversions *own_conversions; /* By webhook, for the engine; NULL: none.
                                                         proposed (apply), owned (own_version.c). */
    bool more_writes; /* Another write follows this one: proposed → answered (deletion.h). */
    bool removes;     /* The write removes the object; `proposed` is the state in the DELETED event:
                         proposed, prepared → encoded, stored, answered. */
    bool stale;    /* The stored object has another API version than the one to be stored: proposed,
                      stored → encoded. */
    bool as_shown; /* `current` is in the form of this version: stored → answered. */
    /* `current` as it is stored, if reading it changed or converted it; NULL otherwise: proposed,
     * stored → encoded (commit.c). */
    kc_object *as_stored;
    /* Members of the metadata that an apply stores as it merged them, although reading drops or
     * changes them: a JSON object; empty: none. proposed (apply) → encoded. */
    kc_str merged_metadata;
    /* A stored object that must be converted by a webhook before it becomes `current`: proposed,
     * stored → proposed (commit.c). */
    kc_object *unread;
    struct kc__rest_conversion *conversion; /* Conversions by webhook (call_conversion.h); NULL:
                                               none. Any phase. */
    bool conditional; /* The client sent a resourceVersion; conflicts are not retried: prepared →
                         stored. */
    bool unchanged;   /* `proposed` equals the stored object: encoded → stored. */
    bool skip_validation;   /* decoded → validated. */
    const char *refusal;    /* An error that is reported after admission: prepared → encoded. */
    unsigned tries;         /* Number of conflicts so far: stored → validated, stored. */
    kc__loop_timer timeout; /* Timer of the write: stored → stored. */
    /* Owned by the verb, between its functions: proposed, answered → answered. Of a write that
     * waits for the store, the pending write: stored → stored. */
    void *state;
    struct kc__rest_eviction *eviction; /* Owned by the verb (evict.c); NULL for other verbs:
                                           decoded → proposed, answered. */

    /* ---- admission: mutated, prepared, admitted ---- */
    size_t admission_at; /* The plugin that runs or waits (admission/plugins.c): mutated,
                            prepared, admitted → the same phase when it runs again. */
    /* The webhook calls in progress; NULL: none: mutated, admitted, and proposed (subresource
     * bodies, collections) → the same phase when it runs again. */
    struct kc__admission_dispatch *dispatch;
    bool hooks_mutated;     /* Mutating webhooks were called and must not be called again: mutated →
                               owned and mutated of the next try. */
    bool admission_patched; /* Mutating admission replaced the draft: mutated → mutated, validated.
                               proposed clears it. */
    bool webhooks_done; /* No more webhooks are called, and no more policies evaluated: proposed →
                           proposed, mutated, admitted. */
    bool body_mutated;  /* Mutating policies were applied to `subresource_body`: proposed → proposed
                           when it runs again. */
    bool policies_changed; /* A mutating policy changed the draft or the body; the plugins are to
                              run again: mutated, proposed → the same phase. */
    bool reinvoking;       /* Mutating plugins run again: mutated, proposed → the same phase. */
    struct kc__admission_reinvocation
        *reinvocation; /* Which mutating policies were applied: mutated → kc__rest_call_release. */
    /* Objects in versions that a conversion webhook has made (admission/chain/object_versions.h);
     * NULL: none: proposed, mutated, admitted → the same phase when it runs again. */
    struct kc__admission_versions *versions;
    /* Quotas that the write charges: admitted (resource_quota.h) → stored. NULL: none. */
    struct kc__quota_charges *charges;
    bool recharge; /* The charged quotas changed before the commit: stored → stored. */
    /* The request waits for its service account: mutated, admitted → the same phase when it runs
     * again (service_account.c). */
    struct kc__admission_account_wait *account_wait;
    /* The namespace that the request needs is being created: mutated → mutated when it runs again,
     * admitted (namespace_auto_provision.c). */
    struct kc__admission_provision *provision;
    /* The review of the images of a pod: admitted → admitted when it runs again (image_policy.c).
     * NULL: none. */
    struct kc__admission_image_review *image_review;
    bool copies_labels; /* The pod gets the labels of its Binding (pod_topology_labels.c): proposed
                           → proposed. */

    /* ---- the response ---- */
    int status;     /* Code of success: prepared → answered. Then the code that was sent →
                       request_metrics.c. */
    kc_error error; /* Any phase sets it with KC__REST_FAIL → answered. */
    kc_str denial;  /* The Status of the webhook that denied the request: mutated, admitted →
                       answered. */
    bool create_authorized; /* An update or apply may create its object: admitted → admitted of the
                               next try. */
    bool forbidden;         /* Denied by authorization: authenticated, authorized → answered. */
    bool bare_details;     /* The Status has details even if they are empty: proposed → answered. */
    kc_str continue_token; /* For the Status of an expired list: proposed (collections), answered →
                              answered. */
    KC_VEC(kc_str) warnings; /* For Warning headers: any phase → answered. */
};

/* Receives the audit annotations of requests, on the thread of the request. The interface of an
 * audit log. */
typedef struct kc__rest_audit_log {
    void (*annotate)(kc__rest_call *call, kc_str key, kc_str value, void *user);
    /* The same for an annotation that only belongs to events with bodies. */
    void (*annotate_request)(kc__rest_call *call, kc_str key, kc_str value, void *user);
    void *user;
} kc__rest_audit_log;

/* What kubectl may use (request/kubectl_policy.c). */
typedef struct kc__rest_kubectl_policy {
    bool disabled;    /* Nothing. */
    bool ephemeral;   /* Of tokens those that expire, … */
    int64_t duration; /* … within this time. */
} kc__rest_kubectl_policy;

/* State that all calls share. */
struct kc__rest_api {
    kc__store *store;
    kc__rest_catalog_slot *catalog_slot; /* The current catalog. */
    struct kc__openapi *openapi;
    const kc__authn *authn;
    struct kc__authz *authz;
    struct kc__sa_tokens *accounts;              /* Tokens of service accounts; NULL: none. */
    struct kc__account_objects *account_objects; /* What they depend on; NULL: none. */
    struct kc__people *people;                   /* Logins of people; NULL: none. */
    kc__rest_kubectl_policy kubectl;
    bool unrestricted_update; /* An update of an object writes its status, too. */
    const kc_clock *clock;
    kc_log *log;
    kc_metrics *metrics;
    struct kc__rest_metrics *counts;
    int64_t request_timeout;
    size_t max_mutating, max_reading; /* Limits of requests in flight. */
    size_t max_object_bytes;          /* Limit of a stored object's JSON. */
    size_t max_patched_bytes;         /* Limit of an object while patches are applied to it. */
    struct kc__governor *governor;
    struct kc__watch_quota *watches;
    struct kc__rest_frames *frames;                 /* Shared frames of watch events. */
    struct kc__rest_watch_renders *renders;         /* Watch events that workers render. */
    struct kc__resource_topology_cache *topologies; /* Of built-in kinds. */
    kc__watch_cache *namespaces;
    kc__watch_cache *crds;   /* The CustomResourceDefinitions. */
    kc__watch_cache *quotas; /* The ResourceQuotas. */
    /* Those that belong to the server (background/system_crds.h); NULL: none. */
    struct kc__bootstrap_crds *system_crds;
    struct kc__service_numbers *numbers;     /* Cluster IPs and node ports. */
    struct kc__event_expiry *event_expiry;   /* NULL during start. */
    struct kc__admission_webhooks *hooks;    /* Admission webhooks. */
    struct kc__admission_policies *policies; /* Admission policies. */
    uint64_t plugins; /* The admission plugins that run (admission/plugin_selection.h). */
    const struct kc__admission_config *admission_config; /* Of the plugins; NULL: the defaults. */
    struct kc__pod_security_metrics *pod_security_metrics;
    struct kc__encryption *encryption; /* NULL: values are stored as they are. */
    const kc__rest_audit_log *audit;   /* Receives audit annotations; NULL: no audit log. */
    struct kc__http_proxy *http_proxy; /* Sends requests to nodes; NULL: disabled. */
    struct kc__offload *offload;       /* Worker threads; NULL: none. */
    _Atomic size_t mutating, reading;
    _Atomic bool leaving; /* The server is about to drain: it is not ready. */
    _Atomic bool draining;
    struct kc__rest_context *contexts; /* One for each loop. */
    size_t n_contexts;
};

/* The state of one loop. */
typedef struct kc__rest_context {
    kc__loop *loop;
    kc_rand rand;
    kc__rest_catalog *catalog;         /* The newest that this loop has seen. */
    kc_dlist watches;                  /* Open watches, which end when the server drains. */
    kc_dlist custom_watches;           /* Open watches of custom resources, which may change. */
    kc_dlist outgoing;                 /* Responses in progress that hold memory (outgoing.h). */
    struct kc__memory_account *memory; /* Counts the memory of this context. */
    struct kc__governor *governor;
    struct kc__rest_near_frames *frames;       /* Frames used last (watch_frames.h). */
    struct kc__admission_policy_set *policies; /* The newest that this loop has seen. */
    kc_buf scratch;                            /* Memory for the text of audit events. */
} kc__rest_context;

/* Calls a function on each loop, with its context. Any thread; does not block. */
typedef void kc__rest_context_fn(kc__rest_api *api, kc__rest_context *context, uint64_t argument);
void kc__rest_each_context(kc__rest_api *api, kc__rest_context_fn *run, uint64_t argument);

/* ---- functions of a call that every part of the server uses ---- */

/* "default/web", or "web" for a cluster-scoped resource. Allocated in the arena. */
kc_str kc__rest_key_of(kc__rest_call *call, kc_str name);
/* The name of the written object, or its generateName, for messages. Allocated in the arena. */
kc_str kc__rest_proposed_name(kc__rest_call *call);
/* Rejects an object whose namespace differs from that of the path; sets the namespace if absent. */
kc__rest_verdict kc__rest_check_namespace(kc__rest_call *call, kc__rest_metadata *metadata);
/* Whether the call is for a scale subresource. */
bool kc__rest_is_scale(const kc__rest_call *call);
/* The current time in the format of object timestamps. */
kc_str kc__rest_call_now(kc__rest_call *call, char out[KC_TIME_TEXT]);
/* Adds a Warning header to the response, once for each text. `text` is copied. */
void kc__rest_warn(kc__rest_call *call, kc_str text);
/* Adds an audit annotation to the request, if there is an audit log. */
void kc__rest_audit(kc__rest_call *call, kc_str key, kc_str value);
/* The same for an annotation that shows a part of a body. */
void kc__rest_audit_request(kc__rest_call *call, kc_str key, kc_str value);
/* Continues a call after KC__REST_PENDING, on its loop. This function and the next are defined by
 * a higher sub-layer (request/phases.c). */
void kc__rest_call_resume(kc__rest_call *call, kc__rest_verdict verdict);
/* Runs the phase that returned KC__REST_PENDING again, on its loop or on a worker. Defined as the
 * previous one. */
void kc__rest_call_rerun(kc__rest_call *call);

/* The namespace of the Secrets of people, which no client can read or write. */
#define KC__REST_CREDENTIALS_NAMESPACE "kc-credentials"
/* Whether this server keeps such Secrets, and `ns` is their namespace. */
bool kc__rest_is_reserved_namespace(const kc__rest_api *api, kc_str ns);

/* ---- failing: set call->error and return KC__REST_FAIL ---- */

kc__rest_verdict kc__rest_fail(kc__rest_call *call, kc_reason reason, const char *fmt, ...)
    KC_PRINTF(3, 4);
/* Errors with the message and details of Kubernetes, about the call's resource. */
kc__rest_verdict kc__rest_fail_not_found(kc__rest_call *call, kc_str name);
kc__rest_verdict kc__rest_fail_exists(kc__rest_call *call, kc_str name, bool being_deleted);
kc__rest_verdict kc__rest_fail_modified(kc__rest_call *call, kc_str name);
/* The stored object does not match the precondition: `what` is "UID" or "ResourceVersion". */
kc__rest_verdict kc__rest_fail_precondition(kc__rest_call *call, kc_str name, const char *what,
                                            kc_str wanted, kc_str is);
/* The request's deadline passed, or the request used up its CPU time. */
kc__rest_verdict kc__rest_fail_timeout(kc__rest_call *call);
/* With the standard message of the code: "the server could not find the requested resource". */
kc__rest_verdict kc__rest_fail_generic(kc__rest_call *call, kc_reason reason);
/* No clause of Accept names a media type that the server supports. */
kc__rest_verdict kc__rest_fail_not_acceptable(kc__rest_call *call);
/* The CRD of the object is being deleted: a new object would be deleted with it. */
kc__rest_verdict kc__rest_fail_terminating(kc__rest_call *call, kc_str name);
/* Invalid, about the resource's kind. */
kc__rest_verdict kc__rest_fail_invalid(kc__rest_call *call, kc_str name,
                                       const kc_field_errors *errors);

#endif
