import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { pagesOfOne } from '../../../support/parts/shared-pages.ts';
import { ScriptMarks } from '../../../../shared/limits/script-page.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import type { AccessLogConfig } from '../../../../shared/resources/access-loggers/access-loggers.ts';
import type { AccessLogFilter } from '../../../../shared/resources/access-log.ts';
import type { RuntimeSnapshot } from '../../../../shared/resources/runtime.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import { AccessLogs } from '../../../../workers/access-log/access-logs.ts';
import { compileLogFilter } from '../../../../workers/access-log/log-filter.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import { ResponseFlag } from '../../../../workers/stream/response-flags.ts';
import type { StreamInfo } from '../../../../workers/stream/stream-info.ts';
import { HERITAGE } from '../../../support/parts/data-plane.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const COUNTED: StatWriter = {
  defineBlock: () => 0,
  releaseBlock: () => undefined,
  releaseNamed: () => undefined,
  defineCounter: () => 100,
  defineGauge: () => 100,
  defineHistogram: () => 100,
  increment: () => undefined,
  add: () => undefined,
  subtract: () => undefined,
  setGauge: () => undefined,
  record: () => undefined,
  valueOf: () => 0,
};

function makeLogs(): { logs: AccessLogs; errors: string[] } {
  const errors: string[] = [];
  const logs = new AccessLogs({
    clock: systemClock,
    loop: new WorkerLoop(systemClock),
    pages: pagesOfOne(),
    heritage: HERITAGE,
    exceptions: { note: () => undefined },
    log: (_, __, message) => errors.push(message),
    notify: () => undefined,
    stats: COUNTED,
    runtime: { snapshot: new Map(), random: () => 0 },
    services: { send: () => undefined },
    scripts: {
      marks: ScriptMarks.apart(),
      join: () => assert.fail('no module is configured'),
      surroundings: () => assert.fail('no module is configured'),
    },
    grpcServices: { service: () => assert.fail('no service is configured') },
  });
  return { logs, errors };
}

function textLog(path: string, format: string, filter?: AccessLogFilter): AccessLogConfig {
  return {
    kind: 'lines',
    sink: { kind: 'file', path },
    format: { kind: 'text', format, omitEmptyValues: false },
    ...(filter === undefined ? {} : { filter }),
  };
}

describe('access logs', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('share one writer per path, keep its order, and hold their own formats', async () => {
    const path = join(folder, 'shared.log');
    const { logs } = makeLogs();
    const first = logs.open([textLog(path, 'a %REQ(:PATH)%\n')]);
    const second = logs.open([
      {
        kind: 'lines',
        sink: { kind: 'file', path },
        format: {
          kind: 'json',
          fields: { path: '%REQ(:PATH)%', type: '%ACCESS_LOG_TYPE%' },
          omitEmptyValues: false,
          sortProperties: false,
        },
      },
    ]);
    for (const name of ['/1', '/2']) {
      const info = streamInfo(requestHeaders(name));
      for (const log of [...first.logs, ...second.logs]) log.log(info);
    }
    first.release();
    first.release();
    second.logs[0]?.log(streamInfo(requestHeaders('/3')));
    await logs.close();
    const json = (name: string) => `{"path":"${name}","type":"NotSet"}\n`;
    assert.equal(
      readFileSync(path, 'latin1'),
      `a /1\n${json('/1')}a /2\n${json('/2')}${json('/3')}`,
    );
  });

  it('open all of their files or none', async () => {
    const { logs } = makeLogs();
    const configs = [
      textLog(join(folder, 'good.log'), 'x\n'),
      textLog(join(folder, 'missing', 'bad.log'), 'x\n'),
    ];
    assert.throws(() => logs.open(configs), /ENOENT/);
    await logs.close();
  });

  it('never throw at a request', async () => {
    const { logs, errors } = makeLogs();
    const { logs: opened } = logs.open([textLog(join(folder, 'broken.log'), '%REQ(:PATH)%\n')]);
    const broken = streamInfo();
    Object.defineProperty(broken, 'requestHeaders', {
      get: () => {
        throw new Error('gone');
      },
    });
    opened[0]?.log(broken);
    assert.match(errors[0] ?? '', /cannot write an access log line: Error: gone/);
    await logs.close();
  });
});

