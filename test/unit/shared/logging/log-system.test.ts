import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

import { LogFileError } from '../../../../shared/logging/line-output.ts';
import type { LogSettings } from '../../../../shared/logging/log-settings.ts';
import { LogSystem } from '../../../../shared/logging/log-system.ts';

const scratch = mkdtempSync(join(tmpdir(), 'sluice-log-'));
after(() => rmSync(scratch, { recursive: true }));
let files = 0;

function makeLog(change: Partial<LogSettings> = {}): {
  log: LogSystem;
  path: string;
  lines: () => string[];
} {
  const path = change.path ?? join(scratch, `${files++}.log`);
  const log = new LogSystem();
  log.configure({
    levels: { default: 'info', components: {}, files: [] },
    format: '%v',
    isEscaped: false,
    isFineGrain: false,
    isStackSingleEntry: false,
    ...change,
    path,
  });
  return { log, path, lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1) };
}

describe('a log line', () => {
  it('names the file, line and function of the source that wrote it', () => {
    const { log, lines } = makeLog({ format: '%g:%# %! %s %@' });
    const logger = log.getLogger('main');
    function writer(): void {
      logger.info('the marked call');
    }
    writer();
    logger.log('error', 'the other marked call');
    const source = readFileSync(
      join(import.meta.dirname, '../../../../../test/unit/shared/logging/log-system.test.ts'),
      'utf8',
    ).split('\n');
    const lineOf = (text: string): number => source.findIndex((line) => line.includes(text)) + 1;
    const file = 'test/unit/shared/logging/log-system.test.ts';
    const [first, second] = [lineOf("info('the marked"), lineOf("log('error', 'the other")];
    assert.deepEqual(lines(), [
      `${file}:${first} writer log-system.test.ts ${file}:${first}`,
      `${file}:${second}  log-system.test.ts ${file}:${second}`,
    ]);
  });

  it('carries tags in front of its message', () => {
    const { log, lines } = makeLog({ format: '%v|%+|%*' });
    log.getLogger('connection').info('closed', { ConnectionId: '7' });
    assert.deepEqual(lines(), ['[Tags: "ConnectionId":"7"] closed|closed|,"ConnectionId":"7"']);
  });

  it('has one line per frame for a stack, or one for all', () => {
    const error = new Error('broken');
    error.stack = 'Error: broken\n    at one\n    at two';
    const many = makeLog();
    many.log.logStack(many.log.getLogger('assert'), error);
    assert.deepEqual(many.lines(), ['Error: broken', '    at one', '    at two']);
    const single = makeLog({ isStackSingleEntry: true, format: '%_' });
    single.log.logStack(single.log.getLogger('assert'), error);
    assert.deepEqual(single.lines(), ['Error: broken\\n    at one\\n    at two']);
  });
});

describe('levels', () => {
  const { log, lines } = makeLog({
    levels: { default: 'warning', components: { http: 'trace', io: 'off' }, files: [] },
    format: '%n:%l',
  });
  const loggers = (['http', 'io', 'main'] as const).map((name) => log.getLogger(name));
  const writeAll = (): string[] => {
    const before = lines().length;
    for (const logger of loggers) {
      for (const level of ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const) {
        logger[level]('x');
      }
    }
    return lines().slice(before);
  };
  const levelOf = (name: string): string | undefined =>
    log.registry.levels().find((entry) => entry.name === name)?.level;

  it('hold per component', () => {
    assert.deepEqual(writeAll(), [
      'http:trace',
      'http:debug',
      'http:info',
      'http:warning',
      'http:error',
      'http:critical',
      'main:warning',
      'main:error',
      'main:critical',
    ]);
  });

  it('change for one, for several or for none when a name is unknown', () => {
    const told: unknown[] = [];
    log.registry.onChange((levels) => told.push(levels.components));
    assert.equal(log.registry.set('http', 'off'), true);
    assert.equal(log.registry.set('nosuch', 'off'), false);
    const changes = [
      { name: 'io', level: 'critical' },
      { name: 'nosuch', level: 'info' },
    ] as const;
    assert.equal(log.registry.setMany(changes), false);
    assert.equal(levelOf('io'), 'off');
    assert.equal(log.registry.setMany(changes.slice(0, 1)), true);
    assert.deepEqual(writeAll(), ['io:critical', 'main:warning', 'main:error', 'main:critical']);
    assert.deepEqual(told, [
      { http: 'off', io: 'off' },
      { http: 'off', io: 'critical' },
    ]);
  });

  it('change for all, and can be applied in another process', () => {
    log.registry.setAll('critical');
    assert.deepEqual(writeAll(), ['http:critical', 'io:critical', 'main:critical']);
    const other = makeLog();
    other.log.registry.configure(false, log.registry.allLevels);
    assert.deepEqual(other.log.registry.levels(), log.registry.levels());
  });

  it('list the components in the order of Envoy', () => {
    const names = log.registry.levels().map((entry) => entry.name);
    assert.deepEqual(names.slice(0, 3), ['a2a', 'admin', 'ai_protocol_manager']);
    assert.equal(names.at(-1), 'ip_tagging');
  });
});

