/** Reads one source of a configuration into a tree with positions, whatever its format. */
import type { ApiCatalog, MessageType } from './api/api-catalog.ts';
import type { MessageObject } from './convert/message-object.ts';
import { MessageReader } from './convert/message-reader.ts';
import type { UnknownFields } from './convert/reader-options.ts';
import type { Problem, SourcePosition } from './problem.ts';
import type * as BinarySourceModule from './source/binary-source.ts';
import { type SourceDocument, positionOf } from './source/source-document.ts';
import { decodeText, type SourceFormat } from './source/source-format.ts';
import { jsonFaultLine } from './convert/json-fault.ts';
import { repeatedKeys } from './repeated-keys.ts';
import { parseJson } from './source/json-source.ts';
import { readPlainYaml } from './source/plain-yaml.ts';
import type { ParsedSource } from './source/source-node.ts';
import type { RuntimeTexts } from './validate/api-status.ts';

/** A text as it was read from a file or an option. */
export interface ConfigSource {
  /** As the user gave it: a path, or `--config-yaml`. */
  readonly name: string;
  readonly format: SourceFormat;
  readonly content: Uint8Array;
}

export interface PipelineOptions {
  readonly unknownFields: UnknownFields;
  /** What decides on deprecated fields; absent: the static runtime layers of the message itself. */
  readonly runtime?: RuntimeTexts;
  /** A key that stands twice is an error; Envoy takes the last one. */
  readonly refusesRepeatedKeys?: boolean;
}

export interface Reading {
  readonly catalog: ApiCatalog;
  readonly options: PipelineOptions;
  readonly problems: Problem[];
  /** With those that are not kept. */
  readonly counts: Record<Problem['severity'], number>;
  readonly incomplete: WeakSet<object>[];
  unknownFieldCount: number;
}

/**
 * The limit of errors, and of warnings: what comes behind says nothing new, and to find where each
 * of a million stands would take hours.
 */
const PROBLEMS_MAX = 1000;

export function note(
  { problems, counts }: Reading,
  problem: Problem,
  locate: () => SourcePosition | undefined,
): void {
  counts[problem.severity] += 1;
  if (counts[problem.severity] > PROBLEMS_MAX) return;
  const position = locate();
  problems.push(position === undefined ? problem : { ...problem, position });
}

/**
 * Loaded when the first binary source comes; asking the loader again for each would cost more than
 * a short one.
 */
let loadedBinarySource: Promise<typeof BinarySourceModule> | undefined;

export function binarySource(): Promise<typeof BinarySourceModule> {
  return (loadedBinarySource ??= import('./source/binary-source.ts'));
}

export async function readSource(
  reading: Reading,
  type: MessageType,
  source: ConfigSource,
): Promise<{ document: SourceDocument; message: MessageObject }> {
  if (source.format === 'pb' || source.format === 'pb_text') {
    const { readBinarySource } = await binarySource();
    const result = await readBinarySource(reading.catalog, type, source, reading.options);
    reading.problems.push(...result.problems);
    reading.unknownFieldCount += result.unknownFieldCount;
    return { document: result.document, message: result.message };
  }
  const text = decodeText(source.content);
  if (text === undefined) {
    const position = { source: source.name, line: 1, column: 1 };
    reading.problems.push({
      ...wholeText('not valid UTF-8', 'source.encoding'),
      position,
      ...(source.format === 'json' ? { reference: notUtf8(type) } : {}),
    });
    return { document: { name: source.name, text: '', root: undefined }, message: {} };
  }
  const parsed = (await parseText(source.format, text)) ?? { root: undefined, problems: [] };
  const document: SourceDocument = { name: source.name, text, root: parsed.root };
  return {
    document,
    message: readTree(reading, type, document, { ...parsed, format: source.format }),
  };
}

export async function parseText(
  format: SourceFormat,
  text: string,
): Promise<ParsedSource | undefined> {
  switch (format) {
    case 'yaml': {
      const root = readPlainYaml(text);
      if (root !== undefined) return { root, problems: [] };
      const { parseYaml } = await import('./source/yaml-source.ts');
      return parseYaml(text);
    }
    case 'json':
      return parseJson(text);
    case 'pb':
    case 'pb_text':
      return undefined;
  }
}

function readTree(
  reading: Reading,
  type: MessageType,
  document: SourceDocument,
  parsed: ParsedSource & { readonly format: SourceFormat },
): MessageObject {
  for (const { problem, offset } of repeatedKeys(parsed, document, reading.options)) {
    note(reading, problem, () => positionOf(document, offset));
  }
  for (const { offset, json, ...problem } of parsed.problems) {
    if (problem.earlierOffset !== undefined) continue;
    const reference =
      json === undefined ? problem.reference : jsonFaultLine(type, json, document.text);
    const error = {
      severity: 'error',
      place: undefined,
      ...problem,
      ...(reference === undefined ? {} : { reference }),
    } as const;
    note(reading, error, () => positionOf(document, offset));
  }
  const { root } = parsed;
  if (root === undefined) {
    if (parsed.problems.length === 0) {
      reading.problems.push(emptyDocument(document));
    }
    return {};
  }
  if (root.kind !== 'map' && root.kind !== 'list') {
    const notObject = emptyDocument(document);
    const reference =
      parsed.format === 'json' ? notAnObject(type, document.text) : notObject.reference;
    reading.problems.push({ ...notObject, ...(reference === undefined ? {} : { reference }) });
    return {};
  }
  const reader = new MessageReader({
    catalog: reading.catalog,
    unknownFields: reading.options.unknownFields,
    report: (problem, offset) => note(reading, problem, () => positionOf(document, offset)),
  });
  const message = reader.read(type, root) ?? {};
  reading.incomplete.push(reader.incomplete);
  reading.unknownFieldCount += reader.unknownFieldCount;
  return message;
}

function notAnObject(type: MessageType, text: string): string {
  return jsonFaultLine(type, { words: '', path: [], isValueStart: true, hasPlace: true }, text);
}

function notUtf8(type: MessageType): string {
  const words = 'Invalid UTF-8 string';
  return jsonFaultLine(type, { words, path: [], isValueStart: false, hasPlace: true }, '{');
}

function emptyDocument(document: SourceDocument): Problem {
  return {
    ...wholeText('expected an object at the top of the document', 'source.not_an_object'),
    position: { source: document.name, line: 1, column: 1 },
    reference: `Unable to convert YAML as JSON: ${document.text.split('\n', 1).join('').slice(0, 200)}`,
  };
}

function wholeText(message: string, rule: string): Problem {
  return { severity: 'error', place: undefined, message, rule };
}
