/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h: one API request on its way through the server.
 *
 *     received → authenticated → limited → authorized → routed → negotiated → decoded
 *              → proposed → mutated → prepared → validated → admitted → stored → answered
 *
 * Each step is a phase: a function that looks at the call, adds to it, and says how to go on. The
 * order stands in one table (phases.c). Reads have nothing to do between decoded and stored; writes
 * may come back from `stored` to `proposed` when somebody else was faster. What a verb does in a
 * phase stands in its table (kc__verb, one file each: get.c, create.c, …).
 *
 * A call lives in its exchange's arena, belongs to the exchange's loop, and ends with the answer.
 */
#ifndef KC_APISERVER_CALL_H
#define KC_APISERVER_CALL_H

#include "apiserver/access/authn.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/rest/negotiate.h"
#include "apiserver/rest/options.h"
#include "apiserver/rest/request_info.h"
#include "apiserver/rest/snapshot.h"
#include "apiserver/store/store.h"
#include "http/exchange.h"
#include "http/query.h"
#include "kc/list.h"
#include "kc/rand.h"
#include "kc/time.h"
#include "kc/uid.h"

#include <stdatomic.h>

typedef struct kc__call kc__call;
typedef struct kc__api kc__api;

#define KC__PHASES(X) \
    X(RECEIVED)       \
    X(AUTHENTICATED)  \
    X(LIMITED)        \
    X(AUTHORIZED)     \
    X(ROUTED)         \
    X(NEGOTIATED)     \
    X(DECODED)        \
    X(PROPOSED)       \
    X(MUTATED)        \
    X(PREPARED)       \
    X(VALIDATED)      \
    X(ADMITTED)       \
    X(STORED)         \
    X(ANSWERED)

typedef enum kc__phase {
#define KC__PHASE_ENUM(name) KC__PHASE_##name,
    KC__PHASES(KC__PHASE_ENUM)
#undef KC__PHASE_ENUM
        KC__N_PHASES
} kc__phase;

typedef enum kc__verdict {
    KC__NEXT,    /* To the next phase. */
    KC__PROPOSE, /* Back to PROPOSED: what it was made from is no longer the current state. */
    KC__ANSWER,  /* On to ANSWERED: nothing is left to do. */
    KC__LATER,   /* Somebody will call kc__call_go_on. */
    KC__DONE,    /* It is answered; the call must not be touched any more. */
    KC__FAIL,    /* call->error says why; it is answered as a Status. */
} kc__verdict;

typedef kc__verdict kc__phase_fn(kc__call *call);

/* What one verb does; a NULL phase does nothing. */
typedef struct kc__verb {
    const char *name; /* As authorization and metrics name it: "get", "deletecollection". */
    unsigned bit;     /* KC__GET, … of resource.h. */
    bool mutates;
    bool stands_in; /* What is sent stands in an object's place: webhooks are asked about that. */
    kc__phase_fn *decode;  /* Options and body. */
    kc__phase_fn *propose; /* From the current state and what was sent: call->proposed. */
    kc__phase_fn *prepare; /* Of that, which others may have changed, what can be stored. */
    kc__phase_fn *answer;
    void (*forget)(kc__call *call); /* Frees call->state at the end. */
} kc__verb;

extern const kc__verb kc__verb_get, kc__verb_list, kc__verb_watch, kc__verb_create, kc__verb_update,
    kc__verb_patch, kc__verb_delete, kc__verb_delete_collection;
/* Those that create a Binding or an Eviction (bind.c, evict.c). */
extern const kc__verb kc__verb_bind, kc__verb_evict;
/* What a container has written (log.c). */
extern const kc__verb kc__verb_log;

/* An endpoint that is no resource: "/version". */
typedef struct kc__endpoint {
    const char *path;
    bool below;    /* Also everything under it. */
    bool only_get; /* 405 for other methods; others take any for a GET. */
    bool open;     /* Needs no credentials. */
    kc__phase_fn *answer;
} kc__endpoint;

struct kc__call {
    kc__exchange *x;
    kc__api *api;
    struct kc__lane *lane;
    kc_arena *arena; /* The exchange's. */
    kc__phase phase;
    kc__snapshot *snapshot; /* What is served, as far as this call is concerned. */
    kc_str audit_id;        /* The client's own, or a new one. */

    kc__query query;
    kc__request_info info;
    kc__user user;
    int64_t patience;        /* How long it may take, if it is no watch. */
    _Atomic size_t *counted; /* Where it is counted while it is under way. */

    /* What it is about, from ROUTED on. */
    const kc__endpoint *endpoint;
    const kc__verb *verb;
    const kc__resource *resource;
    const kc__subresource *subresource; /* NULL: the object itself. */
    /* What bodies and answers are: the resource, or what a subresource has in its place: a Scale.
     */
    const kc__resource *spoken;
    const kc__served *served;
    kc_str key; /* "namespace/name"; of a collection the prefix "namespace/". */

    kc__form form;
    kc__options options;

    /* Of writes. */
    kc_object *given;    /* As the client sent it, typed. */
    kc_object *sent;     /* A Scale, Binding or Eviction that was sent in its place. */
    kc_object *current;  /* What is stored; NULL: nothing. */
    kc_object *proposed; /* What shall be stored. */
    bool again;          /* One more write follows this one (deletion.h). */
    bool removes;        /* The write is a removal; `proposed` is what the last event shows. */
    bool stale;          /* What is stored is in another version than what would be. */
    bool as_shown;       /* `current` is as this version shows it: the call wrote it so. */
    bool conditional;    /* The client named a version: no second try. */
    bool skip_validation;
    bool hooks_mutated;  /* Webhooks have changed what there was to change (webhooks.c), … */
    bool hooks_asked;    /* … and need not be asked at all any more. */
    const char *refusal; /* Said instead of storing, after everything else was checked. */
    unsigned tries;
    kc__timer timeout;
    void *state;                   /* The verb's own. */
    const void *patch;             /* How the body is applied (patch.c). */
    struct kc__taken *taken;       /* Numbers of Services it took (service_numbers.c). */
    struct kc__eviction *eviction; /* How far it is (evict.c). */

