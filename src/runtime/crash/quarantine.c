/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quarantine.c: records of keys whose reconcile crashed.
 *
 *     crash 1        record, crashes = 1       retried, like a failure
 *     crash 2        crashes = 2: held         its events are dropped until its object changes
 *     change         crashes = 0               retried
 *     deletion       no record                 not retried
 *     success        no record
 *
 * The version of an object is looked up before a call only for keys that have a record, so the
 * first crash of a key has no version; the next call records the version that it finds. A held key
 * has therefore crashed at exactly the recorded version, even if the object changes meanwhile.
 *
 * With a journal every change of a record is written to the quarantine's file and synced before the
 * worker continues, so that the next process knows it. Records are few (a controller is paused
 * after some crashes), so the whole file is written, under the mutex, which keeps its versions in
 * order.
 *
 * Deterministic: time comes from the clock, order from the map; without a journal no file is read.
 */
#include "runtime/crash/quarantine.h"

#include "kc/duration.h"
#include "kc/file.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/thread.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>

enum { MAX_TEXT = 512, MAX_FILE = 4 << 20 };

typedef struct quarantine_record {
    char *id; /* Key of the map: controller, newline, key. */
    char *controller, *key;
    uint64_t code, version; /* 0: unknown. */
    unsigned crashes;
    unsigned deaths; /* Consecutive processes that ended during a call for this key. */
    char *what;
    int64_t at,
        held_since; /* Times of the clock; loaded records count from the start of the process. */
} quarantine_record;

struct kc__quarantine {
    const kc_clock *clock;
    kc_log *log;
    const char *path; /* NULL: in memory only. */
    _Atomic size_t n;
    kc_mutex mutex; /* Guards the records and the file. No lock is taken under it. */
    kc_map records;
};

/* ---- records ---- */

static char *id_of(const char *controller, kc_key key)
{
    kc_buf id = {0};
    kc_buf_printf(&id, "%s\n", controller);
    kc_key_write(&id, key);
    return kc_buf_take(&id);
}

static void record_free(quarantine_record *r)
{
    free(r->id);
    free(r->controller);
    free(r->key);
    free(r->what);
    free(r);
}

static void quarantine_drop(kc__quarantine *q, quarantine_record *r)
{
    kc_map_remove(&q->records, kc_cstr(r->id));
    atomic_fetch_sub(&q->n, 1);
    record_free(r);
}

static void quarantine_drop_oldest(kc__quarantine *q)
{
    kc_map_entry *first = kc__map_entry_from(&q->records, 0);
    if (first)
        quarantine_drop(q, first->value);
}

static quarantine_record *quarantine_find(kc__quarantine *q, const kc__quarantine_key *key)
{
    kc_autofree char *id = id_of(key->controller, key->key);
    return kc_map_get(&q->records, kc_cstr(id));
}

static quarantine_record *quarantine_add(kc__quarantine *q, const char *controller, kc_str key)
{
    kc_key parsed = {0};
    if (q->records.n >= KC__QUARANTINE_MAX)
        quarantine_drop_oldest(q);
    quarantine_record *r = kc_new(quarantine_record);
    kc_key_parse(key, &parsed, NULL);
    r->id = id_of(controller, parsed);
    r->controller = kc_strdup(controller);
    r->key = kc_str_dup(key);
    r->what = kc_strdup("");
    r->at = r->held_since = kc_clock_now(q->clock);
    quarantine_record *former = kc_map_put(&q->records, kc_cstr(r->id), r);
    if (former)
        record_free(former);
    else
        atomic_fetch_add(&q->n, 1);
    return r;
}

static quarantine_record *find_or_add(kc__quarantine *q, const kc__quarantine_key *key)
{
    quarantine_record *r = quarantine_find(q, key);
    if (r)
        return r;
    kc_scoped(kc_buf) text = {0};
    kc_key_write(&text, key->key);
    r = quarantine_add(q, key->controller, kc_buf_str(&text));
    r->code = key->code;
    return r;
}

