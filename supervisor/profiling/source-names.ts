/** Maps places in compiled files back to the .ts they come from, through the maps beside them. */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scriptFile } from '../../shared/process/built-root.ts';

export interface SourcePlace {
  readonly file: string;
  /** From 1; 0 when there is none. */
  readonly line: number;
}

export class SourceNames {
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** Line and column count from 0, as V8 gives them. */
  resolve(url: string, line: number, column: number): SourcePlace {
    const compiled = scriptFile(url);
    if (compiled === undefined) return { file: url, line: line + 1 };
    const entry = this.#mapOf(compiled)?.findEntry(Math.max(0, line), Math.max(0, column));
    if (entry === undefined || !('originalSource' in entry)) {
      return { file: compiled, line: line + 1 };
    }
    const source = entry.originalSource.startsWith('file:')
      ? fileURLToPath(entry.originalSource)
      : join(dirname(compiled), entry.originalSource);
    return { file: source, line: entry.originalLine + 1 };
  }

  #mapOf(compiled: string): SourceMap | undefined {
    if (!this.#maps.has(compiled)) this.#maps.set(compiled, readMap(`${compiled}.map`));
    return this.#maps.get(compiled);
  }
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  } catch {
    // No map: the compiled place is the answer.
    return undefined;
  }
}
