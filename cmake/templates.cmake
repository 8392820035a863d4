# SPDX-License-Identifier: Apache-2.0
#
# kc_templates(TARGET FOLDER): the files of a folder as a table in C, kc__templates (src/scaffold/template.h), sorted by
# name. A changed file is embedded again by the next build.

function(kc_templates target folder)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
    list(SORT files)
    set(texts "")
    set(rows "")
    set(i 0)
    foreach(name ${files})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${name})
        file(READ ${folder}/${name} bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND texts "static const char text_${i}[] = {${bytes}0};\n")
        string(APPEND rows "    {\"${name}\", {text_${i}, sizeof(text_${i}) - 1}},\n")
        math(EXPR i "${i} + 1")
    endforeach()
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${target}_templates.c @ONLY CONTENT
         "#include \"scaffold/template.h\"\n\n${texts}\nconst kc__template kc__templates[] = {\n${rows}};\nconst size_t kc__n_templates = ${i};\n")
    target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/${target}_templates.c)
endfunction()
