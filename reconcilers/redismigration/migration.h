/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.h: the two databases of a migration while one step works with them, and the parts that
 * do the work: checks.c looks first, copy.c copies, verify.c and compare.c compare.
 */
#ifndef KC_RECONCILERS_MIGRATION_H
#define KC_RECONCILERS_MIGRATION_H

#include "endpoint.h"
#include "redis.h"

#include "kc/phase.h"

/* How much at a time; what a program's configuration may say. */
typedef struct migration_limits {
    int64_t timeout; /* Of one answer. */
    int64_t batch;   /* Keys of one call, at most; a call ends after a second, too. */
    size_t max_key;  /* Bytes of a key's value, as DUMP gives it. */
} migration_limits;

typedef struct side {
    const char *role; /* "source", "dest" */
    endpoint at;
    redis *conn; /* NULL until it is opened. */
    char *info;  /* What INFO said then. */
    char *id;    /* Of the server's run and the database: another after a restart. */
} side;

typedef struct migration {
    side source, dest;
    migration_limits limits;
    kc_cancel *cancel;
} migration;

void migration_done(migration *m);
/* Where both are. Errors name the field. */
int migration_resolve(migration *m, kc_client *client, const kc_object *object,
                      const kc_value *root, kc_error *err);
/* Connects, and asks INFO. */
int side_open(migration *m, side *s, kc_error *err);
/* Puts before an error which server it is about. Negative. */
int side_wrap(const side *s, kc_error *err);
/* What INFO has; empty when it has none of that name. */
kc_str side_info(const side *s, const char *name);
int64_t side_number(const side *s, const char *name); /* 0 for none. */
/* DBSIZE. */
int side_count(const side *s, int64_t *ret, kc_error *err);

/* ---- going through the keys of the source ---- */

enum {
    NAMED_KEYS = 5, /* Of those that differ. */
    FIRST_WINDOW = 16,
    MAX_WINDOW = 256,
};

/* How far it has come, kept in the phase's state. */
typedef struct walk {
    uint64_t cursor;
    bool ended;
    int64_t keys;      /* Gone through: some twice, as SCAN does. */
    int64_t gone;      /* Of those: not there any more when they were looked at. */
    int64_t different; /* Found by verify. */
    int64_t total;     /* DBSIZE of the source, now. */
    size_t window;     /* How many keys a server is asked for at once. Not kept, as the next two. */
    int64_t keys_before, deadline; /* Of this call. */
    kc_buf named;                  /* The first NAMED_KEYS of those, for people. */
} walk;

/* Some keys; they live until the next. */
typedef struct page {
    kc_str *keys;
    size_t n;
    kc_arena arena;
} page;

void walk_done(walk *w);
void page_done(page *p);
/* Where it was; from the beginning when it had ended, or one of the servers was started anew (which
 * makes a cursor meaningless, and may have lost keys). */
int walk_begin(walk *w, const kc_phase_call *call, const migration *m, kc_error *err);
/* The next keys, none perhaps; w->ended with the last. */
int walk_next(walk *w, const migration *m, page *ret, kc_error *err);
/* So many bytes were answered for a window: the next may be larger, or had better be smaller, since
 * answers wait in the server's memory. */
void walk_adapt(walk *w, uint64_t bytes);
/* Whether it goes on in this call. */
bool walk_goes_on(const walk *w, const migration *m);
/* Writes it down, and how much that is of all. */
int walk_keep(const walk *w, kc_phase_call *call, const migration *m, kc_error *err);

/* Appends a key for people: quoted, its other bytes as \xNN, cut when it is long. */
void key_print(kc_buf *out, kc_str key);
/* "key \"…\": " before an error. Negative. */
int key_wrap(kc_str key, kc_error *err);

/* ---- the work ---- */

/* All checks, each an object of the phase; the error is the first's that failed. */
int migration_check(kc_phase_call *call, migration *m, kc_error *err);
/* Whether a Redis of one version reads what DUMP of another gives. */
bool reads_dumps_of(kc_str version, kc_str of);
/* One batch. 1: all is done. */
int migration_copy(kc_phase_call *call, migration *m, walk *w, kc_error *err);
int migration_verify(kc_phase_call *call, migration *m, walk *w, kc_error *err);

typedef enum compared {
    KEY_SAME = 0,
    KEY_GONE, /* From the source. */
    KEY_DIFFERENT,
} compared;

/* Looks closely at one key; *ret_why (a constant text) says how it differs. Negative on errors. */
int compare_key(const migration *m, kc_str key, const char **ret_why, kc_error *err);

#endif
