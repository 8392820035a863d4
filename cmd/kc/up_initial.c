/* SPDX-License-Identifier: Apache-2.0 */
/* up_initial.c: a stand-in, until manifests are part of the binary: definitions by their files. */
#include "up.h"

#include "kc/apply.h"

#include <glob.h>

int kc__up_load_initial(const kc__up *up, kc_error *err)
{
    glob_t found;
    int result = 0;
    if (glob("manifests/*/*.*_*.yaml", 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && result == 0; i++)
        result = kc_apply_file(up->client, found.gl_pathv[i], NULL, err);
    globfree(&found);
    return result;
}
