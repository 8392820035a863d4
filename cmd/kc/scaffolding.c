/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffolding.c: terminal output and prompts of the scaffolding verbs. Each written file is
 * reported on a line. On a terminal, kc prompts for missing flags; elsewhere defaults apply, and a
 * missing flag without a default is an error that names it.
 */
#include "scaffolding.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void cli_scaffolding_notify(kc__scaffold_report_kind what, const char *path,
                                   const char *lines, void *user)
{
    (void)user;
    switch (what) {
    case KC__SCAFFOLD_REPORT_CREATED: printf("created  %s\n", path); break;
    case KC__SCAFFOLD_REPORT_REPLACED: printf("replaced %s\n", path); break;
    case KC__SCAFFOLD_REPORT_INSERTED: printf("changed  %s\n", path); break;
    case KC__SCAFFOLD_REPORT_SKIPPED:
        printf("left     %s: exists and differs from the scaffold (--force overwrites it)\n", path);
        break;
    case KC__SCAFFOLD_REPORT_BY_HAND: printf("by hand  %s: %s\n", path, lines); break;
    case KC__SCAFFOLD_REPORT_NO_MARKER:
        printf("left     %s: the marker for these lines is missing; add them by hand:\n%s", path,
               lines);
        break;
    }
}

const kc__cli_flag_choice kc__cli_scaffold_licenses[] = {
    {"apache2", 0, "Apache License 2.0"},
    {"none", 0, "no header"},
    {NULL},
};

kc__scaffold kc__cli_scaffold_here(bool force)
{
    return (kc__scaffold){.dir = ".", .force = force, .report = cli_scaffolding_notify};
}

int kc__cli_scaffold_failed(const char *verb, const kc_error *err)
{
    fflush(stdout);
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(err));
    return kc_error_has_reason(err, KC_INVALID) ? 2 : 1;
}

/* ---- prompts ---- */

static bool can_prompt(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

int kc__cli_flag_answer(const char *text, void *ret, kc_error *err)
{
    bool on;
    if (kc__cli_flag_switch(text, &on, err) < 0)
        return kc_error_result(err);
    *(kc__cli_answer *)ret = on ? KC__CLI_YES : KC__CLI_NO;
    return 0;
}

/* Reads a line, without its newline. */
static int cli_scaffolding_request(const char *question, char **ret, kc_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    printf("%s ", question);
    fflush(stdout);
    const ssize_t n = getline(&line, &cap, stdin);
    if (n >= 0)
        *ret = kc_str_dup(kc_str_trim(kc_str_of(line, (size_t)n)));
    else
        putchar('\n'); /* Ends the prompt's line. */
    free(line);
    return n >= 0 ? 0 : kc_error_set(err, KC_BAD_REQUEST, "no answer; no files were written");
}

int kc__cli_prompt_yes_no(kc__cli_answer answer, const char *question, bool default_value,
                          bool *ret, kc_error *err)
{
    while (answer == KC__CLI_UNSET && can_prompt()) {
        kc_autofree char *text = NULL;
        if (cli_scaffolding_request(question, &text, err) < 0)
            return kc_error_result(err);
        const char c = text[0];
        answer = c == 'y' || c == 'Y'   ? KC__CLI_YES
                 : c == 'n' || c == 'N' ? KC__CLI_NO
                 : !c                   ? (default_value ? KC__CLI_YES : KC__CLI_NO)
                                        : KC__CLI_UNSET;
    }
    *ret = answer == KC__CLI_UNSET ? default_value : answer == KC__CLI_YES;
    return 0;
}

int kc__cli_prompt_text(const char *answer, const char *question, kc__cli_answer_check *check,
                        char **ret, kc_error *err)
{
    *ret = answer ? kc_strdup(answer) : NULL;
    while (!*ret && can_prompt()) {
        kc_scoped(kc_error) wrong = {0};
        kc_autofree char *text = NULL;
        if (cli_scaffolding_request(question, &text, err) < 0)
            return kc_error_result(err);
        if (!*text)
            break;
        if (check(text, &wrong) < 0)
            printf("%s\n", kc_error_text(&wrong));
        else
            *ret = kc_take(text);
    }
    return 0;
}

int kc__cli_current_year(void)
{
    struct tm parts;
    const time_t now = time(NULL);
    return gmtime_r(&now, &parts) ? parts.tm_year + 1900 : 0;
}

/* ---- make ---- */

int kc__cli_run_make(const char *target)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    kc_autofree char *kc = kc_asprintf("KC=%s", n > 0 ? self : "kc");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execlp("make", "make", "--silent", kc, target, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        return 0;
    fprintf(stderr, "kc: 'make %s' failed; fix the cause and run it again\n", target);
    return 1;
}
