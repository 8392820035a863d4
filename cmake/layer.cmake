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
