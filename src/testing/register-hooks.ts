/** What the runtime asks when it loads a module; runs in a thread of its own. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isStripError, stripTypesOf } from '../../shared/scripts/type-stripper.ts';

interface Loaded {
  readonly format: string;
  readonly source?: string;
  readonly shortCircuit?: boolean;
}

type NextLoad = (url: string, context: object) => Promise<Loaded>;

export async function load(url: string, context: object, nextLoad: NextLoad): Promise<Loaded> {
  if (!/^file:.*\.m?ts$/.test(url)) return await nextLoad(url, context);
  const path = fileURLToPath(url);
  try {
    const source = stripTypesOf(await readFile(path, 'utf8'), path, import.meta.url);
    return { format: 'module', source, shortCircuit: true };
  } catch (error) {
    if (!isStripError(error)) throw error;
    const { message, startLine, startColumn } = error;
    throw new SyntaxError(`${path}:${startLine}:${startColumn + 1}: ${message}`, { cause: error });
  }
}
