/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_run.c: runs operations: hashing threads, group writes, the end.
 *
 * At most KC__PEOPLE_HASHES hashes are computed at a time, each with 32 MiB. An operation that
 * finds both threads busy fails at once with 429: a queue would let a client that guesses passwords
 * delay other users.
 *
 * An operation belongs to its loop; while a thread hashes, the thread reads the passwords of the op
 * and writes `verified` and `made`, and the loop touches neither.
 */
#include "apiserver/people/people_run.h"

/* ---- operations ---- */

static kc_str copy_terminated(kc_str text)
{
    return text.p ? kc_str_of(kc_str_dup(text), text.n) : (kc_str){0};
}

static void wipe_text(kc_str *text)
{
    if (text->p)
        explicit_bzero((char *)text->p, text->n);
    free((char *)text->p);
    *text = (kc_str){0};
}

kc__people_op *kc__people_op_new(const kc__people_op *inputs)
{
    kc__people_op *op = kc_new(kc__people_op);
    *op = *inputs;
    op->user = copy_terminated(inputs->user);
    op->password = copy_terminated(inputs->password);
    op->old_password = copy_terminated(inputs->old_password);
    op->session = copy_terminated(inputs->session);
    op->address = copy_terminated(inputs->address);
    return op;
}

kc__people_op *kc__people_op_free(kc__people_op *op)
{
    if (!op)
        return NULL;
    wipe_text(&op->user);
    wipe_text(&op->password);
    wipe_text(&op->old_password);
    wipe_text(&op->session);
    wipe_text(&op->address);
    kc_buf_wipe(&op->token);
    kc_buf_wipe(&op->session_key);
    kc_error_done(&op->error);
    free(op);
    return NULL;
}

/* ---- begin and end ---- */

kc__people_run *kc__people_run_new(kc__people *people, kc__people_op *op)
{
    kc__people_run *run = kc_new(kc__people_run);
    run->people = people;
    run->op = op;
    return run;
}

static void drop_writes(kc__people_run *run)
{
    for (size_t i = 0; i < run->n_writes; i++) {
        kc_object_unref(run->writes[i].object);
        kc_object_unref(run->writes[i].result);
        kc_error_done(&run->writes[i].error);
        free(run->keys[i]);
    }
    run->n_writes = run->n_written = 0;
}

static void count_operation(const kc__people_run *run)
{
    static const char *const names[] = {
        [KC__PEOPLE_LOGIN] = "login",   [KC__PEOPLE_RENEW] = "renew",
        [KC__PEOPLE_LOGOUT] = "logout", [KC__PEOPLE_SET_PASSWORD] = "password",
        [KC__PEOPLE_ISSUE] = "issue",   [KC__PEOPLE_REVOKE] = "revoke",
    };
    char code[8];
    snprintf(code, sizeof(code), "%d", run->op->error.reason ? run->op->error.code : 200);
    kc_counter_inc(
        kc_metric_counter(run->people->operations, kc_cstr(names[run->op->action]), kc_cstr(code)));
}

void kc__people_run_end(kc__people_run *run)
{
    kc__people_op *op = run->op;
    const bool wrong = op->error.reason == KC_UNAUTHORIZED;
    if (run->limited && !wrong)
        kc__people_limits_return(run->people->limits, run->account, op->address);
    count_operation(run);
    drop_writes(run);
    kc_buf_wipe(&run->stored);
    kc_buf_wipe(&run->made);
    kc_buf_done(&run->session_id);
    free(run);
    op->done(op);
}

void kc__people_run_fail(kc__people_run *run, kc_reason reason, const char *text)
{
    kc_error_done(&run->op->error);
    kc_error_set(&run->op->error, reason, "%s", text);
    kc__people_run_end(run);
}

static void refuse_for_load(kc__people_run *run, int seconds, const char *text)
{
    kc_error_set(&run->op->error, KC_TOO_MANY_REQUESTS, "%s", text);
    run->op->error.retry_after_seconds = seconds;
    kc__people_run_end(run);
}

