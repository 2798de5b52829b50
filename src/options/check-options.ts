/**
 * Gives option values their meaning and refuses what the options forbid, alone or together. The
 * checks run in Envoy's order, so that of several mistakes the same one is named.
 */
import { isLogComponent } from '../../shared/logging/components.ts';
import { defaultLogFormat } from '../../shared/logging/default-format.ts';
import { logLevelFromOption, logLevelNames, type LogLevel } from '../../shared/logging/levels.ts';
import type { ComponentLevel, Options, StatsTag } from '../../shared/process/options.ts';
import { isGuard } from '../../supervisor/resolved/filter-skips.ts';
import { OptionRefusal, wrongChoice } from './option-refusal.ts';
import { defaultSocketMode, optionTable } from './option-table.ts';
import type { RawOptions } from './raw-options.ts';

/** What the number of workers depends on. */
export interface HostInfo {
  /** CPUs that this process may run on. */
  hardwareThreads(): number;
  /** The same, lowered to the CPU quota of the control group. */
  assignedCpus(): number;
}

export type CheckedOptions =
  | { kind: 'run'; options: Options; warnings: readonly string[] }
  | { kind: 'hot-restart-version' };

/** @throws OptionRefusal */
export function checkOptions(raw: RawOptions, host: HostInfo): CheckedOptions {
  const log = checkLogOptions(raw);
  const mode = oneOf(raw.mode, optionTable.mode.words, 'unknown mode');
  const localAddressIpVersion = oneOf(
    raw.localAddressIpVersion,
    optionTable.localAddressIpVersion.words,
    'unknown IP address version',
  );
  if (raw.useDynamicBaseId && raw.restartEpoch > 0) {
    throw new OptionRefusal(
      `error: cannot use --restart-epoch=${raw.restartEpoch} with --use-dynamic-base-id`,
    );
  }
  const drainStrategy = oneOf(
    raw.drainStrategy,
    optionTable.drainStrategy.words,
    'unknown drain-strategy',
  );
  const validateFormat = oneOf(
    raw.validateFormat,
    optionTable.validateFormat.words,
    'unknown validate-format',
  );
  if (raw.hotRestartVersion) return { kind: 'hot-restart-version' };
  const options: Options = {
    ...plainOptions(raw),
    ...log,
    mode,
    localAddressIpVersion,
    drainStrategy,
    validateFormat,
    concurrency: workerCount(raw, host),
    statsTags: readStatsTags(raw.statsTag),
    socketMode: readSocketMode(raw),
  };
  return { kind: 'run', options, warnings: warningsAbout(raw) };
}

type CheckedKey =
  | keyof ReturnType<typeof checkLogOptions>
  | 'mode'
  | 'localAddressIpVersion'
  | 'drainStrategy'
  | 'validateFormat'
  | 'concurrency'
  | 'statsTags'
  | 'socketMode';

/** The options that are taken as they were read. */
function plainOptions(raw: RawOptions): Omit<Options, CheckedKey> {
  return {
    baseId: raw.baseId,
    useDynamicBaseId: raw.useDynamicBaseId,
    skipHotRestartOnNoParent: raw.skipHotRestartOnNoParent,
    skipHotRestartParentStats: raw.skipHotRestartParentStats,
    baseIdPath: raw.baseIdPath,
    configPath: raw.configPath,
    configYaml: raw.configYaml,
    allowUnknownStaticFields: raw.allowUnknownStaticFields || raw.allowUnknownFields,
    rejectUnknownDynamicFields: raw.rejectUnknownDynamicFields,
    ignoreUnknownDynamicFields: raw.ignoreUnknownDynamicFields,
    skipDeprecatedLogs: raw.skipDeprecatedLogs,
    logStacktraceSingleEntry: raw.logStacktraceSingleEntry,
    adminAddressPath: raw.adminAddressPath,
    logPath: raw.logPath,
    restartEpoch: raw.restartEpoch,
    serviceCluster: raw.serviceCluster,
    serviceNode: raw.serviceNode,
    serviceZone: raw.serviceZone,
    fileFlushIntervalMs: raw.fileFlushIntervalMsec,
    fileFlushMinSizeKb: raw.fileFlushMinSizeKb,
    drainTimeS: raw.drainTimeS,
    parentShutdownTimeS: raw.parentShutdownTimeS,
    disableHotRestart: raw.disableHotRestart,
    enableMutexTracing: raw.enableMutexTracing,
    cpusetThreads: raw.cpusetThreads,
    disabledExtensions: raw.disableExtensions === '' ? [] : raw.disableExtensions.split(','),
    skippedFilters: readSkippedFilters(raw.unsupportedFilters),
    socketPath: raw.socketPath,
    enableCoreDump: raw.enableCoreDump,
    strictYaml: raw.strictYaml,
    validateSkipSecrets: raw.validateSkipSecrets,
    drainOnSigterm: raw.drainOnSigterm,
    drainIdleCloseMs: raw.drainIdleCloseS === undefined ? undefined : raw.drainIdleCloseS * 1000,
    scriptFolders: raw.scriptFolders === '' ? [] : raw.scriptFolders.split(','),
    heapSampling: raw.heapSampling,
    adminReadOnly: raw.adminReadOnly,
    legacyAdmin: raw.legacyAdmin,
    adminTokenPath: raw.adminTokenPath,
    adminAllowedHosts: raw.adminAllowedHosts === '' ? [] : raw.adminAllowedHosts.split(','),
    adminAllowedUids: readUids(raw.adminAllowedUids),
  };
}

