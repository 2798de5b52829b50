/**
 * From source texts to one checked, normalised message. It reads no files and keeps nothing
 * between calls, so that it runs in the supervisor or in a pool thread alike.
 */
import { ApiCatalog, type MessageType } from './api/api-catalog.ts';
import { orderProblems } from './config-error.ts';
import { mergeMessage } from './convert/merge-message.ts';
import type { MessageObject } from './convert/message-object.ts';
import { MessageReader, type UnknownFields } from './convert/message-reader.ts';
import { isReadable } from './follow-up.ts';
import type { Problem, ProblemSink, SourcePosition } from './problem.ts';
import type * as BinarySourceModule from './source/binary-source.ts';
import { type SourceDocument, locatePlace, positionOf } from './source/source-document.ts';
import { decodeText, type SourceFormat } from './source/source-format.ts';
import { jsonFaultLine } from './convert/json-fault.ts';
import { repeatedKeys } from './repeated-keys.ts';
import { parseJson } from './source/json-source.ts';
import { readPlainYaml } from './source/plain-yaml.ts';
import type { ParsedSource } from './source/source-node.ts';
import {
  checkApiStatus,
  readDeprecationPolicy,
  type FeatureUses,
  type RuntimeTexts,
} from './validate/api-status.ts';
import { checkConstraints } from './validate/constraint-checker.ts';
import { findRepeatedListeners } from './validate/repeated-listeners.ts';
import { readJsonFastPath } from './json-fast-path.ts';

const bootstrapType = 'envoy.config.bootstrap.v3.Bootstrap';

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

export interface PipelineResult {
  /** Meaningless when a problem is an error. */
  readonly message: MessageObject;
  /** Errors and warnings with their positions, in the order in which Envoy meets them. */
  readonly problems: readonly Problem[];
  readonly unknownFieldCount: number;
  readonly featureUses: FeatureUses;
}

interface Reading {
  readonly catalog: ApiCatalog;
  readonly options: PipelineOptions;
  readonly problems: Problem[];
  /** With those that are not kept. */
  readonly counts: Record<Problem['severity'], number>;
  readonly incomplete: WeakSet<object>[];
  unknownFieldCount: number;
}

/**
 * Of errors, and of warnings: what comes behind says nothing new, and to find where each of a
 * million stands would take hours.
 */
const PROBLEMS_MAX = 1000;

function note(
  { problems, counts }: Reading,
  problem: Problem,
  locate: () => SourcePosition | undefined,
): void {
  counts[problem.severity] += 1;
  if (counts[problem.severity] > PROBLEMS_MAX) return;
  const position = locate();
  problems.push(position === undefined ? problem : { ...problem, position });
}

/** Later sources are merged over earlier ones. Never throws for anything in the sources. */
export async function runPipeline(
  typeName: string,
  sources: readonly ConfigSource[],
  options: PipelineOptions,
  catalog = new ApiCatalog(),
): Promise<PipelineResult> {
  const type = catalog.message(typeName);
  const usual = readFastPath(catalog, type, sources);
  if (usual !== undefined) return usual;
  const reading: Reading = {
    catalog,
    options,
    problems: [],
    counts: { error: 0, warning: 0 },
    incomplete: [],
    unknownFieldCount: 0,
  };
  const documents: SourceDocument[] = [];
  let merged: MessageObject = {};
  for (const source of sources) {
    const { document, message } = await readSource(reading, type, source);
    documents.push(document);
    merged = mergeOnto(reading, type, merged, message);
  }
  const found = reading.problems.length;
  const sink: ProblemSink = {
    report: (problem) => {
      note(
        reading,
        problem,
        () => locatePlace(documents, problem.place) ?? documentStart(documents),
      );
    },
  };
  const featureUses = { deprecated: 0, workInProgress: 0 };
  const incomplete = mergedSet(reading.incomplete);
  const repeated = findRepeatedListeners(typeName === bootstrapType ? merged : {});
  if (isReadable(reading.problems.slice(0, found))) {
    const policy = readDeprecationPolicy(merged, options.runtime);
    if (options.unknownFields !== 'ignore') {
      checkApiStatus({ catalog, sink, policy, uses: featureUses }, type, merged);
    }
    repeated.warnings.forEach((problem) => sink.report(problem));
    checkConstraints({ catalog, sink, incomplete, unused: repeated.contains }, type, merged);
  }
  const problems = orderProblems(reading.problems);
  const { unknownFieldCount } = reading;
  return { message: merged, problems, unknownFieldCount, featureUses };
}

/** The short way for one JSON text that nothing is to be said of; undefined for any other. */
export function readFastPath(
  catalog: ApiCatalog,
  type: MessageType,
  [source, ...more]: readonly ConfigSource[],
): PipelineResult | undefined {
  if (source?.format !== 'json' || more.length > 0) return undefined;
  const text = decodeText(source.content);
  const { content } = source;
  const message =
    text === undefined ? undefined : readJsonFastPath(catalog, type, { content, text });
  if (message === undefined) return undefined;
  const isBootstrap = type.fullName === bootstrapType;
  if (isBootstrap && findRepeatedListeners(message).warnings.length > 0) return undefined;
  const featureUses = { deprecated: 0, workInProgress: 0 };
  return { message, problems: [], unknownFieldCount: 0, featureUses };
}

/** Reads the trees again to find places: for errors that are found later, outside. */
export async function locateInSources(
  sources: readonly ConfigSource[],
  problems: readonly Problem[],
): Promise<Problem[]> {
  const documents: SourceDocument[] = [];
  for (const source of sources) {
    documents.push(await readPositions(source));
  }
  return problems.map((problem) => {
    const position =
      problem.position ?? locatePlace(documents, problem.place) ?? documentStart(documents);
    return position === undefined ? problem : { ...problem, position };
  });
}

async function readPositions(source: ConfigSource): Promise<SourceDocument> {
  if (source.format === 'pb' || source.format === 'pb_text') {
    const { documentOf } = await binarySource();
    return documentOf(source);
  }
  const text = decodeText(source.content) ?? '';
  const parsed = await parseText(source.format, text);
  return { name: source.name, text, root: parsed?.root };
}

/**
 * Loaded when the first binary source comes; asking the loader again for each would cost more than
 * a short one.
 */
let loadedBinarySource: Promise<typeof BinarySourceModule> | undefined;

function binarySource(): Promise<typeof BinarySourceModule> {
  return (loadedBinarySource ??= import('./source/binary-source.ts'));
}

/** For formats without positions: at least the file. */
function documentStart(documents: readonly SourceDocument[]): Problem['position'] {
  const [first] = documents;
  return first === undefined ? undefined : { source: first.name, line: 1, column: 1 };
}

/** The first message is taken as it is, so that its objects keep their marks. */
function mergeOnto(
  reading: Reading,
  type: MessageType,
  base: MessageObject,
  over: MessageObject,
): MessageObject {
  if (Object.keys(base).length === 0) {
    return over;
  }
  const merged = mergeMessage(type, base, over);
  for (const set of reading.incomplete) {
    if (set.has(base) || set.has(over)) {
      set.add(merged);
    }
  }
  return merged;
}

function mergedSet(sets: readonly WeakSet<object>[]): WeakSet<object> {
  const [only] = sets;
  if (sets.length <= 1) {
    return only ?? new WeakSet();
  }
  const all = new WeakSet<object>();
  all.has = (value) => sets.some((set) => set.has(value));
  return all;
}

async function readSource(
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

async function parseText(format: SourceFormat, text: string): Promise<ParsedSource | undefined> {
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
