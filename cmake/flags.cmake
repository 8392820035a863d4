# SPDX-License-Identifier: Apache-2.0
#
# Compiler and linker flags of every target: warnings, hardening, sanitizers by preset.
#
# Warnings are errors (KC_WERROR) where tests are built, not where a user builds: a newer compiler or library has new ones. scripts/build
# sets it with KC_TESTS=ON.
#
# Test programs, and everything in a build with sanitizers, are linked by lld where it is installed: linking some 400 programs takes a third
# of the time. The released binary and libraries are linked by the compiler's default linker.

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra $<$<BOOL:${KC_WERROR}>:-Werror> -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings
                    -Wno-missing-field-initializers -fno-common -fstack-protector-strong
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=../../= # As CMake passes paths, and as ccache does.
                    $<$<C_COMPILER_ID:Clang>:-fdebug-compilation-dir=.>)
set(KC_RELOCATIONS -Wl,-z,pack-relative-relocs) # Unknown to older versions of lld.
add_link_options(-Wl,-z,relro,-z,now -Wl,--as-needed ${KC_RELOCATIONS})

# Links the targets of this directory and those below it by lld, if it is installed.
find_program(KC_LLD ld.lld HINTS /usr/lib/llvm-19/bin)
macro(kc_fast_linker)
    if(KC_LLD)
        get_property(options DIRECTORY PROPERTY LINK_OPTIONS)
        list(REMOVE_ITEM options ${KC_RELOCATIONS})
        get_filename_component(folder ${KC_LLD} DIRECTORY)
        list(APPEND options -B${folder} -fuse-ld=lld)
        set_property(DIRECTORY PROPERTY LINK_OPTIONS ${options})
    endif()
endmacro()

if(CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    add_compile_definitions(_FORTIFY_SOURCE=2)
endif()

if(KC_SANITIZE)
    add_compile_options(-fsanitize=${KC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KC_SANITIZE})
    kc_fast_linker()
    # What names the functions in reports of clang's sanitizers, which look for it under a name without a version.
    find_program(KC_SYMBOLIZER NAMES llvm-symbolizer llvm-symbolizer-19)
    if(KC_SYMBOLIZER)
        file(WRITE ${CMAKE_BINARY_DIR}/symbolizer.cmake "set(ENV{ASAN_SYMBOLIZER_PATH} ${KC_SYMBOLIZER})\n")
        set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/symbolizer.cmake)
    endif()
endif()
