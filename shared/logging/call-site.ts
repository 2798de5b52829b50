/**
 * Finds the line of source that called a function: one stack frame, mapped from the built file back
 * to the TypeScript source, remembered per place. A capture costs some microseconds, so callers ask
 * only for lines that are written.
 */
import { openSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { relative } from 'node:path';

import { readTextIfThere } from '../text/read-text.ts';
import { builtRoot, scriptFile } from '../process/built-root.ts';
import { LINE_BITS, LineTable } from './line-table.ts';
import type { CallSite } from './log-record.ts';

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
  const position = (caller as PositionedCallSite).getPosition();
  const key = `${fileName}:${position}`;
  let site = sites.get(key);
  if (site === undefined) {
    site = { ...sourcePlace(fileName, caller, position), functionName: functionName(caller) };
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

interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

/** Left out of node's types. */
interface PositionedCallSite extends NodeJS.CallSite {
  /** The offset in the script's text. Asking for a line instead makes V8 keep all line ends. */
  getPosition(): number;
}

function sourcePlace(fileName: string, caller: NodeJS.CallSite, position: number): SourcePlace {
  const path = scriptFile(fileName) ?? fileName;
  let find = maps.get(path);
  if (find === undefined) {
    find = packedLines(path) ?? mappedLines(path);
    maps.set(path, find);
  }
  return find(caller, position);
}

type LineFinder = (caller: NodeJS.CallSite, position: number) => SourcePlace;

/** By the tables that the build writes beside a packed file; undefined for any other. */
function packedLines(path: string): LineFinder | undefined {
  const text = readTextIfThere(`${path}.files.json`);
  if (text === undefined) return undefined;
  const files = JSON.parse(text) as string[];
  const table = new LineTable(openSync(`${path}.lines`, 'r'));
  return (caller, position) => {
    const place = table.placeAt(position);
    const file = place === undefined ? undefined : files[place >>> LINE_BITS];
    if (place === undefined || file === undefined) {
      return { file: path, line: caller.getLineNumber() ?? 0 };
    }
    return { file, line: place & ((1 << LINE_BITS) - 1) };
  };
}

/** By the compiler's own map, for a file that was not packed. */
function mappedLines(path: string): LineFinder {
  const text = readTextIfThere(`${path}.map`);
  const map = text === undefined ? undefined : new SourceMap(JSON.parse(text) as SourceMapPayload);
  const built = relative(builtRoot, path);
  const file = built.startsWith('..') ? path : built.replace(/\.js$/, '.ts');
  return (caller) => {
    const [line, column] = [caller.getLineNumber() ?? 0, caller.getColumnNumber() ?? 0];
    // A package without its maps still names the built line.
    const entry = map?.findEntry(line - 1, column - 1);
    const isKnown = entry !== undefined && 'originalLine' in entry;
    return { file, line: isKnown ? entry.originalLine + 1 : line };
  };
}
