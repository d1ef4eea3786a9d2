# Fails when PROGRAM holds a symbol with NAME in it.
#   cmake -DPROGRAM=... -DNAME=... -P lacks_symbol.cmake
execute_process(COMMAND nm -C ${PROGRAM} OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT symbols MATCHES "kernelindex::runner")
  message(FATAL_ERROR "the symbols of ${PROGRAM} cannot be read")
endif()
if(symbols MATCHES "${NAME}")
  message(FATAL_ERROR "${PROGRAM} holds ${NAME}")
endif()
