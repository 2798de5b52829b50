/** The smaller pages: state, help, certificates, runtime, logging, profilers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statsForm } from '../../../../../supervisor/admin/home/stats-form.ts';
import { parseQuery } from '../../../../../supervisor/http-pages/query.ts';
import { ask } from '../ask.ts';
import { fakeContext } from '../fake-context.ts';

test('the home page offers each endpoint, escapes what it shows and lets only its own script run', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: '<script>alert(1)</script>', addresses: [{ kind: 'pipe', path: "a'b" }] },
      ],
    },
  });
  const page = await ask(context, '/');
  assert.equal(page.contentType, 'text/html; charset=UTF-8');
  assert.match(
    page.body,
    /<form action="quitquitquit" method="post" id="quitquitquit" data-confirm>/,
  );
  assert.match(page.body, /<form action="stats" method="get" id="stats">/);
  assert.match(page.body, /<a href="ready">ready<\/a>/);
  assert.ok(!page.body.includes('<script>alert') && !page.body.includes("a'b"));
  assert.match(
    String(page.headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-/,
  );
  assert.doesNotMatch(page.body, /\son\w+=/);
  // A browser sends its true Origin with the page's forms only under such a policy.
  assert.match(page.body, /<meta name="referrer" content="same-origin">/);
});

test('the home page says how many connections listeners and workers have', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: 'web', addresses: [{ kind: 'ip', family: 'v4', address: '::', port: 1 }] },
      ],
    },
  });
  const open = { name: 'web', open: 31, idle: 0, active: 31, streams: 17, percent: 0 } as const;
  const counted = [
    'listener.a.worker_0.downstream_cx_active: 40\n',
    'listener.b.worker_0.downstream_cx_active: 2\n',
  ];
  const page = await ask(
    {
      ...context,
      stats: {
        ...context.stats,
        read: async () => await Promise.resolve({ status: 200, body: counted }),
      },
      commands: {
        ...context.commands,
        drainStatus: async () =>
          await Promise.resolve({ isComplete: true, listeners: [{ ...open, state: 'draining' }] }),
      },
    },
    '/',
  );
  assert.match(
    page.body,
    /<td><span class="host fair">draining<\/span><\/td><td>31<\/td><td>17<\/td>/,
  );
  assert.match(page.body, /<td>running<\/td><td>42<\/td><td>0<\/td>/);
});

test('the statistics form keeps what was asked and escapes the listing', async () => {
  const query = parseQuery('format=active-html&usedonly&filter=%22%3E%3Cb%3E');
  const { body, headers } = statsForm(query, ['a<b>: 1\n']);
  let page = '';
  for await (const chunk of body as AsyncIterable<string>) page += chunk;
  assert.match(page, /<meta http-equiv="refresh" content="5">/);
  assert.match(page, /name="usedonly" id="stats-usedonly" form="stats" checked>/);
  assert.match(page, /<option value="active-html" selected>/);
  assert.match(page, /value="&#34;&#62;&#60;b&#62;"/);
  assert.match(page, /<pre>\na&#60;b&#62;: 1\n<\/pre>/);
  assert.match(String(headers?.['content-security-policy']), /default-src 'none'/);
});
