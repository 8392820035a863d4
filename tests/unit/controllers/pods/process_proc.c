/* SPDX-License-Identifier: Apache-2.0 */
/* Processes are found by their mark whatever they do meanwhile. */
#include "process_testing.h"

#include <signal.h>
#include <sys/wait.h>

/* A process with the mark that runs this command of a shell, and has begun to. */
static pid_t marked(const char *folder, const char *mark, const char *command)
{
    kc_autofree char *path = kc_asprintf("%s/script", folder);
    kc_autofree char *begun = kc_asprintf("%s.begun", path);
    unlink(begun);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, ": >\"$0.begun\"\n%s\n", command);
    fclose(file);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("KC_CONTAINER", mark, 1);
        execlp("sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    await(access(begun, F_OK) == 0);
    return pid;
}

static bool was_killed(pid_t pid, int *status)
{
    return *status || waitpid(pid, status, WNOHANG) == pid;
}

static void assert_killed(pid_t pid)
{
    int status = 0;
    await(was_killed(pid, &status));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void process_that_executes_programs_all_the_time_is_killed(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    for (int round = 0; round < 20; round++) {
        const pid_t pid = marked(folder, "round/c/0", "exec sh \"$0\"");
        kc__process_kill_marked("round/c/0");
        assert_killed(pid);
    }
    assert_int_equal(kc__process_dir_remove(AT_FDCWD, folder, NULL), 0);
}

static void process_with_another_mark_is_left_alone(void **state)
{
    (void)state;
    kc_autofree char *folder = new_folder();
    const pid_t pid = marked(folder, "mine/c/10", "exec sleep 300");
    kc__process_kill_marked("mine/c/1");
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    kc__process_kill_marked("mine/c/10");
    assert_killed(pid);
}

TESTS(process_that_executes_programs_all_the_time_is_killed,
      process_with_another_mark_is_left_alone)
