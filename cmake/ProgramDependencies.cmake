# What the program needs on top of the library (Dependencies.cmake). Sets the target program_dependencies.
#
#   SQLite      the ledger of campaigns; only src/campaign includes it
#   Jansson     campaign files; only src/campaign includes it
#   zlib        figures, pictures and replays; only src/figure and src/report include it
#   python3     makes the letters of figures from a font while building (tools/font)
#   Arimo       that font: its letters are as wide as Helvetica's. Debian: fonts-croscore
#   node, npm   bundle the pages of web/ while building (tools/web)
add_library(program_dependencies INTERFACE)
set(missing "")
foreach(module sqlite3 jansson zlib)
    pkg_check_modules(SS_${module} QUIET IMPORTED_TARGET ${module})
    if(SS_${module}_FOUND)
        target_link_libraries(program_dependencies INTERFACE PkgConfig::SS_${module})
    else()
        list(APPEND missing ${module})
    endif()
endforeach()
foreach(tool node npm)
    find_program(SS_PROGRAM_${tool} ${tool})
    mark_as_advanced(SS_PROGRAM_${tool})
    if(NOT SS_PROGRAM_${tool})
        list(APPEND missing ${tool})
    endif()
endforeach()
if(NOT SS_PYTHON)
    list(APPEND missing python3)
endif()
foreach(face Regular Bold)
    string(TOUPPER ${face} FACE)
    find_file(SS_FONT_${FACE} Arimo-${face}.ttf PATHS /usr/share/fonts /usr/local/share/fonts
              PATH_SUFFIXES truetype/croscore google-croscore-arimo-fonts croscore google-arimo-fonts TTF)
    mark_as_advanced(SS_FONT_${FACE})
    if(NOT SS_FONT_${FACE})
        list(APPEND missing "Arimo-${face}.ttf (-DSS_FONT_${FACE}=FILE)")
    endif()
endforeach()
if(missing)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "the program needs what was not found: ${missing}. `tools/setup build` installs it; "
                        "-DSTICKSLIP_PROGRAM=OFF builds the library alone.")
endif()
