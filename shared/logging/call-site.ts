/**
 * Finds the line of source that called a function: one stack frame, mapped from the built file back
 * to the TypeScript source, remembered per place. A capture costs some microseconds, so callers ask
 * only for lines that are written.
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readTextIfThere } from '../text/read-text.ts';
import { builtRoot } from '../process/built-root.ts';
import type { CallSite } from './log-record.ts';

/** An entry has the index of the file above the line; 0: the line is nobody's. */
export const LINE_BITS = 18;
export const LINE_ENTRY_BYTES = 4;

const sites = new Map<string, CallSite>();
const maps = new Map<string, LineFinder>();

/** A frame that was captured but not yet looked at. */
export interface CapturedFrame {
  stack?: NodeJS.CallSite[] | string;
}

/** The engine's stack settings; node's types call the formatter a method, which it is not. */
const stackSettings = Error as unknown as {
  stackTraceLimit: number;
  prepareStackTrace: ((error: unknown, frames: NodeJS.CallSite[]) => unknown) | undefined;
};

/** Takes the frame of the code that called `callee`, which is in the process of being called. */
export function captureFrame(callee: (...args: never[]) => unknown): CapturedFrame {
  const frame: CapturedFrame = {};
  const limit = stackSettings.stackTraceLimit;
  stackSettings.stackTraceLimit = 1;
  Error.captureStackTrace(frame, callee);
  stackSettings.stackTraceLimit = limit;
  return frame;
}

/** The site of a captured frame; undefined when the engine gives none. */
export function siteOf(frame: CapturedFrame): CallSite | undefined {
  const caller = structuredFrame(frame);
  const fileName = caller?.getFileName();
  if (caller === undefined || typeof fileName !== 'string') return undefined;
  const line = caller.getLineNumber() ?? 0;
  const column = caller.getColumnNumber() ?? 0;
  const key = `${fileName}:${line}:${column}`;
  let site = sites.get(key);
  if (site === undefined) {
    site = { ...sourcePlace(fileName, line, column), functionName: functionName(caller) };
    sites.set(key, site);
  }
  return site;
}

/** The stack property is formatted at its first reading, by whatever formatter is set then. */
function structuredFrame(frame: CapturedFrame): NodeJS.CallSite | undefined {
  const formatter = stackSettings.prepareStackTrace;
  stackSettings.prepareStackTrace = (_, frames) => frames;
  const stack = frame.stack;
  stackSettings.prepareStackTrace = formatter;
  return Array.isArray(stack) ? stack[0] : undefined;
}

function functionName(caller: NodeJS.CallSite): string {
  return caller.getFunctionName()?.replace(/^.*\./, '') ?? '';
}

function sourcePlace(
  fileName: string,
  line: number,
  column: number,
): { file: string; line: number } {
  // The name of a packed file is relative to the built files.
  const path = fileName.startsWith('file:')
    ? fileURLToPath(fileName)
    : resolve(builtRoot, fileName);
  let find = maps.get(path);
  if (find === undefined) {
    find = packedLines(path) ?? mappedLines(path);
    maps.set(path, find);
  }
  return find(line, column);
}

type LineFinder = (line: number, column: number) => { file: string; line: number };

/**
 * The tables that the build writes beside a packed file; undefined for any other. Lines are numbers
 * of four bytes, which a start can read without parsing them.
 */
function packedLines(path: string): LineFinder | undefined {
  const text = readTextIfThere(`${path}.files.json`);
  if (text === undefined) return undefined;
  const files = JSON.parse(text) as string[];
  const lines = readFileSync(`${path}.lines`);
  return (line) => {
    const at = (line - 1) * LINE_ENTRY_BYTES;
    const isKnown = line > 0 && at + LINE_ENTRY_BYTES <= lines.length;
    const entry = isKnown ? lines.readUInt32LE(at) : 0;
    const file = files[entry >>> LINE_BITS];
    if (entry === 0 || file === undefined) return { file: path, line };
    return { file, line: entry & ((1 << LINE_BITS) - 1) };
  };
}

/** By the compiler's own map, for a file that was not packed. */
function mappedLines(path: string): LineFinder {
  const text = readTextIfThere(`${path}.map`);
  const map = text === undefined ? undefined : new SourceMap(JSON.parse(text) as SourceMapPayload);
  const built = relative(builtRoot, path);
  const file = built.startsWith('..') ? path : built.replace(/\.js$/, '.ts');
  return (line, column) => {
    // A package without its maps still names the built line.
    const entry = map?.findEntry(line - 1, column - 1);
    const isKnown = entry !== undefined && 'originalLine' in entry;
    return { file, line: isKnown ? entry.originalLine + 1 : line };
  };
}
