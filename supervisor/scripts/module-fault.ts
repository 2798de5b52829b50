/** What is wrong with a module, and where in its files. */
import type { SourcePosition } from '../config/problem.ts';

export class ModuleFault extends Error {
  readonly position: SourcePosition | undefined;

  constructor(message: string, position?: SourcePosition) {
    super(message);
    this.name = 'ModuleFault';
    this.position = position;
  }
}

/** `thrown` while files of the module were compiled or run. */
export function faultOf(thrown: unknown, paths: readonly string[]): ModuleFault {
  if (thrown instanceof ModuleFault) return thrown;
  if (!isError(thrown)) return new ModuleFault(String(thrown));
  const { message, name, stack = '' } = thrown;
  const text = name === 'Error' ? message : `${name}: ${message}`;
  return new ModuleFault(text, syntaxPosition(stack, paths) ?? framePosition(stack, paths));
}

/** Whether it is an error, of this realm or of another. */
function isError(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && 'stack' in thrown;
}

/** V8 begins the stack of a syntax error with the line and a mark below it. */
function syntaxPosition(stack: string, paths: readonly string[]): SourcePosition | undefined {
  const [first = '', , mark = ''] = stack.split('\n');
  const path = paths.find((each) => first.startsWith(`${each}:`));
  if (path === undefined) return undefined;
  const line = Number(first.slice(path.length + 1));
  return Number.isInteger(line) ? { source: path, line, column: mark.indexOf('^') + 1 } : undefined;
}

function framePosition(stack: string, paths: readonly string[]): SourcePosition | undefined {
  for (const frame of stack.split('\n')) {
    const path = paths.find((each) => frame.includes(`${each}:`));
    if (path === undefined) continue;
    const rest = frame.slice(frame.indexOf(`${path}:`) + path.length + 1);
    const [, line, column] = /^(\d+):(\d+)/.exec(rest) ?? [];
    if (line !== undefined) return { source: path, line: Number(line), column: Number(column) };
  }
  return undefined;
}
