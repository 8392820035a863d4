# SPDX-License-Identifier: Apache-2.0
#
# kc_layer(NAME [SUBLAYERS] USES layers... HEADERS public headers... LIBS libraries...)
#
# Makes the library kc_NAME of src/NAME, subfolders included: static, and shared in builds with sanitizers, whose 600 test programs would
# each hold a copy of the debug information otherwise (a third of the time to build them, and 3 GB). Layering is enforced by the include path: for each layer a folder
# of links is made in the build tree, holding the layer's own public headers and its source folder,
#
#     <build>/layers/base/kc/str.h    -> include/kc/str.h
#     <build>/layers/base/base        -> src/base
#
# and a layer is compiled with its own folder and those of the layers it may use. So `#include "kc/view.h"` from base,
# or `#include "runtime/queue/queue_internal.h"` from object, names a file that is not there.
#
# With SUBLAYERS, only the sources in src/NAME itself are compiled here, and see all of the layer; each subfolder is a sub-layer
# (kc_sublayer, below).

if(KC_SANITIZE AND NOT KC_FUZZ)
    set(KC_LAYER_TYPE SHARED)
    set(CMAKE_BUILD_RPATH_USE_ORIGIN ON) # A test copies `kc` and the layers to another folder.
    set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
else()
    set(KC_LAYER_TYPE STATIC)
endif()

function(kc_layer NAME)
    cmake_parse_arguments(ARG "SUBLAYERS" "" "USES;HEADERS;LIBS" ${ARGN})

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

    if(ARG_SUBLAYERS)
        file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/sublayers/${NAME})
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.c)
    else()
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.c)
    endif()
    add_library(kc_${NAME} ${KC_LAYER_TYPE} ${sources})
    set_target_properties(kc_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(kc_${NAME} PUBLIC ${root})
    list(TRANSFORM ARG_USES PREPEND kc_)
    target_link_libraries(kc_${NAME} PUBLIC ${ARG_USES} PRIVATE ${ARG_LIBS})
    # What uses a layer is linked with the layer's libraries; CMake does this by itself for static ones.
    list(TRANSFORM ARG_LIBS REPLACE "(.+)" "$<LINK_ONLY:\\1>" OUTPUT_VARIABLE link_only)
    target_link_libraries(kc_${NAME} INTERFACE ${link_only})
    set_property(GLOBAL PROPERTY KC_LIBS_${NAME} ${ARG_USES} ${ARG_LIBS})
endfunction()

# kc_sublayer(LAYER FOLDER [USES sub-layers...])
#
# Makes the folder src/LAYER/FOLDER, subfolders included, a sub-layer: an object library kc_LAYER_FOLDER that becomes part of the
# static library kc_LAYER. It is enforced as layers are: its include path holds
#
#     <build>/sublayers/apiserver/store/apiserver/store    -> src/apiserver/store
#
# for itself, for the sub-layers it names in USES, and for those that these use. USES may name only sub-layers that are made
# earlier, so there are no cycles. To add a folder: one line, at its place in the order. FOLDER may be a subfolder of one that is made
# later ("admission/plugins"): the outer one is then a sub-layer of its own files alone.

function(kc_sublayer LAYER FOLDER)
    cmake_parse_arguments(ARG "" "" "USES" ${ARGN})

    set(all ${CMAKE_BINARY_DIR}/sublayers/${LAYER})
    get_filename_component(parent ${all}/${FOLDER}/${LAYER}/${FOLDER} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${LAYER}/${FOLDER} ${all}/${FOLDER}/${LAYER}/${FOLDER} SYMBOLIC)
    get_property(earlier GLOBAL PROPERTY KC_SUBLAYERS_${LAYER})
    set(inner ${earlier})
    list(FILTER inner INCLUDE REGEX "^${FOLDER}/")
    if(inner)
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${LAYER}/${FOLDER}/*.c)
    else()
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${LAYER}/${FOLDER}/*.c)
    endif()

    set(reach ${ARG_USES})
    foreach(used ${ARG_USES})
        if(NOT used IN_LIST earlier)
            message(FATAL_ERROR "sub-layer ${FOLDER} of ${LAYER} uses ${used}, which is not made before it")
        endif()
        get_property(further GLOBAL PROPERTY KC_REACH_${LAYER}/${used})
        list(APPEND reach ${further})
    endforeach()
    list(REMOVE_DUPLICATES reach)
    set_property(GLOBAL PROPERTY KC_REACH_${LAYER}/${FOLDER} ${reach})
    set_property(GLOBAL APPEND PROPERTY KC_SUBLAYERS_${LAYER} ${FOLDER})
    string(REPLACE ";" " " reach_text "${reach}")
    file(WRITE ${all}/${FOLDER}/may-use "${reach_text}\n")
    string(REPLACE ";" " " uses_text "${ARG_USES}")
    file(WRITE ${all}/${FOLDER}/uses "${uses_text}\n")

    string(REPLACE "/" "_" target kc_${LAYER}_${FOLDER})
    get_property(libs GLOBAL PROPERTY KC_LIBS_${LAYER})
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    list(TRANSFORM reach PREPEND ${all}/ OUTPUT_VARIABLE paths)
    target_include_directories(${target} PRIVATE ${all}/${FOLDER} ${paths})
    target_link_libraries(${target} PRIVATE ${libs})
    target_sources(kc_${LAYER} PRIVATE $<TARGET_OBJECTS:${target}>)
    set_property(GLOBAL APPEND PROPERTY KC_OBJECTS_${LAYER} $<TARGET_OBJECTS:${target}>)
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