// Recorded from Envoy 1.40.0.
describe('access log filters', () => {
  const streams = {
    ok: withCode(200),
    okHeader: withCode(200, [['x-a', '1']]),
    unavailable: withCode(503),
    unavailableHeader: withCode(503, [['x-a', '1']]),
    notFound: withCode(404, [], ResponseFlag.noRouteFound),
    malformed: withCode(400, [], ResponseFlag.downstreamProtocolError),
  };

  function withCode(
    code: number,
    headers: readonly (readonly [string, string])[] = [],
    flags = 0,
  ): StreamInfo {
    const info = streamInfo(requestHeaders('/', headers));
    info.responseCode = code;
    info.responseFlags = flags;
    info.endMs = info.startMs + 49.9;
    info.accessLogType = 'DownstreamEnd';
    return info;
  }

  function passing(filter: AccessLogFilter, snapshot: RuntimeSnapshot = new Map()): string[] {
    const predicate = compileLogFilter(filter, { snapshot, random: () => 7 });
    return Object.entries(streams)
      .filter(([, info]) => predicate(info))
      .map(([name]) => name);
  }

  const errors: AccessLogFilter = { kind: 'status_code', op: 'GE', value: 400 };
  const hasHeader: AccessLogFilter = {
    kind: 'header',
    header: {
      name: 'x-a',
      invert: false,
      treatMissingAsEmpty: false,
      match: { kind: 'present', present: true },
    },
  };
  const ALL = Object.keys(streams);

  it('compare the status and the duration', () => {
    assert.deepEqual(passing(errors), [
      'unavailable',
      'unavailableHeader',
      'notFound',
      'malformed',
    ]);
    assert.deepEqual(passing({ kind: 'status_code', op: 'EQ', value: 404 }), ['notFound']);
    assert.deepEqual(passing({ kind: 'status_code', op: 'LE', value: 399 }), ['ok', 'okHeader']);
    assert.deepEqual(passing({ kind: 'status_code', op: 'NE', value: 200 }), passing(errors));
    assert.deepEqual(passing({ kind: 'duration', op: 'GE', value: 50 }), []);
    assert.deepEqual(passing({ kind: 'duration', op: 'LE', value: 49 }), ALL);
  });

  it('take their bounds from the runtime where it has them', () => {
    const filter: AccessLogFilter = { ...errors, runtimeKey: 'al.min' };
    const snapshot = new Map([['al.min', { text: '500', number: 500 }]]);
    assert.deepEqual(passing(filter, snapshot), ['unavailable', 'unavailableHeader']);
  });

  it('combine', () => {
    assert.deepEqual(passing({ kind: 'and', filters: [errors, hasHeader] }), ['unavailableHeader']);
    assert.deepEqual(passing({ kind: 'or', filters: [errors, hasHeader] }), ALL.slice(1));
  });

  it('know flags, health checks, traces and log types', () => {
    assert.deepEqual(passing({ kind: 'response_flag', flags: [] }), ['notFound', 'malformed']);
    assert.deepEqual(passing({ kind: 'response_flag', flags: ['NR', 'UF'] }), ['notFound']);
    assert.deepEqual(passing({ kind: 'not_health_check' }), ALL);
    assert.deepEqual(passing({ kind: 'traceable' }), []);
    const types = ['DownstreamEnd'];
    assert.deepEqual(passing({ kind: 'log_type', types, exclude: false }), ALL);
    assert.deepEqual(passing({ kind: 'log_type', types, exclude: true }), []);
  });

  it('know the gRPC status, of the HTTP status where there is none', () => {
    const statuses = [12];
    assert.deepEqual(passing({ kind: 'grpc_status', statuses, exclude: false }), ['notFound']);
    assert.deepEqual(
      passing({ kind: 'grpc_status', statuses, exclude: true }),
      ALL.filter((name) => name !== 'notFound'),
    );
  });

  it('look into metadata, and say what becomes of requests without it', () => {
    const value = {
      kind: 'string',
      matcher: { kind: 'prefix', value: 'v', ignoreCase: false },
    } as const;
    const matcher = { namespace: 'ns', path: ['s'], value, invert: false };
    const passes = (whenMissing: boolean, given?: string): boolean => {
      const info = withCode(200);
      if (given !== undefined) info.dynamicMetadata = new Map([['ns', { s: given }]]);
      const filter = { kind: 'metadata', matcher, whenMissing } as const;
      return compileLogFilter(filter, { snapshot: new Map(), random: () => 7 })(info);
    };
    assert.deepEqual([passes(false, 'val'), passes(true, 'other')], [true, false]);
    assert.deepEqual([passes(false), passes(true)], [false, true]);
  });

  it('take a share by request id, so that every proxy decides alike', () => {
    const fraction = { numerator: 50, denominator: 100 } as const;
    const share = (useIndependentRandomness: boolean, requestId: string): boolean => {
      const filter = { kind: 'runtime', fraction, useIndependentRandomness } as const;
      const info = withCode(200);
      info.requestId = requestId;
      return compileLogFilter(filter, { snapshot: new Map(), random: () => 7 })(info);
    };
    assert.equal(share(false, '00000031-0000-4000-8000-000000000000'), true);
    assert.equal(share(false, '00000032-0000-4000-8000-000000000000'), false);
    assert.equal(share(true, '00000032-0000-4000-8000-000000000000'), true);
    assert.equal(share(false, 'no uuid'), true);
  });
});
