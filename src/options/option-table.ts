/**
 * The one list of command line options. Parsing, `--help`, `/server_info` and docs/options.md are
 * made from it. The keys are the option names in camel case; the order is that of
 * `command_line_options` in `/server_info`.
 */
import { defaultLogFormat } from '../../shared/logging/default-format.ts';
import type { OptionSpec } from './option-spec.ts';

const defaultSocketPath = '@envoy_domain_socket';

/** Permission bits of hot restart socket files unless `--socket-mode` says otherwise. */
export const defaultSocketMode = 0o600;

export const optionTable = {
  baseId: {
    kind: 'uint32',
    fallback: 0,
    help: 'Number that keeps the hot restart sockets and shared memory of several servers on one machine apart.',
    report: ['base_id', (options) => String(options.baseId)],
  },
  useDynamicBaseId: {
    kind: 'flag',
    help: 'Choose an unused base ID at start. Takes the place of --base-id; refused when the restart epoch is not 0.',
    report: ['use_dynamic_base_id', (options) => options.useDynamicBaseId],
  },
  skipHotRestartOnNoParent: {
    kind: 'flag',
    help: 'With a restart epoch above 0, start normally when the parent cannot be reached instead of ending. The epoch is kept.',
    report: ['skip_hot_restart_on_no_parent', (options) => options.skipHotRestartOnNoParent],
  },
  skipHotRestartParentStats: {
    kind: 'flag',
    help: 'Do not take over statistics from the parent during a hot restart: every statistic of the child starts at zero.',
    report: ['skip_hot_restart_parent_stats', (options) => options.skipHotRestartParentStats],
  },
  baseIdPath: {
    kind: 'string',
    fallback: '',
    help: 'File to which the base ID is written, chosen dynamically or not.',
    report: ['base_id_path', (options) => options.baseIdPath],
  },
  concurrency: {
    kind: 'uint32',
    fallback: undefined,
    defaultText: 'number of hardware threads',
    help: 'Number of workers. 0 still runs one worker.',
    report: ['concurrency', (options) => options.concurrency],
  },
  configPath: {
    kind: 'string',
    short: 'c',
    fallback: '',
    help: 'Bootstrap configuration file: .yaml, .yml, .json, .pb (binary protobuf) or .pb_text (text protobuf).',
    note: 'Required unless `--config-yaml` is given.',
    report: ['config_path', (options) => options.configPath],
  },
  configYaml: {
    kind: 'string',
    fallback: '',
    help: 'Bootstrap configuration as YAML or JSON text; merged over the contents of --config-path when both are given.',
    report: ['config_yaml', (options) => options.configYaml],
  },
  allowUnknownStaticFields: {
    kind: 'flag',
    help: 'Accept unknown fields in static configuration, with a warning on first use of each and a count in server.static_unknown_fields.',
    report: ['allow_unknown_static_fields', (options) => options.allowUnknownStaticFields],
  },
  allowUnknownFields: {
    kind: 'flag',
    help: 'Older name of --allow-unknown-static-fields (deprecated).',
  },
  rejectUnknownDynamicFields: {
    kind: 'flag',
    help: 'Refuse dynamic configuration with unknown fields, which is otherwise accepted with a warning and a count in server.dynamic_unknown_fields.',
    report: ['reject_unknown_dynamic_fields', (options) => options.rejectUnknownDynamicFields],
  },
  ignoreUnknownDynamicFields: {
    kind: 'flag',
    help: 'Accept unknown fields in dynamic configuration without a warning or count. No effect with --reject-unknown-dynamic-fields.',
    report: ['ignore_unknown_dynamic_fields', (options) => options.ignoreUnknownDynamicFields],
  },
  skipDeprecatedLogs: {
    kind: 'flag',
    help: 'Log no warnings about deprecated configuration fields.',
    report: ['skip_deprecated_logs', (options) => options.skipDeprecatedLogs],
  },
  logStacktraceSingleEntry: {
    kind: 'flag',
    help: 'Write a stack trace as one log line instead of one line per frame.',
    report: ['log_stacktrace_single_entry', (options) => options.logStacktraceSingleEntry],
  },
  adminAddressPath: {
    kind: 'string',
    fallback: '',
    help: 'File to which the address and port of the admin interface are written.',
    report: ['admin_address_path', (options) => options.adminAddressPath],
  },
  localAddressIpVersion: {
    kind: 'string',
    fallback: 'v4',
    words: ['v4', 'v6'],
    help: "IP version of the server's local address: v4 or v6.",
    report: ['local_address_ip_version', (options) => options.localAddressIpVersion],
  },
  logLevel: {
    kind: 'string',
    short: 'l',
    fallback: 'info',
    words: ['trace', 'debug', 'info', 'warning', 'warn', 'error', 'critical', 'off'],
    help: 'Log level: [trace][debug][info][warning|warn][error][critical][off]. Default is [info].',
    report: ['log_level', (options) => options.logLevel],
  },
  componentLogLevel: {
    kind: 'string',
    fallback: '',
    help: 'Log levels of single components, separated by commas, for example upstream:debug,config:trace.',
    report: ['component_log_level', (options) => options.componentLogLevel],
  },
  logFormat: {
    kind: 'string',
    fallback: undefined,
    defaultText: `\`${defaultLogFormat}\``,
    help: `Layout of a log line. Default is "${defaultLogFormat}".`,
    report: ['log_format', (options) => options.logFormat],
  },
  logFormatEscaped: {
    kind: 'flag',
    help: 'Escape C-style escape sequences in log messages; the end of each line stays as it is.',
    report: ['log_format_escaped', (options) => options.logFormatEscaped],
  },
  enableFineGrainLogging: {
    kind: 'flag',
    help: 'One logger per source file, each with its own level, in place of one per component. Not together with --component-log-level.',
    report: ['enable_fine_grain_logging', (options) => options.enableFineGrainLogging],
  },
  logPath: {
    kind: 'string',
    fallback: '',
    defaultText: 'standard error',
    help: 'Log file. Reopened on SIGUSR1.',
    report: ['log_path', (options) => options.logPath],
  },
  restartEpoch: {
    kind: 'uint32',
    fallback: 0,
    help: 'Hot restart epoch: 0 for a first start, one more at each hot restart.',
    report: ['restart_epoch', (options) => options.restartEpoch],
  },
  hotRestartVersion: {
    kind: 'flag',
    help: 'Print the hot restart compatibility version and exit.',
  },
  serviceCluster: {
    kind: 'string',
    fallback: '',
    help: "Cluster name of this server; takes the place of the bootstrap's node.cluster.",
    report: ['service_cluster', (options) => options.serviceCluster],
  },
  serviceNode: {
    kind: 'string',
    fallback: '',
    help: "Node name of this server; takes the place of the bootstrap's node.id.",
    report: ['service_node', (options) => options.serviceNode],
  },
  serviceZone: {
    kind: 'string',
    fallback: '',
    help: "Zone of this server; takes the place of the bootstrap's node.locality.zone.",
    report: ['service_zone', (options) => options.serviceZone],
  },
  fileFlushIntervalMsec: {
    kind: 'uint32',
    fallback: 10000,
    help: 'Milliseconds between flushes of buffered files such as access logs. A full buffer is flushed at once.',
    report: ['file_flush_interval', (options) => durationText(options.fileFlushIntervalMs)],
  },
  fileFlushMinSizeKb: {
    kind: 'uint32',
    fallback: undefined,
    defaultText: '64',
    help: 'Size in KiB from which a buffered file is flushed before its interval ends.',
    report: ['file_flush_min_size', (options) => options.fileFlushMinSizeKb ?? 0],
  },
  drainTimeS: {
    kind: 'uint32',
    fallback: 600,
    help: 'Seconds over which connections are drained in a hot restart and when a listener is changed or removed. Should be below --parent-shutdown-time-s.',
    report: ['drain_time', (options) => durationText(options.drainTimeS * 1000)],
  },
  drainStrategy: {
    kind: 'string',
    fallback: 'gradual',
    words: ['gradual', 'immediate'],
    help: "'gradual' (default) raises the share of closed connections over the drain time, 'immediate' closes on every request from the start.",
    report: ['drain_strategy', (options) => capitalised(options.drainStrategy)],
  },
  parentShutdownTimeS: {
    kind: 'uint32',
    fallback: 900,
    help: 'Seconds after which the parent is shut down in a hot restart.',
    report: ['parent_shutdown_time', (options) => durationText(options.parentShutdownTimeS * 1000)],
  },
  mode: {
    kind: 'string',
    fallback: 'serve',
    words: ['serve', 'validate', 'init_only'],
    help: "'serve' (default) validates the configuration and serves traffic, 'validate' validates it and exits, 'init_only' starts up to where connections would be taken and exits.",
    report: ['mode', (options) => options.mode.split('_').map(capitalised).join('')],
  },
  disableHotRestart: {
    kind: 'flag',
    help: 'Start without hot restart.',
    report: ['disable_hot_restart', (options) => options.disableHotRestart],
  },
  enableMutexTracing: {
    kind: 'flag',
    help: 'Collect lock contention statistics and serve them at /contention.',
    report: ['enable_mutex_tracing', (options) => options.enableMutexTracing],
  },
  cpusetThreads: {
    kind: 'flag',
    help: 'Without --concurrency, take the number of workers from the CPUs and CPU quota assigned to the process.',
    report: ['cpuset_threads', (options) => options.cpusetThreads],
  },
  disableExtensions: {
    kind: 'string',
    fallback: '',
    help: 'Extensions that no configuration may use, as category/name separated by commas.',
    report: ['disabled_extensions', (options) => options.disabledExtensions],
  },
  socketPath: {
    kind: 'string',
    fallback: defaultSocketPath,
    help: 'Prefix of the hot restart sockets. A leading @ means the abstract namespace. All epochs have to use the same value.',
    report: ['socket_path', (options) => options.socketPath],
  },
  socketMode: {
    kind: 'string',
    fallback: undefined,
    defaultText: '600',
    help: 'Permission bits of the hot restart socket files in octal. Needs a --socket-path that does not start with @.',
    report: ['socket_mode', (options) => reportedSocketMode(options)],
  },
  enableCoreDump: {
    kind: 'flag',
    help: 'Enable core dumps (Linux only).',
    // Envoy answers false, whatever was asked for.
    report: ['enable_core_dump', () => false],
  },
  statsTag: {
    kind: 'strings',
    help: 'Tag put on every statistic, as tag:value. The name is alphanumeric, the value may not contain a dot. May be repeated; of two values for a name the first counts.',
    report: ['stats_tag', (options) => options.statsTags.map((tag) => `${tag.name}:${tag.value}`)],
  },
  strictYaml: {
    kind: 'flag',
    isOwn: true,
    help: 'Refuse configuration files in which a key stands twice; otherwise the last one counts, with a warning.',
  },
  unsupportedFilters: {
    kind: 'string',
    fallback: 'refuse',
    isOwn: true,
    help: "What becomes of a filter that Sluice does not have: 'refuse' (default) refuses what it stands in, 'skip' leaves out those that only observe, and, after commas, those of the given names or types. One that decides who may pass is always refused.",
  },
  validateFormat: {
    kind: 'string',
    fallback: 'text',
    words: ['text', 'json', 'sarif', 'github'],
    isOwn: true,
    help: 'With --mode validate, the form of the report: text, json, sarif or github.',
  },
  validateSkipSecrets: {
    kind: 'flag',
    isOwn: true,
    help: 'With --mode validate, do not open certificate and key files.',
  },
  heapSampling: {
    kind: 'flag',
    isOwn: true,
    help: 'Sample the heaps of workers from the start, so that /heap_dump shows them while no profiler runs.',
  },
  adminReadOnly: {
    kind: 'flag',
    isOwn: true,
    help: 'Refuse every request to the admin interface that would change the server.',
  },
  legacyAdmin: {
    kind: 'flag',
    isOwn: true,
    help: "Answer the admin interface as Envoy's oldest builds do: GET changes the server, with a warning, /routes is there, /ready and /server_info say live or draining.",
  },
  adminTokenPath: {
    kind: 'string',
    fallback: '',
    isOwn: true,
    help: 'File whose first line requests to the admin interface must carry as a bearer token.',
  },
  adminAllowedHosts: {
    kind: 'string',
    fallback: '',
    isOwn: true,
    help: 'Host names, separated by commas, under which the admin interface may be asked for.',
  },
  adminAllowedUids: {
    kind: 'string',
    fallback: '',
    isOwn: true,
    help: 'User ids, separated by commas, that may connect to the admin interface on a unix socket. Others are closed at once.',
  },
  drainOnSigterm: {
    kind: 'flag',
    isOwn: true,
    help: 'On SIGTERM, drain all listeners gracefully and end when no connection is left or --drain-time-s has passed. A second SIGTERM ends at once.',
  },
  drainIdleCloseS: {
    kind: 'uint32',
    fallback: undefined,
    defaultText: 'never',
    isOwn: true,
    help: 'While a listener drains for whatever reason, close connections that have been idle for this many seconds.',
  },
  scriptFolders: {
    kind: 'string',
    fallback: '',
    isOwn: true,
    help: 'Folders, separated by commas, below which control planes may name modules of script filters. Without it only the bootstrap may name modules.',
  },
} as const satisfies Record<string, OptionSpec>;

export type OptionKey = keyof typeof optionTable;

/** The table as a list, for those who treat every option alike. */
export const optionEntries = Object.entries(optionTable) as readonly [OptionKey, OptionSpec][];

/** Milliseconds as protobuf's JSON prints a duration: `10s`, `1.234s`. */
function durationText(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Socket files alone have permissions, so Envoy reports 0 for an abstract address. */
function reportedSocketMode(options: { socketPath: string; socketMode: number }): number {
  return options.socketPath.startsWith('@') ? 0 : options.socketMode;
}
