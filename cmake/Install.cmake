# cmake --install: libraries, headers, program, man page, completion, pkg-config file, CMake package.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stickslip")

install(DIRECTORY include/stickslip TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS stickslip_shared EXPORT stickslipShared)
install(TARGETS stickslip_static EXPORT stickslipStatic)
install(FILES LICENSE TYPE DOC)

# Two exports: who uses the shared library need not have the dependencies' development files.
foreach(kind Shared Static)
    install(EXPORT stickslip${kind} NAMESPACE stickslip:: DESTINATION "${package_dir}")
endforeach()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/stickslipConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/stickslipConfig.cmake DESTINATION "${package_dir}")
install(FILES cmake/Dependencies.cmake DESTINATION "${package_dir}" RENAME stickslipDependencies.cmake)
install(FILES "${PROJECT_BINARY_DIR}/package/stickslipConfigVersion.cmake" DESTINATION "${package_dir}")

# The prefix is found from where the file lies: `cmake --install --prefix` may put the tree anywhere.
file(RELATIVE_PATH pc_up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
# The dependencies are named by -l and not by Requires.private: pkg-config would then ask for their development
# files even when the shared library is used, and for their own static needs (gfortran) when it is not.
list(JOIN stickslip_link_flags " " pc_libraries)
configure_file(cmake/stickslip.pc.in package/stickslip.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/stickslip.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The program describes itself: man page and completion are what it prints when asked.
if(TARGET stickslip)
    install(TARGETS stickslip)
    function(install_output_of file destination verb)
        if(EXISTS "${PROJECT_SOURCE_DIR}/src/cli/cmd_${verb}.c")
            set(output "${PROJECT_BINARY_DIR}/package/${file}")
            install(CODE "execute_process(COMMAND \"$<TARGET_FILE:stickslip>\" ${verb} ${ARGN}
                              OUTPUT_FILE \"${output}\" COMMAND_ERROR_IS_FATAL ANY)")
            install(FILES "${output}" DESTINATION "${destination}" RENAME "${file}")
        endif()
    endfunction()
    install_output_of(stickslip.1 "${CMAKE_INSTALL_MANDIR}/man1" man)
    install_output_of(stickslip "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" completion bash)
endif()
