/** Long-lived exchanges: WebSockets with `ws` at both ends, server-sent events. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { proxyTo } from '../../test/support/parts/bootstrap.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import { check, passed, type Trial, type TrialOutcome } from './trial.ts';

const MESSAGES = 1000;
const EVENTS = 20;

export const streams: readonly Trial[] = [
  { name: 'ws at both ends: 1,000 messages each way, one of 1 MiB', run: webSockets },
  { name: 'server-sent events: 20 events as they are made', run: serverSentEvents },
];

async function webSockets(): Promise<TrialOutcome> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer, isBinary) => socket.send(data, { binary: isBinary }));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const manager = { upgrade_configs: [{ upgrade_type: 'websocket' }] };
  await using sluice = await startSluice({ bootstrap: proxyTo(port, { hcm: manager }) });
  const client = new WebSocket(`ws://127.0.0.1:${await sluice.listenerPort('web')}/chat`);
  await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
  let echoed = 0;
  const done = new Promise<void>((resolve) => {
    client.on('message', () => ++echoed === MESSAGES + 1 && resolve());
  });
  for (let at = 0; at < MESSAGES; at++) client.send(`message ${at}`);
  client.send(Buffer.alloc(1024 * 1024, 7));
  await done;
  const code = await new Promise<number>((resolve) => {
    client.once('close', resolve);
    client.close(4001, 'enough');
  });
  server.close();
  check(code === 4001, `closed with ${code}`);
  await sluice.waitForStat('http.web.downstream_cx_upgrades_active', (value) => value === 0);
  return passed(`${echoed} messages echoed, closed with ${code}, no upgrade left`);
}

async function serverSentEvents(): Promise<TrialOutcome> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const timer = setInterval(() => {
      response.write(`id: ${count}\ndata: ${performance.now()}\n\n`);
      if (++count < EVENTS) return;
      clearInterval(timer);
      response.end();
    }, 20);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await using sluice = await startSluice({ bootstrap: proxyTo(port) });
  const answer = await fetch(`http://127.0.0.1:${await sluice.listenerPort('web')}/events`);
  const delays: number[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    for (const [, made] of decoder.decode(chunk as Uint8Array).matchAll(/data: (\S+)/g)) {
      delays.push(performance.now() - Number(made));
    }
  }
  server.close();
  check(delays.length === EVENTS, `${delays.length} events`);
  return passed(
    `${EVENTS} events, each alone, the slowest after ${Math.max(...delays).toFixed(1)} ms`,
  );
}
