/**
 * The files that a secret names: reads them into the message, and watches for others that are moved
 * into their place. A chain and its key are read again until two readings agree, so that a pair is
 * not torn by a move between them.
 */
import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { readConfiguredFile, SOURCE_BYTES_MAX } from '../../config/configured-file.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { isSameMessage } from './same-message.ts';

/** Readings of the same files before they are taken as they are. */
const READINGS_MAX = 5;

/** The fields of secrets that hold data sources. */
const SOURCES = [
  'certificate_chain',
  'private_key',
  'pkcs12',
  'password',
  'ocsp_staple',
  'trusted_ca',
  'crl',
  'secret',
];

/** The message with the files' bytes in it. Rejects when one cannot be read. */
export async function readSecretFiles(message: JsonObject): Promise<JsonObject> {
  let present = await readOnce(message);
  for (let reading = 1; reading < READINGS_MAX; reading++) {
    const again = await readOnce(message);
    if (isSameMessage(present, again)) break;
    present = again;
  }
  return present;
}

/** Directories in which a move may change the secret; none: it names no files. */
export function directoriesOf(message: JsonObject): readonly string[] {
  const directories = new Set<string>();
  for (const part of partsOf(message)) {
    const watched = (part['watched_directory'] as { readonly path?: string } | undefined)?.path;
    for (const [, filename] of filesOf(part)) directories.add(watched ?? dirname(filename));
  }
  return [...directories];
}

export class DirectoryWatch {
  readonly #watchers: readonly FSWatcher[];

  /** Calls `moved` whenever anything comes or goes there, `failed` when that cannot be seen. */
  constructor(directories: readonly string[], moved: () => void, failed: (reason: string) => void) {
    this.#watchers = directories.flatMap((directory) => {
      try {
        const watcher = watch(directory, { persistent: false }, (event) => {
          if (event === 'rename') moved();
        });
        watcher.on('error', (error) => failed(`cannot watch ${directory}: ${error.message}`));
        return [watcher];
      } catch (error) {
        failed(`cannot watch ${directory}: ${(error as Error).message}`);
        return [];
      }
    });
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

async function readOnce(message: JsonObject): Promise<JsonObject> {
  const read: Record<string, JsonObject[string]> = {};
  for (const [key, value] of Object.entries(message)) {
    read[key] = isObject(value) ? await readPart(value) : value;
  }
  return read;
}

async function readPart(part: JsonObject): Promise<JsonObject> {
  const files = filesOf(part);
  if (files.length === 0) return part;
  const { watched_directory: _, ...rest } = part;
  const read: Record<string, JsonObject[string]> = rest;
  for (const [field, filename] of files) {
    const bytes = await readConfiguredFile(filename, SOURCE_BYTES_MAX);
    read[field] = { inline_bytes: bytes.toString('base64') };
  }
  return read;
}

function partsOf(message: JsonObject): readonly JsonObject[] {
  return Object.values(message).filter(isObject);
}

function filesOf(part: JsonObject): readonly (readonly [field: string, filename: string])[] {
  return SOURCES.flatMap((field) => {
    const source = part[field];
    const filename = isObject(source) ? source['filename'] : undefined;
    return typeof filename === 'string' ? [[field, filename] as const] : [];
  });
}

function isObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
