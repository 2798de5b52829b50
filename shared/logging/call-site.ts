/**
 * Finds the line of source that called a function: one stack frame, mapped from the built file back
 * to the TypeScript source, remembered per place. A capture costs some microseconds, so callers ask
 * only for lines that are written.
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CallSite } from './log-record.ts';

/** dist/, from dist/shared/logging/. */
const builtRoot = join(import.meta.dirname, '..', '..');

const sites = new Map<string, CallSite>();
const maps = new Map<string, SourceMap | undefined>();

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
  const path = fileName.startsWith('file:') ? fileURLToPath(fileName) : fileName;
  const entry = mapOf(path)?.findEntry(line - 1, column - 1);
  const original = entry !== undefined && 'originalLine' in entry ? entry.originalLine + 1 : line;
  const built = relative(builtRoot, path);
  return {
    file: built.startsWith('..') ? path : built.replace(/\.js$/, '.ts'),
    line: original,
  };
}

function mapOf(path: string): SourceMap | undefined {
  if (!maps.has(path)) maps.set(path, readMap(`${path}.map`));
  return maps.get(path);
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    // A package without its maps still names the built line.
    return undefined;
  }
}
