/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is killed while it writes: every acknowledged write is stored, revisions continue,
 * and a watch delivers every event since the beginning.
 */
#include "store_testing.h"

#include <signal.h>
#include <sys/wait.h>

enum { ROUNDS = 5, PROMISES = 40 };

/* In the child: writes for ever, and tells each revision once it is acknowledged. */
static void write_until_killed(const char *folder, int out)
{
    stage *s = stage_make_in(folder);
    char key[16], value[16];
    stage_open(s);
    for (int i = 0;; i++) {
        snprintf(key, sizeof(key), "n/%d", i % 5);
        snprintf(value, sizeof(value), "%d", i);
        const uint64_t revision = put(s, key, i % 7 == 6 ? NULL : value);
        if (write(out, &revision, sizeof(revision)) != sizeof(revision))
            _exit(1);
    }
}

/* The last revision a process acknowledged before it was killed. */
static uint64_t acknowledged_until_killed(const char *folder)
{
    int ends[2];
    uint64_t revision = 0, last = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_until_killed(folder, ends[1]);
    }
    close(ends[1]);
    for (int n = 0; read(ends[0], &revision, sizeof(revision)) == sizeof(revision); n++) {
        last = revision;
        if (n == PROMISES)
            kill(child, SIGKILL);
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return last;
}

/* Nothing else runs on the loop, so this thread may stand in for it. */
static void expect_every_event(stage *s, uint64_t newest)
{
    kc__store_event *event = NULL;
    kc_auto(kc__store_watcher) *w = kc__store_watch_start(
        &(kc__store_watch_opts){.cache = s->pods, .loop = s->loops[0], .since = KC__STORAGE_FIRST});
    for (uint64_t revision = KC__STORAGE_FIRST + 1; revision <= newest; revision++) {
        assert_int_equal(kc__store_watch_next(w, &event), KC__STORE_WATCH_EVENT);
        assert_int_equal(event->revision, revision);
        kc__store_event_unref(event);
    }
    assert_int_equal(kc__store_watch_next(w, &event), KC__STORE_WATCH_EMPTY);
}

static void acknowledged_writes_survive_kill_and_watches_resume(void **state)
{
    (void)state;
    char folder[] = "/tmp/kc-store-XXXXXX";
    if (!mkdtemp(folder))
        abort();
    uint64_t before = KC__STORAGE_FIRST;
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t acknowledged = acknowledged_until_killed(folder);
        stage *s = stage_make_in(folder);
        stage_open(s);
        const uint64_t now = kc__store_revision(s->store);
        assert_true(acknowledged >= before + PROMISES);
        assert_true(now >= acknowledged && now <= acknowledged + 1);
        expect_every_event(s, now);
        before = now;
        if (round == ROUNDS - 1)
            stage_free(s);
        else
            stage_leave(s);
    }
}

TESTS(acknowledged_writes_survive_kill_and_watches_resume)