static void set_what(quarantine_record *r, const char *what)
{
    free(r->what);
    r->what = kc_str_dup(kc_str_sub(kc_cstr(what), 0, MAX_TEXT));
}

static bool quarantine_is_held(const quarantine_record *r)
{
    return r->crashes >= KC__QUARANTINE_CRASHES || r->deaths >= KC__QUARANTINE_DEATHS;
}

/* Held, and no change of an object releases it. */
static bool is_held_for_a_time(const quarantine_record *r)
{
    return r->crashes < KC__QUARANTINE_CRASHES || !r->version;
}

static kc__quarantine_verdict verdict_of(kc__quarantine *q, const quarantine_record *r,
                                         int64_t *ret_after)
{
    if (!quarantine_is_held(r))
        return KC__QUARANTINE_RUN;
    if (!is_held_for_a_time(r))
        return KC__QUARANTINE_HELD;
    *ret_after = KC_MAX(r->held_since + KC__QUARANTINE_PERIOD - kc_clock_now(q->clock), 0);
    return *ret_after ? KC__QUARANTINE_HELD_FOR : KC__QUARANTINE_RUN;
}

/* ---- the file ---- */

static void quarantine_put_text(kc_buf *out, const char *name, const char *text)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, kc_cstr(text));
}

static void put_record(const quarantine_record *r, kc_buf *out)
{
    kc_buf_printf(out, "{\"crashes\":%u,\"deaths\":%u", r->crashes, r->deaths);
    quarantine_put_text(out, "controller", r->controller);
    quarantine_put_text(out, "key", r->key);
    quarantine_put_text(out, "what", r->what);
    kc_buf_printf(out, ",\"version\":\"%" PRIx64 "\",\"code\":\"%" PRIx64 "\"}", r->version,
                  r->code);
}

/* Call it with the mutex held. A write error is not fatal: the records still apply in this
 * process. */
static void save(kc__quarantine *q)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    const char *between = "[\n";
    if (!q->path)
        return;
    kc_map_each (&q->records, entry) {
        kc_buf_puts(&text, between);
        put_record(entry->value, &text);
        between = ",\n";
    }
    kc_buf_puts(&text, *between == '[' ? "[]\n" : "\n]\n");
    if (kc_file_write(q->path, 0600, kc_buf_str(&text), &err) < 0)
        kc_log_error(q->log, "cannot save the quarantine", kc_kv("err", &err));
}

static uint64_t hex_of(const kc_value *value)
{
    const char *text = kc_value_as_cstr(value, "");
    return strtoull(text, NULL, 16);
}

static void load_record(kc__quarantine *q, const kc_value *item)
{
    const char *controller = kc_value_as_cstr(kc_value_get(item, "controller"), NULL);
    const kc_str key = kc_value_as_str(kc_value_get(item, "key"));
    kc_key parsed;
    if (!controller || kc_key_parse(key, &parsed, NULL) < 0)
        return;
    quarantine_record *r = quarantine_add(q, controller, key);
    r->code = hex_of(kc_value_get(item, "code"));
    r->version = hex_of(kc_value_get(item, "version"));
    r->crashes = (unsigned)KC_MAX(kc_value_as_i64_or(kc_value_get(item, "crashes"), 0), 0);
    r->deaths = (unsigned)KC_MAX(kc_value_as_i64_or(kc_value_get(item, "deaths"), 0), 0);
    set_what(r, kc_value_as_cstr(kc_value_get(item, "what"), ""));
}

/* An unreadable file counts as absent: the control plane must start. */
static void quarantine_load(kc__quarantine *q)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    if (kc_file_read(q->path, MAX_FILE, &text, &err) < 0) {
        if (!kc_error_has_reason(&err, KC_NOT_FOUND))
            kc_log_warn(q->log, "ignoring the quarantine file", kc_kv("err", &err));
        return;
    }
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, &err);
    if (!view) {
        kc_log_warn(q->log, "ignoring the quarantine file", kc_kv("file", q->path),
                    kc_kv("err", &err));
        return;
    }
    kc_value_each_item (kc_view_root(view), item)
        load_record(q, item);
}

