/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.h: the two databases of a migration during one step, and its parts: checks.c runs the
 * checks, copy.c copies, verify.c and compare.c compare.
 */
#ifndef KC_RECONCILERS_MIGRATION_H
#define KC_RECONCILERS_MIGRATION_H

#include "endpoint.h"
#include "redis.h"

#include "kc/phase.h"

/* Limits, from the program's configuration. */
typedef struct migration_limits {
    int64_t timeout; /* Timeout of one reply. */
    int64_t batch;   /* Maximum number of keys per call; a call also ends after a second. */
    size_t max_key;  /* Maximum size of a value, as DUMP returns it. */
} migration_limits;

typedef struct side {
    const char *role; /* "source", "dest" */
    endpoint at;
    redis *conn; /* NULL until it is opened. */
    char *info;  /* The reply of INFO at that time. */
    char *id;    /* Identifies the server's run and the database: changes with a restart. */
} side;

typedef struct migration {
    side source, dest;
    migration_limits limits;
    kc_cancel *cancel;
} migration;

void migration_done(migration *m);
/* Resolves both endpoints. Errors name the field. */
int migration_resolve(migration *m, kc_client *client, const kc_object *object,
                      const kc_value *root, kc_error *err);
/* Connects and reads INFO. */
int side_open(migration *m, side *s, kc_error *err);
/* Prefixes an error with the server. Negative. */
int side_wrap(const side *s, kc_error *err);
/* A field of INFO; empty if absent. */
kc_str side_info(const side *s, const char *name);
int64_t side_number(const side *s, const char *name); /* 0 if absent. */
/* DBSIZE. */
int side_count(const side *s, int64_t *ret, kc_error *err);

/* ---- iterating over the keys of the source ---- */

enum {
    NAMED_KEYS = 5, /* Number of differing keys that are named. */
    FIRST_WINDOW = 16,
    MAX_WINDOW = 256,
};

/* Progress, stored in the phase's state. */
typedef struct walk {
    uint64_t cursor;
    bool ended;
    int64_t keys;      /* Number of keys visited: some twice, as SCAN returns them. */
    int64_t gone;      /* Number of those that were gone by then. */
    int64_t different; /* Differences found by verify. */
    int64_t total;     /* DBSIZE of the source now. */
    size_t window;     /* Number of keys requested at once. Not stored, like the next two. */
    int64_t keys_before, deadline; /* Of this call. */
    kc_buf named;                  /* The first NAMED_KEYS of them, for messages. */
} walk;

/* Some keys, valid until the next call. */
typedef struct page {
    kc_str *keys;
    size_t n;
    kc_arena arena;
} page;

void walk_done(walk *w);
void page_done(page *p);
/* Continues at the stored position; starts over if it had ended or one of the servers was restarted
 * (which invalidates a cursor and may have lost keys). */
int walk_begin(walk *w, const kc_phase_call *call, const migration *m, kc_error *err);
/* The next keys, possibly none; sets w->ended with the last. */
int walk_next(walk *w, const migration *m, page *ret, kc_error *err);
/* Adapts the window to the size of the replies, which wait in the server's memory. */
void walk_adapt(walk *w, uint64_t bytes);
/* Whether this call continues. */
bool walk_goes_on(const walk *w, const migration *m);
/* Stores the progress and its share of the total. */
int walk_keep(const walk *w, kc_phase_call *call, const migration *m, kc_error *err);

/* Appends a key for messages: quoted, other bytes as \xNN, truncated. */
void key_print(kc_buf *out, kc_str key);
/* Prefixes an error with "key \"…\": ". Negative. */
int key_wrap(kc_str key, kc_error *err);

/* ---- steps ---- */

/* Runs all checks, each an object of the phase; the error is that of the first failure. */
int migration_check(kc_phase_call *call, migration *m, kc_error *err);
/* Whether a Redis of one version can restore the DUMP of another. */
bool reads_dumps_of(kc_str version, kc_str of);
/* One batch. 1: complete. */
int migration_copy(kc_phase_call *call, migration *m, walk *w, kc_error *err);
int migration_verify(kc_phase_call *call, migration *m, walk *w, kc_error *err);

typedef enum compared {
    KEY_SAME = 0,
    KEY_GONE, /* From the source. */
    KEY_DIFFERENT,
} compared;

/* Compares one key in detail; *ret_why (a constant text) is the difference. Negative on errors. */
int compare_key(const migration *m, kc_str key, const char **ret_why, kc_error *err);

#endif
