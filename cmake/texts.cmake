# SPDX-License-Identifier: Apache-2.0
#
# kc_texts(TARGET MODULE WHAT HEADER ROOT files...): files as a table in C that becomes part of a target. For the MODULE `scaffold` and
# the WHAT `template`
#
#     const kc__scaffold_template kc__scaffold_templates[] = {{"project/main.c.in", {its bytes, how many}}, …};
#     const size_t kc__scaffold_n_templates = …;
#
# sorted by name, which is the file's below ROOT. HEADER declares them. A changed file is embedded again by the next build.

function(kc_texts target module what header root)
    set(files ${ARGN})
    list(SORT files)
    set(texts "")
    set(rows "")
    set(i 0)
    foreach(name ${files})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/${name})
        file(READ ${root}/${name} bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND texts "static const char text_${i}[] = {${bytes}0};\n")
        string(APPEND rows "    {\"${name}\", {text_${i}, sizeof(text_${i}) - 1}},\n")
        math(EXPR i "${i} + 1")
    endforeach()
    set(source ${CMAKE_BINARY_DIR}/${target}_${what}s.c)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
         "#include \"${header}\"\n\n${texts}\nconst kc__${module}_${what} kc__${module}_${what}s[] = {\n${rows}};\nconst size_t kc__${module}_n_${what}s = ${i};\n")
    target_sources(${target} PRIVATE ${source})
endfunction()
