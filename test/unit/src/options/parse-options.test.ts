import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandLineReport } from '../../../../src/options/command-line-report.ts';
import { flagOf } from '../../../../src/options/option-spec.ts';
import { optionEntries } from '../../../../src/options/option-table.ts';
import { parseOptions, type ParsedCommandLine } from '../../../../src/options/parse-options.ts';
import { COMMAND_LINE_CONTEXT as context, optionsOf } from '../../../support/options.ts';

const parse = (...argv: string[]): ParsedCommandLine => parseOptions(argv, context);

function warningsOf(...argv: string[]): readonly string[] {
  const parsed = parse(...argv);
  if (parsed.kind === 'exit') assert.fail(parsed.text);
  return parsed.warnings;
}

describe('the command line without options', () => {
  it('reports the same keys, types and defaults as Envoy', () => {
    assert.deepEqual(commandLineReport(optionsOf()), {
      base_id: '0',
      use_dynamic_base_id: false,
      skip_hot_restart_on_no_parent: false,
      skip_hot_restart_parent_stats: false,
      base_id_path: '',
      concurrency: 8,
      config_path: '',
      config_yaml: '',
      allow_unknown_static_fields: false,
      reject_unknown_dynamic_fields: false,
      ignore_unknown_dynamic_fields: false,
      skip_deprecated_logs: false,
      log_stacktrace_single_entry: false,
      admin_address_path: '',
      local_address_ip_version: 'v4',
      log_level: 'info',
      component_log_level: '',
      log_format: '[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v',
      log_format_escaped: false,
      enable_fine_grain_logging: false,
      log_path: '',
      restart_epoch: 0,
      service_cluster: '',
      service_node: '',
      service_zone: '',
      file_flush_interval: '10s',
      file_flush_min_size: 0,
      drain_time: '600s',
      drain_strategy: 'Gradual',
      parent_shutdown_time: '900s',
      mode: 'Serve',
      disable_hot_restart: false,
      enable_mutex_tracing: false,
      cpuset_threads: false,
      disabled_extensions: [],
      socket_path: '@envoy_domain_socket',
      socket_mode: 0,
      enable_core_dump: false,
      stats_tag: [],
    });
  });
});

