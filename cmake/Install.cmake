# cmake --install: libraries, headers, examples, pkg-config file, CMake package.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stickslip")

install(DIRECTORY include/stickslip TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS stickslip_shared EXPORT stickslipShared)
install(TARGETS stickslip_static EXPORT stickslipStatic)
install(FILES LICENSE TYPE DOC)
install(DIRECTORY examples TYPE DOC PATTERN test.sh EXCLUDE)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN "*.py" EXCLUDE)

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
