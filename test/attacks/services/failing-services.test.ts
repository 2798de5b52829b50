/**
 * Each filter, tracer, logger and sink that asks a service, with each way in which a service fails:
 * the client is answered in time as the filter's failure mode says, the failure is counted, nothing
 * stays behind, and requests that ask nobody notice nothing.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { askService } from '../../../supervisor/aws/small-request.ts';
import { attackTurns } from '../../support/attack.ts';
import type { AskingPart, Trouble } from '../../support/asking/asking-part.ts';
import { FAILURES, startFailing } from '../../support/peers/hostile/failing-services.ts';
import {
  type FailingServer,
  nameOf,
  partsWith,
  type Question,
  startFailingServer,
  TROUBLES,
} from '../../support/programs/failing-server.ts';
import { waitUntil } from '../../support/wait.ts';

/** A service is given 0.4 s, and 300 clients ask at once. */
const IN_TIME_MS = 10_000;
/** Of others' requests meanwhile. */
const UNTOUCHED_MS = 5000;
/** What a caller takes of an endless answer, with what the kernel holds of it. */
const TAKEN_BYTES = 16 * 1024 * 1024;
/** Between two requests that ask nobody. */
const PACE_MS = 20;
const ROUNDS = 10;
const AWS_MS = 200;

const expected = (part: AskingPart, trouble: Trouble): number =>
  part.except?.[trouble] ?? part.status;

/** A machine that has much else to do makes a timeout of any trouble. */
const isRight = ({ part, trouble, status, ms }: Question): boolean =>
  ms < IN_TIME_MS && [expected(part, trouble), part.status, part.also].includes(status);

const told = ({ part, trouble, status, ms }: Question): string =>
  `${part.name}, ${trouble}: ${status} after ${Math.round(ms)} ms`;

/** Parts whose failures are not all counted. */
async function uncounted(server: FailingServer): Promise<readonly string[]> {
  const missing: string[] = [];
  const page = await server.sluice.stats('usedonly');
  const values = new Map(page.split('\n').map((line) => line.split(': ') as [string, string]));
  for (const trouble of TROUBLES) {
    for (const part of partsWith(trouble)) {
      if (part.counted === undefined || part.except?.[trouble] !== undefined) continue;
      const name = part.counted.replace('NAME', nameOf(part, trouble));
      if (Number(values.get(name) ?? 0) === 0) missing.push(name);
    }
  }
  return missing;
}

/** Requests, connections and held bytes that are still there; sinks go on. */
async function leftovers({ sluice }: FailingServer): Promise<readonly string[]> {
  const names =
    'rq_active|pending_active|streams_active|downstream_cx_active|tunnels_active|held_bytes';
  const page = await sluice.stats(`filter=${encodeURIComponent(`(${names})$`)}`);
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(': 0') && !/admin|cluster\.sink-/.test(line));
}

describe('services that fail', () => {
  let server: FailingServer;
  before(async () => void (server = await startFailingServer()));
  after(() => server[Symbol.asyncDispose]());

  it('leave the client to the failure mode, in time, and others alone', async () => {
    for (const turn of attackTurns(1, ROUNDS)) {
      let isOver = false;
      const asking = server.askAll().finally(() => (isOver = true));
      let slowest = 0;
      while (!isOver) {
        const began = performance.now();
        assert.equal(await server.askPlain(), 200);
        slowest = Math.max(slowest, performance.now() - began);
        await setTimeout(PACE_MS);
      }
      const questions = await asking;
      const wrong = questions.filter((question) => !isRight(question));
      assert.deepEqual(wrong.map(told), [], `round ${turn}`);
      assert.ok(questions.length > TROUBLES.length);
      assert.ok(slowest < UNTOUCHED_MS, `another request took ${slowest} ms`);
    }
  });

  it('are counted, and nobody takes an endless answer', async () => {
    assert.deepEqual(await uncounted(server), []);
    for (const [name, service] of server.services) {
      const each = service.taken() / Math.max(1, service.asked());
      assert.ok(each < TAKEN_BYTES, `${name} gave ${each} bytes to each caller`);
    }
  });

  it('leave no request and no connection behind', async () => {
    await server.removeListeners();
    const left = await waitUntil(
      'nothing',
      async () => (await leftovers(server)).length === 0 && [],
    ).catch(() => leftovers(server));
    assert.deepEqual(left, []);
  });

  it('give no credentials of AWS, and end', async () => {
    const outcomes = FAILURES.filter((failure) => failure !== 'nonsense').map(async (failure) => {
      await using service = await startFailing(failure, 'http');
      const url = `http://127.0.0.1:${service.port}/`;
      await assert.rejects(askService({ url }, AbortSignal.timeout(AWS_MS)), failure);
    });
    await Promise.all(outcomes);
  });
});
