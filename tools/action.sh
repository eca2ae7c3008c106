#!/usr/bin/env bash
# The steps of action.yml. Inputs come as variables, never as text of a script.
set -euo pipefail

home="$RUNNER_TEMP/krm-fn"

install() {
    bash "$GITHUB_ACTION_PATH/tools/install.sh" "$home"
}

# Puts OPTION (if it is not empty) and a line of TEXT, for each of its lines, into `arguments`.
add() {
    local option=$1 line
    while IFS= read -r line; do
        test -n "$line" || continue
        test -z "$option" || arguments+=("$option")
        arguments+=("$line")
    done <<<"$2"
}

run() {
    case "$KRM_FN_COMMAND" in
    check | diff) ;;
    *)
        echo "::error title=krm-fn::command is neither check nor diff"
        exit 2
        ;;
    esac
    local arguments=("$KRM_FN_COMMAND") status=0
    add -f "$KRM_FN_FILES"
    add -r "$KRM_FN_RULES"
    add "" "$KRM_FN_OPTIONS"
    local told="$RUNNER_TEMP/krm-fn.txt"
    rm -f "$told"
    "$home/bin/krm-fn" "${arguments[@]}" --quiet --report github --report "text=$told" || status=$?
    if test -s "$told"; then
        {
            echo '### krm-fn'
            echo '```'
            cat "$told"
            echo '```'
        } >>"$GITHUB_STEP_SUMMARY"
    fi
    exit "$status"
}

"$1"
