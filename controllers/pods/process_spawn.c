/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_spawn.c: the spawner thread, which clones.
 *
 * PR_SET_PDEATHSIG signals a child when the thread that cloned it exits. So that containers end
 * with the process and not with one of its workers, one thread that lives as long as the runtime
 * clones for all. It blocks all signals, and so does the child until it has reset them: none of our
 * handlers runs in it.
 *
 *     go        a socket: the child waits for a byte, and sees it closed if this process dies
 *     failures  a pipe: closed by exec; before that, the child reports errors
 *
 * Descriptors of the child are above 9, so that dup2 to 0, 1 and 2 overwrites none.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (256 << 10)

typedef struct process_spawn_job {
    kc__process_launch *launch;
    bool one_pipe;
    kc__process_spawned spawned;
    int error; /* errno; 0: cloned. */
    bool done;
    kc_dlist_link link;
} process_spawn_job;

struct kc__process_spawner {
    kc_thread *thread;
    kc_mutex mutex; /* Guards the rest. */
    kc_cond change;
    kc_dlist jobs;
    bool stop;
};

void kc__process_spawned_close(kc__process_spawned *s)
{
    int *fds[] = {&s->pidfd, &s->out, &s->err, &s->failures, &s->go};
    for (size_t i = 0; i < KC_COUNT(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

/* ---- descriptors ---- */

/* Moves a descriptor above 3. */
static int move_up(int *fd)
{
    const int moved = fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    const int why = errno;
    close(*fd);
    *fd = moved;
    errno = why;
    return moved < 0 ? -1 : 0;
}

static int make_pipe(int *ret_ours, int *ret_childs, const kc__process_launch *l)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *ret_ours = ends[0];
    *ret_childs = ends[1];
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* If permitted. */
    /* Opening /dev/stdout again is checked against the pipe's owner. */
    if (l->set_ids && fchown(ends[1], l->uid, l->gid) < 0)
        return -1;
    return move_up(ret_childs);
}

static int make_ends(process_spawn_job *j)
{
    kc__process_launch *l = j->launch;
    kc__process_spawned *s = &j->spawned;
    int go[2];
    if (make_pipe(&s->failures, &l->failures_fd, l) < 0 ||
        make_pipe(&s->out, &l->stdout_fd, l) < 0 ||
        (!j->one_pipe && make_pipe(&s->err, &l->stderr_fd, l) < 0) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
        return -1;
    if (j->one_pipe)
        l->stderr_fd = l->stdout_fd;
    s->go = go[0];
    l->go_fd = go[1];
    if (move_up(&l->go_fd) < 0 || fcntl(s->out, F_SETFL, O_NONBLOCK) < 0 ||
        (s->err >= 0 && fcntl(s->err, F_SETFL, O_NONBLOCK) < 0))
        return -1;
    return 0;
}

static void close_childs(kc__process_launch *l)
{
    int *fds[] = {&l->failures_fd, &l->stdout_fd, &l->stderr_fd, &l->go_fd};
    if (l->stderr_fd == l->stdout_fd)
        l->stderr_fd = -1;
    for (size_t i = 0; i < KC_COUNT(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

/* ---- the thread ---- */

static pid_t clone_child(kc__process_launch *l, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = l->clone_flags | CLONE_PIDFD | (l->cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = SIGCHLD,
        .cgroup = l->cgroup >= 0 ? (uint64_t)l->cgroup : 0,
    };
    const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        kc__process_child_run(l);
    return pid;
}

static void run_job(process_spawn_job *j)
{
    kc__process_launch *l = j->launch;
    l->failures_fd = l->stdout_fd = l->stderr_fd = l->go_fd = -1;
    int pidfd = -1;
    if (make_ends(j) == 0)
        j->spawned.pid = clone_child(l, &pidfd);
    else
        j->spawned.pid = -1;
    j->error = j->spawned.pid < 0 ? errno : 0;
    j->spawned.pidfd = pidfd;
    close_childs(l);
    if (j->error)
        kc__process_spawned_close(&j->spawned);
}

static void spawn_loop(void *user)
{
    kc__process_spawner *spawner = user;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    kc_mutex_lock(&spawner->mutex);
    for (;;) {
        kc_dlist_link *link = kc_dlist_pop(&spawner->jobs);
        if (!link && spawner->stop)
            break;
        if (!link) {
            kc_cond_wait_until(&spawner->change, &spawner->mutex, kc_clock_real(), KC_FOREVER);
            continue;
        }
        process_spawn_job *j = kc_container_of(link, process_spawn_job, link);
        kc_mutex_unlock(&spawner->mutex);
        run_job(j);
        kc_mutex_lock(&spawner->mutex);
        j->done = true;
        kc_cond_broadcast(&spawner->change);
    }
    kc_mutex_unlock(&spawner->mutex);
}

kc__process_spawner *kc__process_spawner_start(kc_error *err)
{
    kc__process_spawner *spawner = kc_new(kc__process_spawner);
    kc_mutex_init(&spawner->mutex);
    kc_cond_init(&spawner->change);
    kc_dlist_init(&spawner->jobs);
    spawner->thread = kc_thread_start("pods-spawn", spawn_loop, spawner, err);
    return spawner->thread ? spawner : kc__process_spawner_stop(spawner);
}

kc__process_spawner *kc__process_spawner_stop(kc__process_spawner *spawner)
{
    if (!spawner)
        return NULL;
    kc_locked (&spawner->mutex) {
        spawner->stop = true;
        kc_cond_broadcast(&spawner->change);
    }
    kc_thread_join(spawner->thread);
    kc_cond_done(&spawner->change);
    kc_mutex_done(&spawner->mutex);
    free(spawner);
    return NULL;
}

/* ---- callers ---- */

int kc__process_spawn(kc__process_spawner *spawner, kc__process_launch *launch, bool one_pipe,
                      kc__process_spawned *ret, kc_error *err)
{
    process_spawn_job j = {.launch = launch, .one_pipe = one_pipe};
    j.spawned = (kc__process_spawned){.pidfd = -1, .out = -1, .err = -1, .failures = -1, .go = -1};
    kc_locked (&spawner->mutex) {
        kc_dlist_push(&spawner->jobs, &j.link);
        kc_cond_broadcast(&spawner->change);
        while (!j.done)
            kc_cond_wait_until(&spawner->change, &spawner->mutex, kc_clock_real(), KC_FOREVER);
    }
    if (j.error) {
        errno = j.error;
        return kc__process_errno_set(err, "start a process");
    }
    *ret = j.spawned;
    return 0;
}

static int process_spawn_explain(const kc__process_launch *l, const kc__process_failure *f,
                                 kc_error *err)
{
    const char *why = strerrordesc_np(f->error);
    if (f->step == KC__PROCESS_CHILD_EXEC && f->error == ENOENT && !strchr(l->argv[0], '/'))
        return kc_error_set(err, KC_BAD_REQUEST, "exec: \"%s\": executable file not found in $PATH",
                            l->argv[0]);
    if (f->step == KC__PROCESS_CHILD_EXEC)
        return kc_error_set(err, KC_BAD_REQUEST, "exec: \"%s\": %s", l->argv[0], why);
    if (f->step == KC__PROCESS_CHILD_WORKDIR)
        return kc_error_set(err, KC_BAD_REQUEST, "chdir to workingDir \"%s\": %s", l->workdir, why);
    errno = f->error;
    if (f->step == KC__PROCESS_CHILD_MOUNT && f->at >= 0 && (size_t)f->at < l->mounts.n)
        return kc__process_errno_set(err, "mount %s", l->mounts.items[f->at].target);
    return kc__process_errno_set(err, "%s", kc__process_child_step_text(f->step));
}

/* KC_BAD_REQUEST: the command is at fault. */
int kc__process_spawn_go(const kc__process_launch *launch, kc__process_spawned *s, kc_error *err)
{
    kc__process_failure failure = {0};
    ssize_t n;
    send(s->go, "", 1, MSG_NOSIGNAL);
    do
        n = read(s->failures, &failure, sizeof(failure));
    while (n < 0 && errno == EINTR);
    close(s->failures);
    close(s->go);
    s->failures = s->go = -1;
    if (n == 0)
        return 0;
    kc__process_spawn_cancel(s);
    return process_spawn_explain(launch, &failure, err);
}

void kc__process_spawn_cancel(kc__process_spawned *s)
{
    siginfo_t info;
    syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
    kill(-s->pid, SIGKILL); /* It is not reaped yet, so the pid is still its own. */
    while (waitid((idtype_t)P_PIDFD, (id_t)s->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    kc__process_spawned_close(s);
}
