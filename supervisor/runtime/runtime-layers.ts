/**
 * The layers of `layered_runtime` and how each is read. Layers later in the list win. A layer read
 * from disk is a folder of files: `symlink_root/subdirectory/a/b` holds the value of the key `a.b`.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfiguredFile } from '../config/configured-file.ts';
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { RuntimeLayer } from '../resolved/runtime-layer.ts';
import type { RuntimeValue } from '../../shared/resources/runtime.ts';
import { isFraction, valueOfFraction, valueOfJson, valueOfText } from './runtime-value.ts';

export type LayerValues = ReadonlyMap<string, RuntimeValue>;

/** What a static or RTDS layer says is no runtime value. */
export class RuntimeLayerError extends Error {
  readonly code = 'runtime_layer';
}

/** Deeper folders are an error: a link to a parent would never end. */
const FOLDER_DEPTH_MAX = 16;
/** Larger files are no runtime values. */
const FILE_BYTES_MAX = 1024 * 1024;

/** Reads nested structs as dotted keys. Throws RuntimeLayerError. */
export function readStaticLayer(values: JsonObject): LayerValues {
  const result = new Map<string, RuntimeValue>();
  for (const [key, value] of Object.entries(values)) addJson(result, key, value);
  return result;
}

function addJson(result: Map<string, RuntimeValue>, key: string, value: JsonValue): void {
  const isStruct = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isStruct && !isFraction(value)) {
    const fields = Object.entries(value as JsonObject);
    for (const [name, inner] of fields) addJson(result, `${key}.${name}`, inner);
    // An empty struct names no key below it, so it is itself the value.
    if (fields.length === 0) result.set(key, valueOfFraction({}));
    return;
  }
  const parsed = valueOfJson(value);
  if (parsed === undefined) throw new RuntimeLayerError(`Invalid runtime entry value for ${key}`);
  result.set(key, parsed);
}

/** Undefined when the folder does not exist; rejects when something in it cannot be read. */
export async function readDiskLayer(
  layer: Extract<RuntimeLayer, { kind: 'disk' }>,
): Promise<LayerValues | undefined> {
  const root = join(layer.symlinkRoot, layer.folder);
  if (!(await isFolder(root))) return undefined;
  const result = new Map<string, RuntimeValue>();
  await addFolder(result, root, []);
  return result;
}

async function addFolder(
  result: Map<string, RuntimeValue>,
  folder: string,
  names: readonly string[],
): Promise<void> {
  if (names.length > FOLDER_DEPTH_MAX) {
    throw new RuntimeLayerError(`cannot read '${folder}': more than ${FOLDER_DEPTH_MAX} folders`);
  }
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    const below = [...names, name];
    const facts = await stat(path);
    if (facts.isDirectory()) {
      await addFolder(result, path, below);
    } else if (facts.size > FILE_BYTES_MAX) {
      throw new RuntimeLayerError(`cannot read '${path}': more than ${FILE_BYTES_MAX} bytes`);
    } else {
      const content = await readConfiguredFile(path, FILE_BYTES_MAX);
      const text = valueLines(content.toString('utf8'));
      result.set(below.join('.'), await valueOfText(text));
    }
  }
}

// Lines that begin with # are comments. Envoy joins the others without empty lines and
// trims only the last line of the file.
function valueLines(content: string): string {
  const lines = content.split('\n').filter((line) => line !== '');
  return lines
    .map((line, index) => {
      if (line.startsWith('#')) return '';
      return index === lines.length - 1 ? line.trimEnd() : `${line}\n`;
    })
    .join('');
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