describe('an option that takes effect', () => {
  const cases: readonly [argv: string[], key: string, reported: unknown][] = [
    [['--base-id', '7'], 'base_id', '7'],
    [['--use-dynamic-base-id'], 'use_dynamic_base_id', true],
    [['--skip-hot-restart-on-no-parent'], 'skip_hot_restart_on_no_parent', true],
    [['--skip-hot-restart-parent-stats'], 'skip_hot_restart_parent_stats', true],
    [['--base-id-path', '/x'], 'base_id_path', '/x'],
    [['--concurrency', '4'], 'concurrency', 4],
    [['--concurrency', ' +4 '], 'concurrency', 4],
    [['--concurrency', '010'], 'concurrency', 10],
    [['--concurrency', '0'], 'concurrency', 1],
    [['--cpuset-threads'], 'concurrency', 3],
    [['--cpuset-threads', '--concurrency', '5'], 'concurrency', 5],
    [['-c', 'f.yaml'], 'config_path', 'f.yaml'],
    [['--config-path', 'f.yaml'], 'config_path', 'f.yaml'],
    [['--config-path=f=g.yaml'], 'config_path', 'f=g.yaml'],
    [['--config-yaml', '{a: b}'], 'config_yaml', '{a: b}'],
    [['--config-yaml', '-'], 'config_yaml', '-'],
    [['--allow-unknown-static-fields'], 'allow_unknown_static_fields', true],
    [['--allow-unknown-fields'], 'allow_unknown_static_fields', true],
    [['--reject-unknown-dynamic-fields'], 'reject_unknown_dynamic_fields', true],
    [['--ignore-unknown-dynamic-fields'], 'ignore_unknown_dynamic_fields', true],
    [['--skip-deprecated-logs'], 'skip_deprecated_logs', true],
    [['--log-stacktrace-single-entry'], 'log_stacktrace_single_entry', true],
    [['--admin-address-path', 'a'], 'admin_address_path', 'a'],
    [['--local-address-ip-version', 'v6'], 'local_address_ip_version', 'v6'],
    [['-l', 'warn'], 'log_level', 'warning'],
    [['--log-level', 'off'], 'log_level', 'off'],
    [['--component-log-level', 'http:warn,io:off'], 'component_log_level', 'http:warn,io:off'],
    [['--log-format', '%v'], 'log_format', '%v'],
    [['--log-format', ''], 'log_format', ''],
    [['--log-format-escaped'], 'log_format_escaped', true],
    [['--enable-fine-grain-logging'], 'enable_fine_grain_logging', true],
    [['--log-path', 'l'], 'log_path', 'l'],
    [['--restart-epoch', '2'], 'restart_epoch', 2],
    [['--service-cluster', 'c'], 'service_cluster', 'c'],
    [['--service-node', 'n'], 'service_node', 'n'],
    [['--service-zone', 'z'], 'service_zone', 'z'],
    [['--file-flush-interval-msec', '1234'], 'file_flush_interval', '1.234s'],
    [['--file-flush-min-size-kb', '33'], 'file_flush_min_size', 33],
    [['--drain-time-s', '0'], 'drain_time', '0s'],
    [['--drain-strategy', 'immediate'], 'drain_strategy', 'Immediate'],
    [['--parent-shutdown-time-s', '5000'], 'parent_shutdown_time', '5000s'],
    [['--mode', 'validate'], 'mode', 'Validate'],
    [['--mode', 'init_only'], 'mode', 'InitOnly'],
    [['--disable-hot-restart'], 'disable_hot_restart', true],
    [['--enable-mutex-tracing'], 'enable_mutex_tracing', true],
    [['--cpuset-threads'], 'cpuset_threads', true],
    [['--disable-extensions', 'a/b,c/d'], 'disabled_extensions', ['a/b', 'c/d']],
    [['--socket-path', '/s'], 'socket_path', '/s'],
    [['--socket-path', '/s'], 'socket_mode', 0o600],
    [['--socket-path', '/s', '--socket-mode', '0644'], 'socket_mode', 0o644],
    // As Envoy: it is on, and the report does not say so.
    [['--enable-core-dump'], 'enable_core_dump', false],
    [['--stats-tag', 'a:b', '--stats-tag', 'c:d:e'], 'stats_tag', ['a:b', 'c:d:e']],
    [['--stats-tag', 'a:b', '--stats-tag', 'a:c'], 'stats_tag', ['a:b', 'a:c']],
  ];
  for (const [argv, key, reported] of cases) {
    it(`${argv.join(' ')} is reported as ${key}: ${JSON.stringify(reported)}`, () => {
      assert.deepEqual(commandLineReport(optionsOf(...argv))[key], reported);
    });
  }

  it('is covered for every row of the option table', () => {
    const words = new Set(cases.flatMap(([argv]) => argv.map((word) => word.replace(/=.*/, ''))));
    const untested = optionEntries.map(([key]) => flagOf(key)).filter((flag) => !words.has(flag));
    assert.deepEqual(untested, [
      '--hot-restart-version',
      '--strict-yaml',
      '--unsupported-filters',
      '--validate-format',
      '--validate-skip-secrets',
      '--heap-sampling',
      '--admin-read-only',
      '--legacy-admin',
      '--admin-token-path',
      '--admin-allowed-hosts',
      '--admin-allowed-uids',
      '--drain-on-sigterm',
      '--drain-idle-close-s',
      '--script-folders',
    ]);
  });

  it('splits component levels', () => {
    assert.deepEqual(optionsOf('--component-log-level', 'http:warn,io:off').componentLogLevels, [
      { component: 'http', level: 'warning' },
      { component: 'io', level: 'off' },
    ]);
  });

  it('knows the options of validation', () => {
    const options = optionsOf(
      '--validate-format=sarif',
      '--validate-skip-secrets',
      '--strict-yaml',
    );
    assert.equal(options.validateFormat, 'sarif');
    assert.deepEqual([options.validateSkipSecrets, options.strictYaml], [true, true]);
  });

  it('knows which filters may be left out, and none that decides who may pass', () => {
    const listed = (text: string) => optionsOf('--unsupported-filters', text).skippedFilters;
    assert.deepEqual([optionsOf().skippedFilters, listed('refuse')], [undefined, undefined]);
    assert.deepEqual([listed('skip'), listed('skip,a, b.C')], [[], ['a', 'b.C']]);
    for (const wrong of ['', 'ignore', 'skip,', 'refuse,a']) {
      assert.throws(() => listed(wrong), /is neither refuse nor skip/);
    }
    assert.throws(() => listed('skip,my-jwt'), /'my-jwt' decides who may pass/);
  });

  it('knows the option that samples heaps', () => {
    assert.equal(optionsOf('--heap-sampling').heapSampling, true);
    assert.equal(optionsOf().heapSampling, false);
  });

  it('knows the access options of the admin interface', () => {
    const options = optionsOf('--admin-read-only', '--admin-allowed-hosts', 'a,b');
    assert.deepEqual([options.adminReadOnly, options.adminAllowedHosts], [true, ['a', 'b']]);
    assert.equal(optionsOf('--admin-token-path', '/t').adminTokenPath, '/t');
    assert.deepEqual(optionsOf('--admin-allowed-uids', '0, 1000').adminAllowedUids, [0, 1000]);
    assert.throws(() => optionsOf('--admin-allowed-uids', 'root'), /'root' is no user id/);
  });

  it('knows the drain options', () => {
    const options = optionsOf('--drain-on-sigterm', '--drain-idle-close-s', '2');
    assert.deepEqual([options.drainOnSigterm, options.drainIdleCloseMs], [true, 2_000]);
    assert.equal(optionsOf().drainIdleCloseMs, undefined);
  });

  it('can be copied between processes', () => {
    const options = optionsOf('--stats-tag', 'a:b');
    assert.deepEqual(structuredClone(options), options);
  });
});

