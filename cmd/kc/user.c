/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user.c: `kc user` manages the people of a control plane: User objects and their passwords.
 *
 * Users are ordinary objects; kubectl can change all of them. Passwords go to the server's endpoint
 * for them, which keeps a hash that no client can read.
 *
 * To add a command: a row of `actions`.
 */
#include "command.h"
#include "password_prompt.h"
#include "people_client.h"

#include "kc/json.h"
#include "kc/view.h"

#include <stddef.h>

typedef struct user_options {
    kc__cli_flag_operands operands;
    kc__cli_server_options server;
    const char *display_name, *email, *teams;
    bool no_password;
} user_options;

#define FIELD(name) .offset = offsetof(user_options, name)
#define NEW_USER    "New users"

static const kc__cli_flag flags[] = {
    {"display-name", .argument = "TEXT", .group = NEW_USER, FIELD(display_name),
     .parse = kc__cli_flag_text, .help = "name that people read; defaults to NAME"},
    {"email", .argument = "ADDRESS", .group = NEW_USER, FIELD(email), .parse = kc__cli_flag_text,
     .help = "email address"},
    {"teams", .argument = "NAMES", .group = NEW_USER, FIELD(teams), .parse = kc__cli_flag_text,
     .help = "comma-separated list of teams; each needs the permission to bind it"},
    {"no-password", .group = NEW_USER, FIELD(no_password), .parse = kc__cli_flag_switch,
     .help = "create the user without a password; it cannot log in"},
};

static const kc__cli_flag_choice commands[] = {
    {"add", 0, "create a user and set its password"},
    {"passwd", 0, "set the password of a user; ends its sessions and tokens"},
    {"disable", 0, "refuse logins and tokens of a user"},
    {"enable", 0, "allow logins again; earlier tokens stay invalid"},
    {"list", 0, "list the users"},
    {"delete", 0, "delete a user with its password and sessions"},
    {NULL},
};

static const kc__cli_flag_part parts[] = {{&kc__cli_server_flags, offsetof(user_options, server)}};

const kc__cli_flag_set kc__cli_user_flags = {
    .verb = "user",
    .operands = "COMMAND [NAME]",
    .operands_at = offsetof(user_options, operands),
    .commands = commands,
    .synopsis = "Manages the users that log in with a password. Passwords are read from the "
                "terminal, twice and without echo,\nor as a line of standard input. The server "
                "keeps a salted scrypt hash.",
    .examples = "  kc user add ann --display-name='Ann Lee' --teams=dev\n"
                "  kc user passwd ann\n"
                "  kc user passwd ann <new-password.txt\n"
                "  kc user disable ann\n"
                "  kc user list\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    .size = sizeof(user_options),
};

typedef struct user_run {
    const user_options *o;
    kc_client *client;
    const char *name;
} user_run;

/* ---- passwords ---- */

static int send_password(user_run *run, kc_str password, kc_error *err)
{
    const kc__cli_people_member members[] = {{"username", kc_cstr(run->name)},
                                             {"password", password}};
    return kc__cli_people_post(run->client, "/people/password", members, KC_COUNT(members), NULL,
                               err);
}

static int user_passwd(user_run *run, kc_error *err)
{
    kc_buf password = {0};
    kc_autofree char *prompt = kc_asprintf("New password of %s", run->name);
    int status = kc__cli_password_read(prompt, true, &password, err);
    if (status == 0)
        status = send_password(run, kc_buf_str(&password), err);
    kc_buf_wipe(&password);
    if (status == 0)
        printf("password of %s set; its earlier sessions and tokens have ended\n", run->name);
    return status;
}

/* ---- objects ---- */

static void write_teams(kc_buf *json, const char *teams)
{
    kc_str rest = kc_cstr(teams);
    kc_buf_puts(json, ",\"teams\":[");
    for (bool first = true; rest.p; first = false) {
        if (!first)
            kc_buf_putc(json, ',');
        kc_json_quote(json, kc_str_trim(kc_str_cut(&rest, ',')));
    }
    kc_buf_putc(json, ']');
}

static kc_object *new_user(const user_run *run, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    const user_options *o = run->o;
    kc_buf_puts(&json, "{\"apiVersion\":\"platform.kubecontroller.io/v1\",\"kind\":\"User\","
                       "\"metadata\":{\"name\":");
    kc_json_quote(&json, kc_cstr(run->name));
    kc_buf_puts(&json, "},\"spec\":{\"displayName\":");
    kc_json_quote(&json, kc_cstr(o->display_name ? o->display_name : run->name));
    if (o->email) {
        kc_buf_puts(&json, ",\"email\":");
        kc_json_quote(&json, kc_cstr(o->email));
    }
    if (o->teams && *o->teams)
        write_teams(&json, o->teams);
    kc_buf_puts(&json, "}}");
    return kc_object_parse(kc_buf_str(&json), NULL, err);
}