describe('per-file loggers', () => {
  const file = 'test/unit/shared/logging/log-system.test.ts';
  const { log } = makeLog({ isFineGrain: true });
  const logger = log.getLogger('main');

  it('are named after the file that made them', () => {
    assert.deepEqual(log.registry.levels(), [{ name: file, level: 'info' }]);
  });

  it('take levels by path or glob; the latest setting that matches decides', () => {
    log.registry.set(file, 'trace');
    assert.equal(logger.isEnabled('trace'), true);
    log.registry.setMany([
      { name: 'nosuch', level: 'off' },
      { name: 'log-sys*', level: 'error' },
    ]);
    assert.equal(logger.isEnabled('warning'), false);
    log.registry.set('log-sys*', 'info');
    assert.equal(logger.isEnabled('info'), true);
    log.registry.setAll('critical');
    assert.equal(logger.isEnabled('error'), false);
  });

  it('take levels by the component that a file logs as', () => {
    const admin = log.getLogger('admin');
    log.registry.setGroup('admin', 'off');
    assert.equal(admin.isEnabled('critical'), false);
    assert.equal(logger.isEnabled('critical'), true);
    log.registry.setGroup('admin', 'debug');
    assert.equal(admin.isEnabled('debug'), true);
    assert.equal(log.registry.allLevels.files.length, 1);
  });

  it('hold for loggers made later', () => {
    log.registry.setMany([{ name: 'test/*', level: 'debug' }]);
    assert.equal(log.getLogger('http').isEnabled('debug'), true);
  });
});

describe('the output', () => {
  for (const writer of ['directly', 'through pino']) {
    const prepared = async (
      change: Partial<LogSettings> = {},
    ): Promise<ReturnType<typeof makeLog>> => {
      const made = makeLog(change);
      if (writer === 'through pino') await made.log.attachPino();
      return made;
    };

    it(`loses no line when the log file is rotated (${writer})`, async () => {
      const { log, path, lines } = await prepared();
      const logger = log.getLogger('main');
      logger.info('1');
      renameSync(path, `${path}.old`);
      logger.info('2');
      log.reopen();
      logger.info('3');
      assert.equal(readFileSync(`${path}.old`, 'utf8'), '1\n2\n');
      assert.deepEqual(lines(), ['3']);
    });

    it(`goes on with the old file when it cannot be opened again (${writer})`, async () => {
      const folder = mkdtempSync(join(scratch, 'gone-'));
      const { log } = await prepared({ path: join(folder, 'a.log') });
      rmSync(folder, { recursive: true });
      assert.throws(() => log.reopen(), LogFileError);
      log.getLogger('main').info('1');
      assert.equal(log.droppedLines, 0);
    });

    it(`counts the lines that a full disk costs (${writer})`, async () => {
      const { log } = await prepared({ path: '/dev/full' });
      const logger = log.getLogger('main');
      const long = 'x'.repeat(100_000);
      for (let count = 0; count < 30; count++) logger.info(long);
      assert.ok(log.droppedLines > 15, String(log.droppedLines));
    });

    it(`keeps the order of long lines (${writer})`, async () => {
      const { log, lines } = await prepared();
      const logger = log.getLogger('main');
      const texts = [1, 2, 3].map((digit) => String(digit).repeat(300_000));
      for (const text of texts) logger.info(text);
      assert.deepEqual(lines(), texts);
    });
  }

  it('names the log file that cannot be opened', () => {
    assert.throws(
      () => makeLog({ path: join(scratch, 'no', 'such') }),
      /cannot open log file '.*no\/such': ENOENT/,
    );
  });
});
