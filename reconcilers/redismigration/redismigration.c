/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redismigration.c: a phase machine that copies the keys of one Redis database to another.
 *
 *     Pending ──▶ PreFlight ──▶ InFlight: copy_keys, verify ──▶ Succeeded
 *                     └▶ PreFailed    └▶ Failed
 *
 * Pending records the request; PreFlight checks whether it is possible (checks.c) and writes
 * nothing to the databases; InFlight copies (copy.c) and compares (verify.c), one batch per call,
 * so that progress is stored and another process can continue.
 *
 * Temporary errors are retried: an unreachable server in InFlight without limit, in PreFlight for
 * half a minute. Any other error fails the phase with a message; after the cause is fixed, a reset
 * continues where it was: kubectl annotate redismigration rmtest
 * kubecontroller.io/phase-action=reset. The result of PreFlight holds for those two databases only:
 * if the names refer to others later, InFlight does not touch them.
 */
#include "api/database_v1/zz_generated.h"
#include "migration.h"

#include "kc/app.h"
#include "kc/duration.h"
#include "kc/json.h"

enum { TRIES = 6 }; /* Retries of PreFlight. */

static int redismigration_begin(migration *m, const kc_phase_call *call, kc_error *err)
{
    const kc_context *ctx = call->context;
    *m = (migration){.limits = *(const migration_limits *)ctx->user, .cancel = call->cancel};
    return migration_resolve(m, ctx->client, call->object, call->root, err);
}

/* {"source":…,"dest":…} and more, if any. */
static int keep_two(kc_phase_call *call, const char *source, const char *dest, int tries,
                    kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"source\":");
    kc_json_quote(&json, kc_cstr(source));
    kc_buf_puts(&json, ",\"dest\":");
    kc_json_quote(&json, kc_cstr(dest));
    if (tries)
        kc_buf_printf(&json, ",\"tries\":%d", tries);
    kc_buf_puts(&json, "}");
    return kc_phase_set_state(call, kc_buf_str(&json), err);
}

/* ---- Pending ---- */

static kc_phase_result redismigration_collect(kc_phase_call *call, kc_error *err)
{
    kc_autofree char *source =
        endpoint_title(kc_value_as_str(kc_value_nested(call->root, "spec.source")));
    kc_autofree char *dest =
        endpoint_title(kc_value_as_str(kc_value_nested(call->root, "spec.dest")));
    return keep_two(call, source, dest, 0, err) < 0 ? KC_PHASE_FAIL : KC_PHASE_DONE;
}

/* ---- PreFlight ---- */

/* Temporary errors are retried only for so long. */
static int count_try(kc_phase_call *call, const migration *m, kc_error *err)
{
    int tries = (int)kc_value_as_i64_or(kc_value_get(call->state, "tries"), 0) + 1;
    if (kc_cancel_fired(call->cancel))
        return 0;
    if (kc_phase_is_fatal(err, NULL)) {
        tries = 0;
    } else if (tries >= TRIES) {
        kc_autofree char *text = kc_strdup(kc_error_text(err));
        kc_error_set(err, KC_INVALID, "%s (after %d attempts)", text, tries);
        tries = 0;
    }
    return keep_two(call, m->source.at.place, m->dest.at.place, tries, NULL);
}

static kc_phase_result precheck(kc_phase_call *call, kc_error *err)
{
    kc_scoped(migration) m = {0};
    if (redismigration_begin(&m, call, err) < 0)
        return KC_PHASE_FAIL;
    if (migration_check(call, &m, err) < 0) {
        count_try(call, &m, err);
        return KC_PHASE_FAIL;
    }
    return keep_two(call, m.source.at.place, m.dest.at.place, 0, err) < 0 ? KC_PHASE_FAIL
                                                                          : KC_PHASE_DONE;
}

/* ---- InFlight ---- */

static int is_as_checked(const side *s, const kc_phase_call *call, kc_error *err)
{
    const kc_str checked = kc_value_as_str(
        kc_value_get(kc_value_nested(call->root, "status.state.PreFlight.state"), s->role));
    if (kc_str_is(checked, s->at.place))
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the %s is %s now and was %.*s in PreFlight; purge restarts the "
                        "migration",
                        s->role, s->at.place, KC_ARG(checked));
}

