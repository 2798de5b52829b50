/**
 * The syntax of path templates: segments between slashes, each a literal, `*`, `**`, a variable
 * `{name}` or `{name=pattern}`, or a mixture such as `{name}.txt`. The supervisor checks with it;
 * workers compile what has passed. The error texts are Envoy's.
 */

export type PathTemplateResult =
  | { readonly ok: true; readonly variables: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** Checks a template that paths are matched against. Never throws. */
export function checkPathTemplate(template: string): PathTemplateResult {
  if (!PATTERN.test(template)) return failure(`Invalid pattern: "${template}"`);
  const variables: string[] = [];
  let sawTextGlob = false;
  for (const segment of segmentsOf(template)) {
    const problem = checkSegment(segment, variables);
    if (problem !== undefined) return failure(problem);
    for (const glob of segment.match(/\*\*?/g) ?? []) {
      if (sawTextGlob) return failure('Glob after text glob.');
      sawTextGlob = glob === '**';
    }
  }
  return { ok: true, variables };
}

/** Checks what a path is rewritten to: literals and `{name}` only. Undefined when it is wrong. */
export function rewriteVariables(template: string): readonly string[] | undefined {
  if (!REWRITE.test(template)) return undefined;
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

const PATTERN = /^\/[!-~]*$/;
const REWRITE = /^\/(?:[a-zA-Z0-9\-._~%!$&'()*+,;:@=/]|\{[a-zA-Z]\w{0,15}\})*$/;
const LITERAL = /^[a-zA-Z0-9\-._~%!$&'()*+,;:@=]+$/;
const NAME = /^[a-zA-Z]\w*$/;
const NAME_LENGTH_MAX = 16;

function failure(error: string): PathTemplateResult {
  return { ok: false, error };
}

/** Splits at the slashes outside of variables. */
function segmentsOf(template: string): string[] {
  const segments: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 1; at < template.length; at += 1) {
    const char = template[at];
    if (char === '{') depth += 1;
    else if (char === '}') depth = Math.max(depth - 1, 0);
    else if (char === '/' && depth === 0) {
      segments.push(template.slice(start, at));
      start = at + 1;
    }
  }
  const last = template.slice(start);
  // A template may end in a slash, and be nothing but one.
  return last === '' ? segments : [...segments, last];
}

/** Returns the problem; adds the segment's variable to `variables`. */
function checkSegment(segment: string, variables: string[]): string | undefined {
  const open = segment.indexOf('{');
  if (open < 0) return LITERAL.test(segment) ? undefined : `Invalid literal: "${segment}"`;
  const close = segment.indexOf('}', open);
  if (close < 0) return `Unmatched variable bracket in mixed pattern: "${segment}"`;
  const prefix = segment.slice(0, open);
  if (prefix !== '' && !LITERAL.test(prefix)) return `Invalid prefix literal: "${prefix}"`;
  const suffix = segment.slice(close + 1);
  if (suffix !== '' && !LITERAL.test(suffix)) return `Invalid suffix literal: "${suffix}"`;
  return checkVariable(segment.slice(open + 1, close), variables);
}

function checkVariable(text: string, variables: string[]): string | undefined {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  if (name.length > NAME_LENGTH_MAX) {
    return `Invalid variable name length (length of "${name}" should be at least 1 and no more than ${NAME_LENGTH_MAX})`;
  }
  if (!NAME.test(name)) return `Invalid variable name: "${name}"`;
  if (variables.includes(name)) return `Repeated variable name: "${name}"`;
  variables.push(name);
  if (equals < 0) return undefined;
  const pattern = text.slice(equals + 1);
  if (pattern === '') return 'Empty variable match';
  const wrong = pattern.split('/').find((part) => !LITERAL.test(part));
  return wrong === undefined ? undefined : `Invalid literal: "${wrong}"`;
}
