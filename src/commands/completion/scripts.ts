/** The completion script of each shell. Nothing in them depends on a running program. */
import type { CompletedOption, CompletionWords } from './completion-command.ts';

/** https://www.gnu.org/software/bash/manual/html_node/Programmable-Completion.html */
export function bashCompletion({ commands, options }: CompletionWords): string {
  const names = commands.map(({ name }) => name).join(' ');
  const flags = options.map(({ flag }) => flag).join(' ');
  const cases = options.flatMap((option) => {
    const pattern = [option.flag, ...shortOf(option)].join('|');
    if (option.words !== undefined) {
      return [
        `    ${pattern}) COMPREPLY=($(compgen -W '${option.words.join(' ')}' -- "$word")); return;;`,
      ];
    }
    if (option.isPath) return [`    ${pattern}) COMPREPLY=($(compgen -f -- "$word")); return;;`];
    return option.takesValue ? [`    ${pattern}) return;;`] : [];
  });
  return `_sluice() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  case "$before" in
${cases.join('\n')}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W '${flags} --help --version' -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${names}' -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _sluice sluice
`;
}

/** https://zsh.sourceforge.io/Doc/Release/Completion-System.html */
export function zshCompletion({ commands, options }: CompletionWords): string {
  const described = commands.map(({ name, summary }) => `    '${quoted(`${name}:${summary}`)}'`);
  const rows = options.map((option) => {
    const value = option.takesValue ? `:value:${zshAction(option)}` : '';
    const help = quoted(option.help.replaceAll(/[[\]:]/g, ' '));
    return `    '*${option.flag}[${help}]${value}'`;
  });
  return `#compdef sluice
_sluice() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  _arguments \\
${rows.map((row) => `${row} \\`).join('\n')}
    '--help[Print the options.]' \\
    '--version[Print the version.]' \\
    '1: :{_describe command commands}' \\
    '*:file:_files'
}
compdef _sluice sluice
`;
}

/** https://fishshell.com/docs/current/completions.html */
export function fishCompletion({ commands, options }: CompletionWords): string {
  const lines = commands.map(
    ({ name, summary }) =>
      `complete -c sluice -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
  );
  for (const option of options) {
    const short = option.short === undefined ? '' : ` -s ${option.short}`;
    const words = option.words === undefined ? '' : ` -f -a '${option.words.join(' ')}'`;
    const value = option.takesValue ? ` -r${option.isPath ? ' -F' : words}` : '';
    const flag = option.flag.slice(2);
    lines.push(`complete -c sluice -l ${flag}${short}${value} -d '${quoted(option.help)}'`);
  }
  return `${lines.join('\n')}\n`;
}

function zshAction({ words, isPath }: CompletedOption): string {
  if (words !== undefined) return `(${words.join(' ')})`;
  return isPath ? '_files' : '';
}

function shortOf({ short }: CompletedOption): string[] {
  return short === undefined ? [] : [`-${short}`];
}

/** Inside single quotes of all three shells nothing but the quote itself counts. */
function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
