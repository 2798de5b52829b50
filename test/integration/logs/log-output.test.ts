import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { makeScratch } from '../../support/scratch.ts';
import { within } from '../../support/wait.ts';

const writerMain = join(
  import.meta.dirname,
  '..',
  '..',
  'support',
  'programs',
  'log-lines-main.js',
);
const linesEach = 4000;

function startWriter(path: string, name: string): ChildProcess {
  return fork(writerMain, [path, name, String(linesEach)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

async function messageOf(writer: ChildProcess): Promise<unknown> {
  const [message] = (await within('a message', once(writer, 'message'))) as [unknown];
  return message;
}

describe('the process log', () => {
  it('loses and tears no line when several processes write and the file is rotated', async () => {
    using scratch = makeScratch();
    const path = scratch.file('app.log');
    const writers = ['a', 'b', 'c'].map((name) => startWriter(path, name));
    try {
      await Promise.all(writers.map(messageOf));
      const done = Promise.all(writers.map(messageOf));
      for (const writer of writers) writer.send('go');
      renameSync(path, `${path}.1`);
      for (const writer of writers) writer.send('reopen');
      assert.deepEqual(await done, [0, 0, 0]);
    } finally {
      for (const writer of writers) writer.kill('SIGKILL');
    }
    const [before, after] = [readFileSync(`${path}.1`, 'utf8'), readFileSync(path, 'utf8')];
    assert.ok(before.length > 0 && after.length > 0);
    const lines = `${before}${after}`.split('\n').slice(0, -1);
    const expected = ['a', 'b', 'c'].flatMap((name) =>
      Array.from({ length: linesEach }, (_, line) => `${name} ${line} ${'x'.repeat(line % 500)}.`),
    );
    assert.deepEqual(lines.sort(), expected.sort());
  });

  it('counts what a closed standard error costs and lets the process live', async () => {
    const writer = startWriter('', 'a');
    try {
      writer.stderr?.resume();
      assert.equal(await messageOf(writer), 'half');
      writer.stderr?.destroy();
      const lost = messageOf(writer);
      writer.send('go');
      const count = await lost;
      assert.ok(typeof count === 'number' && count > linesEach / 2 - 100, String(count));
      assert.equal(writer.exitCode, null);
    } finally {
      writer.kill('SIGKILL');
    }
  });
});
