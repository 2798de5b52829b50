/** Checks re.extract, re.capture and re.captureN. */
import type { CelCapture, CelExpression } from '../../shared/cel/expression.ts';
import { compileRegex } from '../regex/compile-regex.ts';
import { CelError, type CelSyntax } from './syntax.ts';

const ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ['extract', 3],
  ['capture', 2],
  ['captureN', 2],
]);
/** A quoted text, an escaped character, a class, or a bracket with what may make a group of it. */
const GROUPS =
  /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\w+:\]|\\[^]|[^\]\\])*\]|\((\?(?:P?<(\w+)>)?)?/g;

interface CaptureChecks {
  readonly check: (syntax: CelSyntax) => CelExpression;
  readonly maxProgramSize: number;
}

/** Undefined for a call of something else. */
export function captureOf(
  { name, receiver, args }: Extract<CelSyntax, { kind: 'call' }>,
  { check, maxProgramSize }: CaptureChecks,
): CelCapture | undefined {
  if (receiver?.kind !== 'name' || receiver.name !== 're') return undefined;
  const [text, pattern, rewrite] = args;
  if (ARGUMENTS.get(name) !== args.length || text === undefined) return undefined;
  if (pattern?.kind !== 'constant' || pattern.constant.type !== 'string') {
    throw new CelError(
      `failed to create an expression: the pattern of re.${name}() has to be a string constant`,
    );
  }
  const source = Buffer.from(pattern.constant.value, 'latin1').toString('utf8');
  const options = { use: 'replace', maxProgramSize } as const;
  let result = compileRegex(source, options);
  // Envoy's `extract` takes any part of a text, the others take all of it.
  if (result.ok && name !== 'extract') result = compileRegex(`\\A(?:${source})\\z`, options);
  return {
    kind: 'capture',
    form: name as CelCapture['form'],
    text: check(text),
    ...(result.ok ? { regex: result.regex } : {}),
    groups: result.ok ? groupNames(source) : [],
    ...(rewrite === undefined ? {} : { rewrite: check(rewrite) }),
  };
}

/** The pattern is a sound one. */
function groupNames(source: string): string[] {
  const names: string[] = [];
  for (const [piece, marks, name] of source.matchAll(GROUPS)) {
    if (piece.startsWith('(') && (marks === undefined || name !== undefined)) {
      names.push(name ?? String(names.length + 1));
    }
  }
  return names;
}