function readSkippedFilters(text: string): readonly string[] | undefined {
  if (text === 'refuse') return undefined;
  const [word, ...listed] = text.split(',').map((part) => part.trim());
  if (word !== 'skip' || listed.includes('')) {
    throw new OptionRefusal(
      `error: --unsupported-filters: '${text}' is neither refuse nor skip[,NAME...]`,
    );
  }
  const guard = listed.find(isGuard);
  if (guard === undefined) return listed;
  throw new OptionRefusal(
    `error: --unsupported-filters: '${guard}' decides who may pass and is never left out`,
  );
}

function readUids(text: string): readonly number[] {
  if (text === '') return [];
  const parts = text.split(',').map((part) => part.trim());
  const wrong = parts.find((part) => !/^\d{1,10}$/.test(part));
  if (wrong !== undefined) {
    throw new OptionRefusal(`error: --admin-allowed-uids: '${wrong}' is no user id`);
  }
  if (process.platform !== 'linux') {
    throw new OptionRefusal(
      'error: --admin-allowed-uids: the system does not tell whose a peer is',
    );
  }
  return parts.map(Number);
}

function checkLogOptions(raw: RawOptions) {
  const logLevel = readLevel(raw.logLevel);
  if (raw.enableFineGrainLogging && raw.componentLogLevel !== '') {
    throw new OptionRefusal(
      'error: --component-log-level will not work with --enable-fine-grain-logging',
    );
  }
  return {
    logLevel,
    componentLogLevel: raw.componentLogLevel,
    componentLogLevels: readComponentLevels(raw.componentLogLevel),
    logFormat: raw.logFormat ?? defaultLogFormat,
    isLogFormatSet: raw.logFormat !== undefined,
    logFormatEscaped: raw.logFormatEscaped,
    enableFineGrainLogging: raw.enableFineGrainLogging,
  };
}

function readLevel(word: string): LogLevel {
  const level = logLevelFromOption(word);
  if (level === undefined) {
    throw wrongChoice(`error: invalid log level specified '${word}'`, logLevelNames);
  }
  return level;
}

function readComponentLevels(list: string): readonly ComponentLevel[] {
  if (list === '') return [];
  return list.split(',').map((item) => {
    const [component = '', word, ...rest] = item.split(':');
    if (word === undefined || rest.length > 0) {
      throw new OptionRefusal(`error: component log level not correctly specified '${item}'`);
    }
    const level = readLevel(word);
    if (!isLogComponent(component)) {
      throw new OptionRefusal(`error: invalid component specified '${component}'`);
    }
    return { component, level };
  });
}

function oneOf<const Word extends string>(
  word: string,
  words: readonly Word[],
  complaint: string,
): Word {
  const found = words.find((candidate) => candidate === word);
  if (found === undefined) throw wrongChoice(`error: ${complaint} '${word}'`, words);
  return found;
}

function workerCount(raw: RawOptions, host: HostInfo): number {
  if (raw.concurrency !== undefined) return Math.max(1, raw.concurrency);
  return Math.max(1, raw.cpusetThreads ? host.assignedCpus() : host.hardwareThreads());
}

function readStatsTags(items: readonly string[]): readonly StatsTag[] {
  const tags: StatsTag[] = [];
  for (const item of items) {
    const colon = item.indexOf(':');
    if (colon < 0) throw new OptionRefusal(`error: misformatted stats-tag '${item}'`);
    const name = item.slice(0, colon);
    const value = item.slice(colon + 1);
    const wrong = /^[A-Za-z0-9]+$/.test(name) ? (/^[^.]+$/s.test(value) ? undefined : value) : name;
    if (wrong !== undefined) {
      throw new OptionRefusal(
        `error: misformatted stats-tag '${item}' contains invalid char in '${wrong}'`,
      );
    }
    tags.push({ name, value });
  }
  return tags;
}

function readSocketMode(raw: RawOptions): number {
  if (raw.socketMode === undefined) return defaultSocketMode;
  if (!/^[0-7]{1,5}$/.test(raw.socketMode)) {
    throw new OptionRefusal(`error: invalid socket-mode '${raw.socketMode}'`);
  }
  if (raw.socketPath.startsWith('@')) {
    throw new OptionRefusal(
      `error: cannot use --socket-mode with the abstract --socket-path '${raw.socketPath}'`,
    );
  }
  return Number.parseInt(raw.socketMode, 8);
}

function warningsAbout(raw: RawOptions): readonly string[] {
  const warnings: string[] = [];
  if (raw.concurrency !== undefined && raw.cpusetThreads) {
    warnings.push(
      'Both --concurrency and --cpuset-threads options are set; not applying --cpuset-threads.',
    );
  }
  if (raw.allowUnknownFields) {
    warnings.push(
      '--allow-unknown-fields is deprecated, use --allow-unknown-static-fields instead.',
    );
  }
  if (raw.drainTimeS > raw.parentShutdownTimeS) {
    warnings.push(
      `--drain-time-s ${raw.drainTimeS} is above --parent-shutdown-time-s ${raw.parentShutdownTimeS}: the parent is shut down before it has drained`,
    );
  }
  const names = raw.statsTag.map((item) => item.slice(0, item.indexOf(':')));
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) < index))) {
    warnings.push(`--stats-tag: Skipping duplicate tag for ${name}; its first value counts.`);
  }
  return warnings;
}
