/* SPDX-License-Identifier: Apache-2.0 */
/* sa_internal.h: what the files of service-account tokens share. */
#ifndef KC_APISERVER_SA_INTERNAL_H
#define KC_APISERVER_SA_INTERNAL_H

#include "apiserver/access/sa_tokens.h"
#include "apiserver/access/token_cache.h"

/* Counters, with the names and texts of kube-apiserver. */
#define KC__SA_COUNTERS(X)                                                                        \
    X(legacy, "legacy_tokens_total", "Cumulative legacy service account tokens used")             \
    X(stale, "stale_tokens_total", "Cumulative stale projected service account tokens used")      \
    X(valid, "valid_tokens_total", "Cumulative valid projected service account tokens used")      \
    X(manual, "legacy_manual_token_uses_total", "Cumulative manually created legacy tokens used") \
    X(automatic, "legacy_auto_token_uses_total", "Cumulative auto-generated legacy tokens used")  \
    X(invalidated, "invalid_legacy_auto_token_uses_total",                                        \
      "Cumulative invalid auto-generated legacy tokens used")

struct kc__sa_tokens {
    const kc_clock *clock;
    kc_arena arena; /* Holds the texts below. */
    kc__user_audiences issuers, audiences;
    kc__jose_keys keys;          /* Verify. */
    const kc__jose_key *signing; /* One of them. */
    int64_t max_seconds;
    bool extend_expiration;
    kc__sa_objects objects;
    kc__sa_people people;
    kc__token_cache *cache;
    kc_str discovery, key_set;
#define KC__SA_COUNTER_FIELD(name, metric, help) kc_counter *name;
    KC__SA_COUNTERS(KC__SA_COUNTER_FIELD)
#undef KC__SA_COUNTER_FIELD
};

/* Notes for the audit log, with the keys of kube-apiserver. */
enum { KC__SA_MAX_NOTES = 2 };

/* The use of a token by a request: what the metrics count, and what the audit log notes. */
typedef struct kc__sa_use {
    kc_arena *arena;      /* Of the request; holds the notes. */
    kc__user_note *notes; /* KC__SA_MAX_NOTES; in the arena. NULL: there are none yet. */
    size_t n_notes;
} kc__sa_use;

/* Adds a note, if the arena has room. Texts are copied. */
void kc__sa_note(kc__sa_use *use, const char *key, kc_str value);

/* Checks verified claims against the time and the stored objects; `token` is for legacy tokens,
 * which must equal the Secret's. `use` (NULL: the check of a request that began earlier) is counted
 * and noted. 0 or negative. */
int kc__sa_check_claims(kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_str token,
                        kc__sa_use *use, kc_error *err);

/* The user of valid claims; false if the arena is full. */
bool kc__sa_user_of(const kc__sa_claims *claims, kc_arena *arena, kc__user *ret);

/* Fills tokens->discovery and key_set, if the issuer allows it. */
int kc__sa_make_documents(kc__sa_tokens *tokens, const char *jwks_uri, kc_error *err);

#endif