bool kc__people_run_limit(kc__people_run *run, kc_str account)
{
    int seconds = 0;
    if (kc__people_limits_take(run->people->limits, account, run->op->address, &seconds)) {
        run->limited = true;
        run->account = account;
        return true;
    }
    refuse_for_load(run, seconds, "too many attempts for this user or from this address");
    return false;
}

/* ---- hashing ---- */

static void hashed_on_loop(kc__loop_task *task)
{
    kc__people_run *run = kc_container_of(task, kc__people_run, task);
    atomic_fetch_sub(&run->people->hashing, 1);
    if (run->op->error.reason)
        kc__people_run_end(run);
    else
        run->then(run);
}

static void hash_on_thread(kc_job *job, void *local)
{
    kc__people_run *run = kc_container_of(job, kc__people_run, job);
    const kc__people_op *op = run->op;
    (void)local;
    if (run->verifies)
        run->verified = kc__people_hash_verify(run->makes ? op->old_password : op->password,
                                               kc_buf_str(&run->stored), &run->people->cost);
    if (run->makes && (!run->verifies || run->verified))
        kc__people_hash_make(op->password, &run->people->cost, &run->made, &run->op->error);
    kc__loop_post(op->loop, &run->task);
}

void kc__people_run_hash(kc__people_run *run, kc__people_step *then)
{
    run->then = then;
    run->job.run = hash_on_thread;
    run->task.run = hashed_on_loop;
    if (atomic_fetch_add(&run->people->hashing, 1) < KC__PEOPLE_HASHES &&
        kc_thread_pool_add(run->people->pool, &run->job))
        return;
    atomic_fetch_sub(&run->people->hashing, 1);
    refuse_for_load(run, 1, "too many logins at the same time, please try again later");
}

/* ---- writing ---- */

void kc__people_run_put(kc__people_run *run, kc__watch_cache *cache, const char *key,
                        kc_object *object, uint64_t expected)
{
    const size_t i = run->n_writes++;
    run->keys[i] = kc_strdup(key);
    run->writes[i] = (kc__store_write){.cache = cache,
                                       .verb = object ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
                                       .key = kc_cstr(run->keys[i]),
                                       .expected = expected,
                                       .object = object,
                                       .loop = run->op->loop};
}

static void finish_writes(kc__people_run *run)
{
    kc_error *error = &run->op->error;
    for (size_t i = 0; i < run->n_writes; i++) {
        run->conflict |= run->writes[i].outcome == KC__STORAGE_CONFLICT;
        if (run->writes[i].error.reason && !error->reason)
            kc_error_move(error, &run->writes[i].error);
    }
    drop_writes(run);
    if (error->reason)
        kc__people_run_end(run);
    else
        run->then(run);
}

/* Finds the run by the index that the write has in it. */
#define WRITTEN(index)                                                                     \
    static void written_##index(kc__store_write *write)                                    \
    {                                                                                      \
        kc__people_run *run = kc_container_of(write - (index), kc__people_run, writes[0]); \
        if (++run->n_written == run->n_writes)                                             \
            finish_writes(run);                                                            \
    }
WRITTEN(0)
WRITTEN(1)
WRITTEN(2)
#undef WRITTEN

void kc__people_run_commit(kc__people_run *run, kc__people_step *then)
{
    static void (*const written[KC__PEOPLE_MAX_WRITES])(kc__store_write *write) = {
        written_0, written_1, written_2};
    kc__store_write *group[KC__PEOPLE_MAX_WRITES];
    run->then = then;
    run->conflict = false;
    for (size_t i = 0; i < run->n_writes; i++) {
        run->writes[i].done = written[i];
        group[i] = &run->writes[i];
    }
    kc__store_submit_group(run->people->api->store, group, run->n_writes);
}
