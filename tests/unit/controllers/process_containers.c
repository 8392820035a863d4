/* SPDX-License-Identifier: Apache-2.0 */
/* Containers with all the isolation that the machine has, whoever we are. */
#include "process_contract.h"

static node_opts contract_opts(void)
{
    return (node_opts){0};
}

TESTS(CONTRACT)
