/**
 * From source texts to one checked, normalised message. It reads no files and keeps nothing
 * between calls, so that it runs in the supervisor or in a pool thread alike.
 */
import { ApiCatalog, type MessageType } from './api/api-catalog.ts';
import { orderProblems } from './config-error.ts';
import { mergeMessage } from './convert/merge-message.ts';
import type { MessageObject } from './convert/message-object.ts';
import { isReadable } from './follow-up.ts';
import type { Problem, ProblemSink } from './problem.ts';
import { type SourceDocument, locatePlace } from './source/source-document.ts';
import { decodeText } from './source/source-format.ts';
import { checkApiStatus, readDeprecationPolicy, type FeatureUses } from './validate/api-status.ts';
import { checkConstraints } from './validate/constraint-checker.ts';
import { findRepeatedListeners } from './validate/repeated-listeners.ts';
import { readJsonFastPath } from './json-fast-path.ts';
import {
  type ConfigSource,
  type PipelineOptions,
  type Reading,
  note,
  readSource,
  parseText,
  binarySource,
} from './read-source.ts';

const bootstrapType = 'envoy.config.bootstrap.v3.Bootstrap';

export interface PipelineResult {
  /** Meaningless when a problem is an error. */
  readonly message: MessageObject;
  /** Errors and warnings with their positions, in the order in which Envoy meets them. */
  readonly problems: readonly Problem[];
  readonly unknownFieldCount: number;
  readonly featureUses: FeatureUses;
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
