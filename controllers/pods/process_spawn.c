/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_spawn.c: clones.
 *
 * A child is told of its parent's death by PR_SET_PDEATHSIG, and there its parent is the thread
 * that cloned it. So that containers end with the process and not with one of its workers, one
 * thread, that lives as long as the runtime, clones for all. It has all signals blocked, and so has
 * the child until it has reset them: no handler of ours runs in it.
 *
 *     go        a socket: the child waits for a byte, and sees it closed if we die
 *     failures  a pipe: closed by exec; before, the child says what went wrong
 *
 * Descriptors of the child are above 9, so that making 0, 1 and 2 of them overwrites none.
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

typedef struct job {
    kc__launch *launch;
    bool one_pipe;
    kc__spawned spawned;
    int error; /* errno; 0: cloned. */
    bool done;
    kc_link link;
} job;

struct kc__spawner {
    kc_thread *thread;
    kc_mutex mutex; /* Guards the rest. */
    kc_cond change;
    kc_list jobs;
    bool stop;
};

void kc__spawned_close(kc__spawned *s)
{
    int *fds[] = {&s->pidfd, &s->out, &s->err, &s->failures, &s->go};
    for (size_t i = 0; i < KC_COUNT(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

/* ---- descriptors ---- */

/* Moves one out of the way of 0 to 3. */
static int move_up(int *fd)
{
    const int moved = fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    const int why = errno;
    close(*fd);
    *fd = moved;
    errno = why;
    return moved < 0 ? -1 : 0;
}

static int make_pipe(int *ret_ours, int *ret_childs, const kc__launch *l)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *ret_ours = ends[0];
    *ret_childs = ends[1];
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* Where we may. */
    /* Who opens /dev/stdout again is checked against the pipe's owner. */
    if (l->set_ids && fchown(ends[1], l->uid, l->gid) < 0)
        return -1;
    return move_up(ret_childs);
}

static int make_ends(job *j)
{
    kc__launch *l = j->launch;
    kc__spawned *s = &j->spawned;
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

static void close_childs(kc__launch *l)
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

static pid_t clone_child(kc__launch *l, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = l->clone_flags | CLONE_PIDFD | (l->cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = SIGCHLD,
        .cgroup = l->cgroup >= 0 ? (uint64_t)l->cgroup : 0,
    };
    const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        kc__child_run(l);
    return pid;
}

static void run_job(job *j)
{
    kc__launch *l = j->launch;
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
        kc__spawned_close(&j->spawned);
}

static void spawn_loop(void *user)
{
    kc__spawner *spawner = user;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    kc_mutex_lock(&spawner->mutex);
    for (;;) {
        kc_link *link = kc_list_pop(&spawner->jobs);
        if (!link && spawner->stop)
            break;
        if (!link) {
            kc_cond_wait_until(&spawner->change, &spawner->mutex, kc_clock_real(), KC_FOREVER);
            continue;
        }
        job *j = kc_container_of(link, job, link);
        kc_mutex_unlock(&spawner->mutex);
        run_job(j);
        kc_mutex_lock(&spawner->mutex);
        j->done = true;
        kc_cond_broadcast(&spawner->change);
    }
    kc_mutex_unlock(&spawner->mutex);
}

kc__spawner *kc__spawner_start(kc_error *err)
{
    kc__spawner *spawner = kc_new(kc__spawner);
    kc_mutex_init(&spawner->mutex);
    kc_cond_init(&spawner->change);
    kc_list_init(&spawner->jobs);
    spawner->thread = kc_thread_start("pods-spawn", spawn_loop, spawner, err);
    return spawner->thread ? spawner : kc__spawner_stop(spawner);
}

kc__spawner *kc__spawner_stop(kc__spawner *spawner)
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

/* ---- its users ---- */

int kc__spawn(kc__spawner *spawner, kc__launch *launch, bool one_pipe, kc__spawned *ret,
              kc_error *err)
{
    job j = {.launch = launch, .one_pipe = one_pipe};
    j.spawned = (kc__spawned){.pidfd = -1, .out = -1, .err = -1, .failures = -1, .go = -1};
    kc_locked (&spawner->mutex) {
        kc_list_push(&spawner->jobs, &j.link);
        kc_cond_broadcast(&spawner->change);
        while (!j.done)
            kc_cond_wait_until(&spawner->change, &spawner->mutex, kc_clock_real(), KC_FOREVER);
    }
    if (j.error) {
        errno = j.error;
        return kc__errno_set(err, "start a process");
    }
    *ret = j.spawned;
    return 0;
}

static int explain(const kc__launch *l, const kc__failure *f, kc_error *err)
{
    const char *why = strerrordesc_np(f->error);
    if (f->step == KC__CHILD_EXEC && f->error == ENOENT && !strchr(l->argv[0], '/'))
        return kc_error_set(err, KC_BAD_REQUEST, "exec: \"%s\": executable file not found in $PATH",
                            l->argv[0]);
    if (f->step == KC__CHILD_EXEC)
        return kc_error_set(err, KC_BAD_REQUEST, "exec: \"%s\": %s", l->argv[0], why);
    if (f->step == KC__CHILD_WORKDIR)
        return kc_error_set(err, KC_BAD_REQUEST, "chdir to workingDir \"%s\": %s", l->workdir, why);
    errno = f->error;
    if (f->step == KC__CHILD_MOUNT && f->at >= 0 && (size_t)f->at < l->mounts.n)
        return kc__errno_set(err, "mount %s", l->mounts.items[f->at].target);
    return kc__errno_set(err, "%s", kc__child_step_text(f->step));
}

/* KC_BAD_REQUEST: it is the command's own fault. */
int kc__spawn_go(const kc__launch *launch, kc__spawned *s, kc_error *err)
{
    kc__failure failure = {0};
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
    kc__spawn_cancel(s);
    return explain(launch, &failure, err);
}

void kc__spawn_cancel(kc__spawned *s)
{
    siginfo_t info;
    syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
    kill(-s->pid, SIGKILL); /* It is not reaped yet, so the number is still its own. */
    while (waitid((idtype_t)P_PIDFD, (id_t)s->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    kc__spawned_close(s);
}
