# SPDX-License-Identifier: Apache-2.0
#
# The SDK as users install it (cmake --install build/release --prefix DIR):
#
#     bin/kc                                    the command
#     include/kc/*.h                            the public headers
#     lib/libkc.so, lib/libkc.a                 base, object, cel, quota, kubeconfig, http, client, runtime, phase and app: what a controller is linked with
#     lib/libkc-embed.so, lib/libkc-embed.a     the API server, for programs and tests that have one in their process
#     lib/libkc-controllers.so, .a              the controllers of a plane, for programs and tests that want them
#     lib/pkgconfig/kc.pc, kc-embed.pc,         shared; kc-static.pc and so on: static, all else shared
#                   kc-controllers.pc
#     lib/cmake/kc                              find_package(kc): kc::kc, kc::embed, kc::controllers; kc::kc-static and so on
#     share/man
#
# The libraries are made of the layers' own objects; nothing is compiled twice. What is not named kc_ is not exported.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(KC_SDK_LAYERS base object cel quota kubeconfig http client runtime phase app)
set(KC_SDK_REQUIRES yyjson yaml-0.1 libuv libllhttp libnghttp2 openssl zlib libcurl)
set(KC_SDK_LIBS PkgConfig::YYJSON PkgConfig::YAML PkgConfig::UV PkgConfig::LLHTTP PkgConfig::NGHTTP2 PkgConfig::OPENSSL
                PkgConfig::ZLIB PkgConfig::CURL Threads::Threads m ${CMAKE_DL_LIBS})

set(objects)
foreach(layer ${KC_SDK_LAYERS})
    list(APPEND objects $<TARGET_OBJECTS:kc_${layer}>)
endforeach()
get_property(apiserver_objects GLOBAL PROPERTY KC_OBJECTS_apiserver)
set(embed_objects $<TARGET_OBJECTS:kc_grpc> $<TARGET_OBJECTS:kc_etcd> $<TARGET_OBJECTS:kc_apiserver> ${apiserver_objects} $<TARGET_OBJECTS:kc_definitions> $<TARGET_OBJECTS:kc_embed>)
set(controllers_objects $<TARGET_OBJECTS:kc_controllers>)

# sdk_library(TARGET TYPE OUTPUT-NAME EXPORT-NAME objects... LIBS libraries...)
function(sdk_library target type output_name export_name)
    cmake_parse_arguments(ARG "" "" "LIBS;USES" ${ARGN})
    add_library(${target} ${type} ${ARG_UNPARSED_ARGUMENTS})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output_name} EXPORT_NAME ${export_name} LINKER_LANGUAGE C)
    target_link_libraries(${target} PUBLIC ${ARG_USES} PRIVATE ${ARG_LIBS})
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(type STREQUAL SHARED)
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
                                                   SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                                   LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map)
        target_link_options(${target} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map -Wl,--no-undefined)
    endif()
endfunction()

sdk_library(sdk_shared SHARED kc kc ${objects} LIBS ${KC_SDK_LIBS})
sdk_library(sdk_static STATIC kc kc-static ${objects} LIBS ${KC_SDK_LIBS})
sdk_library(sdk_embed_shared SHARED kc-embed embed ${embed_objects} USES sdk_shared LIBS ${KC_SDK_LIBS} PkgConfig::LMDB
            PkgConfig::SODIUM)
sdk_library(sdk_embed_static STATIC kc-embed embed-static ${embed_objects} USES sdk_static LIBS ${KC_SDK_LIBS} PkgConfig::LMDB
            PkgConfig::SODIUM)
sdk_library(sdk_controllers_shared SHARED kc-controllers controllers ${controllers_objects} USES sdk_shared LIBS ${KC_SDK_LIBS})
sdk_library(sdk_controllers_static STATIC kc-controllers controllers-static ${controllers_objects} USES sdk_static LIBS ${KC_SDK_LIBS})

add_custom_target(sdk DEPENDS sdk_shared sdk_static sdk_embed_shared sdk_embed_static sdk_controllers_shared sdk_controllers_static)

# sdk_pkgconfig(NAME DESCRIPTION LIBS REQUIRES REQUIRES-PRIVATE)
function(sdk_pkgconfig name description libs requires requires_private)
    # By where it lies, so that the folder may be chosen when installing, and moved afterwards.
    file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" up ${up})
    string(REPLACE ";" " " requires "${requires}")
    string(REPLACE ";" " " requires_private "${requires_private}")
    configure_file(${CMAKE_SOURCE_DIR}/cmake/kc.pc.in ${CMAKE_BINARY_DIR}/sdk/${name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/sdk/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

sdk_pkgconfig(kc "Writing controllers, and working with API objects" -lkc "" "${KC_SDK_REQUIRES}")
sdk_pkgconfig(kc-static "The same, linked into the program" "-l:libkc.a -pthread -lm -ldl" "${KC_SDK_REQUIRES}" "")
sdk_pkgconfig(kc-embed "An API server in the process, and testing with it" -lkc-embed kc "lmdb;libsodium")
sdk_pkgconfig(kc-embed-static "The same, linked into the program" -l:libkc-embed.a "kc-static;lmdb;libsodium" "")
sdk_pkgconfig(kc-controllers "The controllers of a plane" -lkc-controllers kc "")
sdk_pkgconfig(kc-controllers-static "The same, linked into the program" -l:libkc-controllers.a kc-static "")

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/kcConfig.cmake.in ${CMAKE_BINARY_DIR}/sdk/kcConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kc)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sdk/kcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sdk/kcConfig.cmake ${CMAKE_BINARY_DIR}/sdk/kcConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kc)
install(TARGETS sdk_shared sdk_static sdk_embed_shared sdk_embed_static sdk_controllers_shared sdk_controllers_static EXPORT kc)
install(EXPORT kc NAMESPACE kc:: FILE kcTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kc)

# Only headers that a layer names are public.
get_property(headers GLOBAL PROPERTY KC_PUBLIC_HEADERS)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kc)
install(TARGETS kc)
install(FILES docs/man/kc.1 docs/man/kc-alpha.1 docs/man/kc-create.1 docs/man/kc-edit.1 docs/man/kc-generate.1 docs/man/kc-init.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/kc-apiserver.8 docs/man/kc-controllers.8 docs/man/kc-hub.8 docs/man/kc-networks.8
              docs/man/kc-up.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
