# cmake --install: the program, which describes itself: man page and completion are what it prints when asked.
install(TARGETS stickslip stickslip_program_shared)
function(install_output_of file destination verb)
    set(output "${PROJECT_BINARY_DIR}/package/${file}")
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:stickslip>\" ${verb} ${ARGN}
                      OUTPUT_FILE \"${output}\" COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES "${output}" DESTINATION "${destination}" RENAME "${file}")
endfunction()
install_output_of(stickslip.1 "${CMAKE_INSTALL_MANDIR}/man1" man)
install_output_of(stickslip "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" completion bash)
install_output_of(_stickslip "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" completion zsh)
install_output_of(stickslip.fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" completion fish)
