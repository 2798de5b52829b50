/**
 * Patterns of routes and texts of clients that made a backtracking engine work for seconds: with
 * them under way, other requests of the same worker are answered.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRuns } from '../support/attack.ts';
import { bootstrap, httpListener } from '../support/parts/bootstrap.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import { childrenOf, mainThreadMs } from '../support/programs/processes.ts';
import { startSluice } from '../support/programs/sluice.ts';

const LENGTH = 59_000;
const HOSTILE = attackRuns(4, 100) * 2;
/** The limit of the worker's processor time; a backtracking engine takes hundreds. */
const REQUEST_MS = 10;
const say = (text: string): object => ({
  direct_response: { status: 200, body: { inline_string: text } },
});

/** Patterns with a text that they nearly match. */
const SLOW: readonly (readonly [pattern: string, text: string])[] = [
  ['.*(a|b).*c', 'a'.repeat(LENGTH)],
  ['.*/api/.*/v[0-9]+/.*', '/api/v1'.repeat(LENGTH / 7)],
  ['/api/(.*)/(.*)/(.*)/x', '/api'.repeat(LENGTH / 4)],
  ['/(a+)+', `${'a'.repeat(LENGTH)}!`],
  ['/(a|aa)+', `${'a'.repeat(LENGTH)}!`],
  ['/.*.*.*.*zz', 'z/'.repeat(LENGTH / 2)],
  ['/(.*a){12}', 'a/'.repeat(LENGTH / 2)],
  ['/([a-z]+)*[0-9]', 'a'.repeat(LENGTH)],
  ['/(x?){10}x{10}.*y', 'x'.repeat(LENGTH)],
];

describe('a path that a pattern nearly matches', () => {
  it('lets other requests be answered', async () => {
    const routes = SLOW.flatMap(([regex], at) => [
      { match: { prefix: `/${at}`, headers: [hostile('x-path', regex)] }, ...say('matched') },
      { match: { safe_regex: { regex: `/p${at}${regex}` } }, ...say('matched') },
    ]);
    const hcm = { max_request_headers_kb: 192 };
    const listener = httpListener([...routes, { match: { prefix: '/' }, ...say('other') }], {
      hcm,
    });
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
    const port = await sluice.listenerPort('web');
    const [worker] = childrenOf(sluice.pid);
    for (const [at, [, text]] of SLOW.entries()) {
      const before = mainThreadMs(worker ?? 0);
      let left = HOSTILE;
      const attack = async (path: string, headers: Record<string, string>): Promise<void> => {
        for (let run = 0; run < attackRuns(4, 100); run++) {
          const { status } = await fetchOnce({ port, path, headers });
          assert.equal(status, 200, SLOW[at]?.[0]);
          left -= 1;
        }
      };
      const attacks = Promise.all([
        attack(`/${at}`, { 'x-path': text }),
        attack(`/p${at}/${text}`, {}),
      ]);
      let answered = 0;
      while (left > 0) {
        const { status, body } = await fetchOnce({ port, path: '/plain' });
        assert.deepEqual([status, body], [200, 'other']);
        answered += 1;
      }
      await attacks;
      // Others get their turn, and none of the hostile ones keeps the worker for itself.
      assert.ok(answered > 0, SLOW[at]?.[0]);
      const each = (mainThreadMs(worker ?? 0) - before) / (HOSTILE + answered);
      assert.ok(each > 0 && each < REQUEST_MS, `${SLOW[at]?.[0]}: ${each} ms each`);
    }
  });
});

function hostile(name: string, regex: string): object {
  return { name, string_match: { safe_regex: { regex } } };
}
