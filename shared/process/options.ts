/**
 * The options of one server process as a plain record that can be copied between processes. The
 * command line's table in src/options/ fills it; nothing changes it afterwards, except that a
 * dynamically chosen base ID makes a new record.
 */
import type { LogComponent } from '../logging/components.ts';
import type { LogLevel } from '../logging/levels.ts';

export interface ComponentLevel {
  component: LogComponent;
  level: LogLevel;
}

export interface StatsTag {
  name: string;
  value: string;
}

type ServerMode = 'serve' | 'validate' | 'init_only';
type DrainStrategy = 'gradual' | 'immediate';
type ValidateFormat = 'text' | 'json' | 'sarif' | 'github';

export interface Options {
  /** `--base-id`, before multiplication for the hot restart names. */
  readonly baseId: number;
  readonly useDynamicBaseId: boolean;
  readonly skipHotRestartOnNoParent: boolean;
  readonly skipHotRestartParentStats: boolean;
  /** Empty when not given; the same holds for every other path and name. */
  readonly baseIdPath: string;
  /** Number of workers, at least 1. */
  readonly concurrency: number;
  readonly configPath: string;
  readonly configYaml: string;
  readonly allowUnknownStaticFields: boolean;
  readonly rejectUnknownDynamicFields: boolean;
  readonly ignoreUnknownDynamicFields: boolean;
  readonly skipDeprecatedLogs: boolean;
  readonly logStacktraceSingleEntry: boolean;
  readonly adminAddressPath: string;
  readonly localAddressIpVersion: 'v4' | 'v6';
  readonly logLevel: LogLevel;
  /** `--component-log-level` as written. */
  readonly componentLogLevel: string;
  readonly componentLogLevels: readonly ComponentLevel[];
  readonly logFormat: string;
  /** Whether `--log-format` was given; the bootstrap may not set a format as well. */
  readonly isLogFormatSet: boolean;
  readonly logFormatEscaped: boolean;
  readonly enableFineGrainLogging: boolean;
  readonly logPath: string;
  readonly restartEpoch: number;
  readonly serviceCluster: string;
  readonly serviceNode: string;
  readonly serviceZone: string;
  readonly fileFlushIntervalMs: number;
  /** Undefined when not given, which means 64 and is reported as 0, as Envoy does. */
  readonly fileFlushMinSizeKb: number | undefined;
  readonly drainTimeS: number;
  readonly drainStrategy: DrainStrategy;
  readonly parentShutdownTimeS: number;
  readonly mode: ServerMode;
  readonly disableHotRestart: boolean;
  readonly enableMutexTracing: boolean;
  readonly cpusetThreads: boolean;
  /** `--disable-extensions` split at commas, as written. */
  readonly disabledExtensions: readonly string[];
  /** `--unsupported-filters`: what may be left out beside the harmless ones; undefined: nothing. */
  readonly skippedFilters: readonly string[] | undefined;
  readonly socketPath: string;
  /** Permission bits of the hot restart socket files. */
  readonly socketMode: number;
  readonly enableCoreDump: boolean;
  readonly statsTags: readonly StatsTag[];
  /** SIGTERM drains before it ends. */
  readonly drainOnSigterm: boolean;
  /** In every drain; undefined: idle connections are left alone. */
  readonly drainIdleCloseMs: number | undefined;
  /** Below which control planes may name modules. */
  readonly scriptFolders: readonly string[];
  readonly validateFormat: ValidateFormat;
  /** Whether a key that stands twice is refused. */
  readonly strictYaml: boolean;
  readonly validateSkipSecrets: boolean;
  /** Whether the heaps of workers are sampled all the time. */
  readonly heapSampling: boolean;
  /** These three are described in docs/admin-security.md. */
  readonly adminReadOnly: boolean;
  /** Whether the admin interface answers as Envoy's oldest builds do. */
  readonly legacyAdmin: boolean;
  readonly adminTokenPath: string;
  /** Empty: any host. */
  readonly adminAllowedHosts: readonly string[];
  /** Whose processes may connect to the admin's unix socket; empty: everybody's. */
  readonly adminAllowedUids: readonly number[];
}
