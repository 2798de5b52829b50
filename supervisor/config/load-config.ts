/**
 * Loads configuration from files and options: the entry to the pipeline. Small sources are handled
 * in the supervisor itself, large ones in a pool thread, so that its loop never stalls.
 */
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { ApiCatalog } from './api/api-catalog.ts';
import { ConfigError } from './config-error.ts';
import { readConfiguredFile, readOperatorsFile } from './configured-file.ts';
import type { MessageObject } from './convert/message-object.ts';
import type { FeatureUses, RuntimeTexts } from './validate/api-status.ts';
import { hasHoles, isError, isReadable, withoutEchoes } from './follow-up.ts';
import type { UnknownFields } from './convert/reader-options.ts';
import { locateInSources, type PipelineResult, readFastPath, runPipeline } from './pipeline.ts';
import type { ConfigSource } from './read-source.ts';
import type { Problem } from './problem.ts';
import { sourceFormat } from './source/source-format.ts';

/** What the command line names. At least one of the two must be given. */
export interface BootstrapSource {
  /** `--config-path`; the name's ending decides the format. A pipe is read once, to its end. */
  readonly configPath?: string | undefined;
  /** `--config-yaml`: YAML or JSON text, merged over the file. */
  readonly configYaml?: string | undefined;
}

export interface LoadOptions {
  /** `refuse` without an option, `warn` with --allow-unknown-static-fields. */
  readonly unknownFields: UnknownFields;
  /** Sources with more bytes together are handled in a pool thread. */
  readonly inlineLimitBytes?: number;
  /** What decides on deprecated fields; absent: the static runtime layers of the message itself. */
  readonly runtime?: RuntimeTexts;
  /** With --strict-yaml: a key that stands twice is refused. */
  readonly refusesRepeatedKeys?: boolean;
  /**
   * Looks for mistakes in what the message means. It is called too when the message has mistakes
   * already, so that all are found at once; what then follows from these is left out.
   */
  readonly check?: (message: MessageObject) => readonly Problem[] | Promise<readonly Problem[]>;
  /** Says of an error that the rest of the message is of use all the same; absent: of none. */
  readonly isLocal?: (problem: Problem, message: MessageObject) => boolean;
  /** Workers serve meanwhile, and come first. */
  readonly besideTraffic?: boolean;
  /**
   * Keeps types of the API for the next message, unless a pool thread reads this one; absent:
   * nothing is kept.
   */
  readonly catalog?: ApiCatalog;
}

/** A message that passed all checks of the pipeline, and how to speak about its source. */
export interface LoadedMessage<T> {
  /** Normalised: see the generated types. */
  readonly message: T;
  /**
   * Unknown fields that were allowed, deprecated and unfinished ones, and what `check` warned of;
   * each with its position.
   */
  readonly warnings: readonly Problem[];
  /** Errors that the caller takes as local. */
  readonly localErrors: readonly Problem[];
  /** For `server.static_unknown_fields` or `server.dynamic_unknown_fields`. */
  readonly unknownFieldCount: number;
  readonly featureUses: FeatureUses;
  /** Problems that are found later, with their positions filled in. */
  readonly locate: (problems: readonly Problem[]) => Promise<readonly Problem[]>;
}

/** About 2,000 lines of YAML: some 30 ms. */
const inlineLimitBytes = 64 * 1024;

/**
 * While nobody waits for the loop, JSON in which nothing is unusual takes less time here, some 15
 * ms a megabyte, than a thread takes to begin and to hand the message over.
 */
const usualLimitBytes = 16 * 1024 * 1024;

const bootstrapType = 'envoy.config.bootstrap.v3.Bootstrap';

/** Rejects with `ConfigError` when a source cannot be read or anything in it is wrong. */
export async function loadBootstrap(
  source: BootstrapSource,
  options: LoadOptions,
): Promise<LoadedMessage<Bootstrap>> {
  const sources: ConfigSource[] = [];
  if (source.configPath !== undefined && source.configPath !== '') {
    sources.push(await readConfigFile(source.configPath, readOperatorsFile));
  }
  if (source.configYaml !== undefined && source.configYaml !== '') {
    sources.push(configYamlSource(source.configYaml));
  }
  if (sources.length === 0) {
    throw unreadable(
      'name a bootstrap with -c FILE (sluice example app > bootstrap.yaml writes one); sluice --help says what else there is',
      {
        reference:
          'At least one of --config-path or --config-yaml or Options::configProto() should be non-empty',
      },
    );
  }
  return loadSources<Bootstrap>(bootstrapType, sources, options);
}

