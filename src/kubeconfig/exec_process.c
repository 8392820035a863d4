/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_process.c: runs a program and captures its output, with limits on time and size.
 *
 * It uses posix_spawn because the process has other threads: no code of ours runs between fork and
 * exec. A program without a terminal gets its own process group, so that its children are
 * terminated with it. A program with a terminal stays in our process group, because the terminal
 * serves only the foreground group. A pidfd reports the exit in the same poll call as the output,
 * so no signal handler is needed.
 */
#include "kubeconfig/exec_process.h"

#include "kc/clock.h"
#include "kc/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef KC_VEC(const char *) exec_process_texts;

typedef struct exec_process_run {
    const kc__exec_process *process;
    kc_buf *out;
    kc_error *err;
    pid_t pid;
    int output, ended; /* Read end of the program's standard output; pidfd. */
    bool output_ended;
    size_t printed;
    int64_t deadline;
} exec_process_run;

static void push_all(exec_process_texts *to, const char *const *from)
{
    for (; from && *from; from++)
        kc_vec_push(to, *from);
}

/* Copies our environment without the variables that `more` sets, then appends `more`. */
static void merge_env(exec_process_texts *to, const char *const *more)
{
    for (char **ours = environ; ours && *ours; ours++) {
        const char *end = strchr(*ours, '=');
        bool set = false;
        for (const char *const *m = more; end && m && *m && !set; m++)
            set = !strncmp(*m, *ours, (size_t)(end - *ours) + 1);
        if (!set)
            kc_vec_push(to, *ours);
    }
    push_all(to, more);
    kc_vec_push(to, NULL);
}

static void set_attributes(posix_spawnattr_t *attributes, bool terminal)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    if (!terminal)
        flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(attributes, flags);
}

static int spawn(exec_process_run *r, int writing)
{
    const kc__exec_process *p = r->process;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    exec_process_texts args = {0}, env = {0};
    kc_vec_push(&args, p->command);
    push_all(&args, p->args);
    kc_vec_push(&args, NULL);
    merge_env(&env, p->env);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes, p->terminal);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO);
    if (!p->terminal)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const int failed =
        posix_spawnp(&r->pid, p->command, &actions, &attributes,
                     (char *const *)(uintptr_t)args.items, (char *const *)(uintptr_t)env.items);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    kc_vec_done(&args);
    kc_vec_done(&env);
    return failed;
}

static int exec_process_start(exec_process_run *r)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return kc_error_set(r->err, KC_INTERNAL, "cannot create a pipe: %s", strerror(errno));
    const int failed = spawn(r, pipes[1]);
    close(pipes[1]);
    r->output = pipes[0];
    fcntl(r->output, F_SETFL, O_NONBLOCK);
    if (failed == ENOENT)
        return kc_error_set(r->err, KC_NOT_FOUND, "executable %s not found", r->process->command);
    if (failed)
        return kc_error_set(r->err, KC_UNAUTHORIZED, "cannot run %s: %s", r->process->command,
                            strerror(failed));
    r->ended = (int)syscall(SYS_pidfd_open, r->pid, 0);
    return 0;
}

/* Reads the available output. Returns a negative value if the limit is exceeded. */
static int take_output(exec_process_run *r)
{
    char chunk[16384];
    ssize_t n;
    while ((n = read(r->output, chunk, sizeof(chunk))) > 0) {
        r->printed += (size_t)n;
        if (r->printed > r->process->max_output)
            return kc_error_set(r->err, KC_TOO_LARGE, "%s printed more than %zu bytes",
                                r->process->command, r->process->max_output);
        kc_buf_append(r->out, kc_str_of(chunk, (size_t)n));
    }
    r->output_ended = n == 0 || (errno != EAGAIN && errno != EINTR);
    return 0;
}

/* Waits until the program has exited, even if another process still holds its output open. */
static int exec_process_follow(exec_process_run *r)
{
    for (;;) {
        struct pollfd fds[] = {{r->output_ended ? -1 : r->output, POLLIN, 0},
                               {r->ended, POLLIN, 0},
                               {r->process->stop_fd, POLLIN, 0}};
        const int64_t left = r->deadline - kc_clock_now(kc_clock_real());
        if (left <= 0)
            return kc_error_set(r->err, KC_TIMEOUT, "%s timed out after %d seconds",
                                r->process->command, (int)(r->process->timeout / KC_SECOND));
        poll(fds, KC_COUNT(fds), (int)(left / KC_MILLISECOND) + 1);
        if (fds[2].revents)
            return kc_error_set(r->err, KC_TIMEOUT, "%s was cancelled", r->process->command);
        if (fds[0].revents && take_output(r) < 0)
            return kc_error_result(r->err);
        if (fds[1].revents)
            return r->output_ended ? 0 : take_output(r);
    }
}

static void exec_process_end(exec_process_run *r)
{
    kill(r->process->terminal ? r->pid : -r->pid, SIGKILL);
}

static int exec_process_wait_for(exec_process_run *r)
{
    int status = 0;
    while (waitpid(r->pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0; /* Another waiter reaped the process; judge by its output. */
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int kc__exec_process_run(const kc__exec_process *process, kc_buf *out, int *ret_status,
                         kc_error *err)
{
    exec_process_run r = {process, out, err, .output = -1, .ended = -1};
    r.deadline = kc_clock_deadline(kc_clock_real(), process->timeout);
    *ret_status = -1;
    int result = exec_process_start(&r);
    if (!result) {
        result = exec_process_follow(&r);
        if (result < 0)
            exec_process_end(&r);
        *ret_status = exec_process_wait_for(&r);
        if (!result && *ret_status)
            result = kc_error_set(err, KC_UNAUTHORIZED, "executable %s failed with exit code %d",
                                  process->command, *ret_status);
    }
    if (r.ended >= 0)
        close(r.ended);
    if (r.output >= 0)
        close(r.output);
    return result;
}