    int status; /* Of the answer; 0: 200. */
    kc_error error;
    kc_str denial;           /* The Status of it, where a webhook gave one. */
    bool bare_details;       /* The Status has details even when they are empty. */
    kc_str continue_token;   /* For the Status of an expired list. */
    KC_VEC(kc_str) warnings; /* For Warning headers. */
};

/* What all calls share. */
struct kc__api {
    kc__store *store;
    kc__snapshots *snapshots; /* What is served. */
    struct kc__openapi *openapi;
    const kc__authn *authn;
    const kc_clock *clock;
    kc_log *log;
    kc_metrics *metrics;
    struct kc__api_metrics *counts;
    int64_t request_timeout;
    size_t max_mutating, max_reading; /* In flight. */
    kc__cache *namespaces;
    kc__cache *definitions; /* Of custom resources. */
    struct kc__service_numbers *numbers;
    struct kc__hooks *hooks;     /* Admission webhooks. */
    struct kc__fetcher *fetcher; /* How nodes are reached; NULL: not at all. */
    _Atomic size_t mutating, reading;
    _Atomic bool draining;
    struct kc__lane *lanes; /* One for each loop. */
    size_t n_lanes;
};

/* What belongs to one loop. */
typedef struct kc__lane {
    kc__loop *loop;
    kc_rand rand;
    kc__snapshot *snapshot; /* The newest it has seen. */
    kc_list watches;        /* Open ones, to be ended when the server goes down. */
    kc_list custom_watches; /* The same, of custom resources. */
} kc__lane;

/* The handler of the HTTP server. */
kc__handler kc__api_handle;
/* Ends all watches of a lane; on its loop. */
void kc__lane_drain(kc__lane *lane);
/* Ends the watches of custom resources that are served in another way than when they began, or no
 * longer: after they have written what happened up to a revision that was seen in a cache. Any
 * thread. */
void kc__watches_renew(kc__api *api, uint64_t revision);

/* Goes on after KC__LATER. */
void kc__call_go_on(kc__call *call, kc__verdict verdict);
/* Frees what the call holds, before its exchange is answered. */
void kc__call_done(kc__call *call);
/* Parts of that: gives its room to others (access.c); counts it (metrics.c). */
void kc__limits_leave(kc__call *call);
void kc__count_call(const kc__call *call);

/* ---- failing: set call->error and return KC__FAIL ---- */

kc__verdict kc__fail(kc__call *call, kc_reason reason, const char *fmt, ...) KC_PRINTF(3, 4);
/* The words and details Kubernetes has for these, about the call's resource. */
kc__verdict kc__fail_not_found(kc__call *call, kc_str name);
kc__verdict kc__fail_exists(kc__call *call, kc_str name, bool being_deleted);
kc__verdict kc__fail_modified(kc__call *call, kc_str name);
/* The object is not the one the client means: `what` is "UID" or "ResourceVersion". */
kc__verdict kc__fail_precondition(kc__call *call, kc_str name, const char *what, kc_str wanted,
                                  kc_str is);
/* With nothing but a code's own text: "the server could not find the requested resource". */
kc__verdict kc__fail_generic(kc__call *call, kc_reason reason);
/* No clause of Accept names a media type of ours. */
kc__verdict kc__fail_not_acceptable(kc__call *call);
/* Of an object whose definition is being deleted: it would go with it. */
kc__verdict kc__fail_terminating(kc__call *call, kc_str name);
/* Invalid, about the resource's kind. */
kc__verdict kc__fail_invalid(kc__call *call, kc_str name, const kc_field_errors *errors);

void kc__warn(kc__call *call, kc_str text);

/* ---- answering: return KC__DONE ---- */

/* With what the call has come to: an object in the form the client asked for. */
kc__verdict kc__answer_object(kc__call *call, int status, const kc_object *object);
/* The Status of call->error, or of success about an object. */
kc__verdict kc__answer_error(kc__call *call);
kc__verdict kc__answer_deleted(kc__call *call, int status, const kc_object *object);
/* A Status of success, of nothing in particular. */
kc__verdict kc__answer_success(kc__call *call, int status);
/* JSON text in the way the client wants to read it: YAML, indented, or as it is. */
kc__verdict kc__answer_json(kc__call *call, int status, kc_str json);
/* Text made by the caller; `text` is copied. */
kc__verdict kc__answer_text(kc__call *call, int status, kc_str type, kc_str text);
/* "404 page not found", for what belongs to nobody. */
kc__verdict kc__answer_no_page(kc__call *call);
/* Bytes that outlive the answer (constants, or held by `owner`). */
kc__verdict kc__answer_bytes(kc__call *call, kc__answer *answer);

/* The time, as objects have it. */
kc_str kc__call_now(kc__call *call, char out[KC_TIME_TEXT]);

/* ---- the phases, in the order of the table ---- */

kc__phase_fn kc__phase_received, kc__phase_authenticated, kc__phase_limited, kc__phase_authorized,
    kc__phase_routed, kc__phase_negotiated, kc__phase_decoded, kc__phase_proposed,
    kc__phase_mutated, kc__phase_prepared, kc__phase_validated, kc__phase_admitted,
    kc__phase_stored, kc__phase_answered;

#endif