/* The password is read first: a user is not left behind if the terminal is closed. */
static int user_add(user_run *run, kc_error *err)
{
    kc_buf password = {0};
    kc_autofree char *prompt = kc_asprintf("Password of %s", run->name);
    int status = run->o->no_password ? 0 : kc__cli_password_read(prompt, true, &password, err);
    kc_auto(kc_object) *object = status == 0 ? new_user(run, err) : NULL;
    kc_auto(kc_object) *created =
        object ? kc_client_create(run->client, object, &(kc_write_opts){.kind = &kc__cli_kind_user},
                                  err)
               : NULL;
    status = created ? 0 : kc_error_result(err);
    if (status == 0)
        printf("user %s created\n", run->name);
    if (status == 0 && !run->o->no_password &&
        (status = send_password(run, kc_buf_str(&password), err)) < 0)
        kc_error_wrap(err, "user %s exists without a password (kc user passwd %s)", run->name,
                      run->name);
    kc_buf_wipe(&password);
    return status;
}

static int set_disabled(user_run *run, bool disabled, kc_error *err)
{
    kc_auto(kc_object) *changed =
        kc_client_patch(run->client, &kc__cli_kind_user, KC_KEY("", run->name), KC_PATCH_MERGE,
                        disabled ? KC_STR("{\"spec\":{\"disabled\":true}}")
                                 : KC_STR("{\"spec\":{\"disabled\":false}}"),
                        NULL, err);
    if (!changed)
        return kc_error_result(err);
    printf("user %s %s\n", run->name, disabled ? "disabled" : "enabled");
    return 0;
}

static int user_disable(user_run *run, kc_error *err)
{
    return set_disabled(run, true, err);
}

static int user_enable(user_run *run, kc_error *err)
{
    return set_disabled(run, false, err);
}

static int user_delete(user_run *run, kc_error *err)
{
    if (kc_client_delete(run->client, &kc__cli_kind_user, KC_KEY("", run->name), NULL, err) < 0)
        return kc_error_result(err);
    printf("user %s deleted\n", run->name);
    return 0;
}

/* ---- list ---- */

static void print_teams(const kc_value *spec)
{
    bool first = true;
    kc_value_each_item (kc_value_get(spec, "teams"), team) {
        printf("%s%.*s", first ? "" : ",", KC_ARG(kc_value_as_str(team)));
        first = false;
    }
    printf("%s\n", first ? "-" : "");
}

static void print_user(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    const char *state = kc_value_as_bool(kc_value_get(spec, "disabled"), false) ? "disabled"
                        : kc_value_get(spec, "credentialsRef")                  ? "active"
                                                                                : "no password";
    printf("%-24.*s %-12s %-24.*s ", KC_ARG(kc_object_name(object)), state,
           KC_ARG(kc_value_as_str(kc_value_get(spec, "displayName"))));
    print_teams(spec);
}

static int user_list(user_run *run, kc_error *err)
{
    kc_scoped(kc_object_list) users = {0};
    if (kc_client_list(run->client, &kc__cli_kind_user, NULL, &users, err) < 0)
        return kc_error_result(err);
    printf("%-24s %-12s %-24s %s\n", "NAME", "STATE", "DISPLAY NAME", "TEAMS");
    for (size_t i = 0; i < users.n; i++)
        print_user(users.items[i]);
    return 0;
}

/* ---- all commands ---- */

static const struct user_action {
    const char *name;
    bool unnamed;
    int (*run)(user_run *run, kc_error *err);
} actions[] = {
    {"add", false, user_add},         {"passwd", false, user_passwd},
    {"disable", false, user_disable}, {"enable", false, user_enable},
    {"list", true, user_list},        {"delete", false, user_delete},
};

static const struct user_action *choose_action(const user_options *o, kc_error *err)
{
    const char *name = o->operands.n ? o->operands.items[0] : "";
    if (!o->operands.n) {
        kc_error_set(err, KC_INVALID,
                     "expected a command: add, passwd, disable, enable, list or "
                     "delete");
        return NULL;
    }
    for (size_t i = 0; i < KC_COUNT(actions); i++) {
        if (strcmp(name, actions[i].name) != 0)
            continue;
        if (o->operands.n == (actions[i].unnamed ? 1 : 2))
            return &actions[i];
        kc_error_set(err, KC_INVALID, "%s: expected %s", name,
                     actions[i].unnamed ? "no name" : "the name of one user");
        return NULL;
    }
    kc__cli_flag_choose(commands, "command", name, err);
    return NULL;
}

static int run_action(const user_options *o, const struct user_action *action, kc_error *err)
{
    kc_auto(kc_client) *client = kc__cli_people_client(&o->server, err);
    user_run run = {o, client, o->operands.n > 1 ? o->operands.items[1] : NULL};
    return client ? action->run(&run, err) : kc_error_result(err);
}

int kc__cli_command_user(int argc, char **argv)
{
    user_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_user_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_user_flags, stdout);
        return 0;
    }
    const struct user_action *action = parsed == 0 ? choose_action(&o, &err) : NULL;
    if (!action)
        return kc__cli_usage_error("user", &err);
    if (run_action(&o, action, &err) == 0)
        return 0;
    fprintf(stderr, "kc user: %s\n", kc_error_text(&err));
    return 1;
}
