/** Words that may follow, by the words before them: `ip-policies list`. */
export interface Candidates {
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Values of flags, by command and flag: `ip-policies list --output`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

export function bashCompletion(candidates: Candidates): string {
  return `# Completion of gatehouse for bash, written by "gatehouse completion bash".
${functions(candidates)}
_gatehouse() {
  local list
  list=$(_gatehouse_list "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _gatehouse gatehouse
`;
}

export function zshCompletion(candidates: Candidates): string {
  return `#compdef gatehouse
# Completion of gatehouse for zsh, written by "gatehouse completion zsh".
${functions(candidates)}
_gatehouse() {
  local list=$(_gatehouse_list "\${(@)words[2,CURRENT-1]}")
  compadd -- \${=list} || _files
}
if [ "\${funcstack[1]-}" = _gatehouse ]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

export function fishCompletion({ words, values }: Candidates): string {
  const cases = (table: Candidates['words']) =>
    [...table].map(([at, list]) => `    case '${at}'\n      printf '%s\\n' ${list.join(' ')}`).join('\n');
  return `# Completion of gatehouse for fish, written by "gatehouse completion fish".
function __gatehouse_words
  switch "$argv[1]"
${cases(words)}
  end
end
function __gatehouse_values
  switch "$argv[1]"
${cases(values)}
  end
end
function __gatehouse_complete
  set -l tokens (commandline -opc)
  set -l last $tokens[-1]
  set -e tokens[1]
  set -l at ''
  for word in $tokens
    if contains -- $word (__gatehouse_words "$at"); and not string match -q -- '-*' $word
      set at (string trim -- "$at $word")
    end
  end
  set -l list (__gatehouse_values "$at $last")
  test -n "$list"; or set list (__gatehouse_words "$at")
  printf '%s\\n' $list
end
complete -c gatehouse -a '(__gatehouse_complete)'
`;
}

/** Functions that bash and zsh both read: the tables, and what may follow some words. */
function functions({ words, values }: Candidates): string {
  const cases = (table: Candidates['words']) =>
    [...table].map(([at, list]) => `    '${at}') echo '${list.join(' ')}' ;;`).join('\n');
  return `_gatehouse_words() {
  case "$1" in
${cases(words)}
  esac
}
_gatehouse_values() {
  case "$1" in
${cases(values)}
  esac
}
_gatehouse_after() {
  case "$2" in
    -*) echo "$1" ;;
    *) echo "\${1:+$1 }$2" ;;
  esac
}
_gatehouse_list() {
  local at='' word='' list
  for word in "$@"; do
    case " $(_gatehouse_words "$at") " in *" $word "*) at=$(_gatehouse_after "$at" "$word") ;; esac
  done
  list=$(_gatehouse_values "$at $word")
  [ -n "$list" ] || list=$(_gatehouse_words "$at")
  echo "$list"
}`;
}
