/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h: the audit log: events (audit.k8s.io/v1) of requests, as a policy selects them, to sinks.
 *
 *     kc__audit *audit = kc__audit_new("policy.yaml", metrics, log, err);
 *     kc__audit_add_sink(audit, &(kc__audit_sink_opts){…}, false, err);
 *
 * A request that the policy selects has an event (kc__audit_begin), which the phases fill; each
 * stage that the policy does not omit is written to all sinks.
 */
#ifndef KC_APISERVER_AUDIT_H
#define KC_APISERVER_AUDIT_H

#include "apiserver/audit/audit_policy.h"
#include "apiserver/audit/audit_sink.h"
#include "apiserver/call/call.h"

enum { KC__AUDIT_MAX_SINKS = 2 };

typedef struct kc__audit kc__audit;

/* Reads the policy. NULL on error. Blocks. */
kc__audit *kc__audit_new(const char *policy_file, kc_metrics *metrics, kc_log *log, kc_error *err);
/* Adds a sink and starts it; takes over the output, also on error. `legacy`: lines of text instead
 * of JSON. Before requests are served. */
int kc__audit_add_sink(kc__audit *audit, const kc__audit_sink_opts *opts, bool legacy,
                       kc_error *err);
/* Delivers what is buffered. No request may be open. NULL is allowed; returns NULL. Blocks. */
kc__audit *kc__audit_free(kc__audit *audit);
KC_AUTO_DEFINE(kc__audit, kc__audit_free)

/* The server begins to stop: requests do not wait for long any more. Any thread; does not block. */
void kc__audit_drain(kc__audit *audit);

/* What kc__rest_api.audit points to. */
const kc__rest_audit_log *kc__audit_log_of(kc__audit *audit);

/* ---- requests: each does nothing if the request is not recorded ---- */

/* Evaluates the policy for the authenticated user. `early`: the request fails without one, because
 * of its credentials or its timeout; as in Kubernetes, it has the stage ResponseStarted alone. */
void kc__audit_begin(kc__rest_call *call, bool early);
/* Writes the stage RequestReceived, once. KC__REST_PENDING: the phase runs again when it was
 * delivered. KC__REST_FAIL: it was not delivered, and a sink is strict; there is no error yet. */
kc__rest_verdict kc__audit_received(kc__rest_call *call);
/* The user of the call is an impersonated one. */
void kc__audit_impersonated(kc__rest_call *call);
/* Whether the body of the request is recorded, not only what it names. */
bool kc__audit_wants_body(const kc__rest_call *call);
/* The body of the request is decoded: it names the object, and is recorded if the policy wants
 * it. */
void kc__audit_request_object(kc__rest_call *call, const kc_object *object);
/* The response is about to be sent: writes ResponseStarted of a long-running request, and
 * ResponseComplete when the response has ended. On the loop. */
void kc__audit_response(kc__rest_call *call, kc__http_response *response);
/* The body of the request will not arrive: writes both stages. `status` is the code of the
 * response; 0: the client has disconnected. */
void kc__audit_abandoned(kc__rest_call *call, int status);
/* The call ends without a response. */
void kc__audit_release(kc__rest_call *call);

#endif
