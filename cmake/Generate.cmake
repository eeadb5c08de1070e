# cmake -D PROGRAM=krein -D OUT=folder -D MAN=man/krein.1 -P Generate.cmake
#
# Writes OUT/krein.1 (krein help --man) and OUT/krein.bash (krein completion bash).
# A program that cannot write them does not stop the build: the man page falls back to
# MAN where there is one, and installing leaves out what does not exist.
function(generate file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text
                  ERROR_VARIABLE error INPUT_FILE /dev/null TIMEOUT 60)
  if(status EQUAL 0 AND text)
    file(WRITE ${OUT}/${file} "${text}")
    return()
  endif()
  file(REMOVE ${OUT}/${file})
  if(file STREQUAL "krein.1" AND EXISTS ${MAN})
    configure_file(${MAN} ${OUT}/${file} COPYONLY)
  else()
    list(JOIN ARGN " " arguments)
    message(STATUS "no ${file}: `krein ${arguments}` gave status ${status} ${error}")
  endif()
endfunction()

generate(krein.1 help --man)
generate(krein.bash completion bash)
file(TOUCH ${OUT}/generated.stamp)
