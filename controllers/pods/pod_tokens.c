/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_tokens.c: the tokens of service accounts in volumes of pods. Each is requested from the API
 * server (TokenRequest), bound to the pod, and kept in the pod's record until it is renewed: when
 * 80 % of its life, or 24 hours, have passed, as the kubelet does. A renewal that fails leaves the
 * old token in place while it is valid.
 */
#include "pods/pod_inputs.h"

#include "kc/json.h"
#include "kc/kinds.h"
#include "kc/view.h"

#define DEFAULT_LIFE 3600 /* Seconds. */
#define MAX_AGE      (24 * KC_HOUR)
#define RETRY        (10 * KC_SECOND)

void kc__pod_tokens_done(kc__pod_tokens *tokens)
{
    kc_vec_each (tokens, token) {
        free(token->audience);
        free(token->text);
    }
    kc_vec_done(tokens);
}

/* ---- requests ---- */

static kc_object *token_request(const kc__pod_inputs *in, const kc__pod_token *wanted)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
                       "\"metadata\":{\"namespace\":");
    kc_json_quote(&text, kc_cstr(in->state->ns));
    kc_buf_printf(&text, "},\"spec\":{\"expirationSeconds\":%lld,\"audiences\":[",
                  (long long)wanted->life);
    if (*wanted->audience)
        kc_json_quote(&text, kc_cstr(wanted->audience));
    kc_buf_puts(&text, "],\"boundObjectRef\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":");
    kc_json_quote(&text, kc_cstr(in->state->name));
    kc_buf_puts(&text, ",\"uid\":");
    kc_json_quote(&text, kc_cstr(in->state->uid));
    kc_buf_puts(&text, "}}}");
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static int take_response(const kc_object *response, kc_time now, kc__pod_token *token,
                         kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(response);
    const kc_value *status = kc_value_get(kc_view_root(view), "status");
    const kc_str text = kc_value_as_str(kc_value_get(status, "token"));
    kc_time expires;
    if (!text.n || kc_time_parse(kc_value_as_str(kc_value_get(status, "expirationTimestamp")),
                                 &expires, err) < 0)
        return kc_error_set(err, KC_INTERNAL, "the server returned no token");
    free(token->text);
    token->text = kc_str_dup(text);
    token->expires = expires;
    token->renew = KC_MIN(now + MAX_AGE, now + (expires - now) / 10 * 8);
    return 0;
}

static int request_token(const kc__pod_inputs *in, kc__pod_token *token, kc_error *err)
{
    const char *account = in->pod->spec.service_account_name;
    kc_auto(kc_object) *request = token_request(in, token);
    const kc_write_opts opts = {.kind = &kc_kind_service_account,
                                .subresource = "token",
                                .name = account && *account ? account : "default"};
    kc_auto(kc_object) *response = kc_client_create(in->client, request, &opts, err);
    if (!response)
        return kc_error_wrap(err, "failed to fetch token");
    return take_response(response, in->now, token, err);
}

/* ---- the tokens of a pod ---- */

static kc__pod_token *find_token(kc__pod_tokens *tokens, const char *audience, int64_t life)
{
    kc_vec_each (tokens, token)
        if (token->life == life && !strcmp(token->audience, audience))
            return token;
    kc_vec_push(tokens, (kc__pod_token){.audience = kc_strdup(audience), .life = life});
    return kc_vec_last(tokens);
}

int kc__pod_token_text(const kc__pod_inputs *in, const kc_token_projection *source, kc_str *ret,
                       kc_error *err)
{
    const int64_t life = source->expiration_seconds ? *source->expiration_seconds : DEFAULT_LIFE;
    kc__pod_token *token =
        find_token(&in->state->tokens, source->audience ? source->audience : "", life);
    if (!token->text || in->now >= token->renew) {
        if (request_token(in, token, err) < 0) {
            if (!token->text || in->now >= token->expires)
                return kc_error_result(err);
            kc_error_done(err);
            token->renew = in->now + RETRY;
        }
    }
    *ret = kc_arena_str(in->arena, kc_cstr(token->text));
    return 0;
}

kc_time kc__pod_tokens_renewal(const kc__pod_record *state)
{
    kc_time next = KC_FOREVER;
    kc_vec_each (&state->tokens, token)
        if (token->text)
            next = KC_MIN(next, token->renew);
    return next;
}
