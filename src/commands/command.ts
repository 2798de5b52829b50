/** What `sluice NAME …` runs in place of a server. */

export interface CommandOutput {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

export interface Command {
  readonly name: string;
  readonly help: string;
  /** What may stand behind its name, for completions; the rest is read from the help. */
  readonly words?: () => readonly string[];
  /** `argv` are the words after the command's name. */
  run(argv: readonly string[], output: CommandOutput): Promise<CommandEnd>;
}

/** The exit code, or the command line of the server that runs from here on. */
export type CommandEnd = number | { readonly serve: readonly string[] };

/** Whether the words ask for the command's help; `--` ends the words that are looked at. */
export function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.includes('--help') || words.includes('-h');
}

/** What is printed for words that a command cannot read. */
export function usageError(command: Command, reason: string): string {
  return `sluice ${command.name}: ${reason}\n${command.help}`;
}
