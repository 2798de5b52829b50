/**
 * Compiles a log layout (`--log-format`) once into a function from record to line. A flag may carry
 * alignment, width and truncation: `%-5l`, `%=8n`, `%3!l`. Unknown flags stay as they are written.
 *
 * What a message quotes was often chosen by a peer: a control plane's names and errors, paths, texts
 * of certificates. Each way into a line escapes it here, by its format, so that a record is one line
 * whatever it says. Layouts for JSON (`%j`) and `--log-format-escaped` have their own escapes.
 */
import { basename } from 'node:path';

import { escapeC, escapeControls, escapeJson } from './escape.ts';
import { shortLevelNames } from './levels.ts';
import type { TextOf } from './log-record.ts';
import { needsExactTime, timeFlag } from './time-flags.ts';

export interface LineFormat {
  /** The line with its end. */
  readonly format: TextOf;
  /** Whether records need their call site. */
  readonly needsSite: boolean;
  /** Whether records need parts of a millisecond or the time since the line before. */
  readonly needsExactTime: boolean;
}

/** Wider paddings than this are cut down to it. */
const maxWidth = 64;

// Every process logs from its main thread, whose thread id is the process id.
const threadId = String(process.pid);

const plainFlags: Readonly<Record<string, TextOf>> = {
  v: (record) => escapeControls(record.message),
  _: (record) => escapeControls(record.message),
  j: (record) => escapeJson(record.message),
  '+': (record) => escapeControls(record.bareMessage),
  '*': (record) => record.tagsJson,
  t: () => threadId,
  P: () => threadId,
  n: (record) => record.component,
  l: (record) => record.level,
  L: (record) => shortLevelNames[record.level],
  // Marks of a colour range and of a diagnostic context, which this log does not have.
  '^': () => '',
  $: () => '',
  '&': () => '',
  '%': () => '%',
};

/** What `--log-format-escaped` escapes once, with the rest of the line. */
const rawFlags: ReadonlyMap<string, TextOf> = new Map([
  ['v', (record) => record.message],
  ['+', (record) => record.bareMessage],
]);

const siteFlags: Readonly<Record<string, TextOf>> = {
  '@': ({ site }) => (site === undefined ? '' : `${site.file}:${site.line}`),
  s: ({ site }) => (site === undefined ? '' : basename(site.file)),
  g: ({ site }) => site?.file ?? '',
  '#': ({ site }) => (site === undefined ? '' : String(site.line)),
  '!': ({ site }) => site?.functionName ?? '',
};

export function compileLineFormat(layout: string, isEscaped: boolean): LineFormat {
  const pieces: (string | TextOf)[] = [];
  let needsSite = false;
  let exactTime = false;
  for (const part of splitLayout(layout)) {
    if (typeof part === 'string') {
      pieces.push(part);
      continue;
    }
    needsSite ||= siteFlags[part.flag] !== undefined || part.flagIsTruncated === true;
    exactTime ||= needsExactTime(part.flag);
    pieces.push(...textsOf(part, isEscaped));
  }
  const text = join(pieces);
  return {
    format: isEscaped ? (record) => `${escapeC(text(record))}\n` : (record) => `${text(record)}\n`,
    needsSite,
    needsExactTime: exactTime,
  };
}

interface Flag {
  readonly flag: string;
  readonly align: 'left' | 'right' | 'center';
  /** 0 for none. */
  readonly width: number;
  readonly truncate: boolean;
  /** Set for `%3!q` with an unknown `q`: the `!` is then the function's name and `q` is text. */
  readonly flagIsTruncated?: true;
}

/** Texts and flags in turn. A lone percent sign at the end is dropped. */
function splitLayout(layout: string): (string | Flag)[] {
  const parts: (string | Flag)[] = [];
  const pattern = /%([-=]?)(?:(\d+)(!?))?([^])?/gu;
  let end = 0;
  for (const match of layout.matchAll(pattern)) {
    if (match.index > end) parts.push(layout.slice(end, match.index));
    end = match.index + match[0].length;
    const flag = match[4];
    if (flag === undefined) continue;
    parts.push({
      flag,
      align: match[1] === '-' ? 'left' : match[1] === '=' ? 'center' : 'right',
      width: Math.min(Number(match[2] ?? 0), maxWidth),
      truncate: match[3] === '!',
      ...(match[3] === '!' && !isKnown(flag) ? { flagIsTruncated: true as const } : {}),
    });
  }
  if (end < layout.length) parts.push(layout.slice(end));
  return parts;
}

function isKnown(flag: string): boolean {
  return (plainFlags[flag] ?? siteFlags[flag] ?? timeFlag(flag)) !== undefined;
}

function textsOf(part: Flag, isEscaped: boolean): (string | TextOf)[] {
  if (part.flagIsTruncated === true) {
    return [padded(siteFlags['!'] ?? (() => ''), { ...part, truncate: false }), part.flag];
  }
  const raw = isEscaped ? rawFlags.get(part.flag) : undefined;
  const text = raw ?? plainFlags[part.flag] ?? siteFlags[part.flag] ?? timeFlag(part.flag);
  if (text === undefined) return [`%${part.flag}`];
  return [part.width === 0 || part.flag === '%' ? text : padded(text, part)];
}

function padded(text: TextOf, { align, width, truncate }: Flag): TextOf {
  return (record) => {
    const plain = text(record);
    if (plain.length >= width) return truncate ? plain.slice(0, width) : plain;
    switch (align) {
      case 'left':
        return plain.padEnd(width);
      case 'right':
        return plain.padStart(width);
      case 'center':
        return plain.padStart(plain.length + Math.floor((width - plain.length) / 2)).padEnd(width);
    }
  };
}

function join(pieces: readonly (string | TextOf)[]): TextOf {
  return (record) => {
    let line = '';
    for (const piece of pieces) line += typeof piece === 'string' ? piece : piece(record);
    return line;
  };
}
