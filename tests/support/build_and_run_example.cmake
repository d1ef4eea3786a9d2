# Installs the build into a folder of its own, builds the example against it as a stranger would, and
# runs it twice: the second time the ledger is there already.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed (${code}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
step(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(expected "1 run" "1 run")
  step(${CMAKE_COMMAND} -E env XDG_STATE_HOME=${WORK}/state ${WORK}/build/embed ${WORK}/ledger)
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "expected '${expected}' in:\n${out}")
  endif()
endforeach()
foreach(file bin/kernelindex share/man/man1/kernelindex.1 share/zsh/site-functions/_kernelindex
    share/bash-completion/completions/kernelindex include/kernelindex/ledger/ledger.h)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
