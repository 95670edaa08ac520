#!/bin/sh
# Stands before ln while a program is built: the jail makes no symbolic links, so a copy stands for one.
while [ $# -gt 1 ]; do
    case $1 in
        --) shift; break ;;
        -*) shift ;;
        *) break ;;
    esac
done
case $# in
    1) name=$(basename "$1") ;;
    2) name=$2 ;;
    *) echo "ln: one link at a time is made here, as a copy" >&2; exit 1 ;;
esac
[ -d "$name" ] && [ "$1" != "$name" ] && name=$name/$(basename "$1")
case $1 in
    /*) from=$1 ;;
    *) from=$(dirname "$name")/$1 ;;
esac
[ -e "$from" ] || from=$1  # a hard link is named from here
rm -rf "$name"
exec cp -RL --preserve=mode,timestamps "$from" "$name"
