/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/codec.h"
const kc_codec kc_codec_yaml = {.name = "yaml", .media_types = "application/yaml"};
