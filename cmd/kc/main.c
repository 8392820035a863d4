/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: finds the verb (verbs.c) and runs it. */
#include "command.h"

int main(int argc, char **argv)
{
    return kc__cli_run_verb(argc, argv);
}