/** Loads one message of any type of the API from a file. Rejects as `loadBootstrap` does. */
export async function loadMessageFile<T>(
  typeName: string,
  path: string,
  options: LoadOptions,
): Promise<LoadedMessage<T>> {
  return loadSources<T>(typeName, [await readConfigFile(path, readConfiguredFile)], options);
}

/** Loads one message from bytes that came from elsewhere. Rejects as `loadBootstrap` does. */
export async function loadMessageBytes<T>(
  typeName: string,
  source: ConfigSource,
  options: LoadOptions,
): Promise<LoadedMessage<T>> {
  return loadSources<T>(typeName, [source], options);
}

async function loadSources<T>(
  typeName: string,
  sources: readonly ConfigSource[],
  options: LoadOptions,
): Promise<LoadedMessage<T>> {
  const size = sources.reduce((sum, source) => sum + source.content.length, 0);
  const inline = size <= (options.inlineLimitBytes ?? inlineLimitBytes);
  const { unknownFields, runtime, refusesRepeatedKeys = false, besideTraffic = false } = options;
  const kept = { unknownFields, refusesRepeatedKeys };
  const pipelineOptions = { ...kept, ...(runtime === undefined ? {} : { runtime }) };
  const usual =
    inline || besideTraffic || size > usualLimitBytes ? undefined : readAtOnce(typeName, sources);
  const result =
    usual ??
    (inline
      ? await runPipeline(typeName, sources, pipelineOptions, options.catalog)
      : await (
          await import('./pool.ts')
        ).runPipelineInPool(typeName, sources, { ...pipelineOptions, besideTraffic }));
  const locate = async (problems: readonly Problem[]): Promise<readonly Problem[]> => {
    // To find places is to read the sources once more.
    if (problems.length === 0) return problems;
    return inline
      ? await locateInSources(sources, problems)
      : await (await import('./pool.ts')).locateInPool(sources, problems);
  };
  const later = isWorthChecking(result) ? ((await options.check?.(result.message)) ?? []) : [];
  const problems = [...result.problems, ...(await locate(withoutEchoes(later, result.problems)))];
  const errors = problems.filter(isError);
  const isLocal = (problem: Problem): boolean =>
    options.isLocal?.(problem, result.message) ?? false;
  if (!errors.every(isLocal)) throw new ConfigError('config_invalid', problems);
  return {
    message: result.message as T,
    warnings: problems.filter((problem) => !isError(problem)),
    localErrors: errors,
    unknownFieldCount: result.unknownFieldCount,
    featureUses: result.featureUses,
    locate,
  };
}

function readAtOnce(
  typeName: string,
  sources: readonly ConfigSource[],
): PipelineResult | undefined {
  const catalog = new ApiCatalog();
  return readFastPath(catalog, catalog.message(typeName), sources);
}

function isWorthChecking({ problems, message }: PipelineResult): boolean {
  return !problems.some(isError) || (isReadable(problems) && !hasHoles(message));
}

/** Larger ones are no configuration. */
const CONFIG_BYTES_MAX = 1024 * 1024 * 1024;

async function readConfigFile(
  path: string,
  read: typeof readConfiguredFile,
): Promise<ConfigSource> {
  try {
    const content = await read(path, CONFIG_BYTES_MAX);
    return { name: path, format: sourceFormat(path), content };
  } catch (error) {
    throw unreadable(`cannot read ${path}: ${causeText(error)}`, {
      reference: `Invalid path: ${path}`,
      cause: error,
    });
  }
}

function configYamlSource(text: string): ConfigSource {
  return { name: '--config-yaml', format: 'yaml', content: Buffer.from(text) };
}

function unreadable(
  message: string,
  { reference, cause }: { readonly reference?: string; readonly cause?: unknown },
): ConfigError {
  const problem: Problem = {
    severity: 'error',
    place: undefined,
    message,
    rule: 'source.unreadable',
    ...(reference === undefined ? {} : { reference }),
  };
  return new ConfigError('config_unreadable', [problem], { cause });
}

function causeText(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
      return 'permission denied';
    case 'EISDIR':
      return 'it is a directory';
    default:
      return String(error);
  }
}