static int open_both(migration *m, const kc_phase_call *call, kc_error *err)
{
    if (redismigration_begin(m, call, err) < 0 || is_as_checked(&m->source, call, err) < 0 ||
        is_as_checked(&m->dest, call, err) < 0)
        return kc_error_result(err);
    return side_open(m, &m->source, err) < 0 || side_open(m, &m->dest, err) < 0
               ? kc_error_result(err)
               : 0;
}

/* A batch of one of the two; the progress is stored also after a failure. */
static kc_phase_result run_batch(kc_phase_call *call,
                                 int (*batch)(kc_phase_call *, migration *, walk *, kc_error *),
                                 kc_error *err)
{
    kc_scoped(migration) m = {0};
    kc_scoped(walk) w = {0};
    if (open_both(&m, call, err) < 0 || walk_begin(&w, call, &m, err) < 0)
        return KC_PHASE_FAIL;
    const int done = batch(call, &m, &w, err);
    if (walk_keep(&w, call, &m, done < 0 ? NULL : err) < 0 || done < 0)
        return KC_PHASE_FAIL;
    kc_phase_requeue_after(call, KC_MILLISECOND); /* Requeue, so that other objects get their
                                                   * turn. */
    return done ? KC_PHASE_DONE : KC_PHASE_STAY;
}

static kc_phase_result copy_keys(kc_phase_call *call, kc_error *err)
{
    return run_batch(call, migration_copy, err);
}

static kc_phase_result verify(kc_phase_call *call, kc_error *err)
{
    return run_batch(call, migration_verify, err);
}

static KC_PHASE_MACHINE(redismigration) = {
    .kind = &redis_migration_kind,
    .initial = "Pending",
    .phases = KC_PHASES({"Pending", redismigration_collect, .next = "PreFlight"},
                        {"PreFlight", precheck, .next = "InFlight", .failed = "PreFailed"},
                        {"InFlight", KC_SERIAL(copy_keys, verify), .next = "Succeeded",
                         .failed = "Failed"}),
    .terminal = KC_NAMES("Succeeded", "PreFailed", "Failed"),
};

/* ---- settings ---- */

static int redismigration_read_number(kc_str text, uint64_t least, uint64_t most, uint64_t *ret,
                                      kc_error *err)
{
    if (kc_str_to_u64(text, ret) && *ret >= least && *ret <= most)
        return 0;
    return kc_error_set(err, KC_INVALID, "\"%.*s\" is not a number from %llu to %llu", KC_ARG(text),
                        (unsigned long long)least, (unsigned long long)most);
}

enum { SET_TIMEOUT, SET_BATCH, SET_MAX_KEY };

static int read_limits(const char *const *settings, migration_limits *ret, kc_error *err)
{
    uint64_t batch = 0, bytes = 0;
    if (kc_duration_parse(kc_cstr(settings[SET_TIMEOUT]), &ret->timeout, err) < 0)
        return kc_error_wrap(err, "timeout");
    if (ret->timeout < 10 * KC_MILLISECOND)
        return kc_error_set(err, KC_INVALID, "timeout must be at least 10ms");
    if (redismigration_read_number(kc_cstr(settings[SET_BATCH]), 1, 1000000, &batch, err) < 0)
        return kc_error_wrap(err, "batch");
    if (redismigration_read_number(kc_cstr(settings[SET_MAX_KEY]), 1 << 20, 512 << 20, &bytes,
                                   err) < 0)
        return kc_error_wrap(err, "max-key-bytes");
    ret->batch = (int64_t)batch;
    ret->max_key = (size_t)bytes;
    return 0;
}

static int setup(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    migration_limits *limits = kc_new(migration_limits);
    kc_manager_defer(setup->manager, limits, free);
    *ret_user = limits;
    return read_limits(setup->settings, limits, err);
}

KC_RECONCILER(redismigration) = {
    .description = "copies the keys of one Redis database to another",
    .machine = &redismigration_machine,
    .workers = 4, /* A worker that waits for a server does not block the others. */
    .settings =
        KC_SETTINGS([SET_TIMEOUT] = {"timeout", "10s", "timeout for replies of a Redis server"},
                    [SET_BATCH] = {"batch", "100000",
                                   "maximum number of keys per call; a call also ends after a "
                                   "second"},
                    [SET_MAX_KEY] = {"max-key-bytes", "67108864",
                                     "maximum size of a value in bytes, as returned by DUMP"}),
    .setup = setup,
};
