/* SPDX-License-Identifier: Apache-2.0 */
/* client_internal.h: what the files of the client share: its parts, and how a request is sent. */
#ifndef KC_CLIENT_INTERNAL_H
#define KC_CLIENT_INTERNAL_H

#include "kc/client.h"
#include "kc/ref.h"
#include "kc/thread.h"

typedef struct kc__mapper kc__mapper;

/* What all handles of a client share. Constant but for what has a mutex. */
typedef struct kc__core {
    kc_ref refs;
    kc_transport *transport;
    char *user_agent, *field_manager;
    int64_t timeout;
    const kc_clock *clock;
    kc_log *log;
    kc_metric *retries, *waits;
    kc__mapper *mapper;

    kc_mutex mutex; /* Guards what follows; taken last. */
    kc_rand rand;
    double qps, burst;
    int64_t paid_until;  /* All requests so far, one every 1/qps. */
    uint64_t warned[64]; /* Hashes of what the server warned of last. */
    size_t n_warned;
} kc__core;

struct kc_client {
    kc_ref refs;
    kc__core *core;
    kc_client_bind bind; /* Everything it inherited included. */
};

/* ---- requests ---- */

/* One request to be. A zeroed one is a GET that reads JSON. */
typedef struct kc__ask {
    const char *method; /* Defaults to GET. */
    kc_buf target;
    bool broken; /* What the target was made of is wrong; `why` says it. */
    kc_error why;
    kc_str type, body;
    kc_str accept;     /* Defaults to application/json. */
    bool writes;       /* Is not repeated where it may have been carried out. */
    bool fenced;       /* Asks the fence. */
    bool watches;      /* Has no timeout. */
    kc_cancel *cancel; /* Defaults to the client's. */
} kc__ask;

void kc__ask_done(kc__ask *ask);

/* The answer, if it is one of success (below 300); others become errors. Waits where the client has
 * a limit, tries again where that is right. */
kc_http_response *kc__send(kc_client *client, kc__ask *ask, kc_error *err);
/* Appends all of its body. KC_TOO_LARGE beyond the limit of `out`. */
int kc__read_all(kc_http_response *response, kc_buf *out, kc_error *err);
/* Sends, and reads the object that is answered; it has the kind's name if it has none. `kind` may
 * be NULL. */
kc_object *kc__send_for_object(kc_client *client, kc__ask *ask, const kc_kind *kind, kc_error *err);

/* ---- targets ---- */

typedef struct kc__place {
    const kc_kind *kind;
    kc_str ns, name; /* Both may be empty. */
    const char *subresource;
} kc__place;

/* Begins the target: /apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE, of which only
 * group and version must be there. What is no segment of a path makes kc__send fail. */
void kc__ask_for(kc__ask *ask, const kc__place *place);
/* Adds ?name=value; nothing for NULL. */
void kc__ask_param(kc__ask *ask, const char *name, const char *value);
void kc__ask_param_i64(kc__ask *ask, const char *name, int64_t value);
/* Where a key is: the client's namespace for one without; KC_BAD_REQUEST when that cannot be. */
int kc__locate(const kc_client *client, const kc_kind *kind, kc_key key, kc__place *ret,
               kc_error *err);
/* The namespace of a list; empty for all. */
kc_str kc__list_namespace(const kc_client *client, const kc_kind *kind, const char *ns);

/* What to accept for metadata alone; empty, the default, otherwise. And the kind that has it. */
kc_str kc__accept(bool metadata_only, bool list);
extern const kc_kind kc__kind_metadata;

/* ---- answers ---- */

/* Fills *err from an answer that is none of success. Returns -reason. */
int kc__error_of_answer(const char *method, kc_http_response *response, kc_error *err);
/* From a Status; `code` where it says none. */
int kc__error_of_status(const kc_object *status, int code, kc_error *err);

/* What was answered cannot be read: that is not the request's fault, whatever the parser says. Puts
 * `what` before the message; returns -reason. */
int kc__bad_answer(kc_error *err, const char *what);

/* ---- writing ---- */

/* The kind of an object that is written. */
const kc_kind *kc__kind_of(kc_client *client, const kc_object *object, const kc_kind *said,
                           kc_error *err);
/* Tells the reader what this client has changed. */
void kc__tell_reader(kc_client *client, const kc_kind *kind, const kc_object *object, bool deleted);
/* Whether a write is a dry run, by its options or the client's. */
bool kc__is_dry(const kc_client *client, bool said);

/* ---- kinds ---- */

kc__mapper *kc__mapper_new(void);
kc__mapper *kc__mapper_free(kc__mapper *mapper);

/* kc_client_kind for who knows that the kind may have come this moment: the server is asked
 * whenever it is not known, however short the last time is ago. */
const kc_kind *kc__client_kind_now(kc_client *client, kc_gvk gvk, kc_error *err);

/* A resource as discovery tells it; borrowed. */
typedef struct kc__found {
    kc_gvk gvk;
    kc_str plural, singular;
    bool namespaced, preferred;
    const kc_value *verbs, *short_names, *categories;
} kc__found;

typedef void kc__found_fn(const kc__found *found, void *user);

/* What one version of a group has. */
int kc__discover_version(kc_client *client, kc_str group, kc_str version, kc__found_fn *each,
                         void *user, kc_error *err);
/* What the server has, in its order. Groups that cannot be asked are causes in `ret_missing`. */
int kc__discover_all(kc_client *client, kc__found_fn *each, void *user, kc_error *ret_missing,
                     kc_error *err);

#endif
