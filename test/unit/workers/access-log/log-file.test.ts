import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Clock, systemClock } from '../../../../shared/process/clock.ts';
import { type LogEvents, LogFile } from '../../../../workers/access-log/loggers/lines/log-file.ts';
import { PipeTurn } from '../../../../workers/access-log/loggers/lines/pipe-turn.ts';
import { pagesOfOne, sharedPages } from '../../../support/parts/shared-pages.ts';
import { openTarget } from '../../../../workers/access-log/loggers/lines/log-target.ts';

/** Counts what a log tells; `until` waits for the next event that makes a condition true. */
class RecordedEvents implements LogEvents {
  readonly seen = {
    buffered: 0,
    writes: 0,
    bytes: 0,
    failed: 0,
    lost: 0,
    timer: 0,
    reopen: 0,
    dropped: 0,
  };
  readonly warnings: string[] = [];
  #waiting: { condition: () => boolean; resolve: () => void }[] = [];

  buffered(): void {
    this.#changed(() => (this.seen.buffered += 1));
  }
  written(bytes: number): void {
    this.#changed(() => {
      this.seen.writes += 1;
      this.seen.bytes += bytes;
    });
  }
  failed(lost: number): void {
    this.#changed(() => {
      this.seen.failed += 1;
      this.seen.lost += lost;
    });
  }
  flushedByTimer(): void {
    this.#changed(() => (this.seen.timer += 1));
  }
  reopenFailed(): void {
    this.#changed(() => (this.seen.reopen += 1));
  }
  dropped(lines: number): void {
    this.#changed(() => (this.seen.dropped += lines));
  }
  warn(message: string): void {
    this.#changed(() => this.warnings.push(message));
  }

  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ condition, resolve }));
  }

  #changed(change: () => unknown): void {
    change();
    for (const waiter of this.#waiting.filter(({ condition }) => condition())) {
      this.#waiting = this.#waiting.filter((one) => one !== waiter);
      waiter.resolve();
    }
  }
}

/** A clock whose repeating timers run when the test says so. */
function manualClock(): { clock: Clock; tick: () => void } {
  const callbacks = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    every(_, callback) {
      callbacks.add(callback);
      return { cancel: () => callbacks.delete(callback) };
    },
  };
  return { clock, tick: () => callbacks.forEach((callback) => callback()) };
}

