/** What the admin answers by path, method and origin, before any endpoint is asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './ask.ts';
import { fakeContext } from './fake-context.ts';

const MUTATIONS = `
  /allocprofiler /cpuprofiler /drain_listeners /healthcheck/fail /healthcheck/ok /heapprofiler
  /logging /quitquitquit /reopen_logs /reset_counters /runtime_modify
  /stats/recentlookups/clear /stats/recentlookups/disable /stats/recentlookups/enable /undrain_listeners
`
  .trim()
  .split(/\s+/);

test('a mutation sent by any method but POST gives 400 with the reason and has no effect', async () => {
  for (const path of MUTATIONS) {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const { context, commands, log } = fakeContext();
      const answer = await ask(context, path, { method });
      assert.equal(answer.status, 400, path);
      assert.equal(answer.body, `Method ${method} not allowed, POST required.`);
      assert.deepEqual([commands, log], [[], []]);
    }
  }
});

test('other endpoints answer whatever the method', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) {
    const { context } = fakeContext();
    assert.equal((await ask(context, '/ready', { method })).body, 'LIVE\n');
  }
});

test('an unknown path gives 404 with the table of commands', async () => {
  const { context } = fakeContext();
  const help = await ask(context, '/help');
  for (const path of ['/nosuch', '/help/', '/ready/', '/tap', '/hystrix_event_stream']) {
    const answer = await ask(context, path);
    assert.equal(answer.status, 404);
    assert.equal(answer.body, `invalid path. ${help.body}`);
  }
});

test('paths are normalised: double slashes, dot segments, escaped letters, fragments', async () => {
  const { context } = fakeContext();
  const forms = ['//ready', '/./ready', '/x/../ready', '/re%61dy', '/ready#x', '/ready?^|\\()'];
  for (const target of forms) {
    assert.equal((await ask(context, target)).body, 'LIVE\n', target);
  }
});

test('a mutation from a foreign origin is refused, from the own origin or a tool it is not', async () => {
  const cases = [
    [{ origin: 'http://evil.test' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://admin.test' }, 200],
    [{ origin: 'https://ADMIN.test' }, 200],
    [{}, 200],
  ] as const;
  for (const [headers, status] of cases) {
    const { context, commands } = fakeContext();
    const answer = await ask(context, '/quitquitquit', { method: 'POST', headers });
    assert.equal(answer.status, status);
    assert.equal(commands.length, status === 200 ? 1 : 0);
  }
});

test('each mutation leaves one line in the log that says what, who and the result', async () => {
  const { context, log } = fakeContext();
  await ask(context, '/healthcheck/fail?a\nb', { method: 'POST' });
  assert.deepEqual(log, ['info: admin command: POST /healthcheck/fail?a?b from 127.0.0.1:1: 200']);
});

test('a path outside allow_paths is forbidden', async () => {
  const { context } = fakeContext();
  const rules = { allowPath: (path: string) => path === '/ready' };
  assert.equal((await ask(context, '//ready', { rules })).status, 200);
  assert.equal(
    (await ask(context, '/ready?x', { rules })).body,
    'request to path /ready?x not allowed',
  );
  const answer = await ask(context, '/stats', { rules });
  assert.deepEqual([answer.status, answer.body], [403, 'request to path /stats not allowed']);
});

test('an endpoint that fails answers 500 and is logged', async () => {
  const { context, log } = fakeContext();
  const broken = {
    ...context,
    server: {
      ...context.server,
      state: () => {
        throw new Error('broken');
      },
    },
  };
  assert.equal((await ask(broken, '/ready')).status, 500);
  assert.match(log[0] ?? '', /^error: cannot answer \/ready: Error: broken/);
});

test('commands reach the server with their parameters', async () => {
  const { context, commands } = fakeContext();
  const targets = `
    /drain_listeners /drain_listeners?inboundonly /drain_listeners?graceful&skip_exit
    /healthcheck/fail /healthcheck/ok /reopen_logs /reset_counters /quitquitquit?x
  `;
  for (const target of targets.trim().split(/\s+/)) {
    const answer = await ask(context, target, { method: 'POST' });
    assert.deepEqual([answer.status, answer.body], [200, 'OK\n']);
  }
  assert.deepEqual(commands, [
    { drain: { inboundOnly: false, graceful: false, skipExit: false } },
    { drain: { inboundOnly: true, graceful: false, skipExit: false } },
    { drain: { inboundOnly: false, graceful: true, skipExit: true } },
    { failed: true },
    { failed: false },
    'reopen_logs',
    'reset_counters',
    'shutdown',
  ]);
});
