#!/bin/sh
# Shows the main job on the package beside this script: krm-fn must be on PATH.
cd "$(dirname "$0")" || exit 1

echo '$ krm-fn diff -f manifests -r rules'
krm-fn diff -f manifests -r rules
status=$?
echo "exit status: $status (0 would mean that nothing changes)"
test "$status" -eq 1 || exit 1

echo
echo '$ krm-fn < list.yaml    # as a KRM function: the results in the list that goes out'
krm-fn apply -f rules -f manifests -o resourcelist --mode validate --quiet >list.yaml
krm-fn <list.yaml >out.yaml || exit 1
sed -n '/^results:/,$p' out.yaml | sed -n '1,16p'
echo '...'
rm -f list.yaml out.yaml

echo
echo '$ krm-fn check -f rejected -r rules'
krm-fn check -f rejected -r rules
status=$?
echo "exit status: $status"
test "$status" -eq 1