describe('log files', () => {
  let folder = '';
  let path = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-log-'));
    path = join(folder, 'access.log');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function open(flushMinBytes = 1024, at = path, pages = pagesOfOne(), isTerminal = false) {
    const events = new RecordedEvents();
    const { clock, tick } = manualClock();
    const turnFor = (fd: number): PipeTurn => new PipeTurn(fd, pages);
    const options = { flushIntervalMs: 10_000, flushMinBytes, clock, turnFor };
    const target = { ...openTarget({ kind: 'file', path: at }), isTerminal };
    const file = new LogFile(at, target, options, events);
    return { file, events, tick };
  }

  it('write the first line at once, later ones with the timer', async () => {
    const { file, events, tick } = open();
    file.write('one\n');
    await events.until(() => events.seen.bytes === 4);
    file.write('two\n');
    file.write('three\n');
    assert.equal(readFileSync(path, 'latin1'), 'one\n');
    tick();
    await events.until(() => events.seen.bytes === 14);
    assert.equal(readFileSync(path, 'latin1'), 'one\ntwo\nthree\n');
    assert.deepEqual([events.seen.buffered, events.seen.writes, events.seen.timer], [3, 2, 1]);
    await file.close();
  });

  it('write each line at once where somebody looks', async () => {
    const { file, events } = open(1024, path, pagesOfOne(), true);
    for (const line of ['one\n', 'two\n']) file.write(line);
    await events.until(() => events.seen.bytes === 8);
    await file.close();
  });

  it('write before the timer once enough bytes wait', async () => {
    const { file, events } = open(100);
    file.write('first\n');
    await events.until(() => events.seen.bytes === 6);
    for (let line = 0; line < 10; line += 1) file.write('0123456789\n');
    await events.until(() => events.seen.bytes === 6 + 110);
    assert.equal(events.seen.writes, 2);
    await file.close();
  });

  it('append to what is there and keep bytes above 127', async () => {
    appendFileSync(path, 'old\n');
    const { file } = open();
    file.write('\xc3\xa9\xff\n');
    await file.close();
    assert.deepEqual(readFileSync(path), Buffer.from('old\n\xc3\xa9\xff\n', 'latin1'));
  });

  it('write what waits when closed, lines longer than a chunk too', async () => {
    const { file } = open();
    const lines = [
      'a\n',
      `${'b'.repeat(200_000)}\n`,
      ...Array<string>(5000).fill('c'.repeat(40) + '\n'),
    ];
    for (const line of lines) file.write(line);
    await file.close();
    assert.equal(readFileSync(path, 'latin1'), lines.join(''));
  });

  it('lose nothing and split nothing over a rename and reopening under load', async () => {
    const { file, events } = open(200);
    const expected: string[] = [];
    const addLines = (count: number) => {
      for (let line = 0; line < count; line += 1) {
        expected.push(`line ${expected.length}`);
        file.write(`${expected.at(-1)}\n`);
      }
    };
    addLines(100);
    renameSync(path, `${path}.1`);
    file.reopen();
    file.reopen();
    addLines(100);
    await events.until(() => events.seen.bytes > 0);
    while (!existsWithContent(path)) {
      addLines(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await file.close();
    const written = `${readFileSync(`${path}.1`, 'latin1')}${readFileSync(path, 'latin1')}`;
    assert.deepEqual(written.trimEnd().split('\n'), expected);
  });

  it('go on with the old file when the path cannot be opened again', async () => {
    const { file, events } = open();
    file.write('one\n');
    renameSync(folder, `${folder}-moved`);
    file.reopen();
    await events.until(() => events.seen.reopen === 1);
    file.write('two\n');
    await file.close();
    renameSync(`${folder}-moved`, folder);
    assert.equal(readFileSync(path, 'latin1'), 'one\ntwo\n');
    assert.match(events.warnings[0] ?? '', /cannot reopen access log .*access\.log: ENOENT/);
  });

  it('drop lines beyond the limit, count them and say so once per interval', async () => {
    const { file, events, tick } = open(Number.MAX_SAFE_INTEGER);
    file.write('x\n');
    await events.until(() => events.seen.bytes === 2);
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 20; count += 1) file.write(line);
    assert.equal(events.seen.dropped, 0);
    tick();
    assert.equal(events.seen.dropped, 4);
    assert.deepEqual(events.warnings, [
      `dropped 4 lines of access log ${path}: 16 MiB wait to be written`,
    ]);
    await file.close();
    assert.equal(events.seen.bytes, 2 + 16 * 1024 * 1024);
  });

  it('write whole lines of at most 4,096 bytes at a time to a pipe, and wait for its reader', async () => {
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    const { file, events } = open(1, pipe);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const lines = Array.from({ length: 3000 }, (_, index) => `${index} ${'y'.repeat(60)}\n`);
    for (const line of lines) file.write(line);
    const total = lines.join('').length;
    let read = '';
    const buffer = Buffer.alloc(65_536);
    while (read.length < total) {
      await events.until(() => events.seen.bytes > read.length);
      read += drain(reader, buffer);
    }
    assert.equal(read, lines.join(''));
    assert.ok(events.seen.writes >= Math.ceil(total / 4096));
    await file.close();
    closeSync(reader);
  });

  it('of several workers keep long and short lines in one pipe whole', async () => {
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const workers = sharedPages(3).map((pages) => open(1, pipe, pages).file);
    const expected: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      for (const [worker, file] of workers.entries()) {
        const length = (round + worker) % 4 === 0 ? 30_000 : 100;
        const line = `${worker} ${round} ${String(worker).repeat(length)}`;
        expected.push(line);
        file.write(`${line}\n`);
      }
    }
    let text = '';
    const piece = Buffer.alloc(1000);
    const closed = Promise.all(workers.map((file) => file.close())).then(() => true);
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    for (let isRead = false; !isRead;) {
      // What is written between a look and the end has to be read, too.
      const wasClosed = isClosed;
      const count = readSome(reader, piece);
      isRead = wasClosed && count === 0;
      text += piece.toString('latin1', 0, count);
      if (count === 0 || text.length % 7000 < 1000) await new Promise((next) => setImmediate(next));
    }
    closeSync(reader);
    assert.deepEqual(text.trimEnd().split('\n').sort(), expected.sort());
  });

  it('keep lines for another try while the disk is full', async () => {
    const { file, events } = open(1, '/dev/full');
    file.write('one\n');
    await events.until(() => events.seen.failed === 1);
    assert.deepEqual([events.seen.lost, events.seen.bytes], [0, 0]);
  });
});

function existsWithContent(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

function drain(fd: number, buffer: Buffer): string {
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer));
  } catch {
    return '';
  }
}

/** 0 when nothing is there. */
function readSome(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
