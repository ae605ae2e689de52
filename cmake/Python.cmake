# The Python package, in build/*/python/stickslip: PYTHONPATH=build/release/python. Its mirror of the headers is written by
# tools/mirror. Only the standard library of any Python is needed to build it; without one it is left out.
find_program(SS_PYTHON NAMES /usr/bin/python3 python3)
mark_as_advanced(SS_PYTHON)
if(NOT SS_PYTHON)
    message(STATUS "no python3: the Python package is not built")
    return()
endif()
# Debian looks for packages here below /usr; anywhere else PYTHONPATH must name it.
set(STICKSLIP_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING "Where the Python package is installed, below the prefix")

set(python_package "${PROJECT_BINARY_DIR}/python/stickslip")
set(python_source "${PROJECT_SOURCE_DIR}/bindings/python/stickslip")
file(GLOB python_sources CONFIGURE_DEPENDS RELATIVE "${python_source}" "${python_source}/*.py"
     "${python_source}/*.pyi" "${python_source}/py.typed")
set(python_files "")
foreach(file ${python_sources})
    add_custom_command(OUTPUT "${python_package}/${file}" DEPENDS "${python_source}/${file}" VERBATIM
        COMMAND "${CMAKE_COMMAND}" -E copy "${python_source}/${file}" "${python_package}/${file}")
    list(APPEND python_files "${python_package}/${file}")
endforeach()

file(GLOB public_headers CONFIGURE_DEPENDS include/stickslip/*.h)
add_custom_command(OUTPUT "${python_package}/_abi.py" DEPENDS ${public_headers} tools/mirror VERBATIM
    COMMENT "Mirroring the headers in Python"
    COMMAND "${SS_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/mirror" --compiler "${CMAKE_C_COMPILER}" --abi "${python_package}/_abi.py")

# Where library and headers are, seen from the package; the build tree and the installed one differ in this file only.
function(write_python_location file library include)
    file(CONFIGURE OUTPUT "${file}" CONTENT "VERSION = \"${PROJECT_VERSION}\"\nLIBRARY = \"${library}\"\nINCLUDE = \"${include}\"\n")
endfunction()
set(library_name "libstickslip.so.${PROJECT_VERSION_MAJOR}")
file(RELATIVE_PATH include_there "${python_package}" "${PROJECT_SOURCE_DIR}/include")
write_python_location("${python_package}/_location.py" "../../${library_name}" "${include_there}")
add_custom_target(python_package ALL DEPENDS ${python_files} "${python_package}/_abi.py")

set(installed_package "/prefix/${STICKSLIP_PYTHON_DIR}/stickslip")
file(RELATIVE_PATH library_there "${installed_package}" "/prefix/${CMAKE_INSTALL_LIBDIR}/${library_name}")
file(RELATIVE_PATH include_there "${installed_package}" "/prefix/${CMAKE_INSTALL_INCLUDEDIR}")
write_python_location("${PROJECT_BINARY_DIR}/package/_location.py" "${library_there}" "${include_there}")
install(FILES ${python_files} "${python_package}/_abi.py" "${PROJECT_BINARY_DIR}/package/_location.py"
        DESTINATION "${STICKSLIP_PYTHON_DIR}/stickslip")
