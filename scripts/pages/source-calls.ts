/**
 * Finds calls in sources of this project and what stands in their arguments, for pages that are made
 * from the code. It knows texts, templates, comments and brackets, which is all that these calls need.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Source {
  /** From the project's root. */
  readonly path: string;
  readonly text: string;
}

export interface SourceCall {
  readonly source: Source;
  /** What the pattern of the search has matched. */
  readonly match: RegExpExecArray;
  /** The arguments as written, without comments. */
  readonly args: readonly string[];
}

export function sourcesBelow(root: string, folder: string): readonly Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => {
      const path = `${folder}/${name}`;
      return { path, text: readFileSync(join(root, path), 'utf8') };
    });
}

/** Calls of what the pattern matches, which ends before the bracket of the arguments. */
export function* callsOf(source: Source, pattern: RegExp): Generator<SourceCall> {
  for (const match of source.text.matchAll(pattern)) {
    const from = match.index + match[0].length;
    if (source.text[from] !== '(') continue;
    yield { source, match, args: argumentsAt(source.text, from) };
  }
}

const OPENING = '([{';
const CLOSING = ')]}';

/** The arguments between the bracket at `from` and the one that closes it. */
export function argumentsAt(text: string, from: number): readonly string[] {
  const args: string[] = [];
  let arg = '';
  let depth = 0;
  for (let at = from; at < text.length;) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.startsWith('//') || token.startsWith('/*')) continue;
    if (OPENING.includes(token) && depth++ === 0) continue;
    if (CLOSING.includes(token) && --depth === 0) break;
    if (token === ',' && depth === 1) {
      args.push(arg.trim());
      arg = '';
    } else {
      arg += token;
    }
  }
  if (arg.trim() !== '') args.push(arg.trim());
  return args;
}

/** A text, a template and a comment are one token, everything else one character. */
export function endOfToken(text: string, at: number): number {
  const char = text[at];
  if (char === "'" || char === '"') return endOfText(text, at, char);
  if (char === '`') return endOfTemplate(text, at);
  if (char === '/' && text[at + 1] === '/') return lineEnd(text, at);
  if (char === '/' && text[at + 1] === '*') return text.indexOf('*/', at) + 2;
  return at + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function endOfText(text: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfTemplate(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '`') {
    if (text[at] === '\\') at += 2;
    else if (text.startsWith('${', at)) at = endOfHole(text, at + 1);
    else at += 1;
  }
  return at + 1;
}

/** Behind the bracket that closes the one at `from`. */
function endOfHole(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const end = endOfToken(text, at);
    if (end === at + 1) depth += text[at] === '{' ? 1 : text[at] === '}' ? -1 : 0;
    at = end;
  } while (depth > 0 && at < text.length);
  return at;
}

const HOLE = '…';

/**
 * The texts that an expression of texts may have, with `…` where something is put in. Texts joined
 * by `+` are one, the sides of a condition are two.
 */
export function textsOf(expression: string): readonly string[] {
  const sides = sidesOf(expression);
  if (sides.length > 1) return sides.flatMap(textsOf);
  let joined = '';
  let depth = 0;
  for (let at = 0; at < expression.length;) {
    const end = endOfToken(expression, at);
    const token = expression.slice(at, end);
    at = end;
    if (CLOSING.includes(token)) depth -= 1;
    if (depth === 0 && /^['"`]/.test(token)) joined += plain(token);
    else if (!/^[\s+]$/.test(token)) joined += HOLE;
    if (OPENING.includes(token)) depth += 1;
  }
  joined = joined.replaceAll(/…{2,}/g, HOLE);
  return [joined];
}

/** What stands left and right of the last `:` of a condition, without the question. */
function sidesOf(expression: string): readonly string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (let at = 0; at < expression.length;) {
    const end = endOfToken(expression, at);
    const token = expression.slice(at, end);
    if (OPENING.includes(token)) depth += 1;
    if (CLOSING.includes(token)) depth -= 1;
    const isMark =
      depth === 0 &&
      /^[?:]$/.test(token) &&
      !/^\?[?.]|^\?\?/.test(expression.slice(at - 1, at + 2)) &&
      !/^[?][.?]/.test(expression.slice(at, at + 2));
    if (isMark) parts.push('');
    else parts[parts.length - 1] += token;
    at = end;
  }
  return parts.length > 2 ? parts.slice(1) : [expression];
}

/** The text of a literal; what a template has put in is `…`. */
function plain(literal: string): string {
  const body = literal.slice(1, -1);
  let text = '';
  for (let at = 0; at < body.length;) {
    if (literal.startsWith('`') && body.startsWith('${', at)) {
      at = endOfHole(body, at + 1);
      text += HOLE;
    } else if (body[at] === '\\') {
      text += body[at + 1] === 'n' ? ' ' : (body[at + 1] ?? '');
      at += 2;
    } else {
      text += body[at] ?? '';
      at += 1;
    }
  }
  return text;
}
