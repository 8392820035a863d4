# SPDX-License-Identifier: Apache-2.0
#
# kc_layer(NAME USES layers... HEADERS public headers... LIBS libraries...)
#
# Makes the static library kc_NAME of src/NAME, subfolders included. Layering is enforced by the include path: for each layer a folder
# of links is made in the build tree, holding the layer's own public headers and its source folder,
#
#     <build>/layers/base/kc/str.h    -> include/kc/str.h
#     <build>/layers/base/base        -> src/base
#
# and a layer is compiled with its own folder and those of the layers it may use. So `#include "kc/view.h"` from base,
# or `#include "runtime/queue_internal.h"` from object, names a file that is not there.

function(kc_layer NAME)
    cmake_parse_arguments(ARG "" "" "USES;HEADERS;LIBS" ${ARGN})

    set(root ${CMAKE_BINARY_DIR}/layers/${NAME})
    file(REMOVE_RECURSE ${root})
    file(MAKE_DIRECTORY ${root}/kc)
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${NAME} ${root}/${NAME} SYMBOLIC)
    foreach(header ${ARG_HEADERS})
        if(NOT EXISTS ${CMAKE_SOURCE_DIR}/include/kc/${header})
            message(FATAL_ERROR "layer ${NAME} names the public header ${header}, but include/kc/${header} is not there")
        endif()
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/kc/${header} ${root}/kc/${header} SYMBOLIC)
        set_property(GLOBAL APPEND PROPERTY KC_PUBLIC_HEADERS ${CMAKE_SOURCE_DIR}/include/kc/${header})
    endforeach()

    # Everything this layer may use, for scripts/check-layers.
    set(reach ${ARG_USES})
    foreach(used ${ARG_USES})
        get_property(further GLOBAL PROPERTY KC_REACH_${used})
        list(APPEND reach ${further})
    endforeach()
    list(REMOVE_DUPLICATES reach)
    set_property(GLOBAL PROPERTY KC_REACH_${NAME} ${reach})
    set_property(GLOBAL APPEND PROPERTY KC_LAYERS ${NAME})
    string(REPLACE ";" " " reach_text "${reach}")
    file(WRITE ${root}/may-use "${reach_text}\n")

    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.c)
    add_library(kc_${NAME} STATIC ${sources})
    set_target_properties(kc_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(kc_${NAME} PUBLIC ${root})
    list(TRANSFORM ARG_USES PREPEND kc_)
    target_link_libraries(kc_${NAME} PUBLIC ${ARG_USES} PRIVATE ${ARG_LIBS})
endfunction()

# kc_user_layer(NAME USES layers... HEADERS public headers...)
#
# Makes the static library kc_NAME of the folder it is called in, written as a user would write it: the include path holds the
# public headers of the layers it uses and that folder, and nothing of src/.

function(kc_user_layer NAME)
    cmake_parse_arguments(ARG "" "" "USES;HEADERS" ${ARGN})

    set(seen ${CMAKE_BINARY_DIR}/seen-by-${NAME})
    set(own ${CMAKE_BINARY_DIR}/layers/${NAME})
    file(REMOVE_RECURSE ${seen} ${own})
    file(MAKE_DIRECTORY ${seen}/kc ${own}/kc)
    foreach(layer ${ARG_USES})
        file(GLOB headers RELATIVE ${CMAKE_BINARY_DIR}/layers/${layer}/kc ${CMAKE_BINARY_DIR}/layers/${layer}/kc/*.h)
        foreach(header ${headers})
            file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/kc/${header} ${seen}/kc/${header} SYMBOLIC)
        endforeach()
    endforeach()
    foreach(header ${ARG_HEADERS})
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/kc/${header} ${own}/kc/${header} SYMBOLIC)
        set_property(GLOBAL APPEND PROPERTY KC_PUBLIC_HEADERS ${CMAKE_SOURCE_DIR}/include/kc/${header})
    endforeach()
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${own}/${NAME} SYMBOLIC)
    string(REPLACE ";" " " uses "${ARG_USES}")
    file(WRITE ${own}/may-use "${uses}\n")
    set_property(GLOBAL APPEND PROPERTY KC_LAYERS ${NAME})

    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    add_library(kc_${NAME} STATIC ${sources})
    set_target_properties(kc_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(kc_${NAME} PUBLIC ${own} PRIVATE ${seen} ${CMAKE_CURRENT_SOURCE_DIR})
    list(TRANSFORM ARG_USES REPLACE "(.+)" "$<LINK_ONLY:kc_\\1>")
    target_link_libraries(kc_${NAME} PUBLIC ${ARG_USES})
endfunction()
