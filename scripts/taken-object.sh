#!/bin/sh
# taken-object.sh COMPILER ARGUMENT ... -- a compiler launcher (CMAKE_C_COMPILER_LAUNCHER) of
# scripts/wheel-test.sh: takes the object of another build where that has compiled the same source with
# the same compiler and options; else compiles.
#
# TAKEN_FROM is the checkout that is compiled. TAKEN_OBJECTS is what scripts/taken_objects.py wrote: a
# file for each source, with the command in the first line and the object in the second. Folders,
# warnings and what else does not change an object are left out of the command.
compiler=$1
shift
command=$compiler last='' source='' output='' depend=''
for word; do
    case $last in
    -o) output=$word ;;
    -c) source=$word ;;
    -MF) depend=$word ;;
    -MT) ;;
    *)
        case $word in
        -o | -c | -MF | -MT | -MD | -W* | -ffile-prefix-map=*) ;;
        "-I$TAKEN_FROM"/*) command="$command -I${word#"-I$TAKEN_FROM/"}" ;;
        *) command="$command $word" ;;
        esac
        ;;
    esac
    last=$word
done
known=$TAKEN_OBJECTS/${source#"$TAKEN_FROM/"}
if [ -n "$output" ] && [ -f "$known" ] && { read -r same && read -r object; } <"$known" && [ "$command" = "$same" ]; then
    [ -z "$depend" ] || echo "$output: $source" >"$depend"
    exec cp "$object" "$output"
fi
exec "$compiler" "$@"
