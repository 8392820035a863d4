/* SPDX-License-Identifier: Apache-2.0 */
/* audit_internal.h: what the files of the audit log share. */
#ifndef KC_APISERVER_AUDIT_INTERNAL_H
#define KC_APISERVER_AUDIT_INTERNAL_H

#include "apiserver/audit/audit.h"
#include "apiserver/audit/audit_long_event.h"
#include "apiserver/call/response_end.h"

struct kc__audit {
    kc__audit_policy *policy;
    kc__audit_sink *sinks[KC__AUDIT_MAX_SINKS];
    kc__audit_sink_opts opts[KC__AUDIT_MAX_SINKS];
    bool legacy[KC__AUDIT_MAX_SINKS];
    size_t n_sinks;
    kc__rest_audit_log hooks;
    kc_log *log;
    kc_counter *events, *rejected;
    kc_counter *levels[KC__AUDIT_LEVELS];
    kc_metric *errors;
    _Atomic size_t captured_bytes; /* Of response bodies (audit_long_event.h). */
};

typedef struct kc__audit_annotation {
    kc_str key, value;
} kc__audit_annotation;

/* Length of a time with microseconds. */
enum { KC__AUDIT_TIME = 27 };

/* The event of a request. In the arena of the exchange. */
typedef struct kc__audit_event {
    kc__audit *audit;
    kc__audit_decision decision;
    kc__user user; /* The authenticated user. */
    bool early;    /* The request failed before it had a user. */
    bool impersonated;
    int64_t received;                         /* Wall time. */
    kc_str ns, name, uid, version;            /* Of the object in the body. */
    bool has_object;                          /* Those are set. */
    kc_str request_object;                    /* JSON; empty: none. */
    KC_VEC(kc__audit_annotation) annotations; /* In the order of their keys. */
    /* Parts of the JSON that all stages share, once they are written. */
    kc_str requester, source;
    char received_text[KC__AUDIT_TIME]; /* The time `received`. */
    bool received_written;
    bool undelivered; /* A strict sink could not deliver RequestReceived. */
} kc__audit_event;

/* What differs between the stages of an event. */
typedef struct kc__audit_stage_of {
    kc__audit_stage stage;
    int64_t time;           /* Wall time. */
    int code;               /* Of the response; 0: none yet. */
    kc_str status;          /* The JSON of responseStatus; empty: only the code. */
    kc_str response_object; /* JSON; empty: none. */
    bool without_objects;   /* For truncation. */
} kc__audit_stage_of;

/* Positions in the text of an event. */
typedef struct kc__audit_places {
    size_t time;   /* Of the value of stageTimestamp. */
    size_t object; /* Where responseObject belongs. */
} kc__audit_places;

/* The texts of one stage, for different sinks. */
typedef struct kc__audit_texts {
    kc_buf json;
    kc_buf short_json; /* Without objects; empty: not needed. */
    kc_buf legacy;     /* Empty: not needed. */
    kc__audit_places places, short_places;
} kc__audit_texts;

static inline void kc__audit_texts_done(kc__audit_texts *texts)
{
    kc_buf_done(&texts->json);
    kc_buf_done(&texts->short_json);
    kc_buf_done(&texts->legacy);
}

/* ---- audit.c ---- */

/* Writes the forms of an event that the sinks need. `needs_short`: the form without objects, in any
 * case. */
void kc__audit_write_texts(const kc__audit *audit, kc__rest_call *call,
                           const kc__audit_stage_of *stage, bool needs_short, kc__audit_texts *ret);
/* Passes an event to all sinks. `wait` (may be NULL) is held by sinks in a blocking mode. */
void kc__audit_push(kc__audit *audit, const kc__audit_texts *texts, kc__audit_wait *wait);
/* The same for a long event; `texts` has the legacy form only. */
void kc__audit_push_long(kc__audit *audit, kc__audit_long_event *event,
                         const kc__audit_texts *texts);

/* ---- audit_stream.c ---- */

/* Writes ResponseComplete when the streamed response has ended; with its body, if `capture` is
 * set. */
void kc__audit_finish_stream(kc__rest_call *call, kc__http_response *response,
                             const kc__audit_stage_of *stage, bool capture);

/* ---- audit_event.c ---- */

/* Appends the event of a stage as a line of JSON. */
void kc__audit_write(kc_buf *out, const kc__rest_call *call, kc__audit_event *event,
                     const kc__audit_stage_of *stage, kc__audit_places *ret_places);
/* Writes a time with microseconds: KC__AUDIT_TIME bytes. */
void kc__audit_write_time(char *out, int64_t time);
/* The same in the legacy format, a line of text. */
void kc__audit_write_legacy(kc_buf *out, const kc__rest_call *call, const kc__audit_event *event,
                            const kc__audit_stage_of *stage);

/* ---- audit_object.c ---- */

/* Appends compact JSON of an object, a list or a table, without managedFields if they are to be
 * omitted. False if the text is neither JSON nor YAML. */
bool kc__audit_write_object(kc_buf *out, kc_str text, bool omit_managed_fields);
/* Appends responseStatus: the bounded members of a Status, and the code. */
void kc__audit_write_status(kc_buf *out, kc_str body, int code);
/* Appends the options of a deletion. False: the body is neither JSON nor YAML. */
bool kc__audit_write_delete_options(kc_buf *out, kc_str body);

#endif
