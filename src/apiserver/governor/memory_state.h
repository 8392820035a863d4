/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_state.h: the memory level of the server, and the requests that it rejects at that level.
 * Pure functions of readings: the governor (governor.h) takes the readings.
 *
 * A reading of the process's memory is some milliseconds old. The bytes counted since then are
 * added to it, so a burst of requests between two readings is included:
 *
 *     projected = resident (at the last reading) + counted now - counted then + this request
 */
#ifndef KC_APISERVER_MEMORY_STATE_H
#define KC_APISERVER_MEMORY_STATE_H

#include "kc/str.h"

typedef enum kc__memory_level {
    KC__MEMORY_OK,
    KC__MEMORY_SOFT, /* Above the soft limit: expensive requests are rejected. */
    KC__MEMORY_HARD, /* Above the hard limit: responses in progress are cancelled, too. */
} kc__memory_level;

typedef struct kc__memory_state {
    size_t soft, hard; /* Limits in bytes; 0: none. */
    size_t resident;   /* Anonymous memory of the process at the last reading; 0: not read. */
    size_t counted;    /* Bytes that requests, responses, … hold now. */
    size_t counted_at_reading;
} kc__memory_state;

/* The bytes that the process is expected to use after `more` are allocated. */
size_t kc__memory_projected(const kc__memory_state *state, size_t more);
kc__memory_level kc__memory_judge(const kc__memory_state *state, size_t more);

/* The cost class of a request. */
typedef enum kc__governor_request_class {
    KC__GOVERNOR_CLASS_EXEMPT, /* Health, GET of one object, DELETE, leases: always served. */
    KC__GOVERNOR_CLASS_LIGHT,  /* Small writes, lists with a limit: rejected above the hard
                                  limit. */
    KC__GOVERNOR_CLASS_HEAVY,  /* Lists without limit, large bodies, watches, CRDs: rejected
                                  above the soft limit. */
} kc__governor_request_class;

/* The attributes that determine the class. */
typedef struct kc__governor_request_traits {
    const char *verb;       /* "list"; for a non-resource path "get", "post", … */
    kc_str group, resource; /* Empty resource: a non-resource path. */
    size_t body;            /* Bytes of the body. */
    int64_t limit;          /* Of a list; 0: none. */
} kc__governor_request_traits;

/* Lists of at most this many objects, and bodies of at most this many bytes, are light requests. */
#define KC__GOVERNOR_LIGHT_LIST ((int64_t)500)
#define KC__GOVERNOR_LIGHT_BODY ((size_t)64 << 10)

kc__governor_request_class kc__governor_request_class_of(const kc__governor_request_traits *traits);
/* The memory that a request with this body is expected to hold while it runs: text, trees,
 * copies. */
size_t kc__governor_request_cost(size_t body);
bool kc__memory_refuses(kc__memory_level level, kc__governor_request_class request_class);

/* The number of bytes of responses in progress to cancel; 0 unless the state is above the hard
 * limit. */
size_t kc__memory_excess(const kc__memory_state *state);

#endif
