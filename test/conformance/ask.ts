/** Asks a running server a case's questions and turns the answers into normalised lines. */
import { fetchOnce, type Answer } from '../support/peers/http-client.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { startHttpUpstream } from '../support/peers/upstream.ts';
import type { ConformanceCase, Facts, Question } from './case.ts';
import { normalise, type Names } from './normalise.ts';

export interface RunningServer {
  readonly adminPort: number;
  stop(): Promise<void>;
}

export async function factsOf(
  conformanceCase: ConformanceCase,
  start: (bootstrap: object) => Promise<RunningServer>,
): Promise<Facts> {
  await using upstream = await startHttpUpstream((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.removeHeader('date');
    const { method, url, headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      response.end(JSON.stringify({ method, url, headers, body }, null, 1));
    });
  });
  const server = await start(conformanceCase.bootstrap(upstream.port));
  try {
    const ports = await listenerPorts(server.adminPort);
    const names: Names = new Map([
      [String(upstream.port), '<upstream port>'],
      [String(server.adminPort), '<admin port>'],
      ...[...ports].map(([name, port]): [string, string] => [String(port), `<port of ${name}>`]),
    ]);
    const facts: Record<string, readonly string[]> = {};
    for (const question of conformanceCase.questions) {
      facts[question.label] = normalise(await ask(question, server.adminPort, ports), names);
    }
    return facts;
  } finally {
    await server.stop();
  }
}

async function ask(
  question: Question,
  adminPort: number,
  ports: ReadonlyMap<string, number>,
): Promise<string[]> {
  switch (question.kind) {
    case 'http': {
      const headers = { ...question.headers, host: question.host ?? 'example.test' };
      return linesOf(
        await fetchOnce({
          port: portOf(ports, question.listener),
          path: question.path ?? '/',
          method: question.method ?? 'GET',
          headers,
          ...(question.body === undefined ? {} : { body: question.body }),
        }),
      );
    }
    case 'raw': {
      const connection = await openRaw(portOf(ports, question.listener));
      connection.send(question.send);
      const answer = await connection.closed();
      return answer.split('\r\n');
    }
    case 'admin': {
      const answer = await fetchOnce({
        port: adminPort,
        path: question.path,
        method: question.method ?? 'GET',
      });
      const body = answer.body.split('\n').filter((line) => question.ignore?.test(line) !== true);
      if (question.sorted === true) body.sort();
      return [...linesOf({ ...answer, body: '' }), ...body];
    }
  }
}

function linesOf(answer: Answer): string[] {
  const headers = Object.entries(answer.headers)
    .filter(([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .sort();
  return [
    `status ${answer.status}`,
    ...headers,
    ...(answer.body === '' ? [] : answer.body.split('\n')),
  ];
}

interface ListenersPage {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address?: { readonly port_value: number } };
  }[];
}

async function listenerPorts(adminPort: number): Promise<Map<string, number>> {
  const { body } = await fetchOnce({ port: adminPort, path: '/listeners?format=json' });
  const page = JSON.parse(body) as ListenersPage;
  return new Map(
    (page.listener_statuses ?? []).map(({ name, local_address: { socket_address } }) => [
      name,
      socket_address?.port_value ?? 0,
    ]),
  );
}

function portOf(ports: ReadonlyMap<string, number>, listener: string): number {
  const port = ports.get(listener);
  if (port === undefined) throw new Error(`the server has no listener ${listener}`);
  return port;
}
