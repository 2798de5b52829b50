/**
 * Modules that put what a peer says into every place of a message: each request makes one message
 * for the host or none, and one answer, whatever is said.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import { readStrictly } from '../../support/parts/strict-message.ts';
import { HOSTILE_TEXTS } from '../../support/peers/hostile/hostile-text.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream, type RawUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';

const MODULE = `
import { defineFilter } from 'sluice/filter';

export default defineFilter({
  create: () => ({
    async onRequestHeaders(headers, stream) {
      const [, way = '', ...units] = headers.path.split('/');
      const text = String.fromCharCode(...units.map(Number));
      headers.path = '/';
      switch (way) {
        case 'value': headers.set('x-made', text); break;
        case 'added': headers.add('x-made', text); break;
        case 'name': headers.set(text, 'v'); break;
        case 'length': headers.set('Content-Length', text); break;
        case 'coding': headers.add('Transfer-Encoding', text); break;
        case 'host': headers.set('Host', text); break;
        case 'method': headers.method = text; break;
        case 'path': headers.path = text; break;
        case 'authority': headers.authority = text; break;
        case 'pseudo': headers.set(':path', text); break;
        case 'reply': return { status: 200, headers: { 'x-made': text } };
        case 'reply-name': return { status: 200, headers: { [text]: 'v' } };
        case 'reply-length': return { status: 200, headers: { 'Content-Length': text } };
        case 'fetch-path': await stream.fetch('up', { path: text }); break;
        case 'fetch-value': await stream.fetch('up', { headers: { 'x-made': text } }); break;
        case 'fetch-coding': await stream.fetch('up', { headers: { 'Transfer-Encoding': text } }); break;
        case 'fetch-method': await stream.fetch('up', { method: text }); break;
        case 'fetch-authority': await stream.fetch('up', { authority: text }); break;
      }
      stream.setMetadata('made', way, text);
      return undefined;
    },
    onResponseHeaders(headers, stream) {
      const text = stream.getMetadata('made', 'value');
      if (typeof text === 'string') headers.set('x-answered', text);
    },
  }),
});
`;
const WAYS = [...MODULE.matchAll(/case '([a-z-]+)'/g)].map(([, way = '']) => way);

function startHost(): Promise<RawUpstream> {
  return startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const heads = received().split('\r\n\r\n').length - 1;
      for (; answered < heads; answered++) {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      }
    });
  });
}

function textsOf(salt: number): readonly string[] {
  const random = attackRandom(salt);
  const units = Array.from({ length: attackRuns(6, 2000) }, () =>
    String.fromCharCode(Math.floor(random() * 0x180)),
  );
  return [...HOSTILE_TEXTS, '5', 'chunked', '*', '//x', ...units.map((unit) => `a${unit}b`)];
}

describe('modules that pass on what peers say', () => {
  it('make one message or none', async () => {
    await using host = await startHost();
    await using server = await startScriptServer({ module: MODULE, upstreamPort: host.port });
    const port = await server.sluice.listenerPort('web');
    const seen = { passed: 0, refused: 0 };
    for (const [salt, way] of WAYS.entries()) {
      const texts = textsOf(salt);
      for (const turn of attackTurns(texts.length, texts.length)) {
        const text = texts[turn] ?? '';
        const units = Array.from(text, (each) => each.charCodeAt(0)).join('/');
        const client = await openRaw(port);
        client.send(`GET /${way}/${units} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`);
        const answers = readStrictly(await client.closed(), 'response');
        const case_ = `${way}: ${JSON.stringify(text)}`;
        assert.equal(answers.length, 1, case_);
        assert.match(answers[0]?.start ?? '', / (200|4\d\d|500|503) /, case_);
        if (answers[0]?.start.includes(' 200 ') === true) seen.passed++;
        else seen.refused++;
      }
    }
    assert.ok(seen.passed > 20 && seen.refused > 20, JSON.stringify(seen));
    for (const { start } of host.received.flatMap((each) => readStrictly(each, 'request'))) {
      assert.doesNotMatch(start, /\/admin HTTP/);
    }
    assert.equal(await server.sluice.stat('sluice.worker.exceptions'), 0);
  });
});
