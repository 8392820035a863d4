/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c: `kc token USER` prints a temporary token of a user, for administrators: scripts, and
 * people without a password. It ends with its time, or when the user is disabled, changes the
 * password or logs out everywhere.
 */
#include "command.h"
#include "people_client.h"

#include "kc/view.h"

#include <stddef.h>

typedef struct token_options {
    kc__cli_flag_operands operands;
    kc__cli_server_options server;
    int64_t duration;
} token_options;

static const kc__cli_flag flags[] = {
    {"duration", .argument = "DURATION", .initial = "1h0m0s", .group = "Token",
     .offset = offsetof(token_options, duration), .parse = kc__cli_flag_duration,
     .help = "lifetime of the token, from 1m to 24h"},
};

static const kc__cli_flag_part parts[] = {{&kc__cli_server_flags, offsetof(token_options, server)}};

const kc__cli_flag_set kc__cli_token_flags = {
    .verb = "token",
    .operands = "USER",
    .operands_at = offsetof(token_options, operands),
    .synopsis = "Prints a temporary token of a user. Requires the permission to bind the resource "
                "users/credentials.",
    .examples = "  kc token ann --duration=10m\n"
                "  kubectl --token=\"$(kc token ann)\" auth whoami\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    .size = sizeof(token_options),
};

static int print_token(const token_options *o, kc_error *err)
{
    kc_auto(kc_view) *answer = NULL;
    kc_auto(kc_client) *client = kc__cli_people_client(&o->server, err);
    const kc__cli_people_member members[] = {
        {"username", kc_cstr(o->operands.items[0])},
        {"expirationSeconds", .number = o->duration / KC_SECOND}};
    if (!client ||
        kc__cli_people_post(client, "/people/token", members, KC_COUNT(members), &answer, err) < 0)
        return kc_error_result(err);
    printf("%.*s\n", KC_ARG(kc_value_as_str(kc_value_get(kc_view_root(answer), "token"))));
    return 0;
}

int kc__cli_command_token(int argc, char **argv)
{
    token_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_token_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_token_flags, stdout);
        return 0;
    }
    if (parsed == 0 && o.operands.n != 1)
        kc_error_set(&err, KC_INVALID, "expected the name of one user");
    if (err.reason)
        return kc__cli_usage_error("token", &err);
    if (print_token(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc token: %s\n", kc_error_text(&err));
    return 1;
}