/* ---- calls interrupted by the end of the last process ---- */

static quarantine_record *record_of_call(kc__quarantine *q, const kc__crash_interrupted_call *call)
{
    kc__quarantine_key key = {.controller = call->controller, .code = call->code};
    if (kc_key_parse(kc_cstr(call->key), &key.key, NULL) < 0)
        return NULL;
    quarantine_record *r = find_or_add(q, &key);
    if (r->code != call->code) { /* The code has changed: earlier crashes do not count. */
        r->code = call->code;
        r->crashes = r->deaths = 0;
        r->version = 0;
    }
    return r;
}

static const char *signal_text(uint32_t number)
{
    const char *text = number ? sigabbrev_np((int)number) : NULL;
    return text ? text : "an unknown signal";
}

/* A call that ended the process is held at once. */
static void hold_crashed(kc__quarantine *q, const kc_crash_journal *journal,
                         const kc__crash_interrupted_call *call)
{
    quarantine_record *r = record_of_call(q, call);
    if (!r)
        return;
    kc_autofree char *what =
        kc_asprintf("the process ended with SIG%s", signal_text(journal->last_signal));
    r->crashes = KC_MAX(r->crashes + 1, KC__QUARANTINE_CRASHES);
    set_what(r, what);
    kc_log_error(q->log, "a reconcile crashed the previous process; its key is quarantined",
                 kc_kv("controller", call->controller), kc_kv("key", call->key),
                 kc_kv("signal", signal_text(journal->last_signal)));
}

static void count_death(kc__quarantine *q, const kc__crash_interrupted_call *call)
{
    quarantine_record *r = record_of_call(q, call);
    if (!r)
        return;
    r->deaths++;
    if (r->deaths >= KC__QUARANTINE_DEATHS) {
        set_what(r, "in progress each time the process ended");
        kc_log_error(q->log,
                     "key was in progress each time the process ended; quarantined temporarily",
                     kc_kv("controller", call->controller), kc_kv("key", call->key),
                     kc_kv("times", r->deaths));
    }
}

/* Deaths must be consecutive: clears those of keys that were not being reconciled. A held key
 * could not be. */
static void acquit_others(kc__quarantine *q, const kc_crash_journal *journal)
{
    kc_map_each (&q->records, entry) {
        quarantine_record *r = entry->value;
        bool under_way = false;
        kc_vec_each (&journal->interrupted, call)
            under_way = under_way ||
                        (!strcmp(call->controller, r->controller) && !strcmp(call->key, r->key));
        if (under_way || quarantine_is_held(r))
            continue;
        r->deaths = 0;
        if (!r->crashes)
            quarantine_drop(q, r);
    }
}

static void take_interrupted(kc__quarantine *q, const kc_crash_journal *journal)
{
    bool known = false;
    kc_vec_each (&journal->interrupted, call)
        known = known || call->crashed;
    kc_vec_each (&journal->interrupted, call) {
        if (call->crashed)
            hold_crashed(q, journal, call);
        else if (!known)
            count_death(q, call);
    }
    acquit_others(q, journal);
    save(q);
}

/* ---- lifecycle ---- */

kc__quarantine *kc__quarantine_new(kc_crash_journal *journal, const kc_clock *clock, kc_log *log)
{
    kc__quarantine *q = kc_new(kc__quarantine);
    q->clock = clock;
    q->log = log;
    kc_mutex_init(&q->mutex);
    if (!journal)
        return q;
    q->path = journal->quarantine_path;
    quarantine_load(q);
    take_interrupted(q, journal);
    return q;
}

kc__quarantine *kc__quarantine_free(kc__quarantine *q)
{
    if (!q)
        return NULL;
    kc_map_each (&q->records, entry)
        record_free(entry->value);
    kc_map_done(&q->records);
    kc_mutex_done(&q->mutex);
    free(q);
    return NULL;
}

/* ---- queries and updates ---- */

