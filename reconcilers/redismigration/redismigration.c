/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redismigration.c: a phase machine that copies the keys of one Redis database to another.
 *
 *     Pending ──▶ PreFlight ──▶ InFlight: copy_keys, verify ──▶ Succeeded
 *                     └▶ PreFailed    └▶ Failed
 *
 * Pending notes what is to be done; PreFlight looks whether it can be (checks.c), and writes
 * nothing; InFlight copies (copy.c) and compares (verify.c), a batch a call, so that what was done
 * is written down and somebody else may go on with it.
 *
 * What may pass is waited for: a server that does not answer in InFlight for as long as it takes,
 * in PreFlight for half a minute. All else ends the phase, in a sentence; whoever has put it right
 * says so: kubectl annotate redismigration rmtest kubecontroller.io/phase-action=reset. Then it
 * goes on where it was. What PreFlight found holds for those two databases only: when the names
 * mean others later, InFlight does not touch them.
 */
#include "api/database_v1/zz_generated.h"
#include "migration.h"

#include "kc/app.h"
#include "kc/duration.h"
#include "kc/json.h"

enum { TRIES = 6 }; /* Of PreFlight. */

static int begin(migration *m, const kc_phase_call *call, kc_error *err)
{
    const kc_context *ctx = call->context;
    *m = (migration){.limits = *(const migration_limits *)ctx->user, .cancel = call->cancel};
    return migration_resolve(m, ctx->client, call->object, call->root, err);
}

/* {"source":…,"dest":…} and more, if there is. */
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
    return kc_phase_keep(call, kc_buf_str(&json), err);
}

/* ---- Pending ---- */

static kc_phase_verdict collect(kc_phase_call *call, kc_error *err)
{
    kc_autofree char *source = endpoint_title(kc_as_str(kc_dig(call->root, "spec.source")));
    kc_autofree char *dest = endpoint_title(kc_as_str(kc_dig(call->root, "spec.dest")));
    return keep_two(call, source, dest, 0, err) < 0 ? KC_PHASE_FAIL : KC_PHASE_DONE;
}

/* ---- PreFlight ---- */

/* What may pass does not for ever. */
static int count_try(kc_phase_call *call, const migration *m, kc_error *err)
{
    int tries = (int)kc_as_i64_or(kc_get(call->state, "tries"), 0) + 1;
    if (kc_cancel_fired(call->cancel))
        return 0;
    if (kc_phase_is_fatal(err, NULL)) {
        tries = 0;
    } else if (tries >= TRIES) {
        kc_autofree char *text = kc_strdup(kc_error_text(err));
        kc_error_set(err, KC_INVALID, "%s (tried %d times)", text, tries);
        tries = 0;
    }
    return keep_two(call, m->source.at.place, m->dest.at.place, tries, NULL);
}

static kc_phase_verdict precheck(kc_phase_call *call, kc_error *err)
{
    kc_scoped(migration) m = {0};
    if (begin(&m, call, err) < 0)
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
    const kc_str checked =
        kc_as_str(kc_get(kc_dig(call->root, "status.state.PreFlight.state"), s->role));
    if (kc_str_is(checked, s->at.place))
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "the %s is %s now, and was %.*s when it was checked; purge begins anew",
                        s->role, s->at.place, KC_ARG(checked));
}

static int open_both(migration *m, const kc_phase_call *call, kc_error *err)
{
    if (begin(m, call, err) < 0 || is_as_checked(&m->source, call, err) < 0 ||
        is_as_checked(&m->dest, call, err) < 0)
        return -1;
    return side_open(m, &m->source, err) < 0 || side_open(m, &m->dest, err) < 0 ? -1 : 0;
}

/* A batch of one of the two; how far it has come is kept also when it failed. */
static kc_phase_verdict run_batch(kc_phase_call *call,
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
    kc_phase_later(call, KC_MILLISECOND); /* Others have their turn; then it goes on. */
    return done ? KC_PHASE_DONE : KC_PHASE_STAY;
}

static kc_phase_verdict copy_keys(kc_phase_call *call, kc_error *err)
{
    return run_batch(call, migration_copy, err);
}

static kc_phase_verdict verify(kc_phase_call *call, kc_error *err)
{
    return run_batch(call, migration_verify, err);
}

static KC_PHASE_MACHINE(redismigration) = {
    .kind = &redis_migration_kind,
    .initial = "Pending",
    .phases = KC_PHASES({"Pending", collect, .next = "PreFlight"},
                        {"PreFlight", precheck, .next = "InFlight", .failed = "PreFailed"},
                        {"InFlight", KC_SERIAL(copy_keys, verify), .next = "Succeeded",
                         .failed = "Failed"}),
    .terminal = KC_NAMES("Succeeded", "PreFailed", "Failed"),
};

/* ---- settings ---- */

static int read_number(kc_str text, uint64_t least, uint64_t most, uint64_t *ret, kc_error *err)
{
    if (kc_str_to_u64(text, ret) && *ret >= least && *ret <= most)
        return 0;
    return kc_error_set(err, KC_INVALID, "\"%.*s\" is no number from %llu to %llu", KC_ARG(text),
                        (unsigned long long)least, (unsigned long long)most);
}

enum { SET_TIMEOUT, SET_BATCH, SET_MAX_KEY };

static int read_limits(const char *const *settings, migration_limits *ret, kc_error *err)
{
    uint64_t batch = 0, bytes = 0;
    if (kc_duration_parse(kc_cstr(settings[SET_TIMEOUT]), &ret->timeout, err) < 0)
        return kc_error_wrap(err, "timeout");
    if (ret->timeout < 10 * KC_MILLISECOND)
        return kc_error_set(err, KC_INVALID, "timeout: at least 10ms");
    if (read_number(kc_cstr(settings[SET_BATCH]), 1, 1000000, &batch, err) < 0)
        return kc_error_wrap(err, "batch");
    if (read_number(kc_cstr(settings[SET_MAX_KEY]), 1 << 20, 512 << 20, &bytes, err) < 0)
        return kc_error_wrap(err, "max-key-bytes");
    ret->batch = (int64_t)batch;
    ret->max_key = (size_t)bytes;
    return 0;
}

static int setup(const kc_setup *setup, void **ret_user, kc_error *err)
{
    migration_limits *limits = kc_new(migration_limits);
    kc_manager_keep(setup->manager, limits, free);
    *ret_user = limits;
    return read_limits(setup->settings, limits, err);
}

KC_RECONCILER(redismigration) = {
    .description = "copies the keys of one Redis database to another",
    .machine = &redismigration_machine,
    .workers = 4, /* One that waits for a server does not keep the others. */
    .settings =
        KC_SETTINGS([SET_TIMEOUT] = {"timeout", "10s", "how long a Redis server may be silent"},
                    [SET_BATCH] = {"batch", "100000",
                                   "the most keys of a call, which ends after a second, too"},
                    [SET_MAX_KEY] = {"max-key-bytes", "67108864",
                                     "the largest value of a key, as DUMP has it"}),
    .setup = setup,
};
