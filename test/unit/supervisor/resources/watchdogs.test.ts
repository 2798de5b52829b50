/** What watchdogs and their actions come to: how long a worker may be stuck. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BootstrapResolution } from '../../../../supervisor/resources/bootstrap/resolve-bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

const ABORT = 'type.googleapis.com/envoy.watchdog.v3.AbortActionConfig';
const PROFILE =
  'type.googleapis.com/envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig';

const action = (event: string, type: string, fields: object = {}): object => ({
  event,
  config: { name: 'a', typed_config: { '@type': type, ...fields } },
});

const abort = (event: string, fields: object = {}): object => action(event, ABORT, fields);

async function resolve(worker: object): Promise<BootstrapResolution> {
  const outcome = await resolveConfig({ watchdogs: { worker_watchdog: worker } });
  assert.equal(outcome.kind, 'resolved');
  return outcome.resolution;
}

async function killTimeout(worker: object): Promise<number | undefined> {
  return (await resolve(worker)).bootstrap?.workerKillTimeoutMs;
}

const cases: readonly [title: string, watchdog: object, ms: number][] = [
  ['nothing', {}, 30_000],
  ['never', { kill_timeout: '0s' }, 0],
  ['a timeout', { kill_timeout: '4s' }, 4_000],
  ['an abort five seconds after a miss', { actions: [abort('MISS')] }, 5_200],
  [
    'an abort at once after a miss of a second',
    { miss_timeout: '1s', actions: [abort('MISS', { wait_duration: '0s' })] },
    1_000,
  ],
  [
    'an abort where nothing is killed',
    { kill_timeout: '0s', actions: [abort('MEGAMISS', { wait_duration: '1s' })] },
    2_000,
  ],
  [
    'the first of several',
    {
      kill_timeout: '3s',
      actions: [abort('MEGAMISS'), abort('KILL', { wait_duration: '0.5s' })],
    },
    3_000,
  ],
  ['a kill that never comes', { kill_timeout: '0s', actions: [abort('KILL')] }, 0],
  ['a profile', { actions: [action('MISS', PROFILE, { profile_path: '/tmp' })] }, 30_000],
];

describe('a watchdog of workers', () => {
  for (const [title, watchdog, ms] of cases) {
    it(`kills as it says: ${title}`, async () => {
      assert.equal(await killTimeout(watchdog), ms);
    });
  }

  it('says what it does not do', async () => {
    const actions = [action('MISS', PROFILE, { profile_path: '/tmp' }), abort('MULTIKILL')];
    const { problems } = await resolve({ actions });
    assert.deepEqual(
      problems.map(({ severity, message }) => `${severity}: ${message}`),
      [
        'warning: no profile is taken of a worker that is stuck; /cpuprofiler takes one of those that are not',
        'warning: workers are watched one by one: MULTIKILL never happens',
      ],
    );
  });
});
