/** The commands of the program; each is loaded when it is asked for. */
import { COMMAND_SUMMARIES, type CommandName } from '../options/command-summaries.ts';
import { asksForHelp, type Command, type CommandEnd, type CommandOutput } from './command.ts';

const LOADERS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  check: async () => (await import('./check/check-command.ts')).checkCommand,
  explain: async () => (await import('./explain/explain-command.ts')).explainCommand,
  top: async () => (await import('./top/top-command.ts')).topCommand,
  doctor: async () => (await import('./doctor/doctor-command.ts')).doctorCommand,
  collect: async () => (await import('./collect/collect-command.ts')).collectCommand,
  tap: async () => (await import('./tap/tap-command.ts')).tapCommand,
  drain: async () => (await import('./drain/drain-command.ts')).drainCommand,
  'reverse-proxy': async () =>
    (await import('./reverse-proxy/reverse-proxy-command.ts')).reverseProxyCommand,
  example: async () => (await import('./example/example-command.ts')).exampleCommand,
  'explain-field': async () =>
    (await import('./explain-field/explain-field-command.ts')).explainFieldCommand,
  'basic-auth': async () => (await import('./basic-auth/basic-auth-command.ts')).basicAuthCommand,
  init: async () => (await import('./init/init-command.ts')).initCommand,
  features: async () => (await import('./features/features-command.ts')).featuresCommand,
  completion: async () => (await import('./completion/completion-command.ts')).completionCommand,
};

/** Commands that people look for among the options. */
const ALIASES: ReadonlyMap<string, CommandName> = new Map([['--features', 'features']]);

/** Undefined: the words are a server's options. */
export function findCommand(argv: readonly string[]): CommandName | undefined {
  const [word = ''] = argv;
  return COMMAND_SUMMARIES.find(({ name }) => name === (ALIASES.get(word) ?? word))?.name;
}

export async function loadCommand(name: CommandName): Promise<Command> {
  return await LOADERS[name]();
}

/** `words` are those after the command's name. */
export async function runCommand(
  name: CommandName,
  words: readonly string[],
  output: CommandOutput,
): Promise<CommandEnd> {
  const command = await loadCommand(name);
  if (!asksForHelp(words)) return await command.run(words, output);
  output.out(command.help);
  return 0;
}
