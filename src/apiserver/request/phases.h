/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.h: the functions that process a call (call/call.h): the
 * callbacks of the HTTP server, the phases, the verbs, and the responses. phases.c runs them.
 */
#ifndef KC_APISERVER_PHASES_H
#define KC_APISERVER_PHASES_H

#include "apiserver/call/call.h"

/* Callbacks of the HTTP server (exchange.h): the head of a request is complete, the whole request
 * is complete, the body failed to arrive. A caller in the same process calls the first two. */
kc__exchange_begin_fn kc__rest_api_begin;
kc__exchange_handle_fn kc__rest_api_handle;
kc__exchange_abandon_fn kc__rest_api_abandon;
/* Ends all watches of a context; on its loop. */
void kc__rest_context_drain(kc__rest_context *context);
/* Ends the watches of custom resources whose CRD has changed or is gone. They first send the events
 * up to `revision`, which a cache has seen. Any thread. */
void kc__rest_restart_watches(kc__rest_api *api, uint64_t revision);

/* ---- the verbs ---- */

extern const kc__rest_verb kc__rest_verb_get, kc__rest_verb_list, kc__rest_verb_watch,
    kc__rest_verb_create, kc__rest_verb_update, kc__rest_verb_patch, kc__rest_verb_delete,
    kc__rest_verb_delete_collection;
/* Verbs that create a Binding or an Eviction (bind.c, evict.c), a token (token_request.c). */
extern const kc__rest_verb kc__rest_verb_bind, kc__rest_verb_evict, kc__rest_verb_request_token;
/* Answers a review, which is not stored (reviews/review.c). */
extern const kc__rest_verb kc__review_verb;
/* Reads the log of a container (log.c). */
extern const kc__rest_verb kc__rest_verb_log;

/* ---- running a call ---- */

/* Submits an expensive call to a worker, for its current phase and those that follow. False: the
 * call is not expensive. (offload_call.c) */
bool kc__rest_call_offload(kc__rest_call *call);
/* On a worker: keeps the response, which the loop sends. False: not on a worker. */
bool kc__rest_call_keep_response(kc__rest_call *call, const kc__http_response *response);
/* Runs phases on a worker, up to one that needs the loop; returns the last verdict. */
kc__rest_verdict kc__rest_call_run_offloaded(kc__rest_call *call);
/* Updates the metrics and frees the call's resources, before its exchange is answered. */
void kc__rest_call_done(kc__rest_call *call);
/* Frees the resources of a call that is not answered. */
void kc__rest_call_release(kc__rest_call *call);
/* Whether the request comes from the same process, that is from the server's own components: it is
 * never rejected for load, and needs no permission unless it acts for a user (access.c). */
bool kc__rest_is_own_request(const kc__rest_call *call);
/* The call's reviews by authorization webhooks; created by the first call. */
struct kc__authz_request_state *kc__rest_authz_state(kc__rest_call *call);
/* After a pending decision: calls the webhook, and then runs the phase again. */
kc__rest_verdict kc__rest_await_authorizer(kc__rest_call *call);
/* Answers 500 in plain text, as Kubernetes does before a request has reached a resource. */
kc__rest_verdict kc__rest_respond_internal(kc__rest_call *call, kc_str why);
/* Makes the impersonated user that of the call, if the request names one and the sender may
 * (impersonate.c). */
kc__rest_verdict kc__rest_impersonate(kc__rest_call *call);
/* Rejects kubectl, or its token, if the server does not accept it (kubectl_policy.c). */
kc__rest_verdict kc__rest_check_kubectl(kc__rest_call *call);
/* What the HTTP server may read of an authenticated request (access.c). */
void kc__rest_grant_body(const kc__rest_call *call, kc__exchange_grant *grant);
/* Parts of kc__rest_call_done: releases its place among the requests in flight (access.c); updates
 * the metrics (request_metrics.c). */
void kc__rest_limits_release(kc__rest_call *call);
void kc__rest_count_call(const kc__rest_call *call);

/* ---- responding: return KC__REST_DONE ---- */

/* Responds with an object in the form that the client asked for. */
kc__rest_verdict kc__rest_respond_object(kc__rest_call *call, int status, const kc_object *object);
/* The Status of call->error; the Status of success about an object. */
kc__rest_verdict kc__rest_respond_error(kc__rest_call *call);
kc__rest_verdict kc__rest_respond_deleted(kc__rest_call *call, int status, const kc_object *object);
/* A Status of success without details. */
kc__rest_verdict kc__rest_respond_success(kc__rest_call *call, int status);
/* JSON text in the form that the client asked for: YAML, indented, or unchanged. */
kc__rest_verdict kc__rest_respond_json(kc__rest_call *call, int status, kc_str json);
/* Responds with text; `text` is copied. */
kc__rest_verdict kc__rest_respond_text(kc__rest_call *call, int status, kc_str type, kc_str text);
/* "404 page not found", for a path that no group or endpoint serves. */
kc__rest_verdict kc__rest_respond_page_not_found(kc__rest_call *call);
/* Responds with bytes that outlive the response (constants, or held by `owner`). */
kc__rest_verdict kc__rest_respond_bytes(kc__rest_call *call, kc__http_response *response);

/* ---- the phases, in the order of the table ---- */

/* Starts the remote authenticators; their results resume a call that is `authenticating`. On its
 * loop. */
void kc__rest_authenticate_later(kc__rest_call *call);

kc__rest_phase_fn kc__rest_phase_received, kc__rest_phase_authenticated, kc__rest_phase_limited,
    kc__rest_phase_authorized, kc__rest_phase_routed, kc__rest_phase_negotiated,
    kc__rest_phase_synced, kc__rest_phase_decoded, kc__rest_phase_proposed,
    kc__rest_phase_defaulted, kc__rest_phase_owned, kc__rest_phase_mutated, kc__rest_phase_prepared,
    kc__rest_phase_validated, kc__rest_phase_admitted, kc__rest_phase_encoded,
    kc__rest_phase_stored, kc__rest_phase_answered;

#endif