bool kc__quarantine_knows(kc__quarantine *q, const kc__quarantine_key *key)
{
    bool known = false;
    if (!atomic_load_explicit(&q->n, memory_order_relaxed))
        return false;
    kc_locked (&q->mutex)
        known = quarantine_find(q, key) != NULL;
    return known;
}

/* The object is deleted, so the reason for the record is gone. */
static bool quarantine_is_finished(const quarantine_record *r, uint64_t version)
{
    return quarantine_is_held(r) && version == KC__QUARANTINE_ABSENT && r->version != version;
}

/* Clears the crashes of another version, and of other code. */
static void quarantine_compare(quarantine_record *r, const kc__quarantine_key *key,
                               uint64_t version)
{
    const bool same_code = !r->code || !key->code || r->code == key->code;
    const bool same_version = !r->version || !version || r->version == version;
    if (!same_code || !same_version)
        r->crashes = r->deaths = 0;
    r->code = key->code;
    r->version = version ? version : r->version;
}

kc__quarantine_verdict kc__quarantine_admit(kc__quarantine *q, const kc__quarantine_key *key,
                                            uint64_t version, int64_t *ret_after)
{
    kc__quarantine_verdict verdict = KC__QUARANTINE_RUN;
    kc_locked (&q->mutex) {
        quarantine_record *r = quarantine_find(q, key);
        if (!r)
            break;
        if (quarantine_is_finished(r, version)) {
            quarantine_drop(q, r);
            save(q);
            verdict = KC__QUARANTINE_HELD;
            break;
        }
        const quarantine_record before = *r;
        quarantine_compare(r, key, version);
        verdict = verdict_of(q, r, ret_after);
        if (before.version != r->version || before.code != r->code ||
            before.crashes != r->crashes || before.deaths != r->deaths)
            save(q);
    }
    return verdict;
}

kc__quarantine_verdict kc__quarantine_crashed(kc__quarantine *q, const kc__quarantine_key *key,
                                              uint64_t version, const char *what,
                                              int64_t *ret_after)
{
    kc__quarantine_verdict verdict = KC__QUARANTINE_RUN;
    kc_locked (&q->mutex) {
        quarantine_record *r = find_or_add(q, key);
        quarantine_compare(r, key, version);
        r->crashes++;
        r->at = r->held_since = kc_clock_now(q->clock);
        set_what(r, what);
        verdict = verdict_of(q, r, ret_after);
        save(q);
    }
    return verdict;
}

void kc__quarantine_clear(kc__quarantine *q, const kc__quarantine_key *key)
{
    if (!atomic_load_explicit(&q->n, memory_order_relaxed))
        return;
    kc_locked (&q->mutex) {
        quarantine_record *r = quarantine_find(q, key);
        if (!r)
            break;
        quarantine_drop(q, r);
        save(q);
    }
}

/* ---- inspection ---- */

size_t kc__quarantine_count(kc__quarantine *q, const char *controller)
{
    size_t n = 0;
    kc_locked (&q->mutex)
        kc_map_each (&q->records, entry) {
            const quarantine_record *r = entry->value;
            n += quarantine_is_held(r) && strcmp(r->controller, controller) == 0;
        }
    return n;
}

void kc__quarantine_write(kc__quarantine *q, const char *controller, kc_buf *out)
{
    const int64_t now = kc_clock_now(q->clock);
    const char *between = "[";
    kc_locked (&q->mutex)
        kc_map_each (&q->records, entry) {
            const quarantine_record *r = entry->value;
            if (!quarantine_is_held(r) || strcmp(r->controller, controller) != 0)
                continue;
            kc_buf_puts(out, between);
            between = ",";
            kc_buf_printf(out, "{\"crashes\":%u", r->crashes);
            quarantine_put_text(out, "key", r->key);
            quarantine_put_text(out, "what", r->what);
            kc_buf_puts(out, ",\"ago\":\"");
            kc_duration_write(out, KC_MAX(now - r->at, 0));
            kc_buf_puts(out, "\"}");
        }
    kc_buf_puts(out, *between == '[' ? "[]" : "]");
}