describe('words after --', () => {
  it('are ignored', () => {
    assert.equal(optionsOf('-c', 'a', '--', '--nosuch', 'stray', '-c', 'b').configPath, 'a');
    assert.equal(optionsOf('--ignore_rest', '--mode', 'dance').mode, 'serve');
  });

  it('are read when the -- is the value of an option', () => {
    const options = optionsOf('--service-node', '--', '--service-zone', 'z');
    assert.equal(options.serviceNode, '--');
    assert.equal(options.serviceZone, 'z');
  });
});

describe('empty words and lone dashes', () => {
  it('are passed over', () => {
    assert.equal(optionsOf('', '-', '-c', 'a').configPath, 'a');
  });
});

describe('options that print and end', () => {
  it('--version prints the program and its version', () => {
    assert.deepEqual(parse('--version', '--nosuch'), {
      kind: 'exit',
      exitCode: 0,
      stream: 'stdout',
      text: '\nsluice  version: abc/1.2.3/Clean/RELEASE/OpenSSL\n\n',
    });
  });

  it('--hot-restart-version prints on standard error, or that hot restart is disabled', () => {
    const text = (...argv: string[]): unknown => {
      const parsed = parse('--hot-restart-version', ...argv);
      return parsed.kind === 'exit' && parsed.exitCode === 0 && `${parsed.stream} ${parsed.text}`;
    };
    assert.equal(text(), 'stderr 11.104');
    assert.equal(text('--disable-hot-restart'), 'stderr disabled');
  });

  it('--help shows every option with its text', () => {
    for (const flag of ['--help', '-h']) {
      const parsed = parse(flag);
      assert.ok(parsed.kind === 'exit' && parsed.stream === 'stdout' && parsed.exitCode === 0);
      assert.match(parsed.text, /^\nUSAGE: \n\n/);
      for (const [key, spec] of optionEntries) {
        assert.ok(parsed.text.includes(flagOf(key)), key);
        assert.ok(parsed.text.replace(/\s+/g, ' ').includes(spec.help), key);
      }
      assert.ok(parsed.text.split('\n').every((line) => line.length <= 100));
    }
  });
});

describe('warnings', () => {
  it('tell that --cpuset-threads gives way to --concurrency', () => {
    assert.match(warningsOf('--concurrency', '1', '--cpuset-threads').join(), /not applying/);
  });

  it('tell that --allow-unknown-fields is deprecated', () => {
    assert.match(warningsOf('--allow-unknown-fields').join(), /deprecated/);
  });

  it('tell that the drain time is above the parent shutdown time', () => {
    assert.match(warningsOf('--drain-time-s', '901').join(), /--drain-time-s 901 is above/);
    assert.deepEqual(warningsOf('--drain-time-s', '900'), []);
  });
});
