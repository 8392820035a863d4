# SPDX-License-Identifier: Apache-2.0
# Compiler and linker flags of every target: warnings are errors, hardening is on, sanitizers by preset.

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings
                    -Wno-missing-field-initializers -fno-common -fstack-protector-strong
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
add_link_options(-Wl,-z,relro,-z,now -Wl,--as-needed -Wl,-z,pack-relative-relocs)

if(CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    add_compile_definitions(_FORTIFY_SOURCE=2)
endif()

if(KC_SANITIZE)
    add_compile_options(-fsanitize=${KC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KC_SANITIZE})
endif()
