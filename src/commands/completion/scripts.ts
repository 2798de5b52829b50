/** The completion script of each shell. Nothing in them depends on a running program. */
import type { CompletedCommand, CompletedOption, CompletionWords } from './completion-words.ts';

/** https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html */
export function bashCompletion({ commands, options }: CompletionWords): string {
  const names = commands.map(({ name }) => name).join(' ');
  const cases = commands.map(
    ({ name, options: own, words, takesFiles }) => `    ${name})
      case "$before" in
${bashCases(own, '        ')}
      esac
      flags='${flagsOf(own)} --help' words='${words.join(' ')}' files=${takesFiles ? 1 : 0};;`,
  );
  return `_sluice() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" flags words files=1
  COMPREPLY=()
  case "$([[ $COMP_CWORD -gt 1 ]] && echo "\${COMP_WORDS[1]}")" in
${cases.join('\n')}
    *)
      case "$before" in
${bashCases(options, '        ')}
      esac
      flags='${flagsOf(options)} --help --version'
      if [[ $COMP_CWORD -eq 1 ]]; then words='${names}' files=0; fi;;
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    if [[ $files -eq 1 ]]; then COMPREPLY+=($(compgen -f -- "$word")); fi
  fi
}
complete -o filenames -F _sluice sluice
`;
}

function bashCases(options: readonly CompletedOption[], indent: string): string {
  const rows = options.flatMap((option) => {
    const pattern = [option.flag, ...shortOf(option)].join('|');
    if (option.words !== undefined) {
      const words = option.words.join(' ');
      return [`${pattern}) COMPREPLY=($(compgen -W '${words}' -- "$word")); return;;`];
    }
    if (option.isPath) return [`${pattern}) COMPREPLY=($(compgen -f -- "$word")); return;;`];
    return option.takesValue ? [`${pattern}) return;;`] : [];
  });
  return rows.map((row) => indent + row).join('\n');
}

/** https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
export function zshCompletion({ commands, options }: CompletionWords): string {
  const described = commands.map(({ name, summary }) => `    '${quoted(`${name}:${summary}`)}'`);
  return `#compdef sluice
_sluice() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT > 2 )); then
    case $words[2] in
${commands.map(zshCase).join('\n')}
    esac
  fi
  _arguments \\
${zshRows(options, '    ')}
    '--help[Print the options.]' \\
    '--version[Print the version.]' \\
    '1: :{_describe command commands}' \\
    '*:file:_files'
}
compdef _sluice sluice
`;
}

function zshCase({ name, options, words, takesFiles }: CompletedCommand): string {
  const given = words.length > 0 ? ` '1:word:(${words.join(' ')})'` : '';
  const rows = options.length > 0 ? `\n${zshRows(options, '          ')}\n         ` : '';
  return `      ${name})
        shift words; (( CURRENT-- ))
        _arguments${rows ? ` \\${rows}` : ''} '--help[Print what it does.]'${given}${takesFiles ? " '*:file:_files'" : ''}
        return;;`;
}

function zshRows(options: readonly CompletedOption[], indent: string): string {
  return options
    .map((option) => {
      const value = option.takesValue ? `:value:${zshAction(option)}` : '';
      const help = quoted(option.help.replaceAll(/[[\]:]/g, ' '));
      return `${indent}'*${option.flag}[${help}]${value}' \\`;
    })
    .join('\n');
}

function zshAction({ words, isPath }: CompletedOption): string {
  if (words !== undefined) return `(${words.join(' ')})`;
  return isPath ? '_files' : '';
}

/** https://fishshell.com/docs/current/completions.html */
export function fishCompletion({ commands, options }: CompletionWords): string {
  const lines = commands.map(
    ({ name, summary }) =>
      `complete -c sluice -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
  );
  for (const option of options) lines.push(fishLine(option, '__fish_use_subcommand'));
  for (const { name, options: own, words, takesFiles } of commands) {
    const seen = `__fish_seen_subcommand_from ${name}`;
    const offered = words.length > 0 ? ` -a '${words.join(' ')}'` : '';
    lines.push(`complete -c sluice -n '${seen}'${takesFiles ? '' : ' -f'}${offered}`);
    for (const option of own) lines.push(fishLine(option, seen));
  }
  return `${lines.join('\n')}\n`;
}

function fishLine(option: CompletedOption, condition: string): string {
  const { flag, words, isPath, takesValue, help } = option;
  const long = flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`;
  const short = option.short === undefined ? '' : ` -s ${option.short}`;
  const offered = words === undefined ? '' : ` -f -a '${words.join(' ')}'`;
  const value = takesValue ? ` -r${isPath ? ' -F' : offered}` : '';
  return `complete -c sluice -n '${condition}'${long}${short}${value} -d '${quoted(help)}'`;
}

function flagsOf(options: readonly CompletedOption[]): string {
  return options.map(({ flag }) => flag).join(' ');
}

function shortOf({ short }: CompletedOption): string[] {
  return short === undefined ? [] : [`-${short}`];
}

/** Inside single quotes of all three shells nothing but the quote itself counts. */
function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
